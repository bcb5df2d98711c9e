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
	"slices"
	"strings"

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
	root.Use, root.DisableFlagsInUseLine = "discreet COMMAND", true
	nameValues(root)
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Manual: "Discreet", Source: "discreet"}, pages); err != nil {
		return err
	}
	if err := layOut(pages, root); err != nil {
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
	// An option and its text, as cobra writes them: one paragraph, in which man puts both
	// on one line.
	option  = regexp.MustCompile(`(?m)(?:^\.PP\n)?^(\\fB-.*)\n\t(.*)$`)
	title   = regexp.MustCompile(`(?m)^\.nh\n(\.TH .*)\n`)
	seeAlso = regexp.MustCompile(`(?m)^\.SH SEE ALSO$`)
)

// layOut rewrites the pages as man shows them best: flags as they are given (-f FILE, and
// --json without a value), an option's text below it, no words pulled apart or hyphenated.
// A page whose command has others lists them, with a line each.
func layOut(pages string, root *cobra.Command) error {
	all, err := filepath.Glob(filepath.Join(pages, "*.1"))
	if err != nil {
		return err
	}
	lists := map[string]string{}
	list(root, lists)
	for _, page := range all {
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		text = withoutAny.ReplaceAll(ofOneLetter.ReplaceAll(text, []byte(`\fB-$1\fP `)), []byte("$1"))
		text = option.ReplaceAll(text, []byte(".TP\n$1\n$2"))
		text = title.ReplaceAll(text, []byte("$1\n.nr HY 0\n.nh\n.ad l\n")) // a title undoes what stands before it
		if commands := lists[strings.TrimSuffix(filepath.Base(page), ".1")]; commands != "" {
			at := seeAlso.FindIndex(text)
			if at == nil {
				return fmt.Errorf("%s names no other page", page)
			}
			text = slices.Concat(text[:at[0]], []byte(".SH COMMANDS\n"+commands+"\n"), text[at[0]:])
		}
		if err := os.WriteFile(page, []byte(typed(string(text))), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// typed has each hyphen stand for itself, so that what is copied from a page is what is
// typed: written plainly it is a typographer's on some systems.
func typed(page string) string {
	var text strings.Builder
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, ".") {
			line = strings.ReplaceAll(strings.ReplaceAll(line, `\-`, "-"), "-", `\-`)
		}
		text.WriteString(line)
	}
	return text.String()
}

// list is what the page of a command lists, by the page's name: the commands below it.
func list(c *cobra.Command, lists map[string]string) {
	var text strings.Builder
	for _, verb := range c.Commands() {
		if !verb.IsAvailableCommand() || verb.IsAdditionalHelpTopicCommand() { // as cobra has pages of
			continue
		}
		fmt.Fprintf(&text, ".TP\n\\fB%s\\fP\n%s\n", verb.CommandPath(), strings.ReplaceAll(verb.Short, `\`, `\e`))
		list(verb, lists)
	}
	lists[strings.ReplaceAll(c.CommandPath(), " ", "-")] = text.String()
}
