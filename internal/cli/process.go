// Package cli is the command discreet: its list of commands, help and completion. What
// they do stands in a package for each family: query, owner, account, noise, audit,
// verify and learn.
//
// It guarantees what package discreet guarantees, by wiring nothing else
// between an analyst and the data: no flag and no variable of the environment
// touches noise, sensitivity, budget or the engine's resources. It does not keep
// an analyst who can read the catalog's files from reading them.
package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/failure"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/wall"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// Process runs the command line of a process of its own, behind a wall if it may hold
// private data, and returns its exit code.
func Process() int {
	talk, behind := os.Stderr, wall.Wanted(os.Args[1:])
	if behind {
		var err error
		if talk, err = wall.Raise(); err != nil {
			fmt.Fprintln(os.Stderr, "discreet:", err)
			return diagnostic.ExitEngine
		}
	}
	// A reader that goes away is an error of a write. It must not end a command that has
	// just paid for its answer.
	signal.Ignore(syscall.SIGPIPE)
	until := wall.Interruptible
	if len(os.Args) > 1 && os.Args[1] == "shell" && terminal.IsTerminal(os.Stdin) && terminal.IsTerminal(os.Stdout) { // an interrupt ends a statement there
		until = wall.Terminable
	}
	return Main(until(behind), os.Args[1:], os.Stdin, os.Stdout, talk)
}

// Main runs one command line and returns its exit code. Data goes to out, talk
// to errOut.
func Main(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	t := terminal.New(in, out, errOut)
	t.JSON = command.WantsJSON(args)
	completing := len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd)
	var complete command.Completer
	if completing {
		complete = completions
	}
	root := root(t, complete)
	switch {
	case len(args) > 0 && (args[0] == "-version" || args[0] == "--version"):
		args = append([]string{"version"}, args[1:]...)
	case len(args) > 0 && args[0] == "-help":
		args = []string{"--help"}
	}
	if !completing {
		args = command.Arranged(root, args)
	}
	root.SetArgs(args)
	return failure.Finish(t, ctx, root.ExecuteContext(ctx))
}
