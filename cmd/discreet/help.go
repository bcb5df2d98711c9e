package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

func helpCommand() *Command {
	c := &Command{
		UsageLine: "help [COMMAND [VERB] | CODE]",
		For:       anyone,
		Short:     "explain a command, or the code of a refusal",
		Long: `Without argument it lists the commands. With a command it explains it; with the
code of a refusal, such as D014, it says why that is refused, what to do, and
what the smallest such statement is.`,
		Examples: [2]string{"discreet help query", "discreet help D014"},
	}
	wantJSON := c.Flags.Bool("json", false, "print JSON")
	c.Run = func(_ context.Context, t *terminal, args []string) error {
		switch {
		case len(args) == 0 && *wantJSON:
			return t.writeJSON(map[string]any{"commands": describeAll(commands())})
		case len(args) == 0:
			writeOverview(t.out, commands())
			return nil
		case code.MatchString(args[0]):
			if err := none(c, args[1:]); err != nil {
				return err
			}
			return helpCode(t, strings.ToUpper(args[0]), *wantJSON)
		}
		about, err := find(args[0])
		if err != nil {
			return err
		}
		about, rest, err := about.verb(args[1:])
		if err != nil {
			return err
		}
		if err := none(c, rest); err != nil {
			return err
		}
		if *wantJSON {
			return t.writeJSON(describe(about))
		}
		about.writeHelp(t.out)
		return nil
	}
	return c
}

var code = regexp.MustCompile(`^[Dd][0-9]+$`)

func helpCode(t *terminal, code string, wantJSON bool) error {
	e, ok := diagnostic.Explain(code)
	if !ok {
		return unknownCode(code)
	}
	if wantJSON {
		return t.writeJSON(map[string]string{"code": e.Code, "title": e.Title, "explain": e.Explain, "example": e.Example})
	}
	fmt.Fprintf(t.out, "%s: %s\n\n%s\n", e.Code, e.Title, wrap(e.Explain, 78))
	if e.Example != "" {
		fmt.Fprintf(t.out, "\nThe smallest example:\n%s\n", indent(e.Example, 2))
	}
	return nil
}

func unknownCode(code string) error {
	var codes []string
	for _, e := range diagnostic.Entries() {
		codes = append(codes, e.Code)
	}
	d := diagnostic.New("D110", diagnostic.Span{}, "there is no code %s", code)
	if near := diagnostic.Nearest(code, codes); near != "" {
		d.Try("did you mean %s?", near)
	}
	return d
}

// writeOverview prints the front page.
func writeOverview(w io.Writer, all []*Command) {
	fmt.Fprint(w, "Discreet answers SQL about private data, under a budget that cannot be overspent.\n\n"+
		"usage: discreet COMMAND [flags] [arguments]\n\n")
	writeAligned(w, shorts(all))
	fmt.Fprint(w, `
discreet help COMMAND explains a command, discreet help CODE a refusal.
Exit codes: 0 answered, 1 refused, 2 usage, 3 budget, 4 engine.

Example:
  discreet demo
  cd discreet-demo
  discreet query --rho 0.01 'SELECT sex, avg(cost) FROM visits GROUP BY sex'
`)
}

// shorts lists commands with a line each.
func shorts(all []*Command) (rows [][2]string) {
	for _, c := range all {
		rows = append(rows, [2]string{c.Name(), c.Short})
	}
	return rows
}

// described is a command in JSON.
type described struct {
	Name     string            `json:"name"`
	Usage    string            `json:"usage"`
	Short    string            `json:"short"`
	Long     string            `json:"long"`
	Flags    map[string]string `json:"flags"`
	Examples [2]string         `json:"examples"`
	Verbs    []described       `json:"verbs,omitempty"`
}

func describe(c *Command) described {
	d := described{c.Name(), "discreet " + c.Line(), c.Short, strings.TrimSpace(c.Long), map[string]string{}, c.Examples, describeAll(c.Verbs)}
	for _, row := range c.flagTable() {
		d.Flags[row[0]] = row[1]
	}
	return d
}

func describeAll(all []*Command) (out []described) {
	for _, c := range all {
		out = append(out, describe(c))
	}
	return out
}

// wrap breaks a paragraph into lines of at most width characters.
func wrap(text string, width int) string {
	var b strings.Builder
	at := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case at+1+len(word) > width:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	return b.String()
}
