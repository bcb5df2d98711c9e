package ratio

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A machine runs a part once, along given outcomes of its draws, on symbols: values are
// expressions over what was there at the start, constants where that is known.
type machine struct {
	*enumeration
	public, secret map[string]program.Expression // answers
	choices        []int                         // of the draws, in order
	steps          int                           // left
	weight         fraction                      // the path's probability
	vars           map[*program.Variable]program.Expression
	slices         map[*program.Variable]sequence
	output         []string
	solo           *solo  // nil unless one run is followed by itself
	point          *point // nil unless values stay symbols
}

// A sequence is the value of a slice: one that was there at the start, with what was done to
// it since; or one that was made here, whose elements are known.
type sequence struct {
	base   *program.Variable // a leaf, or nil
	elems  []program.Expression
	done   []string
	length program.Expression // nil if it is not public
}

// run returns the outcome.
func (m *machine) run() (string, error) {
	return m.end(m.list)
}

// end runs a list and returns the outcome.
func (m *machine) end(list []program.Statement) (string, error) {
	end, err := m.all(list)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprint(&b, strings.Join(m.output, "; "))
	if end.kind != 0 {
		fmt.Fprintf(&b, " %c", end.kind)
		if end.loop != nil {
			b.WriteString(" " + end.loop.Name)
		}
	}
	if end.kind != 'r' {
		for _, v := range m.exposed {
			if m.solo != nil && m.solo.keeps(v) {
				m.kept[v] = true
				continue
			}
			text, err := m.shown(program.Ref{Var: v})
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, " %s=%s", v.Name, text)
			if l, ok := m.slices[v]; ok && l.length != nil {
				if m.lengths[v] == nil {
					m.lengths[v] = map[string]program.Expression{}
				}
				m.lengths[v][l.length.String()] = l.length
			}
		}
	}
	m.ends[end] = true
	return strings.TrimSpace(b.String()), nil
}

func (m *machine) all(statements []program.Statement) (signal, error) {
	for _, s := range statements {
		end, err := m.one(s)
		if err != nil || end.kind != 0 {
			return end, err
		}
	}
	return signal{}, nil
}

func (m *machine) one(s program.Statement) (signal, error) {
	if m.steps--; m.steps < 0 {
		return signal{}, undecided("more than %d statements", maxSteps)
	}
	switch s := s.(type) {
	case *program.Assign:
		if s.To.Slice {
			l := m.slice(s.Value.(program.Ref).Var)
			m.slices[s.To] = sequence{l.base, slices.Clone(l.elems), slices.Clone(l.done), l.length}
			return signal{}, nil
		}
		x, err := m.eval(s.Value)
		m.vars[s.To] = x
		return signal{}, err
	case *program.Make:
		return signal{}, m.make(s)
	case *program.Append:
		return signal{}, m.append(s)
	case *program.Store:
		return signal{}, m.store(s)
	case *program.Draw:
		if m.solo != nil {
			return signal{}, m.solo.draw(s)
		}
		switch s.Law {
		case program.Choose:
			return signal{}, m.choose(s)
		case program.Uniform:
			return signal{}, m.uniform(s)
		}
		return signal{}, m.flip(s)
	case *program.If:
		yes, err := m.truth(s.Cond)
		if err != nil {
			return signal{}, err
		}
		if yes {
			return m.all(s.Then)
		}
		return m.all(s.Else)
	case *program.Loop:
		return m.loop(s)
	case *program.Break:
		return signal{'b', s.Of}, nil
	case *program.Continue:
		return signal{'c', s.Of}, nil
	case *program.Output:
		return signal{}, m.reveal(s.Values, "")
	case *program.Return:
		return signal{kind: 'r'}, m.reveal(s.Values, "return ")
	}
	return signal{}, undecided("statements of this kind")
}

// loop runs a loop whose condition is a constant every time.
func (m *machine) loop(s *program.Loop) (signal, error) {
	if len(m.hits[s]) > 0 {
		return signal{}, undecided("the rounds of a loop, of which each has its own %s", m.hits[s][0].of.Name)
	}
	for {
		cond, err := m.eval(s.Cond)
		if err != nil {
			return signal{}, err
		}
		yes, ok := cond.(program.Truth)
		if !ok {
			return signal{}, undecided("how often the loop on %v runs", s.Cond)
		}
		if m.steps--; !yes || m.steps < 0 {
			break
		}
		end, err := m.all(s.Body)
		switch {
		case err != nil:
			return signal{}, err
		case end == signal{'b', s}:
			return signal{}, nil
		case end.kind != 0 && end != signal{'c', s}:
			return end, nil
		}
		if _, err := m.all(s.Post); err != nil {
			return signal{}, err
		}
	}
	if m.steps < 0 {
		return signal{}, undecided("more than %d statements", maxSteps)
	}
	return signal{}, nil
}

func (m *machine) reveal(values []program.Expression, how string) error {
	texts := make([]string, len(values))
	for i, e := range values {
		text, err := m.shown(e)
		if err != nil {
			return err
		}
		texts[i] = text
	}
	m.output = append(m.output, how+strings.Join(texts, ", "))
	return nil
}

// shown writes a value that must not depend on private data but by what is known.
func (m *machine) shown(e program.Expression) (string, error) {
	if r, ok := e.(program.Ref); ok && r.Var.Slice {
		l := m.slice(r.Var)
		var b strings.Builder
		if l.base != nil {
			if m.secrets[l.base.Name] {
				return "", undecided("%s depends on private data", r.Var.Name)
			}
			b.WriteString(l.base.Name)
		}
		b.WriteString(strings.Join(l.done, ""))
		for _, x := range l.elems {
			text, err := m.scalar(x)
			if err != nil {
				return "", err
			}
			b.WriteString("[" + text + "]")
		}
		return b.String(), nil
	}
	x, err := m.eval(e)
	if err != nil {
		return "", err
	}
	return m.scalar(x)
}

// scalar writes an evaluated scalar.
func (m *machine) scalar(x program.Expression) (string, error) {
	if m.point != nil {
		return m.hole(x)
	}
	x, err := m.known(x)
	if err != nil {
		return "", err
	}
	if m.hidden(x) {
		if program.SortOf(x) != program.Bool || m.solo != nil {
			return "", undecided("%v depends on private data", x)
		}
		yes, err := m.settle(x)
		return fmt.Sprint(yes), err
	}
	if f, err := m.fraction(x); err == nil {
		return f.String(), nil
	}
	return x.String(), nil
}

// known asks for the private leaves of few values in an evaluated expression.
func (m *machine) known(x program.Expression) (program.Expression, error) {
	if m.solo != nil || m.point != nil {
		return x, nil
	}
	for _, leaf := range m.leaves(x) {
		if options, input := m.domain(leaf); options != nil {
			return nil, &question{key: leaf.String(), options: options, secret: true, input: input}
		}
	}
	return x, nil
}

// leaves lists the private leaves of an evaluated expression.
func (m *machine) leaves(x program.Expression) []program.Expression {
	switch x := x.(type) {
	case program.Length:
		return nil
	case program.Ref:
		if m.secrets[x.Var.Name] {
			return []program.Expression{x}
		}
		return nil
	case program.Element:
		if m.secrets[x.Slice.Name] {
			return append(m.leaves(x.Index), x)
		}
		return m.leaves(x.Index)
	}
	var all []program.Expression
	for _, y := range parts(x) {
		all = append(all, m.leaves(y)...)
	}
	return all
}

func (m *machine) hidden(x program.Expression) bool { return len(m.leaves(x)) > 0 }

// domain lists the values of a private leaf, if there are few.
func (m *machine) domain(leaf program.Expression) ([]program.Expression, *program.Variable) {
	if program.SortOf(leaf) == program.Bool {
		return []program.Expression{program.Truth(false), program.Truth(true)}, nil
	}
	ref, ok := leaf.(program.Ref)
	if !ok || ref.Var.Sort != program.Int || !ref.Var.Input {
		return nil, nil
	}
	return m.few(ref.Var), ref.Var
}

// flip draws a coin.
func (m *machine) flip(s *program.Draw) error {
	x, err := m.eval(s.Parameter)
	if err != nil {
		return err
	}
	if x, err = m.known(x); err != nil {
		return err
	}
	if m.hidden(x) {
		return undecided("the probability %v depends on private data", x)
	}
	heads, err := m.fraction(x)
	if err != nil {
		return err
	}
	tails := rational(one).minus(heads)
	if !m.nonnegative(heads.num) || !m.nonnegative(tails.num) {
		return undecided("that %v is a probability", x)
	}
	k, err := m.choice(2)
	if err != nil {
		return err
	}
	m.vars[s.To] = program.Truth(k == 0)
	m.weight = m.weight.times([]fraction{heads, tails}[k])
	return nil
}

// choose draws from a list whose scores are known.
func (m *machine) choose(s *program.Draw) error {
	l := m.slice(s.Scores)
	if l.base != nil || len(l.done) > 0 || len(l.elems) == 0 {
		return undecided("the number of scores in %s", s.Scores.Name)
	}
	epsilon, err := m.eval(s.Parameter)
	if err != nil {
		return err
	}
	weights, total := make([]fraction, len(l.elems)), rational(zero)
	for i, x := range l.elems {
		e := program.Binary{Op: program.Mul, X: program.Binary{Op: program.Mul, X: epsilon, Y: x}, Y: program.Number{Value: half, Sort: program.Real}}
		if _, err := m.known(e); err != nil {
			return err
		}
		if m.hidden(e) {
			return undecided("the score %v depends on private data", x)
		}
		if weights[i], err = m.exponential(e); err != nil {
			return err
		}
		total = total.plus(weights[i])
	}
	k, err := m.choice(len(weights))
	if err != nil {
		return err
	}
	share, err := m.quo(weights[k], total)
	m.vars[s.To] = program.Number{Value: big.NewRat(int64(k), 1), Sort: program.Int}
	m.weight = m.weight.times(share)
	return err
}

// choice takes the outcome of a draw.
func (m *machine) choice(ways int) (int, error) {
	if len(m.choices) == 0 {
		return 0, &fork{ways}
	}
	k := m.choices[0]
	m.choices = m.choices[1:]
	return k, nil
}

// truth decides a condition, or asks.
func (m *machine) truth(e program.Expression) (bool, error) {
	switch x := e.(type) {
	case program.Unary:
		if x.Op == program.Not {
			yes, err := m.truth(x.X)
			return !yes, err
		}
	case program.Binary:
		if x.Op == program.And || x.Op == program.Or {
			yes, err := m.truth(x.X)
			if err != nil || yes == (x.Op == program.Or) {
				return yes, err
			}
			return m.truth(x.Y)
		}
	}
	x, err := m.eval(e)
	if err != nil {
		return false, err
	}
	return m.settle(x)
}

// settle decides an evaluated condition, or asks.
func (m *machine) settle(x program.Expression) (bool, error) {
	if u, ok := x.(program.Unary); ok && u.Op == program.Not {
		yes, err := m.settle(u.X)
		return !yes, err
	}
	x, err := m.known(x)
	if err != nil {
		return false, err
	}
	if t, ok := x.(program.Truth); ok {
		return bool(t), nil
	}
	if m.point != nil {
		return m.decide(x)
	}
	if m.solo != nil {
		if b, ok := x.(program.Binary); ok && m.hidden(x) {
			return m.solo.decide(b)
		}
		return m.solo.either()
	}
	key, hidden := x.String(), m.hidden(x)
	answers := m.public
	if hidden {
		answers = m.secret
	}
	if t, ok := answers[key].(program.Truth); ok {
		return bool(t), nil
	}
	return false, &question{key: key, options: []program.Expression{program.Truth(false), program.Truth(true)}, secret: hidden}
}
