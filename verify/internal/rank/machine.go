package rank

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A machine runs a function on lists of which it knows the order alone: it tells the
// largest elements apart, the winners, and those of the others that are the largest that a
// loop has come to. A loop over the list comes to its elements in any order; in the round of
// an element that is none of the winners, that may stand anywhere among the others. What a
// variable holds is named by the element that it is of, so that there are finitely many
// states.
//
// Every run of the function is one of the machine's, for the order of its noisy values:
// what the machine takes for true is.
type machine struct {
	f       *program.Function
	c       *claim.Claim
	draw    *program.Draw
	winners int
	way     way

	private  map[*program.Variable]bool // inputs
	equal    map[*program.Variable]bool // inputs as long as the list
	indices  map[*program.Variable]bool // variables that are set to where an element stands
	ordinals map[*program.Variable]int
	passing  map[*program.Loop][]*program.Variable // variables that a round does not leave to another one

	scale    program.Expression
	template map[*program.Variable]*big.Rat // what noise is added to: factors of elements
	results  map[int][]result               // by the number of elements
	need     int
	gaps     bool
	steps    int
}

// A state is what is known at one place of the function.
type state struct {
	n       int // how many elements there are; winners+1 is more than that
	first   id  // the first element
	now     id  // the present element, none outside of loops
	at      int // its index, if exact; else it is not below that
	exact   bool
	seen    uint // winners that this loop came to
	lows    int  // others that it came to, of which this many are told apart
	after   uint // those that it came to after the first winner
	second  int  // 1 if the second winner stands before the first, -1 if after; 0 is not known
	drew    bool // in this round
	ahead   bool // before the loop, for the first element
	drawn   bool // the loop that draws was entered
	vars    map[*program.Variable]value
	columns map[*program.Variable]column
	decided map[string]bool // conditions on what is public, or shown
}

// A column is what a slice holds: a list of values, or for each element of the list a value,
// in which self stands for the element.
type column struct {
	isList bool
	list   []value
	old    value // of all elements; of those that the loop did not come to if it sets them
	open   bool  // whether it does
	grows  bool  // by append, so that only each round's makes it as long as the list
	now    value // of those that it came to
	set    value // of the present one; nil if it is not set yet
}

const (
	maxSteps = 400000
	maxTurns = 64 // of loops that are not over the list
)

func newMachine(f *program.Function, c *claim.Claim, winners int, w way) *machine {
	m := &machine{
		f: f, c: c, winners: winners, way: w, private: map[*program.Variable]bool{}, equal: map[*program.Variable]bool{},
		indices: map[*program.Variable]bool{}, ordinals: map[*program.Variable]int{}, results: map[int][]result{},
	}
	m.draw, _ = drawn(f.Body)
	for _, a := range c.Adjacent {
		m.private[a.Input] = true
		if len(m.equal) == 0 && a.Input.Slice && !a.Input.Stream && a.Relation != claim.Bag {
			m.equal[a.Input] = true
		}
	}
	requires := slices.Concat(f.Requires, c.Requires)
	for range requires {
		for _, r := range requires {
			m.lengths(r)
		}
	}
	m.positions()
	m.passing = map[*program.Loop][]*program.Variable{}
	program.Each(f.Body, func(s program.Statement) {
		if l, ok := s.(*program.Loop); ok {
			m.passing[l] = passing(f, l)
		}
	})
	return m
}

// lengths notes slices that are required to be as long as the list.
func (m *machine) lengths(x program.Expression) {
	b, ok := x.(program.Binary)
	if !ok {
		return
	}
	if b.Op == program.And {
		m.lengths(b.X)
		m.lengths(b.Y)
	}
	v, ok1 := b.X.(program.Length)
	w, ok2 := b.Y.(program.Length)
	if b.Op == program.Eq && ok1 && ok2 && (m.equal[v.Slice] || m.equal[w.Slice]) {
		m.equal[v.Slice], m.equal[w.Slice] = true, true
	}
}

// positions finds the variables that are set to the counter of a loop, or to such a
// variable.
func (m *machine) positions() {
	counters := map[*program.Variable]bool{}
	program.Each(m.f.Body, func(s program.Statement) {
		if l, ok := s.(*program.Loop); ok {
			if i, ok := counter(l); ok {
				counters[i] = true
			}
		}
	})
	for range m.f.Body {
		program.Each(m.f.Body, func(s program.Statement) {
			if a, ok := s.(program.Assign); ok && !counters[a.To] {
				if r, ok := a.Value.(program.Ref); ok && (counters[r.Var] || m.indices[r.Var]) {
					m.indices[a.To] = true
				}
			}
		})
	}
}

// passing lists the scalars that are mentioned in a loop's body alone, and set there before
// they are read. That a machine forgets them is no loss.
func passing(f *program.Function, l *program.Loop) (all []*program.Variable) {
	total, _ := mentions(f.Body)
	inside, set := mentions(l.Body)
	for v, n := range inside {
		if set[v] && n == total[v] && !v.Slice && !v.Input {
			all = append(all, v)
		}
	}
	return all
}

// mentions counts how often statements mention variables, and says which they set before
// they read them.
func mentions(list []program.Statement) (times map[*program.Variable]int, set map[*program.Variable]bool) {
	times, set = map[*program.Variable]int{}, map[*program.Variable]bool{}
	program.Each(list, func(s program.Statement) {
		for _, x := range program.Expressions(s) {
			program.Variables(x, func(v *program.Variable) { times[v]++ })
		}
		if v := program.Written(s); v != nil {
			set[v] = set[v] || times[v] == 0
			times[v]++
		}
	})
	return times, set
}

// counter is the variable of a loop that goes up by 1 after each round, and is not set in
// it.
func counter(l *program.Loop) (*program.Variable, bool) {
	if len(l.Post) != 1 {
		return nil, false
	}
	a, ok := l.Post[0].(program.Assign)
	if !ok {
		return nil, false
	}
	next, ok := a.Value.(program.Binary)
	if !ok || next.Op != program.Add || !is(next.X, a.To) || next.Y.String() != "1" {
		return nil, false
	}
	set := false
	program.Each(l.Body, func(s program.Statement) { set = set || program.Written(s) == a.To })
	return a.To, !set
}

func is(x program.Expression, v *program.Variable) bool {
	r, ok := x.(program.Ref)
	return ok && r.Var == v
}

// run follows the function for lists of all sizes.
func (m *machine) run() error {
	for n := range m.winners + 2 {
		firsts := []id{none}
		if n > 0 {
			firsts = nil
			for r := 1; r <= min(n, m.winners); r++ {
				firsts = append(firsts, id(r))
			}
			if n > m.winners {
				firsts = append(firsts, start)
			}
		}
		for _, first := range firsts {
			s := &state{n: n, first: first, vars: map[*program.Variable]value{}, columns: map[*program.Variable]column{}, decided: map[string]bool{}}
			if !m.allowed(s) {
				continue
			}
			flows, err := m.list(m.f.Body, s)
			if err != nil {
				return err
			}
			for _, f := range flows {
				if f.kind != 'r' {
					if err := m.reveal(f.state, nil, false); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// allowed reports whether lists of a size may meet what is required.
func (m *machine) allowed(s *state) bool {
	for _, r := range slices.Concat(m.f.Requires, m.c.Requires) {
		for _, x := range conjuncts(r) {
			if v, ok := m.eval(x, s).(public); ok && v.x == program.Expression(program.Truth(false)) {
				return false
			}
		}
	}
	return true
}

func conjuncts(x program.Expression) []program.Expression {
	if b, ok := x.(program.Binary); ok && b.Op == program.And {
		return slices.Concat(conjuncts(b.X), conjuncts(b.Y))
	}
	return []program.Expression{x}
}

// A flow is a state, and how it left a list of statements: by their end (0), a break, a
// continue or a return (b, c, r).
type flow struct {
	*state
	kind byte
	of   *program.Loop
}

func (m *machine) list(list []program.Statement, s *state) ([]flow, error) {
	flows := []flow{{state: s}}
	for _, st := range list {
		var next []flow
		for _, f := range flows {
			if f.kind != 0 {
				next = append(next, f)
				continue
			}
			if m.steps++; m.steps > maxSteps {
				return nil, undecided("more than %d steps", maxSteps)
			}
			more, err := m.statement(st, f.state)
			if err != nil {
				return nil, err
			}
			next = append(next, more...)
		}
		flows = next
	}
	return flows, nil
}

// statement runs one; s is its own.
func (m *machine) statement(st program.Statement, s *state) ([]flow, error) {
	switch st := st.(type) {
	case program.Assign:
		return m.assign(st, s)
	case program.Draw:
		v, ok := m.eval(st.Parameter, s).(public)
		x := s.now
		if x == none && !s.ahead && !s.drawn {
			x, s.ahead = s.first, true
		}
		if !ok || x == none || s.drew {
			return nil, undecided("line %d: noise that is not drawn once for each element, of a public scale", m.line(st.Pos))
		}
		if m.scale == nil {
			m.scale = v.x
		}
		if m.scale.String() != v.text() {
			return nil, undecided("line %d: noise of the scales %v and %v", m.line(st.Pos), m.scale, v.x)
		}
		s.vars[st.To], s.drew = sum{{at: x}: big.NewRat(1, 1)}, s.now != none
	case program.Make:
		return one(s), m.make(st, s)
	case program.Append:
		return one(s), m.append(st, s)
	case program.Store:
		m.store(st, s)
	case program.If:
		var all []flow
		cases, err := m.cases(st.Cond, s, m.line(st.Pos))
		if err != nil {
			return nil, err
		}
		for _, c := range cases {
			list := st.Else
			if c.yes {
				list = st.Then
			}
			flows, err := m.list(list, c.state)
			if err != nil {
				return nil, err
			}
			all = append(all, flows...)
		}
		return all, nil
	case *program.Loop:
		return m.loop(st, s)
	case program.Break:
		return []flow{{s, 'b', st.Of}}, nil
	case program.Continue:
		return []flow{{s, 'c', st.Of}}, nil
	case program.Return:
		if s.now != none {
			return nil, undecided("line %d: the function may return before it has looked at all elements", m.line(st.Pos))
		}
		return []flow{{s, 'r', nil}}, m.reveal(s, st.Values, st.Panic)
	default:
		return nil, undecided("line %d: it reveals values as it goes", m.line(st.Position()))
	}
	return one(s), nil
}

func one(s *state) []flow { return []flow{{state: s}} }

func (m *machine) assign(st program.Assign, s *state) ([]flow, error) {
	if st.To.Slice {
		from, ok := st.Value.(program.Ref)
		if !ok {
			return nil, undecided("line %d: a slice", m.line(st.Pos))
		}
		s.columns[st.To] = m.column(from.Var, s)
		return one(s), nil
	}
	if st.To.Sort == program.Bool {
		cases, err := m.cases(st.Value, s, m.line(st.Pos))
		var all []flow
		for _, c := range cases {
			c.vars[st.To] = public{program.Truth(c.yes)}
			all = append(all, flow{state: c.state})
		}
		return all, err
	}
	v := m.eval(st.Value, s)
	if p, ok := v.(public); ok && m.indices[st.To] && s.n > 0 && p.x.String() == "0" {
		v = index{s.first} // 0 is where the first element stands
	}
	s.vars[st.To] = v
	return one(s), nil
}

// column is what a slice holds.
func (m *machine) column(v *program.Variable, s *state) column {
	if c, ok := s.columns[v]; ok {
		c.list = slices.Clone(c.list)
		return c
	}
	if v.Input && m.equal[v] {
		return column{old: sum{{of: v, at: self}: big.NewRat(1, 1)}}
	}
	return column{}
}

func (m *machine) make(st program.Make, s *state) error {
	var zero value = public{program.Number{Value: new(big.Rat), Sort: st.To.Sort}}
	if st.To.Sort == program.Bool {
		zero = public{program.Truth(false)}
	}
	switch n := m.eval(st.Length, s).(type) {
	case size:
		s.columns[st.To] = column{old: zero}
		return nil
	case public:
		if n, ok := n.x.(program.Number); ok && n.Value.IsInt() && n.Value.Sign() >= 0 && n.Value.Num().BitLen() < 6 {
			s.columns[st.To] = column{isList: true, list: slices.Repeat([]value{zero}, int(n.Value.Num().Int64()))}
			return nil
		}
	}
	return undecided("line %d: a slice of the length %v", m.line(st.Pos), st.Length)
}

func (m *machine) append(st program.Append, s *state) error {
	c := m.column(st.To, s)
	switch {
	case s.now != none:
		// Each round appends one: see enter and leave.
		if !c.open || c.old != nil || c.set != nil {
			return undecided("line %d: %s is not made longer once for each element", m.line(st.Pos), st.To.Name)
		}
		m.put(st.To, c, m.eval(st.Value, s), s)
	case c.isList:
		c.list = append(c.list, m.eval(st.Value, s))
		s.columns[st.To] = c
	default:
		return undecided("line %d: what %s is appended to", m.line(st.Pos), st.To.Name)
	}
	return nil
}

func (m *machine) store(st program.Store, s *state) {
	c := m.column(st.To, s)
	at := m.eval(st.Index, s)
	v := m.eval(st.Value, s)
	if i, ok := constant(at); ok && c.isList && i >= 0 && i < len(c.list) {
		c.list[i] = v
		s.columns[st.To] = c
		return
	}
	if i, ok := at.(index); ok && s.now != none && i.of == s.now && c.open {
		m.put(st.To, c, v, s)
		return
	}
	s.columns[st.To] = column{} // nothing is known of it any more
}

// put sets the present element of a slice.
func (m *machine) put(to *program.Variable, c column, v value, s *state) {
	v = renamed(v, func(x id) id {
		if x == s.now {
			return self
		}
		return x
	})
	for _, x := range of(v) {
		if x != self {
			v = unknown{}
		}
	}
	if _, fixed := v.(index); fixed {
		v = unknown{}
	}
	c.set = v
	s.columns[to] = c
}

func constant(v value) (int, bool) {
	p, ok := v.(public)
	if !ok {
		return 0, false
	}
	n, ok := p.x.(program.Number)
	if !ok || !n.Value.IsInt() || n.Value.Num().BitLen() > 31 {
		return 0, false
	}
	return int(n.Value.Num().Int64()), true
}

// A possibility is a condition's truth, and the state in which it is that.
type possibility struct {
	*state
	yes bool
}

// cases follow a condition. One on what is public or shown may be either, and stays so.
func (m *machine) cases(x program.Expression, s *state, line int) ([]possibility, error) {
	switch x := x.(type) {
	case program.Unary:
		all, err := m.cases(x.X, s, line)
		for i := range all {
			all[i].yes = !all[i].yes
		}
		return all, err
	case program.Binary:
		if x.Op != program.And && x.Op != program.Or {
			break
		}
		first, err := m.cases(x.X, s, line)
		var all []possibility
		for _, c := range first {
			if c.yes == (x.Op == program.Or) {
				all = append(all, c)
				continue
			}
			more, err := m.cases(x.Y, c.state, line)
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
		return all, err
	}
	v := m.eval(x, s)
	need := 0
	switch v := v.(type) {
	case public:
		if t, ok := v.x.(program.Truth); ok {
			return []possibility{{s, bool(t)}}, nil
		}
	case shown:
		need = v.need
	default:
		if m.way.step && s.now != none {
			// Which others a winner would have to beat before it comes may not be known.
			return []possibility{{s, true}, {s.clone(), false}}, nil
		}
		return nil, undecided("line %d: the order of noisy values does not tell whether %v", line, x)
	}
	m.need = max(m.need, need)
	if yes, ok := s.decided[v.text()]; ok {
		return []possibility{{s, yes}}, nil
	}
	var all []possibility
	for _, yes := range []bool{true, false} {
		c := s.clone()
		c.decided[v.text()] = yes
		all = append(all, possibility{c, yes})
	}
	return all, nil
}

func (s *state) clone() *state {
	c := *s
	c.vars, c.columns, c.decided = maps.Clone(s.vars), maps.Clone(s.columns), maps.Clone(s.decided)
	return &c
}

// key tells states apart.
func (m *machine) key(s *state) string {
	var b strings.Builder
	fmt.Fprint(&b, s.n, s.first, s.now, s.at, s.exact, s.seen, s.lows, s.after, s.second, s.drew, s.ahead, s.drawn)
	ordinal := func(v *program.Variable) int {
		if _, ok := m.ordinals[v]; !ok {
			m.ordinals[v] = len(m.ordinals)
		}
		return m.ordinals[v]
	}
	var parts []string
	for v, x := range s.vars {
		parts = append(parts, strconv.Itoa(ordinal(v))+"="+x.text())
	}
	for v, c := range s.columns {
		text := fmt.Sprint(ordinal(v), "[", c.isList, c.open)
		for _, x := range append(slices.Clone(c.list), c.old, c.now, c.set) {
			if x != nil {
				text += x.text()
			}
			text += ","
		}
		parts = append(parts, text)
	}
	slices.Sort(parts)
	fmt.Fprint(&b, parts, s.path())
	return b.String()
}

// path is what was decided.
func (s *state) path() string {
	var parts []string
	for x, yes := range s.decided {
		parts = append(parts, fmt.Sprint(x, ":", yes))
	}
	slices.Sort(parts)
	return strings.Join(parts, ";")
}

// rename gives elements other names.
func (s *state) rename(by func(id) id) {
	for v, x := range s.vars {
		s.vars[v] = renamed(x, by)
	}
	for v, c := range s.columns {
		c.list = slices.Clone(c.list)
		for i, x := range c.list {
			c.list[i] = renamed(x, by)
		}
		s.columns[v] = c
	}
	s.first = by(s.first)
	s.now = by(s.now)
}

// reveal notes what the function returns. It must be the same in all runs with as many
// elements, in which what is public and shown is the same.
func (m *machine) reveal(s *state, values []program.Expression, panics bool) error {
	var parts []string
	for _, x := range values {
		if r, ok := x.(program.Ref); ok && r.Var.Slice {
			c := m.column(r.Var, s)
			if !c.isList {
				return undecided("all of %s is shown", r.Var.Name)
			}
			var list []string
			for _, v := range c.list {
				t, err := m.tell(v, s, x)
				if err != nil {
					return err
				}
				list = append(list, t)
			}
			parts = append(parts, fmt.Sprint(list))
			continue
		}
		if program.SortOf(x) == program.Bool {
			cases, err := m.cases(x, s.clone(), 0)
			if err != nil {
				return err
			}
			if len(cases) == 1 {
				parts = append(parts, fmt.Sprint(cases[0].yes))
				continue
			}
		}
		t, err := m.tell(m.eval(x, s), s, x)
		if err != nil {
			return err
		}
		parts = append(parts, t)
	}
	text := fmt.Sprint(panics, strings.Join(parts, ", "))
	for _, r := range m.results[s.n] {
		if r.text == text && maps.Equal(r.decided, s.decided) {
			return nil
		}
		if r.text != text && s.agrees(r.decided) {
			return undecided("the result tells of other noisy values than the largest")
		}
	}
	m.results[s.n] = append(m.results[s.n], result{s.decided, text})
	return nil
}

// A result is what is returned where conditions were decided so.
type result struct {
	decided map[string]bool
	text    string
}

// agrees reports that no condition was decided otherwise.
func (s *state) agrees(decided map[string]bool) bool {
	for x, yes := range decided {
		if other, ok := s.decided[x]; ok && other != yes {
			return false
		}
	}
	return true
}

// tell writes what a result tells.
func (m *machine) tell(v value, s *state, x program.Expression) (string, error) {
	t, ok := m.show(v, s)
	if !ok {
		return "", undecided("the result %v is not known from which noisy values are the largest, and their differences", x)
	}
	m.need = max(m.need, t.need)
	return t.as, nil
}
