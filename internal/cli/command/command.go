// Package command is the frame of the command line: what a command declares of itself, how
// it is parsed, helped and completed, and who may be given it.
//
// It guarantees that a command that runs with rights which are not its caller's opens no
// file that the caller names.
package command

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

	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// A Command is one word of the command line.
type Command struct {
	UsageLine string    // begins with the command's name
	Short     string    // in the list of commands
	Long      string    // a page's worth
	Examples  [2]string // command lines
	Words     []string  // what the first argument may be, for completion; nil if free
	// Arguments name the values of the arguments, for completion; the last may end in "...".
	Arguments []string
	Flags     flag.FlagSet
	// Verbs have flags of their own; the first argument names one. A command with
	// verbs runs only without arguments, or with one of its Words.
	Verbs []*Command
	// Of is the command that a verb belongs to.
	Of string
	// For says who may be allowed to run it.
	For Audience
	// Files says that arguments are names of files.
	Files bool
	// Private says that arguments may be private, so that no error repeats them.
	Private bool
	// Values are what flags may have, for completion, if their usage does not list it.
	Values map[string][]string

	Given []Given
	wide  *bool // --wide; nil if it prints no tables
	Run   func(ctx context.Context, t *terminal.Terminal, args []string) error
}

// An Audience says who may be allowed to run a command.
type Audience uint8

const (
	_       Audience = iota
	Owner            // shows private data, or declares what protects them
	Analyst          // pays for what it shows of private data
	Anyone           // sees no private data
)

// A Given is one flag as it was written.
type Given struct{ Name, Value string }

// PrintsTables defines --wide, which the terminal obeys in every table.
func (c *Command) PrintsTables() {
	c.wide = c.Flags.Bool("wide", false, "print tables whole and as wide as they are, also in a narrower terminal")
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

// Find returns the command, or the verb of a command, that words name.
func Find(all []*Command, words []string) (*Command, error) {
	var found *Command
	for _, word := range words {
		i := slices.IndexFunc(all, func(c *Command) bool { return c.Name() == word })
		if i < 0 {
			return nil, unknown(found, word, Names(all))
		}
		found, all = all[i], all[i].Verbs
	}
	return found, nil
}

// unknown refuses a word that names no command, or no verb of the command.
func unknown(of *Command, word string, known []string) error {
	var d *diagnostic.Diagnostic
	prefix := ""
	if of == nil {
		d = diagnostic.New("D110", diagnostic.Span{}, "there is no command %q", word).Try("discreet help lists the commands")
	} else {
		prefix = of.Title() + " "
		d = diagnostic.New("D110", diagnostic.Span{}, "there is no discreet %s%s", prefix, terminal.Printable(word)).
			Try("discreet help %s lists what there is", of.Title())
	}
	if near := diagnostic.Nearest(word, known); near != "" {
		d.Try("did you mean discreet %s%s?", prefix, near)
	}
	return d
}

// Resources are settings that flags and variables had before the catalog did, with the
// key of the catalog that replaces each.
var Resources = map[string]string{"memory": `memory = "4GB"`, "threads": "threads = 2", "temp": `temp = "/var/lib/discreet/tmp"`}

func ofTheCatalog(what, key string) error {
	return diagnostic.New("D119", diagnostic.Span{}, "only the catalog may set %s", what).
		Because("small resources make answers fail depending on private data").
		Try("the owner writes under [resources] of the catalog: %s", key)
}

func (c *Command) unknownFlag(name string) error {
	if c.Private && !flagLike.MatchString(name) { // a negative number, say
		return diagnostic.New("D111", diagnostic.Span{}, "an argument begins with - and is not a flag").
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

// BadValue refuses the value of a flag or a variable.
func BadValue(name, value string, err error) error {
	var d *diagnostic.Diagnostic
	if errors.As(err, &d) {
		return d
	}
	return diagnostic.New("D112", diagnostic.Span{}, "%s %s: %s", name, value, diagnostic.Cause(err))
}

// WantsJSON looks for --json before the flags are parsed, so that an error of parsing can
// have that form.
func WantsJSON(args []string) bool {
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

// None refuses any argument.
func None(c *Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return diagnostic.New("D113", diagnostic.Span{}, "discreet %s takes no argument %q", c.Name(), args[0]).
		Try("discreet %s", c.UsageLine)
}

// WriteHelp prints a command's page.
func (c *Command) WriteHelp(to io.Writer) {
	w := new(strings.Builder)
	defer func() { io.WriteString(to, terminal.Fit(to, w.String())) }()
	fmt.Fprintf(w, "usage: discreet %s\n\n%s\n", c.Line(), strings.TrimSpace(c.Long))
	if len(c.Verbs) > 0 {
		fmt.Fprintln(w)
		WriteAligned(w, Shorts(c.Verbs))
	}
	if flags := c.FlagTable(); len(flags) > 0 {
		fmt.Fprintln(w, "\nFlags:")
		WriteAligned(w, flags)
	}
	fmt.Fprintln(w, "\nExamples:")
	for _, e := range c.Examples {
		fmt.Fprintf(w, "  %s\n", e)
	}
}

// FlagTable lists the flags with their values' names, in order of name.
func (c *Command) FlagTable() (rows [][2]string) {
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

// WriteAligned prints two columns.
func WriteAligned(w io.Writer, rows [][2]string) {
	width := 0
	for _, r := range rows {
		width = max(width, len(r[0]))
	}
	for _, r := range rows {
		fmt.Fprintf(w, "  %-*s  %s\n", width, r[0], r[1])
	}
}

// flagName is a flag as it is typed, in help, in completions and in errors.
func flagName(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// quote is a word of any of the three shells.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// firstWords are the first arguments that a command knows.
func (c *Command) firstWords() []string {
	words := Names(c.Verbs)
	for _, w := range c.Words {
		if !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words
}

// Names are the names of commands.
func Names(all []*Command) (out []string) {
	for _, c := range all {
		out = append(out, c.Name())
	}
	return out
}

// Shorts lists commands with a line each.
func Shorts(all []*Command) (rows [][2]string) {
	for _, c := range all {
		rows = append(rows, [2]string{c.Name(), c.Short})
	}
	return rows
}

// unsaid are flags that are private, or that do not shape the release.
var unsaid = []string{"value", "f", "ledger", "anchor", "ledger-key", "domain", "analyst", "key", "json",
	"catalog", "out", "plot", "wide", "checkpoint", "resume"}

// Said is the command line that the ledger keeps: without private values, in one order, so
// that the same release is the same request. Keys and checkpoints hold this form ("--n"
// too), so it does not change.
func Said(c *Command) string {
	words := []string{"discreet", c.Title()}
	flags := slices.DeleteFunc(slices.Clone(c.Given), func(g Given) bool { return slices.Contains(unsaid, g.Name) })
	slices.SortStableFunc(flags, func(a, b Given) int { return cmp.Compare(a.Name, b.Name) })
	for _, g := range flags {
		words = append(words, "--"+g.Name)
		if b, ok := c.Flags.Lookup(g.Name).Value.(interface{ IsBoolFlag() bool }); ok && b.IsBoolFlag() {
			continue
		}
		if strings.ContainsAny(g.Value, " \t\n'\"\\$|&;<>()*?[]#~`") || g.Value == "" {
			g.Value = quote(g.Value)
		}
		words = append(words, g.Value)
	}
	return strings.Join(words, " ")
}

// Missing refuses a command line that lacks what a mechanism needs.
func Missing(what, flag string) error {
	return diagnostic.New("D113", diagnostic.Span{}, "%s is missing", what).Try("give %s", flag)
}

// environment names the variables that stand in for flags.
var environment = map[string]string{
	"anchor":     "DISCREET_ANCHOR",
	"ledger-key": "DISCREET_LEDGER_KEY_FILE",
}

// Environment is the value of the variable that stands in for a flag, or "".
func Environment(name string) string {
	variable := environment[name]
	if variable == "" {
		return ""
	}
	return os.Getenv(variable)
}
