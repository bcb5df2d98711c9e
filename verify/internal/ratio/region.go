package ratio

import (
	"maps"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/numeric"
)

var (
	zero = new(big.Rat)
	one  = big.NewRat(1, 1)
	half = big.NewRat(1, 2)
	far  = big.NewRat(1<<20, 1) // from an end of an interval without the other one
)

// A bound is an end of an interval, itself outside if it is strict.
type bound struct {
	value  *big.Rat
	strict bool
}

// A region is where the public variables lie: an interval for each, and pairs of which
// one is below the other. It decides signs of polynomials there, rigorously: what it
// cannot decide it denies.
type region struct {
	low, high map[string]bound
	// less holds the pairs x <= y, true for x < y.
	less map[[2]string]bool
	// exps are the variables that are exponentials: name = e^monomial.
	exps map[string]polynomial
	// roots are the variables that are square roots, with their squares.
	roots map[string]amount
	// integers are the variables that are whole.
	integers map[string]bool
	// facts are other polynomials that are required not to be negative.
	facts []polynomial
	// decided are the questions that were answered since the region became what it is.
	decided map[asked]bool
}

func newRegion() *region {
	return &region{
		low: map[string]bound{}, high: map[string]bound{}, less: map[[2]string]bool{},
		exps: map[string]polynomial{}, roots: map[string]amount{}, integers: map[string]bool{},
		decided: map[asked]bool{},
	}
}

// above and below narrow an interval, and report whether they did.
func (r *region) above(v string, b bound) bool {
	if old, ok := r.low[v]; !ok || b.value.Cmp(old.value) > 0 || b.value.Cmp(old.value) == 0 && b.strict {
		r.low[v] = b
		clear(r.decided)
		return true
	}
	return false
}

func (r *region) below(v string, b bound) bool {
	if old, ok := r.high[v]; !ok || b.value.Cmp(old.value) < 0 || b.value.Cmp(old.value) == 0 && b.strict {
		r.high[v] = b
		clear(r.decided)
		return true
	}
	return false
}

// close carries bounds over to what is below or above.
func (r *region) close() {
	for range len(r.less) {
		for pair, strict := range r.less {
			if b, ok := r.low[pair[0]]; ok {
				r.above(pair[1], bound{b.value, b.strict || strict})
			}
			if b, ok := r.high[pair[1]]; ok {
				r.below(pair[0], bound{b.value, b.strict || strict})
			}
		}
	}
}

// A group is variables over weights that are not negative, and not all zero. If it
// is bounded, each variable is a form of degree 1 in the weights, divided by their
// sum: the barycentric coordinates of a simplex. Else it is a polynomial in them.
type group struct {
	weights []string
	strict  []bool
	bounded bool
	forms   map[string]polynomial
}

func (g group) sum() polynomial {
	s := polynomial{}
	for _, w := range g.weights {
		s = s.plus(variable(w))
	}
	return s
}

// faces lists the largest sets of weights that may be zero together.
func (g group) faces() []map[string]bool {
	face := map[string]bool{}
	for i, w := range g.weights {
		if !g.strict[i] {
			face[w] = true
		}
	}
	if !g.bounded || len(face) < len(g.weights) {
		return []map[string]bool{face}
	}
	var all []map[string]bool
	for _, w := range g.weights {
		f := maps.Clone(face)
		delete(f, w)
		all = append(all, f)
	}
	return all
}

// asked is whether a polynomial, as it is written, is not negative, or is positive; or
// whether one amount covers another.
type asked struct {
	text   string
	strict bool
}

// A box is a region after roots were taken, so that all powers are whole.
type box struct {
	low, high map[string]bound
	less      map[[2]string]bool
}

// nonnegative reports that p >= 0 all over the region, or false if that is not shown.
func (r *region) nonnegative(p polynomial) bool {
	return slices.ContainsFunc(r.facts, p.multiple) || r.decide(p, false) || r.follows(p)
}

// positive reports that p > 0 all over the region.
func (r *region) positive(p polynomial) bool { return r.decide(p, true) }

func (r *region) decide(p polynomial, strict bool) bool {
	if c, ok := p.constant(); ok {
		return c.Sign() > 0 || !strict && c.Sign() == 0
	}
	question := asked{p.String(), strict}
	if known, ok := r.decided[question]; ok {
		return known
	}
	depth := 8
	if len(p.variables()) > 1 {
		depth = 4
	}
	ok := r.cuts(p, strict, depth)
	r.decided[question] = ok
	return ok
}

// cuts is decide with at most so many cuts one after the other.
func (r *region) cuts(p polynomial, strict bool, depth int) bool {
	q, b, ok := r.whole(p)
	return ok && b.decide(q, strict, depth)
}

// whole multiplies p by a positive monomial and takes roots of its variables, so that
// all powers are whole.
func (r *region) whole(p polynomial) (polynomial, box, bool) {
	b := box{map[string]bound{}, map[string]bound{}, r.less}
	divisor := map[string]*big.Rat{}
	low := p.least()
	for _, v := range p.variables() {
		root := big.NewInt(1)
		for _, t := range p {
			if e, ok := t.powers[v]; ok {
				d := e.Denom()
				root.Mul(root, new(big.Int).Quo(d, new(big.Int).GCD(nil, nil, root, d)))
			}
		}
		lo, hi := r.interval(v, root)
		positive := lo.value != nil && (lo.value.Sign() > 0 || lo.value.Sign() == 0 && lo.strict)
		if low[v].Sign() != 0 {
			if !positive && low[v].Sign() < 0 {
				return nil, b, false
			}
			if positive {
				divisor[v] = low[v]
			}
		}
		if root.Cmp(big.NewInt(1)) != 0 && !positive {
			return nil, b, false
		}
		if lo.value != nil {
			b.low[v] = lo
		}
		if hi.value != nil {
			b.high[v] = hi
		}
		if root.Cmp(big.NewInt(1)) != 0 {
			p, divisor = rooted(p, divisor, v, new(big.Rat).SetInt(root))
		}
	}
	p = p.divide(divisor)
	for _, t := range p {
		for _, e := range t.powers {
			if !e.IsInt() || e.Sign() < 0 || e.Num().BitLen() > 10 {
				return nil, b, false
			}
		}
	}
	return p, b, true
}

// rooted replaces v by the power of its root.
func rooted(p polynomial, divisor map[string]*big.Rat, v string, root *big.Rat) (polynomial, map[string]*big.Rat) {
	var terms []term
	for _, t := range p.terms() {
		powers := maps.Clone(t.powers)
		if e, ok := powers[v]; ok {
			powers[v] = new(big.Rat).Mul(e, root)
		}
		terms = append(terms, term{t.coef, powers})
	}
	if e, ok := divisor[v]; ok {
		divisor[v] = new(big.Rat).Mul(e, root)
	}
	return sum(terms...), divisor
}

// interval returns where the root of a variable lies.
func (r *region) interval(v string, root *big.Int) (lo, hi bound) {
	if m, ok := r.exps[v]; ok {
		return r.exponential(m, root)
	}
	lo, hi = r.low[v], r.high[v]
	if root.Cmp(big.NewInt(1)) == 0 || lo.value == nil || lo.value.Sign() < 0 {
		return lo, hi
	}
	// A root keeps on which side of 0 and 1 a number is.
	if lo.value.Cmp(one) >= 0 {
		lo = bound{one, lo.strict || lo.value.Cmp(one) > 0}
	} else {
		lo = bound{zero, lo.strict || lo.value.Sign() > 0}
	}
	if hi.value != nil && hi.value.Cmp(one) <= 0 {
		hi = bound{one, hi.strict || hi.value.Cmp(one) < 0}
	} else {
		hi = bound{}
	}
	return lo, hi
}

// exponential returns where e^(m/root) lies, m a product of powers.
func (r *region) exponential(m polynomial, root *big.Int) (lo, hi bound) {
	exp := func(x *big.Rat) numeric.Interval {
		return numeric.Of(new(big.Rat).Quo(x, new(big.Rat).SetInt(root))).Exp()
	}
	limit := big.NewRat(1000, 1)
	from, to := bound{}, bound{}
	if c, ok := m.constant(); ok {
		from, to = bound{c, false}, bound{c, false}
	} else if vs := m.variables(); len(vs) == 1 && m.equal(variable(vs[0])) {
		from, to = r.low[vs[0]], r.high[vs[0]]
	} else if r.positive(m) {
		from = bound{zero, true}
	} else if r.nonnegative(m) {
		from = bound{zero, false}
	}
	lo = bound{zero, true}
	switch {
	case from.value == nil || new(big.Rat).Abs(from.value).Cmp(limit) > 0:
	case from.value.Sign() == 0:
		lo = bound{one, from.strict}
	default:
		lo = bound{numeric.FloorDigits(exp(from.value).Lo(), 30), false}
	}
	switch {
	case to.value == nil || new(big.Rat).Abs(to.value).Cmp(limit) > 0:
	case to.value.Sign() == 0:
		hi = bound{one, to.strict}
	default:
		hi = bound{numeric.CeilDigits(exp(to.value).Hi(), 30), false}
	}
	return lo, hi
}

// maxSize bounds the polynomials that are looked at: a proof that needs larger ones is
// not found.
const maxSize = 4000

// decide bounds p from below by its coefficients in barycentric coordinates, and
// cuts the box in two where that does not tell.
//
// A polynomial in numbers that are not negative is not negative if its coefficients
// are not. It is positive where, besides, a term is positive that has none of the
// numbers that are zero there (Bernstein's criterion; the converse needs cuts).
func (b box) decide(p polynomial, strict bool, depth int) bool {
	if p.size() > maxSize {
		return false
	}
	chains := b.chains(p.variables())
	if b.somewhere(chains, map[string]*big.Rat{}, p.negative) {
		return false
	}
	var groups []group
	for _, chain := range chains {
		groups = append(groups, b.group(chain)...)
	}
	q := p
	for _, g := range groups {
		q = g.substitute(q)
	}
	known := map[string]bool{}
	for _, g := range groups {
		for _, w := range g.weights {
			known[w] = true
		}
	}
	for _, v := range q.variables() {
		if !known[v] {
			return false
		}
	}
	for _, t := range q {
		if t.coef.Sign() < 0 {
			return depth > 0 && b.cut(p, strict, depth)
		}
	}
	if strict && !covered(q, groups, map[string]bool{}) {
		return depth > 0 && b.cut(p, strict, depth)
	}
	return true
}

// somewhere reports that a condition holds at a corner: where, of each chain, the first
// ones are at its lower end and the others at its upper one, or far away if it has none.
// A polynomial that is negative there has no sign in the region, and no cut changes that.
func (b box) somewhere(chains [][]string, at map[string]*big.Rat, is func(map[string]*big.Rat) bool) bool {
	if len(chains) == 0 {
		return is(at)
	}
	chain := chains[0]
	lo, hi := b.low[chain[0]].value, b.high[chain[len(chain)-1]].value
	switch {
	case lo == nil && hi == nil || lo != nil && hi != nil && lo.Cmp(hi) > 0:
		return false
	case lo == nil:
		lo = new(big.Rat).Sub(hi, far)
	case hi == nil:
		hi = new(big.Rat).Add(lo, far)
	}
	for i := range len(chain) + 1 {
		for j, v := range chain {
			at[v] = lo
			if j >= i {
				at[v] = hi
			}
		}
		if b.somewhere(chains[1:], at, is) {
			return true
		}
	}
	return false
}

// negative reports that p is below 0 at a point of all its variables.
func (p polynomial) negative(at map[string]*big.Rat) bool {
	total := new(big.Rat)
terms:
	for _, t := range p {
		x := new(big.Rat).Set(t.coef)
		for v, e := range t.powers {
			y := at[v]
			if y.Sign() == 0 {
				continue terms
			}
			for range e.Num().Int64() {
				x.Mul(x, y)
			}
		}
		total.Add(total, x)
	}
	return total.Sign() < 0
}

// covered reports that on every face some term is positive.
func covered(q polynomial, groups []group, none map[string]bool) bool {
	if len(groups) == 0 {
	terms:
		for _, t := range q {
			for v := range t.powers {
				if none[v] {
					continue terms
				}
			}
			return true
		}
		return false
	}
	for _, face := range groups[0].faces() {
		more := maps.Clone(none)
		maps.Copy(more, face)
		if !covered(q, groups[1:], more) {
			return false
		}
	}
	return true
}

// substitute writes p over the weights of g, times a power of their sum.
func (g group) substitute(p polynomial) polynomial {
	most := 0
	degree := func(t term) (d int) {
		for v := range g.forms {
			if e, ok := t.powers[v]; ok {
				d += int(e.Num().Int64())
			}
		}
		return d
	}
	for _, t := range p {
		most = max(most, degree(t))
	}
	result := polynomial{}
	for _, t := range p.terms() {
		rest := term{t.coef, map[string]*big.Rat{}}
		factor := whole(1)
		for _, v := range slices.Sorted(maps.Keys(t.powers)) {
			if form, ok := g.forms[v]; ok {
				factor = factor.times(form.raise(int(t.powers[v].Num().Int64())))
			} else {
				rest.powers[v] = t.powers[v]
			}
		}
		if g.bounded {
			factor = factor.times(g.sum().raise(most - degree(t)))
		}
		result = result.plus(sum(rest).times(factor))
	}
	return result
}

// chains splits variables into chains x <= y <= ..., and single ones.
func (b box) chains(names []string) [][]string {
	var chains [][]string
	done := map[string]bool{}
	for _, v := range names {
		if done[v] {
			continue
		}
		chain := b.chain(v, names)
		for _, x := range chain {
			done[x] = true
		}
		chains = append(chains, chain)
	}
	return chains
}

// chain returns the variables that are linked to v in their order, or v alone if they
// have none.
func (b box) chain(v string, names []string) []string {
	linked := []string{v}
	for i := 0; i < len(linked); i++ {
		for e := range b.less {
			for k := range e {
				if e[k] == linked[i] && slices.Contains(names, e[1-k]) && !slices.Contains(linked, e[1-k]) {
					linked = append(linked, e[1-k])
				}
			}
		}
	}
	slices.Sort(linked)
	var order []string
	for len(linked) > 0 {
		// The next is the one with nothing below it; it must be alone in that, and
		// directly above the one before.
		var firsts []string
		for _, x := range linked {
			if !slices.ContainsFunc(linked, func(y string) bool { _, ok := b.less[[2]string{y, x}]; return ok }) {
				firsts = append(firsts, x)
			}
		}
		if len(firsts) != 1 {
			return []string{v}
		}
		if n := len(order); n > 0 {
			if _, ok := b.less[[2]string{order[n-1], firsts[0]}]; !ok {
				return []string{v}
			}
		}
		order = append(order, firsts[0])
		linked = slices.DeleteFunc(linked, func(x string) bool { return x == firsts[0] })
	}
	return order
}

// group gives a chain its weights, which are the gaps between its variables.
func (b box) group(chain []string) []group {
	first, last := chain[0], chain[len(chain)-1]
	lo, hi := b.low[first], b.high[last]
	if len(chain) == 1 && lo.value == nil && hi.value != nil {
		w := first + "'"
		return []group{{[]string{w}, []bool{hi.strict}, false, map[string]polynomial{first: number(hi.value).minus(variable(w))}}}
	}
	if lo.value == nil || hi.value != nil && hi.value.Cmp(lo.value) < 0 {
		return nil
	}
	g := group{bounded: hi.value != nil, forms: map[string]polynomial{}}
	below := polynomial{}
	for i, x := range chain {
		w := x + "'"
		strict := lo.strict
		if i > 0 {
			strict = b.less[[2]string{chain[i-1], x}]
		}
		g.weights, g.strict = append(g.weights, w), append(g.strict, strict)
		below = below.plus(variable(w))
		g.forms[x] = below
	}
	if g.bounded {
		g.weights, g.strict = append(g.weights, last+"''"), append(g.strict, hi.strict)
	}
	for x, form := range g.forms {
		if g.bounded {
			width := new(big.Rat).Sub(hi.value, lo.value)
			g.forms[x] = g.sum().scale(lo.value).plus(form.scale(width))
		} else {
			g.forms[x] = form.plus(number(lo.value))
		}
	}
	return []group{g}
}

// cut decides both halves of an interval.
func (b box) cut(p polynomial, strict bool, depth int) bool {
	names := p.variables()
	for i := range names {
		v := names[(i+depth)%len(names)]
		lo, hi := b.low[v], b.high[v]
		if lo.value == nil || len(b.chain(v, names)) > 1 {
			continue
		}
		middle := new(big.Rat).Add(lo.value, lo.value)
		middle.Add(middle, one)
		if hi.value != nil {
			middle.Add(lo.value, hi.value)
			middle.Quo(middle, big.NewRat(2, 1))
		}
		below, above := b, b
		below.high, above.low = maps.Clone(b.high), maps.Clone(b.low)
		below.high[v], above.low[v] = bound{middle, false}, bound{middle, false}
		return below.decide(p, strict, depth-1) && above.decide(p, strict, depth-1)
	}
	return false
}
