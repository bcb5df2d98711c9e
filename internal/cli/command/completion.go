package command

import (
	"flag"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// A Completer lists what a value may be, given its name in the usage of a flag, or in a
// command's Arguments, and how it begins; nil if it does not know.
type Completer func(value, begun string, of *cobra.Command) []string

// completeArguments offers the command's words, files if it takes files, or what only the
// caller can list.
func (c *Command) completeArguments(complete Completer) cobra.CompletionFunc {
	return func(frame *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		switch name := c.argument(len(args)); {
		case c.Files:
			return nil, cobra.ShellCompDirectiveDefault
		case len(args) == 0 && c.Words != nil: // the frame adds the verbs
			verbs := Names(c.Verbs)
			return slices.DeleteFunc(slices.Clone(c.Words), func(w string) bool { return slices.Contains(verbs, w) }), cobra.ShellCompDirectiveNoFileComp
		case name != "" && complete != nil:
			offered := complete(name, begun, frame)
			return slices.DeleteFunc(offered, func(v string) bool { return slices.Contains(args, v) }), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// argument is the name of the value of the argument at i, of which the last may repeat.
func (c *Command) argument(i int) string {
	if n := len(c.Arguments); n > 0 && i >= n-1 {
		last, many := strings.CutSuffix(c.Arguments[n-1], "...")
		if i >= n && !many {
			return ""
		}
		return last
	} else if n == 0 {
		return ""
	}
	return c.Arguments[i]
}

// completeFlag offers what the usage of a flag names: FILE and DIR, one of a|b|c, or a
// value that only the caller can list (DOMAIN). Of a list it completes the last part.
func (c *Command) completeFlag(frame *cobra.Command, f *flag.Flag, complete Completer) {
	value, _ := flag.UnquoteUsage(f)
	list := strings.Contains(value, ",")
	if f.Name == "columns" && c.Flags.Lookup("table") != nil {
		value = "COLUMN"
	}
	var offer func(begun string) []string
	switch {
	case c.Values[f.Name] != nil:
		offer = func(string) []string { return c.Values[f.Name] }
	case value == "FILE", value == "":
		return // files are what a shell offers by itself
	case value == "DIR":
		frame.MarkFlagDirname(f.Name) //nolint:errcheck // the flag is there
		return
	case strings.Contains(value, "|"):
		offer = func(string) []string { return strings.Split(value, "|") }
	default:
		offer = func(begun string) []string { return complete(value, begun, frame) }
	}
	frame.RegisterFlagCompletionFunc(f.Name, func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) { //nolint:errcheck // the flag is there
		if list {
			return further(offer(begun), begun), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		return offer(begun), cobra.ShellCompDirectiveNoFileComp
	})
}

// further completes the last part of a list, by what is not in it yet.
func further(offered []string, begun string) (out []string) {
	end := strings.LastIndex(begun, ",") + 1
	there := strings.Split(begun[:end], ",")
	for _, v := range offered {
		if !slices.Contains(there, v) {
			out = append(out, begun[:end]+v)
		}
	}
	return out
}
