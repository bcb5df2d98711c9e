package prove

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// A Step is a line of a readable proof.
type Step struct {
	Kind StepKind
	// Line is where the statement stands, 0 if nowhere.
	Line int
	Text string
}

// A StepKind says what a step is of.
type StepKind string

// The kinds of steps.
const (
	// Coupling of a draw.
	Coupling StepKind = "coupling"
	// InvariantStep of a loop.
	InvariantStep StepKind = "invariant"
	// Lockstep of a branch or loop that both runs take alike.
	Lockstep StepKind = "lockstep"
	// Conclusion of a result, or of the whole.
	Conclusion StepKind = "conclusion"
)

// Explain tells the proof statement by statement, in the words of the literature on
// couplings.
func Explain(f *p.Function, c *claim.Claim, cert *Certificate) ([]Step, error) {
	proofs, err := replay(context.Background(), f, c, cert)
	if err != nil {
		return nil, fmt.Errorf("explain proof: %w", err)
	}
	var all []Step
	if len(cert.Units) > 0 {
		all = append(all, Step{Conclusion, 0, "in units of " + strings.Join(cert.Units, " and ") + ": what is compared with or added to distances is divided by it, which changes no run; 1 stands for it below"})
	}
	for _, r := range proofs {
		if r.orientation == nil {
			continue
		}
		if len(cert.Orientations) > 1 {
			text := "Forward: the second run has the neighbour's inputs."
			if r.m.swapped {
				text = "Backward: the first run has the neighbour's inputs, as the adjacency is not symmetric."
			}
			all = append(all, Step{Conclusion, 0, text})
		}
		e := explainer{r.m, *r.orientation, nil}
		e.list(r.m.f.Body)
		e.end()
		all = append(all, e.steps...)
	}
	return all, nil
}

type explainer struct {
	m     *machine
	o     Orientation
	steps []Step
}

func (e *explainer) add(kind StepKind, s p.Statement, format string, args ...any) {
	line := 0
	if s != nil {
		line = e.m.line(s.Position())
	}
	e.steps = append(e.steps, Step{kind, line, fmt.Sprintf(format, args...)})
}

func (e *explainer) list(list []p.Statement) {
	for _, s := range list {
		switch s := s.(type) {
		case *p.Draw:
			e.draw(s)
		case *p.If:
			if !e.m.isPrivate(s.Cond) {
				// Nothing to show.
			} else if pure(s) {
				e.add(Lockstep, s, "the runs may take different branches of if %s: they only assign", s.Cond)
			} else {
				e.add(Lockstep, s, "lockstep: both runs decide %s alike, by the couplings above", s.Cond)
			}
			e.list(s.Then)
			e.list(s.Else)
		case *p.Loop:
			at := slices.Index(e.m.loops, s)
			var fs []string
			for _, i := range e.o.Invariants {
				if i.Loop == at {
					fs = append(fs, infix(i.Formula))
				}
			}
			e.add(Lockstep, s, "lockstep: both runs stay in the loop while %s", s.Cond)
			if len(fs) > 0 {
				e.add(InvariantStep, s, "invariant: %s", strings.Join(fs, "; "))
			}
			e.list(s.Body)
		case *p.Append:
			e.add(Conclusion, s, "pointwise equality: %s receives the same %s in both runs", s.To.Name, s.Value)
		case *p.Store:
			e.add(Conclusion, s, "pointwise equality: %s[%s] receives the same %s in both runs", s.To.Name, s.Index, s.Value)
		case *p.Output:
			e.add(Conclusion, s, "pointwise equality: both runs reveal the same %s", join(s.Values))
		case *p.Return:
			if len(s.Values) > 0 {
				e.returns(s)
			}
		}
	}
}

func (e *explainer) returns(s *p.Return) {
	for i := range s.Values {
		if i < len(e.m.outcomes) && e.m.outcomes[i] != nil {
			e.add(Conclusion, s, "pointwise: for each outcome, if the first run returns %s = %s, so does the second", join(s.Values), e.m.outcomes[i].Name)
			return
		}
	}
	e.add(Conclusion, s, "pointwise equality: both runs return the same %s", join(s.Values))
}

func join(xs []p.Expression) string {
	texts := make([]string, len(xs))
	for i, x := range xs {
		texts[i] = x.String()
	}
	return strings.Join(texts, ", ")
}

// draw names the coupling of each case, and what it costs.
func (e *explainer) draw(d *p.Draw) {
	law := fmt.Sprintf("%s ~ %v(%s)", d.To.Name, d.Law, d.Parameter)
	x := e.m.align[d]
	switch {
	case d.Law == p.Choose:
		e.add(Coupling, d, "%s: the ratio rule of the exponential mechanism: both runs choose alike, at most at %s", law, e.price(d, "the range of the scores' distances"))
		return
	case x == nil:
		e.add(Coupling, d, "%s: identity coupling: the same sample in both runs, at no cost", law)
		return
	}
	e.cases(d, law, x, nil)
}

func (e *explainer) cases(d *p.Draw, law string, x p.Expression, when []string) {
	if c, ok := x.(p.If3); ok {
		e.cases(d, law, c.Then, append(slices.Clip(when), c.Cond.String()))
		e.cases(d, law, c.Else, append(slices.Clip(when), "not "+c.Cond.String()))
		return
	}
	text := law + ": "
	if len(when) > 0 {
		text += "if " + strings.Join(when, " and ") + ": "
	}
	n, number := x.(p.Number)
	cost := e.price(d, "|"+x.String()+"|")
	switch {
	case number && n.Value.Sign() == 0:
		text += "identity coupling: the same sample in both runs, at no cost"
	case number:
		text += fmt.Sprintf("shift coupling by %s, at %s", x, cost)
	default:
		text += fmt.Sprintf("shift coupling by %s, at %s", x, cost)
		if _, cancels := x.(p.Unary); cancels {
			text = strings.Replace(text, "shift coupling", "null coupling: what the noise is added to becomes equal; shift", 1)
		}
	}
	e.add(Coupling, d, "%s", text)
}

// price writes what a shift of a size costs.
func (e *explainer) price(d *p.Draw, size string) string {
	var parts []string
	for _, c := range e.m.budget.counters {
		r := c.rate[d].String()
		if r == "0" {
			continue
		}
		part := size + "*" + c.unit
		if r != "1" {
			part = size + "*" + r + "*" + c.unit
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return "no cost"
	}
	return "cost " + strings.Join(parts, " + ")
}

func (e *explainer) end() {
	for _, c := range e.m.budget.counters {
		e.add(Conclusion, nil, "in all: %s <= %s in units of %s, which is the claim", c.name, c.goal, c.unit)
	}
}

// infix writes an SMT-LIB formula as people do; what it cannot read it leaves.
func infix(text string) string {
	tokens := lex(text)
	out, rest := infixOf(tokens)
	if len(rest) > 0 || out == "" {
		return text
	}
	return strings.TrimSuffix(strings.TrimPrefix(out, "("), ")")
}

func lex(text string) []string {
	var ts []string
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == ' ' || c == '\n':
			i++
		case c == '(' || c == ')':
			ts = append(ts, string(c))
			i++
		case c == '|':
			j := i + 1
			for j < len(text) && text[j] != '|' {
				j++
			}
			ts = append(ts, text[i+1:j])
			i = j + 1
		default:
			j := i
			for j < len(text) && !strings.ContainsRune("() \n|", rune(text[j])) {
				j++
			}
			ts = append(ts, text[i:j])
			i = j
		}
	}
	return ts
}

func infixOf(ts []string) (string, []string) {
	if len(ts) == 0 || ts[0] == ")" {
		return "", ts
	}
	if ts[0] != "(" {
		return strings.TrimSuffix(ts[0], ".0"), ts[1:]
	}
	if len(ts) < 2 {
		return "", ts
	}
	op, ts := ts[1], ts[2:]
	var args []string
	for len(ts) > 0 && ts[0] != ")" {
		a, rest := infixOf(ts)
		if len(rest) == len(ts) {
			return "", ts
		}
		args, ts = append(args, a), rest
	}
	if len(ts) == 0 || len(args) == 0 {
		return "", ts
	}
	ts = ts[1:]
	names := map[string]string{"and": " && ", "or": " || ", "=": " == "}
	switch {
	case op == "to_real":
		return args[0], ts
	case op == "not":
		return "!" + args[0], ts
	case op == "-" && len(args) == 1:
		return "-" + args[0], ts
	case op == "*":
		return strings.Join(args, "*"), ts
	case op == "+":
		return "(" + strings.ReplaceAll(strings.Join(args, " + "), "+ -", "- ") + ")", ts
	case op == "ite":
		return "cond(" + strings.Join(args, ", ") + ")", ts
	case names[op] != "":
		return "(" + strings.Join(args, names[op]) + ")", ts
	}
	return "(" + strings.Join(args, " "+op+" ") + ")", ts
}
