package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// A Command is one word of the command line.
type Command struct {
	UsageLine string    // begins with the command's name
	Short     string    // in the list of commands
	Long      string    // a page's worth
	Examples  [2]string // command lines
	Words     []string  // what the first argument may be, for completion; nil if free
	Flags     flag.FlagSet
	// Verbs have flags of their own; the first argument names one. A command with
	// verbs runs only without arguments, or with Words of its own.
	Verbs []*Command
	// Of is the command that a verb belongs to.
	Of string
	// For says who may be given it.
	For audience
	// Files says that arguments are names of files.
	Files bool
	// Private says that what is given may be private, so that no error repeats it.
	Private bool

	given []given
	Run   func(ctx context.Context, t *terminal, args []string) error
}

// An audience says who may be given a command.
type audience uint8

const (
	_       audience = iota
	owner            // shows private data, or declares what protects them
	analyst          // what it shows of private data is paid for
	anyone           // knows no private data
)

// A given is one flag as it was written.
type given struct{ name, value string }

// commands returns all commands, fresh: each holds the flags of one run.
func commands() []*Command {
	all := []*Command{
		demoCommand(), initCommand(), checkCommand(), ledgerCommand(),
		explainCommand(), queryCommand(), mapCommand(), budgetCommand(), accountCommand(), noiseCommand(), auditCommand(), verifyCommand(),
		trainCommand(), predictCommand(), evaluateCommand(), modelCommand(),
		labelCommand(), pateCommand(),
		helpCommand(), completionCommand(), versionCommand(),
	}
	for _, c := range all {
		for _, v := range c.Verbs {
			v.For = cmp.Or(v.For, c.For)
		}
	}
	return all
}

// Name is the first word of the usage line.
func (c *Command) Name() string {
	name, _, _ := strings.Cut(c.UsageLine, " ")
	return name
}

// Title is the words that run the command.
func (c *Command) Title() string { return strings.TrimSpace(c.Of + " " + c.Name()) }

// Line is the whole usage line.
func (c *Command) Line() string { return strings.TrimSpace(c.Of + " " + c.UsageLine) }

// verb returns the verb that the first argument names, and the other arguments.
func (c *Command) verb(args []string) (*Command, []string, error) {
	if len(c.Verbs) == 0 || len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return c, args, nil
	}
	for _, v := range c.Verbs {
		if v.Name() == args[0] {
			return v, args[1:], nil
		}
	}
	if slices.Contains(c.Words, args[0]) {
		return c, args, nil
	}
	d := diagnostic.New("D110", diagnostic.Span{}, "there is no discreet %s %s", c.Name(), printable(args[0])).
		Try("discreet help %s lists what there is", c.Name())
	if near := diagnostic.Nearest(args[0], argumentWords(c, nil)); near != "" {
		d.Try("did you mean discreet %s %s?", c.Name(), near)
	}
	return nil, nil, d
}

// find returns the command of a name.
func find(name string) (*Command, error) {
	var names []string
	for _, c := range commands() {
		if c.Name() == name {
			return c, nil
		}
		names = append(names, c.Name())
	}
	d := diagnostic.New("D110", diagnostic.Span{}, "there is no command %q", name).Try("discreet help lists the commands")
	if near := diagnostic.Nearest(name, names); near != "" {
		d.Try("did you mean discreet %s?", near)
	}
	return nil, d
}

// errHelp is returned by parse when a command's help was asked for.
var errHelp = errors.New("help wanted")

// parse sets the command's flags and returns the other arguments. Flags may
// stand anywhere before "--", which package flag does not allow.
func (c *Command) parse(args []string) (rest []string, err error) {
	for name, key := range resources {
		if variable := "DISCREET_" + strings.ToUpper(name); c.For != anyone && os.Getenv(variable) != "" {
			return nil, ofTheCatalog("$"+variable, key)
		}
	}
	for name, variable := range environment {
		f, value := c.Flags.Lookup(name), os.Getenv(variable)
		if f == nil || value == "" {
			continue
		}
		if err := f.Value.Set(value); err != nil {
			return nil, badValue("$"+variable, value, err)
		}
	}
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			return append(rest, args...), nil
		}
		name, value, has := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
		// "-" is standard input, and "-- a comment" begins a statement.
		if arg == "-" || !strings.HasPrefix(arg, "-") || strings.ContainsAny(name, " \t\r\n") {
			rest = append(rest, arg)
			continue
		}
		if name == "h" || name == "help" {
			return nil, errHelp
		}
		f := c.Flags.Lookup(name)
		if key := resources[name]; f == nil && key != "" {
			return nil, ofTheCatalog(flagName(name), key)
		}
		if f == nil {
			return nil, c.unknownFlag(name)
		}
		switch b, ok := f.Value.(interface{ IsBoolFlag() bool }); {
		case has:
		case ok && b.IsBoolFlag():
			value = "true"
		case len(args) == 0:
			return nil, diagnostic.New("D112", diagnostic.Span{}, "%s needs a value", flagName(name)).
				Try("discreet help %s shows its flags", c.Title())
		default:
			value, args = args[0], args[1:]
		}
		if err := c.Flags.Set(name, value); err != nil {
			return nil, badValue(flagName(name), value, err)
		}
		c.given = append(c.given, given{name, value})
	}
	return rest, nil
}

// resources are what flags and variables said before the catalog did, with what to write
// there.
var resources = map[string]string{"memory": `memory = "4GB"`, "threads": "threads = 2", "temp": `temp = "/var/lib/discreet/tmp"`}

func ofTheCatalog(what, key string) error {
	return diagnostic.New("D119", diagnostic.Span{}, "%s is the catalog's to say", what).
		Because("who makes the engine's resources small decides where private data make an answer fail").
		Try("the owner writes under [resources] of the catalog: %s", key)
}

func (c *Command) unknownFlag(name string) error {
	if c.Private && !flagLike.MatchString(name) { // a negative number, say
		return diagnostic.New("D111", diagnostic.Span{}, "an argument begins with - and is no flag").
			Try("discreet help %s shows the flags; a value belongs behind its own", c.Title())
	}
	var names []string
	c.Flags.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	d := diagnostic.New("D111", diagnostic.Span{}, "discreet %s has no flag %s", c.Title(), flagName(name)).
		Try("discreet help %s shows its flags", c.Title())
	if near := diagnostic.Nearest(name, names); near != "" {
		d.Try("did you mean %s?", flagName(near))
	}
	return d
}

var flagLike = regexp.MustCompile(`^[a-z][a-z-]*$`)

// badValue refuses what a flag or a variable says.
func badValue(name, value string, err error) error {
	var d *diagnostic.Diagnostic
	if errors.As(err, &d) {
		return d
	}
	return diagnostic.New("D112", diagnostic.Span{}, "%s %s: %v", name, value, err)
}

// wantsJSON tells it before the flags are understood, for the error that says
// why they are not.
func wantsJSON(args []string) bool {
	for i, a := range args {
		switch name, value, has := strings.Cut(a, "="); name {
		case "--":
			return false
		case "--json", "-json":
			if !has || value == "true" {
				return true
			}
		case "--format", "-format":
			if !has && i+1 < len(args) {
				value = args[i+1]
			}
			if value == "json" {
				return true
			}
		}
	}
	return false
}

// none refuses arguments where a command takes none.
func none(c *Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return diagnostic.New("D113", diagnostic.Span{}, "discreet %s takes no argument %q", c.Name(), args[0]).
		Try("discreet %s", c.UsageLine)
}

// writeHelp prints a command's page.
func (c *Command) writeHelp(w io.Writer) {
	fmt.Fprintf(w, "usage: discreet %s\n\n%s\n", c.Line(), strings.TrimSpace(c.Long))
	if len(c.Verbs) > 0 {
		fmt.Fprintln(w)
		writeAligned(w, shorts(c.Verbs))
	}
	if flags := c.flagTable(); len(flags) > 0 {
		fmt.Fprintln(w, "\nFlags:")
		writeAligned(w, flags)
	}
	fmt.Fprintln(w, "\nExamples:")
	for _, e := range c.Examples {
		fmt.Fprintf(w, "  %s\n", e)
	}
}

// flagTable lists the flags with their values' names, in order of name.
func (c *Command) flagTable() (rows [][2]string) {
	c.Flags.VisitAll(func(f *flag.Flag) {
		value, usage := flag.UnquoteUsage(f)
		name := flagName(f.Name)
		if value != "" {
			name += " " + value
		}
		rows = append(rows, [2]string{name, usage})
	})
	return rows
}

// writeAligned prints two columns.
func writeAligned(w io.Writer, rows [][2]string) {
	width := 0
	for _, r := range rows {
		width = max(width, len(r[0]))
	}
	for _, r := range rows {
		fmt.Fprintf(w, "  %-*s  %s\n", width, r[0], r[1])
	}
}
