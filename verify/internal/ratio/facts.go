package ratio

import (
	"math/big"
	"slices"
)

// maxPairs bounds with how many facts each one is added up.
const maxPairs = 8

// relations are the facts of several variables, which no interval tells.
func (r *region) relations() []polynomial {
	var all []polynomial
	for _, f := range r.facts {
		if len(f.variables()) > 1 {
			all = append(all, f)
		}
	}
	return all
}

// follows reports that p >= 0 because p − c·f >= 0 for some fact f >= 0 and c > 0.
func (r *region) follows(p polynomial) bool {
	return slices.ContainsFunc(r.relations(), func(f polynomial) bool {
		for key, t := range f {
			mine, ok := p[key]
			if !ok || key == "" || mine.coef.Sign() != t.coef.Sign() {
				continue
			}
			if r.decide(p.add(f, new(big.Rat).Quo(new(big.Rat).Neg(mine.coef), t.coef)), false) {
				return true
			}
		}
		return false
	})
}

// learn finds on which side of 0, of 1 and of its bounds the facts put a variable.
//
// If m > 0 and f >= 0, and m·g − f is positive, so is g: m·g > f. Tried are for m one and
// the variables, for f the facts and the sums of two.
func (r *region) learn() {
	facts := r.relations()
	var vs []string
	for i, f := range facts {
		for _, g := range facts[:min(i, maxPairs)] {
			facts = append(facts, f.plus(g))
		}
		vs = append(vs, f.variables()...)
	}
	slices.Sort(vs)
	vs = slices.Compact(vs)
	for news := true; news && !r.empty(); { // what is learnt of one variable may tell of another one
		news = false
		for _, v := range vs {
			if r.exps[v] == nil {
				news = r.learnOf(v, vs, facts) || news
			}
		}
	}
}

// learnOf reports whether a variable's interval became smaller.
func (r *region) learnOf(v string, vs []string, facts []polynomial) (news bool) {
	at := []*big.Rat{zero, one}
	for _, b := range []bound{r.low[v], r.high[v]} {
		if b.value != nil && b.value.Sign() != 0 && b.value.Cmp(one) != 0 {
			at = append(at, b.value)
		}
	}
	for _, x := range at {
		above := variable(v).minus(number(x))
		for _, side := range []struct {
			g     polynomial
			learn func(string, bound) bool
		}{{above, r.above}, {above.neg(), r.below}} {
			if r.decide(side.g, true) {
				break // the other side is impossible
			}
			known := r.decide(side.g, false)
			if !known && !r.implied(side.g, false, vs, facts) {
				continue
			}
			strict := r.implied(side.g, true, vs, facts)
			news = side.learn(v, bound{x, strict}) || news
		}
	}
	return news
}

// implied reports that g is positive, or not negative, by what learn tries.
func (r *region) implied(g polynomial, strict bool, vs []string, facts []polynomial) bool {
	multipliers := []polynomial{whole(1)}
	for _, v := range vs {
		if m := variable(v); r.positive(m) {
			multipliers = append(multipliers, m)
		}
	}
	for _, m := range multipliers {
		product := m.times(g)
		for _, f := range facts {
			if h := product.minus(f); len(h) == 0 && !strict || r.cuts(h, strict, 0) {
				return true
			}
		}
	}
	return false
}

// empty reports that no inputs meet the requirements: a fact is false all over the
// region, or an interval is empty.
func (r *region) empty() bool {
	for v, lo := range r.low {
		if hi, ok := r.high[v]; ok && (lo.value.Cmp(hi.value) > 0 || lo.value.Cmp(hi.value) == 0 && (lo.strict || hi.strict)) {
			return true
		}
	}
	return slices.ContainsFunc(r.facts, func(f polynomial) bool { return r.positive(f.neg()) })
}
