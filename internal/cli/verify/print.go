package verify

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/verify"
	"github.com/discreet-dp/discreet/verify/report"
)

// print shows verdicts to people: a table, and below it why claims are not proved, or may
// be vacuous.
func (v *verification) print(t *terminal.Terminal, r *verify.Report, dir string) {
	verdicts(r).Write(t.Out)
	for i := range r.Results {
		result := &r.Results[i]
		if v.proof && len(result.Proof) > 0 {
			printSection(t, heading("proof of "+title(result, r), result, dir), proofRows(result, dir))
		}
		if result.Verdict != verify.Proved {
			printSection(t, heading(string(result.Verdict)+": "+title(result, r), result, dir), reasons(result, dir))
		}
	}
	proved := 0
	for _, result := range r.Results {
		if result.Verdict == verify.Proved {
			proved++
		}
	}
	t.Say("%d of %d claims proved", proved, len(r.Results))
}

// verdicts is the table.
func verdicts(r *verify.Report) terminal.Grid {
	g := terminal.Grid{{Title: "function"}, {Title: "claim"}, {Title: "verdict"}, {Title: "over"}, {Title: "least cost"}, {Title: "seconds", Right: true}}
	for i := range r.Results {
		result := &r.Results[i]
		for j, text := range []string{title(result, r), report.Claim(result), string(result.Verdict), string(result.Over), result.LeastCost, fmt.Sprintf("%.2f", result.Seconds)} {
			g[j].Cells = append(g[j].Cells, terminal.Printable(text))
		}
	}
	return g
}

// title is a function's name, with its package if there are several. A directive that
// belongs to no function has none.
func title(result *verify.Result, r *verify.Report) string {
	name := cmp.Or(result.Function, "(no function)")
	for _, other := range r.Results {
		if other.Package != result.Package {
			return path.Base(result.Package) + "." + name
		}
	}
	return name
}

func heading(what string, result *verify.Result, dir string) string {
	if result.File == "" {
		return what
	}
	return fmt.Sprintf("%s (%s:%d)", what, report.Relative(dir, result.File), result.Line)
}

// printSection prints rows of two columns under a heading.
func printSection(t *terminal.Terminal, heading string, rows [][2]string) {
	fmt.Fprintf(t.Out, "\n%s\n", terminal.Printable(heading))
	width := 0
	for _, row := range rows {
		width = max(width, len(row[0]))
	}
	for _, row := range rows {
		for i, line := range strings.Split(row[1], "\n") {
			name := row[0]
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(t.Out, "  %s\n", strings.TrimRight(fmt.Sprintf("%-*s  %s", width, terminal.Printable(name), terminal.Printable(line)), " "))
		}
	}
}

// reasons say why a claim is not proved.
func reasons(result *verify.Result, dir string) (rows [][2]string) {
	add := func(name, text string) {
		if text != "" {
			rows = append(rows, [2]string{name, text})
		}
	}
	if c := result.Counterexample; c != nil {
		add("inputs", report.Values(c.Inputs))
		add("neighbour", cmp.Or(report.Values(report.Moved(c)), "the same"))
		if c.Distance != nil {
			add("event", c.Event+"; the neighbour "+c.Distance.Neighbour)
			add("distance", report.Apart(c))
		} else {
			add("event", c.Event)
			add("probability", report.Interval(c.P)+" for the inputs, "+report.Interval(c.Q)+" for the neighbour")
			add(report.Unit(c), report.Forced(c))
			if c.Fails != nil {
				add("false for", report.Fails(c))
			}
		}
	}
	add("note", result.Note)
	for _, p := range result.Problems {
		p.File = report.Relative(dir, p.File)
		text := p.String()
		if p.Hint != "" {
			text += "\n" + p.Hint
		}
		add(string(p.Kind), text)
	}
	return rows
}

// proofRows are the steps of a proof.
func proofRows(result *verify.Result, dir string) (rows [][2]string) {
	for _, s := range result.Proof {
		place := ""
		switch {
		case s.File != "" && s.File != result.File:
			place = fmt.Sprintf("%s:%d", report.Relative(dir, s.File), s.Line)
		case s.Line > 0:
			place = fmt.Sprintf("line %d", s.Line)
		}
		rows = append(rows, [2]string{place, s.Text})
	}
	return rows
}

// verdictsJSON is the contract's form, with files as seen from dir.
func verdictsJSON(r *verify.Report, dir string) any {
	functions := make([]verify.Result, len(r.Results))
	for i, result := range r.Results {
		result.File, result.Certificate = report.Relative(dir, result.File), report.Relative(dir, result.Certificate)
		result.Problems, result.Proof, result.Alignment = slices.Clone(result.Problems), slices.Clone(result.Proof), slices.Clone(result.Alignment)
		for j := range result.Problems {
			result.Problems[j].File = report.Relative(dir, result.Problems[j].File)
		}
		for j := range result.Proof {
			result.Proof[j].File = report.Relative(dir, result.Proof[j].File)
		}
		for j := range result.Alignment {
			result.Alignment[j].File = report.Relative(dir, result.Alignment[j].File)
		}
		functions[i] = result
	}
	return struct {
		Functions []verify.Result `json:"functions"`
		Missing   []string        `json:"missing,omitempty"`
		Failing   []string        `json:"failing,omitempty"`
	}{functions, r.Missing, r.Failing}
}
