package linear

// A pair is r + k·δ for an infinitesimal δ > 0: a strict bound v is v ± δ.
type pair struct{ r, k number }

func (a pair) cmp(b pair) int {
	if c := a.r.cmp(b.r); c != 0 {
		return c
	}
	return a.k.cmp(b.k)
}

func (a pair) add(w number, b pair) pair {
	return pair{a.r.add(w.mul(b.r)), a.k.add(w.mul(b.k))}
}

func (a pair) sub(b pair) pair { return a.add(whole(-1), b) }

// A limit is a bound that holds because a literal does.
type limit struct {
	set bool
	at  pair
	why literal
}

// A simplex finds values within bounds, or bounds that contradict each other
// [Dutertre and de Moura, A fast linear-arithmetic solver for DPLL(T), 2006]. Its
// variables are the columns of a problem and, for every row that is more than one
// column, that sum.
//
// Invariants: a basic variable is the sum, over the nonbasic ones, of its row in
// the tableau; all values satisfy these equations; nonbasic variables are within
// their bounds. Its findings are not trusted: a conflict is checked as a lemma and
// values are evaluated.
type simplex struct {
	variable     []int      // of a problem's row
	tableau      [][]number // by basic position, over all variables
	basic        []int      // the variable of a position
	position     []int      // of a variable; -1 if nonbasic
	value        []pair
	lower, upper []limit
	trail        []change
	suspects     bool // some bound was set since the last check
	pivots       int
}

// A change is a limit as it was before.
type change struct {
	variable int
	upper    bool
	was      limit
}

func newSimplex(p *problem) *simplex {
	s := &simplex{}
	n := len(p.columns)
	for _, row := range p.rows {
		if len(row.parts) == 1 {
			s.variable = append(s.variable, row.parts[0].column)
		} else {
			s.variable = append(s.variable, n)
			n++
		}
	}
	s.value = make([]pair, n)
	s.lower, s.upper = make([]limit, n), make([]limit, n)
	s.position = make([]int, n)
	for i := range s.position {
		s.position[i] = -1
	}
	for i, row := range p.rows {
		if len(row.parts) > 1 {
			v := s.variable[i]
			s.position[v] = len(s.basic)
			s.basic = append(s.basic, v)
			equation := make([]number, n)
			for _, part := range row.parts {
				equation[part.column] = part.coef
			}
			s.tableau = append(s.tableau, equation)
		}
	}
	return s
}

// A conflict is bounds, by the literals that are their reasons, whose weighted sum
// is contradictory.
type conflict struct {
	because []literal
	weights []number
}

// bound imposes what the literal says; nil if no other bound contradicts it
// directly.
func (s *simplex) bound(c constraint, why literal) *conflict {
	v := s.variable[c.row]
	at := pair{r: c.value}
	if c.strict {
		at.k = whole(1)
		if c.upper {
			at.k = whole(-1)
		}
	}
	mine, other := &s.lower[v], &s.upper[v]
	sign := 1
	if c.upper {
		mine, other = other, mine
		sign = -1
	}
	if mine.set && sign*at.cmp(mine.at) <= 0 { // no news
		return nil
	}
	if other.set && sign*at.cmp(other.at) > 0 {
		return &conflict{[]literal{why, other.why}, []number{whole(1), whole(1)}}
	}
	s.trail = append(s.trail, change{v, c.upper, *mine})
	*mine = limit{true, at, why}
	if sign*s.value[v].cmp(at) < 0 {
		if s.position[v] < 0 {
			s.move(v, at)
		}
		s.suspects = true
	}
	return nil
}

// undo takes back the bounds set since the trail had length n. Values stay: bounds
// become wider only.
func (s *simplex) undo(n int) {
	for i := len(s.trail) - 1; i >= n; i-- {
		c := s.trail[i]
		if c.upper {
			s.upper[c.variable] = c.was
		} else {
			s.lower[c.variable] = c.was
		}
	}
	s.trail = s.trail[:n]
	s.suspects = true
}

// move gives a nonbasic variable another value.
func (s *simplex) move(v int, to pair) {
	by := to.sub(s.value[v])
	s.value[v] = to
	for i, row := range s.tableau {
		if a := row[v]; !a.isZero() {
			b := s.basic[i]
			s.value[b] = s.value[b].add(a, by)
		}
	}
}

// check restores all bounds by pivoting, or returns those that cannot hold
// together. Bland's rule, which it turns to after a while, does not cycle.
func (s *simplex) check() *conflict {
	if !s.suspects {
		return nil
	}
	for round := 0; ; round++ {
		bland := round > 20+len(s.basic)
		leaving, below := s.violated(bland)
		if leaving < 0 {
			s.suspects = false
			return nil
		}
		row := s.tableau[leaving]
		entering, fewest := -1, 0
		for v, a := range row {
			if a.isZero() || !s.canMove(v, (a.sign() > 0) == below) {
				continue
			}
			if bland {
				entering = v
				break
			}
			if n := s.uses(v); entering < 0 || n < fewest {
				entering, fewest = v, n
			}
		}
		if entering < 0 {
			return s.explain(leaving, below)
		}
		b := s.basic[leaving]
		target := s.upper[b].at
		if below {
			target = s.lower[b].at
		}
		by := target.sub(s.value[b])
		inverse := row[entering].inv()
		s.move(entering, s.value[entering].add(inverse, by))
		s.pivot(leaving, entering)
	}
}

// violated returns the position of a basic variable outside its bounds, the least
// one if asked to, else the one that is outside the furthest.
func (s *simplex) violated(least bool) (position int, below bool) {
	position = -1
	var furthest pair
	first := 0
	for i, v := range s.basic {
		var by pair
		low := s.lower[v].set && s.value[v].cmp(s.lower[v].at) < 0
		switch {
		case low:
			by = s.lower[v].at.sub(s.value[v])
		case s.upper[v].set && s.value[v].cmp(s.upper[v].at) > 0:
			by = s.value[v].sub(s.upper[v].at)
		default:
			continue
		}
		if position < 0 || least && v < first || !least && by.cmp(furthest) > 0 {
			position, below, furthest, first = i, low, by, v
		}
	}
	return position, below
}

// canMove reports whether a nonbasic variable may grow, or shrink.
func (s *simplex) canMove(v int, grow bool) bool {
	if grow {
		return !s.upper[v].set || s.value[v].cmp(s.upper[v].at) < 0
	}
	return !s.lower[v].set || s.value[v].cmp(s.lower[v].at) > 0
}

func (s *simplex) uses(v int) int {
	n := 0
	for _, row := range s.tableau {
		if !row[v].isZero() {
			n++
		}
	}
	return n
}

// pivot makes a basic variable nonbasic and another one basic in its place.
func (s *simplex) pivot(leaving, entering int) {
	s.pivots++
	out := s.basic[leaving]
	row := s.tableau[leaving]
	// out = Σ row·x, solved for entering.
	inverse := row[entering].inv()
	k := inverse.neg()
	var used []int
	for v, a := range row {
		if !a.isZero() && v != entering {
			row[v] = a.mul(k)
			used = append(used, v)
		}
	}
	row[entering] = number{}
	row[out] = inverse
	used = append(used, out)
	s.basic[leaving], s.position[entering], s.position[out] = entering, leaving, -1
	for i, other := range s.tableau {
		a := other[entering]
		if i == leaving || a.isZero() {
			continue
		}
		other[entering] = number{}
		for _, v := range used {
			other[v] = other[v].add(a.mul(row[v]))
		}
	}
}

// explain is called when a basic variable is out of bounds and every variable of
// its row is at the bound that keeps it there: these bounds are the conflict.
func (s *simplex) explain(leaving int, below bool) *conflict {
	b := s.basic[leaving]
	why := s.upper[b].why
	if below {
		why = s.lower[b].why
	}
	c := &conflict{[]literal{why}, []number{whole(1)}}
	for v, a := range s.tableau[leaving] {
		if a.isZero() {
			continue
		}
		l, w := s.lower[v], a
		if (a.sign() > 0) == below {
			l = s.upper[v]
		}
		if w.sign() < 0 {
			w = w.neg()
		}
		c.because = append(c.because, l.why)
		c.weights = append(c.weights, w)
	}
	return c
}

// concrete returns the values with a δ that is small enough for all bounds.
func (s *simplex) concrete() []number {
	delta := whole(1)
	shrink := func(small, large pair) { // small <= large must hold with numbers
		if gap, d := large.r.sub(small.r), small.k.sub(large.k); gap.sign() > 0 && d.sign() > 0 {
			if most := gap.mul(d.inv()); most.cmp(delta) < 0 {
				delta = most
			}
		}
	}
	for v, x := range s.value {
		if s.lower[v].set {
			shrink(s.lower[v].at, x)
		}
		if s.upper[v].set {
			shrink(x, s.upper[v].at)
		}
	}
	values := make([]number, len(s.value))
	for v, x := range s.value {
		values[v] = x.r.add(x.k.mul(delta))
	}
	return values
}
