package command

import (
	"errors"
	"flag"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// Cobra returns the command in the form of the library that parses, completes and writes manual pages. Without a Completer
// flags are not completed. The library keeps what completes a flag for as long as the process lives, and all of the command with it.
func (c *Command) Cobra(t *terminal.Terminal, complete Completer) *cobra.Command {
	frame := &cobra.Command{
		Use:                   c.UsageLine,
		Short:                 c.Short,
		Long:                  strings.TrimSpace(c.Long),
		Example:               "  " + strings.Join(c.Examples[:], "\n  "),
		SilenceErrors:         true,
		SilenceUsage:          true,
		Args:                  cobra.ArbitraryArgs,
		ValidArgsFunction:     c.completeArguments(complete),
		DisableFlagsInUseLine: true,
		RunE: func(frame *cobra.Command, args []string) error {
			args = unmarked(args)
			if err := c.readEnvironment(frame.Flags()); err != nil {
				return err
			}
			if err := c.knows(args); err != nil {
				return err
			}
			if err := c.admit(WhoCalls(), args); err != nil {
				return err
			}
			if c.wide != nil {
				t.Widen(*c.wide)
			}
			return c.Run(frame.Context(), t, args)
		},
	}
	frame.SetFlagErrorFunc(func(frame *cobra.Command, err error) error {
		if err := c.knows(unmarked(frame.Flags().Args())); err != nil { // the verb is unknown: say that, not that its flag is
			return err
		}
		return c.refuseFlag(err)
	})
	frame.SetHelpFunc(func(*cobra.Command, []string) { c.WriteHelp(t.Out) })
	c.Flags.VisitAll(func(f *flag.Flag) { frame.Flags().AddFlag(c.frameFlag(f)) })
	if complete != nil {
		c.Flags.VisitAll(func(f *flag.Flag) { c.completeFlag(frame, f, complete) })
	}
	for _, v := range c.Verbs {
		frame.AddCommand(v.Cobra(t, complete))
	}
	return frame
}

// Parse sets the command's flags and returns the other arguments.
func (c *Command) Parse(args []string) (rest []string, err error) {
	frame := c.Cobra(nil, nil)
	if err := frame.ParseFlags(Arranged(frame, args)); err != nil {
		return nil, c.refuseFlag(err)
	}
	return unmarked(frame.Flags().Args()), c.readEnvironment(frame.Flags())
}

// A flagValue makes a flag of package flag one of package pflag. It records that it was given.
type flagValue struct {
	of   *Command
	flag *flag.Flag
}

func (v flagValue) String() string { return v.flag.Value.String() }

func (v flagValue) Set(text string) error {
	text = strings.TrimPrefix(text, mark)
	if err := v.of.Flags.Set(v.flag.Name, text); err != nil {
		return err
	}
	v.of.Given = append(v.of.Given, Given{v.flag.Name, text})
	return nil
}

// Type is the name of the value in the flag's usage.
func (v flagValue) Type() string {
	if v.isBool() {
		return "bool"
	}
	name, _ := flag.UnquoteUsage(v.flag)
	return name
}

func (v flagValue) isBool() bool {
	b, ok := v.flag.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

func (c *Command) frameFlag(f *flag.Flag) *pflag.Flag {
	v := flagValue{c, f}
	_, usage := flag.UnquoteUsage(f)
	framed := &pflag.Flag{Name: f.Name, Usage: usage, Value: v}
	if len(f.Name) == 1 {
		framed.Shorthand = f.Name
	}
	if v.isBool() {
		framed.NoOptDefVal, framed.DefValue = "true", "false"
	}
	return framed
}

// readEnvironment sets flags that the command line does not, and refuses settings that the
// environment must not decide.
func (c *Command) readEnvironment(given *pflag.FlagSet) error {
	for name, key := range Resources {
		if variable := "DISCREET_" + strings.ToUpper(name); c.For != Anyone && os.Getenv(variable) != "" {
			return ofTheCatalog("$"+variable, key)
		}
	}
	for name, variable := range environment {
		f, value := c.Flags.Lookup(name), Environment(name)
		if f == nil || value == "" || given.Changed(name) {
			continue
		}
		if err := f.Value.Set(value); err != nil {
			return BadValue("$"+variable, value, err)
		}
	}
	return nil
}

// knows refuses a first argument that is not a verb of the command, if the command has verbs.
func (c *Command) knows(args []string) error {
	if len(c.Verbs) == 0 || len(args) == 0 || slices.Contains(c.Words, args[0]) {
		return nil
	}
	return unknown(c, args[0], c.firstWords())
}

// refuseFlag gives the frame's errors the one form.
func (c *Command) refuseFlag(err error) error {
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	var syntax *pflag.InvalidSyntaxError
	switch {
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if group := unknown.GetSpecifiedShortnames(); group != "" {
			name = group
		}
		if key := Resources[name]; key != "" {
			return ofTheCatalog(flagName(name), key)
		}
		return c.unknownFlag(name)
	case errors.As(err, &missing):
		return diagnostic.New("D112", diagnostic.Span{}, "%s needs a value", flagName(missing.GetSpecifiedName())).
			Try("discreet help %s shows its flags", c.Title())
	case errors.As(err, &invalid):
		return BadValue(flagName(invalid.GetFlag().Name), invalid.GetValue(), errors.Unwrap(invalid))
	case errors.As(err, &syntax):
		return c.unknownFlag(strings.TrimLeft(syntax.GetSpecifiedFlag(), "-"))
	}
	return err
}

// mark stands before an argument that begins with "-" and is no flag. No argument of a
// process has a zero byte.
const mark = "\x00"

// Arranged rewrites a command line so that cobra does not misread three things: a
// statement that begins with a comment ("-- one SELECT ..."), which is no flag; a flag with
// one dash, as package flag allows; and the value that follows a flag.
func Arranged(root *cobra.Command, args []string) []string {
	of, _, err := root.Find(args)
	if err != nil {
		of = root
	}
	var out []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return append(out, args[i:]...)
		}
		name, _, has := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
		switch {
		case arg == "-", !strings.HasPrefix(arg, "-"):
		case strings.ContainsAny(name, " \t\r\n"):
			arg = mark + arg
		default:
			if !strings.HasPrefix(arg, "--") && len(name) > 1 && flagLike.MatchString(name) {
				arg = "-" + arg
			}
			if f := of.Flags().Lookup(name); f != nil && f.NoOptDefVal == "" && !has && i+1 < len(args) {
				i++
				out = append(out, arg, args[i])
				continue
			}
		}
		out = append(out, arg)
	}
	return out
}

func unmarked(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = strings.TrimPrefix(a, mark)
	}
	return out
}
