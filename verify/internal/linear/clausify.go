package linear

import (
	"slices"
	"strconv"
)

// A literal is 2v for the boolean variable v of a problem and 2v+1 for its
// negation.
type literal int32

func (l literal) not() literal { return l ^ 1 }

// A problem is a formula as clauses. Its boolean variables are those of the
// formula, names of subformulas, and bounds on linear sums. It has a model if and
// only if the formula has, with the same values.
type problem struct {
	columns []base  // what the sums are over: numeric variables and conditionals
	rows    []sum   // the sums that are bounded
	bounds  []bound // by boolean variable; row < 0 if it bounds nothing
	truths  []Var   // by boolean variable; those of the formula
	clauses [][]literal
}

// A sum is Σ coef·column, with coprime integer coefficients of which the first is
// positive.
type sum struct {
	parts []part
	isInt bool // all columns are integers, and thus the sum is
}

type part struct {
	column int
	coef   number
}

// A bound says that a row is at most value, or below it if strict. Bounds of
// integer rows are whole and not strict.
type bound struct {
	row    int
	value  number
	strict bool
}

// A constraint is what a literal says of a row: it is at most (upper) or at least
// value, and not value itself if strict.
type constraint struct {
	row    int
	upper  bool
	value  number
	strict bool
}

// constraint returns false if l bounds nothing.
func (p *problem) constraint(l literal) (constraint, bool) {
	b := p.bounds[l/2]
	switch {
	case b.row < 0:
		return constraint{}, false
	case l&1 == 0: // row <= value, or <
		return constraint{b.row, true, b.value, b.strict}, true
	case p.rows[b.row].isInt: // not row <= value: row >= value+1
		return constraint{b.row, false, b.value.add(whole(1)), false}, true
	}
	return constraint{b.row, false, b.value, !b.strict}, true
}

// A clausifier builds a problem. Subformulas are named in negation normal form and
// each name implies what it names; the other direction is not needed, since names
// occur only positively in what is asserted [Plaisted and Greenbaum, A
// structure-preserving clause form translation, 1986].
type clausifier struct {
	problem
	columnOf map[base]int
	ites     map[uint64][]*conditional // columns, by hash: equal ones are one column
	rowOf    map[string]int
	boundOf  map[string]literal // by row, value and strictness
	truthOf  map[Var]literal
	names    map[named]literal
}

type named struct {
	n       *node
	negated bool
}

func clausify(conjuncts []Formula) *clausifier {
	c := &clausifier{
		columnOf: map[base]int{}, ites: map[uint64][]*conditional{}, rowOf: map[string]int{},
		boundOf: map[string]literal{}, truthOf: map[Var]literal{}, names: map[named]literal{},
	}
	for _, f := range conjuncts {
		c.assert(f)
	}
	return c
}

func (c *clausifier) clause(ls ...literal) {
	slices.Sort(ls)
	c.clauses = append(c.clauses, slices.Compact(ls))
}

func (c *clausifier) assert(f Formula) {
	switch f.op {
	case opTrue:
	case opFalse:
		c.clause()
	case opAnd:
		for _, a := range f.n.args {
			c.assert(a)
		}
	default:
		c.clause(c.alternatives(f, false)...)
	}
}

// alternatives are literals of which one must hold if f, or its negation, is to.
func (c *clausifier) alternatives(f Formula, negated bool) []literal {
	if f.op == opNot {
		return c.alternatives(f.n.args[0], !negated)
	}
	if f.op == opOr && !negated || f.op == opAnd && negated {
		var ls []literal
		for _, a := range f.n.args {
			ls = append(ls, c.alternatives(a, negated)...)
		}
		return ls
	}
	if f.op == opEq && negated {
		return []literal{c.atom(opLt, f.n.term), c.atom(opLt, f.n.term.Neg())}
	}
	return []literal{c.literal(f, negated)}
}

// literal returns a literal that implies f, or its negation.
func (c *clausifier) literal(f Formula, negated bool) literal {
	switch f.op {
	case opNot:
		return c.literal(f.n.args[0], !negated)
	case opVar:
		l, ok := c.truthOf[f.n.v]
		if !ok {
			l = c.fresh(bound{row: -1}, f.n.v)
			c.truthOf[f.n.v] = l
		}
		if negated {
			return l.not()
		}
		return l
	case opLe, opLt:
		l := c.atom(f.op, f.n.term)
		if negated {
			return l.not()
		}
		return l
	}
	key := named{f.n, negated}
	if l, ok := c.names[key]; ok && f.n != nil {
		return l
	}
	name := c.fresh(bound{row: -1}, Var{})
	if f.n != nil {
		c.names[key] = name
	}
	switch {
	case f.op == opTrue && negated, f.op == opFalse && !negated:
		c.clause(name.not())
	case f.op == opEq && !negated:
		c.clause(name.not(), c.atom(opLe, f.n.term))
		c.clause(name.not(), c.atom(opLe, f.n.term.Neg()))
	case f.op == opAnd && !negated, f.op == opOr && negated:
		for _, a := range f.n.args {
			c.clause(append([]literal{name.not()}, c.alternatives(a, negated)...)...)
		}
	case f.op == opIff: // f ↔ g is (¬f ∨ g) ∧ (f ∨ ¬g), and its negation (f ∨ g) ∧ (¬f ∨ ¬g)
		a, b := f.n.args[0], f.n.args[1]
		for _, x := range []bool{false, true} {
			c.clause(append(append([]literal{name.not()}, c.alternatives(a, !x)...), c.alternatives(b, x != negated)...)...)
		}
	default: // an alternative, or True
		if f.n != nil {
			c.clause(append([]literal{name.not()}, c.alternatives(f, negated)...)...)
		}
	}
	return name
}

func (c *clausifier) fresh(b bound, v Var) literal {
	c.bounds = append(c.bounds, b)
	c.truths = append(c.truths, v)
	return literal(2 * (len(c.bounds) - 1))
}

// atom is the literal of "t op 0" with op <= or <.
func (c *clausifier) atom(o op, t Term) literal {
	f := atom(o, t)
	if f.n == nil {
		return c.literal(f, false)
	}
	t, o = f.n.term, f.op
	limit, flipped := t.constant.neg(), t.monomials[0].coef.sign() < 0
	if flipped { // -s <= limit is s >= -limit, the negation of s < -limit
		t, limit = t.Neg(), limit.neg()
	}
	r := c.row(t.monomials)
	strict := (o == opLt) != flipped
	if strict && c.rows[r].isInt { // below a whole number
		limit, strict = limit.sub(whole(1)), false
	}
	l := c.bound(r, limit, strict)
	if flipped {
		return l.not()
	}
	return l
}

// bound is the literal of row <= value, or <.
func (c *clausifier) bound(row int, value number, strict bool) literal {
	key := value.appendKey(strconv.AppendInt(nil, int64(row), 10))
	if strict {
		key = append(key, '<')
	}
	l, ok := c.boundOf[string(key)]
	if !ok {
		l = c.fresh(bound{row, value, strict}, Var{})
		c.boundOf[string(key)] = l
	}
	return l
}

// appendKey appends text by which numbers are told apart.
func (x number) appendKey(b []byte) []byte {
	if x.big != nil {
		return append(append(append(b, ' '), x.big.RatString()...), ' ')
	}
	b = strconv.AppendInt(append(b, ' '), x.num, 10)
	if x.over != 0 {
		b = strconv.AppendInt(append(b, '/'), x.over+1, 10)
	}
	return append(b, ' ')
}

func (c *clausifier) row(ms []monomial) int {
	s := sum{isInt: true}
	var key []byte
	for _, m := range ms {
		p := part{c.column(m.base), m.coef}
		s.parts = append(s.parts, p)
		s.isInt = s.isInt && m.base.isInt()
		key = p.coef.appendKey(strconv.AppendInt(key, int64(p.column), 10))
	}
	r, ok := c.rowOf[string(key)]
	if !ok {
		r = len(c.rows)
		c.rowOf[string(key)] = r
		c.rows = append(c.rows, s)
	}
	return r
}

// column numbers a variable or conditional, and says what a conditional is.
func (c *clausifier) column(b base) int {
	if b.ite != nil {
		for _, i := range c.ites[b.ite.hash] {
			if compareBases(base{ite: i}, b) == 0 {
				b.ite = i
			}
		}
	}
	n, ok := c.columnOf[b]
	if ok {
		return n
	}
	n = len(c.columns)
	c.columns = append(c.columns, b)
	c.columnOf[b] = n
	if i := b.ite; i != nil {
		c.ites[i.hash] = append(c.ites[i.hash], i)
		z := Term{monomials: []monomial{{b, whole(1)}}}
		yes, no := c.literal(i.cond, false), c.literal(i.cond, true)
		c.clause(yes, no)
		for _, d := range []struct {
			when literal
			is   Term
		}{{yes, z.Sub(i.then)}, {no, z.Sub(i.other)}} {
			c.clause(d.when.not(), c.atom(opLe, d.is))
			c.clause(d.when.not(), c.atom(opLe, d.is.Neg()))
		}
	}
	return n
}
