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

	"github.com/spf13/cobra/doc"

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
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Manual: "Discreet", Source: "discreet"}, pages); err != nil {
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
