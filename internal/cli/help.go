package cli

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

func helpCommand() *command.Command {
	c := &command.Command{
		UsageLine: "help [COMMAND [VERB] | CODE]",
		For:       command.Anyone,
		Short:     "explain a command, or the code of a refusal",
		Long: `Without argument it lists the commands. With a command it explains it; with the
code of a refusal, such as D014, it says why that is refused, what to do, and
what the smallest such statement is.`,
		Examples:  [2]string{"discreet help query", "discreet help D014"},
		Arguments: []string{"HELP", "HELP"},
	}
	wantJSON := c.Flags.Bool("json", false, "print JSON")
	c.Run = func(_ context.Context, t *terminal.Terminal, args []string) error {
		switch {
		case len(args) == 0 && *wantJSON:
			return t.WriteJSON(map[string]any{"commands": describeAll(commands())})
		case len(args) == 0:
			writeOverview(t.Out, commands())
			return nil
		case code.MatchString(args[0]):
			if err := command.None(c, args[1:]); err != nil {
				return err
			}
			return helpCode(t, strings.ToUpper(args[0]), *wantJSON)
		}
		about, err := command.Find(commands(), args)
		if err != nil {
			return err
		}
		if *wantJSON {
			return t.WriteJSON(describe(about))
		}
		about.WriteHelp(t.Out)
		return nil
	}
	return c
}

var code = regexp.MustCompile(`^[Dd][0-9]+$`)

func helpCode(t *terminal.Terminal, code string, wantJSON bool) error {
	e, ok := diagnostic.Explain(code)
	if !ok {
		return unknownCode(code)
	}
	if wantJSON {
		return t.WriteJSON(map[string]string{"code": e.Code, "title": e.Title, "explain": e.Explain, "example": e.Example})
	}
	fmt.Fprintf(t.Out, "%s: %s\n\n%s\n", e.Code, e.Title, terminal.Wrap(e.Explain, min(78, t.Paragraph())))
	if e.Example != "" {
		fmt.Fprintf(t.Out, "\nThe smallest example:\n%s\n", terminal.Indent(e.Example, 2))
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
func writeOverview(to io.Writer, all []*command.Command) {
	w := new(strings.Builder)
	defer func() { io.WriteString(to, terminal.Fit(to, w.String())) }()
	fmt.Fprint(w, "Discreet answers SQL about private data, under a budget that cannot be overspent.\n\n"+
		"usage: discreet COMMAND [flags] [arguments]\n\n")
	command.WriteAligned(w, command.Shorts(all))
	fmt.Fprint(w, `
discreet help COMMAND explains a command, discreet help CODE a refusal.
Exit codes: 0 answered, 1 refused, 2 usage, 3 budget, 4 engine.

Example:
  discreet demo
  cd discreet-demo
  discreet query --rho 0.01 'SELECT sex, avg(cost) FROM visits GROUP BY sex'
`)
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

func describe(c *command.Command) described {
	d := described{c.Name(), "discreet " + c.Line(), c.Short, strings.TrimSpace(c.Long), map[string]string{}, c.Examples, describeAll(c.Verbs)}
	for _, row := range c.FlagTable() {
		d.Flags[row[0]] = row[1]
	}
	return d
}

func describeAll(all []*command.Command) (out []described) {
	for _, c := range all {
		out = append(out, describe(c))
	}
	return out
}
