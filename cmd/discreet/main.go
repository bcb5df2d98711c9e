// Command discreet answers SQL about private data, under a budget that cannot
// be overspent. `discreet help` lists its commands; each is a file of this
// package.
//
// It guarantees what package discreet guarantees, by wiring nothing else
// between an analyst and the data: no flag and no variable of the environment
// touches noise, sensitivity, budget or the engine's resources. It does not keep
// an analyst who can read the catalog's files from reading them.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	talk, wall := os.Stderr, walled(os.Args[1:])
	if wall {
		var err error
		if talk, err = raise(); err != nil {
			fmt.Fprintln(os.Stderr, "discreet:", err)
			os.Exit(exitEngine)
		}
	}
	// A reader that goes away is an error of a write, not the end of a command
	// that has just paid for its answer.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(Main(interruptible(wall), os.Args[1:], os.Stdin, os.Stdout, talk))
}

// Main runs one command line and returns its exit code. Data goes to out, talk
// to errOut.
func Main(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	t := newTerminal(in, out, errOut)
	return t.finish(ctx, dispatch(ctx, t, args))
}

// dispatch finds the command and runs it.
func dispatch(ctx context.Context, t *terminal, args []string) error {
	t.json = wantsJSON(args)
	if len(args) == 0 {
		writeOverview(t.err, commands())
		return errUsageShown
	}
	name, rest := args[0], args[1:]
	switch name {
	case "-h", "-help", "--help":
		name, rest = "help", nil
	case "-version", "--version":
		name = "version"
	}
	c, err := find(name)
	if err != nil {
		return err
	}
	if c, rest, err = c.verb(rest); err != nil {
		return err
	}
	rest, err = c.parse(rest)
	if err == errHelp {
		c.writeHelp(t.out)
		return nil
	}
	if err != nil {
		return err
	}
	if err := c.admit(whoCalls(), rest); err != nil {
		return err
	}
	return c.Run(ctx, t, rest)
}
