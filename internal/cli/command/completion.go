package command

import (
	"flag"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// completeArguments offers the command's words, and files if it takes files.
func (c *Command) completeArguments(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	switch {
	case c.Files:
		return nil, cobra.ShellCompDirectiveDefault
	case len(args) == 0: // the frame adds the verbs
		verbs := Names(c.Verbs)
		return slices.DeleteFunc(slices.Clone(c.Words), func(w string) bool { return slices.Contains(verbs, w) }), cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// completeFlag offers what the usage of a flag names: FILE and DIR, one of a|b|c, or a
// value that only the caller can list (DOMAIN).
func (c *Command) completeFlag(frame *cobra.Command, f *flag.Flag, complete Completer) {
	value, _ := flag.UnquoteUsage(f)
	offer := func() []string { return nil }
	switch {
	case c.Values[f.Name] != nil:
		offer = func() []string { return c.Values[f.Name] }
	case value == "FILE", value == "":
		return // files are what a shell offers by itself
	case value == "DIR":
		frame.MarkFlagDirname(f.Name) //nolint:errcheck // the flag is there
		return
	case strings.Contains(value, "|"):
		offer = func() []string { return strings.Split(value, "|") }
	case complete != nil:
		offer = func() []string { return complete(value, frame) }
	}
	frame.RegisterFlagCompletionFunc(f.Name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { //nolint:errcheck // the flag is there
		return offer(), cobra.ShellCompDirectiveNoFileComp
	})
}
