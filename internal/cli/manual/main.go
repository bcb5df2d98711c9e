// Command manual writes the manual pages and the completion scripts of discreet, for make
// install and for releases:
//
//	manual DIR
//
// makes DIR/man/man1, DIR/bash-completion, DIR/zsh and DIR/fish. The pages' date is
// SOURCE_DATE_EPOCH's, if that is set.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: manual DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	root := cli.Root(terminal.New(nil, io.Discard, io.Discard))
	root.DisableAutoGenTag = true
	pages := filepath.Join(dir, "man", "man1")
	if err := os.MkdirAll(pages, 0o755); err != nil {
		return err
	}
	nameValues(root)
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Manual: "Discreet", Source: "discreet"}, pages); err != nil {
		return err
	}
	if err := plainFlags(pages); err != nil {
		return err
	}
	for name, script := range map[string]func(io.Writer) error{
		"bash-completion/discreet": func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"zsh/_discreet":            root.GenZshCompletion,
		"fish/discreet.fish":       func(w io.Writer) error { return root.GenFishCompletion(w, true) },
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		if err := script(f); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// nameValues has the pages show what a flag takes, --ledger=FILE, where they would show a
// default: the text beside it tells that.
func nameValues(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.NoOptDefVal == "" {
			f.DefValue = f.Value.Type()
		}
	})
	for _, verb := range c.Commands() {
		nameValues(verb)
	}
}

var (
	ofOneLetter = regexp.MustCompile(`\\fB-(\w)\\fP, \\fB--(\w)\\fP=`)
	withoutAny  = regexp.MustCompile(`(\\fP)\[=false\]`)
)

// plainFlags writes flags as they are given: -f FILE, and --json without a value.
func plainFlags(pages string) error {
	all, err := filepath.Glob(filepath.Join(pages, "*.1"))
	if err != nil {
		return err
	}
	for _, page := range all {
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		text = withoutAny.ReplaceAll(ofOneLetter.ReplaceAll(text, []byte(`\fB-$1\fP `)), []byte("$1"))
		if err := os.WriteFile(page, text, 0o666); err != nil {
			return err
		}
	}
	return nil
}
