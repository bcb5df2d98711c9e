package ratio

import (
	"maps"
	"math/big"
	"slices"
	"strings"
)

// A term is coef · Π name^power. Powers are rational: negative and fractional ones
// occur on variables that are positive, exponentials above all.
type term struct {
	coef   *big.Rat
	powers map[string]*big.Rat
}

// A polynomial is a sum of terms, by their monomials. It is immutable.
type polynomial map[string]term

func number(r *big.Rat) polynomial {
	if r.Sign() == 0 {
		return polynomial{}
	}
	return polynomial{"": {r, nil}}
}

func whole(n int64) polynomial { return number(big.NewRat(n, 1)) }

func variable(name string) polynomial { return power(name, big.NewRat(1, 1)) }

func power(name string, p *big.Rat) polynomial {
	return sum(term{big.NewRat(1, 1), map[string]*big.Rat{name: p}})
}

// sum adds terms up, leaving out what cancels.
func sum(terms ...term) polynomial {
	p := polynomial{}
	for _, t := range terms {
		powers := map[string]*big.Rat{}
		for v, e := range t.powers {
			if e.Sign() != 0 {
				powers[v] = e
			}
		}
		key := monomial(powers)
		coef := t.coef
		if old, ok := p[key]; ok {
			coef = new(big.Rat).Add(old.coef, coef)
		}
		if coef.Sign() == 0 {
			delete(p, key)
		} else {
			p[key] = term{coef, powers}
		}
	}
	return p
}

// monomial writes a product of powers, always in the same way.
func monomial(powers map[string]*big.Rat) string {
	var parts []string
	for _, v := range slices.Sorted(maps.Keys(powers)) {
		switch e := powers[v]; {
		case e.Cmp(one) == 0:
			parts = append(parts, v)
		case e.IsInt() && e.Sign() > 0:
			parts = append(parts, v+"^"+e.RatString())
		default:
			parts = append(parts, v+"^("+e.RatString()+")")
		}
	}
	return strings.Join(parts, "*")
}

func (p polynomial) terms() []term {
	terms := make([]term, 0, len(p))
	for _, k := range slices.Sorted(maps.Keys(p)) {
		terms = append(terms, p[k])
	}
	return terms
}

func (p polynomial) plus(q polynomial) polynomial { return p.add(q, one) }

func (p polynomial) minus(q polynomial) polynomial { return p.add(q, big.NewRat(-1, 1)) }

// add returns p + r·q. Terms of one monomial have one key.
func (p polynomial) add(q polynomial, r *big.Rat) polynomial {
	total := maps.Clone(p)
	if total == nil {
		total = polynomial{}
	}
	for key, t := range q {
		c := new(big.Rat).Mul(r, t.coef)
		if old, ok := p[key]; ok {
			c.Add(old.coef, c)
		}
		if c.Sign() == 0 {
			delete(total, key)
		} else {
			total[key] = term{c, t.powers}
		}
	}
	return total
}

func (p polynomial) times(q polynomial) polynomial {
	if c, ok := q.constant(); ok {
		return p.scale(c)
	}
	if c, ok := p.constant(); ok {
		return q.scale(c)
	}
	terms := make([]term, 0, len(p)*len(q))
	for _, a := range p {
		for _, b := range q {
			t := term{new(big.Rat).Mul(a.coef, b.coef), maps.Clone(a.powers)}
			if t.powers == nil {
				t.powers = map[string]*big.Rat{}
			}
			for v, e := range b.powers {
				if old, ok := t.powers[v]; ok {
					e = new(big.Rat).Add(old, e)
				}
				t.powers[v] = e
			}
			terms = append(terms, t)
		}
	}
	return sum(terms...)
}

func (p polynomial) scale(r *big.Rat) polynomial { return polynomial{}.add(p, r) }
func (p polynomial) neg() polynomial             { return p.scale(big.NewRat(-1, 1)) }

func (p polynomial) raise(n int) polynomial {
	result := whole(1)
	for range n {
		result = result.times(p)
	}
	return result
}

// constant returns the value of a polynomial without variables.
func (p polynomial) constant() (*big.Rat, bool) {
	switch t, ok := p[""]; {
	case len(p) == 0:
		return new(big.Rat), true
	case len(p) == 1 && ok:
		return t.coef, true
	}
	return nil, false
}

// variables lists the variables in order.
func (p polynomial) variables() []string {
	set := map[string]bool{}
	for _, t := range p {
		for v := range t.powers {
			set[v] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// size is the number of terms that p has at most after linear substitutions, or nearly.
func (p polynomial) size() int {
	n := 1
	for _, v := range p.variables() {
		most := 0
		for _, t := range p {
			if e, ok := t.powers[v]; ok {
				most = max(most, int(e.Num().Int64()))
			}
		}
		if n *= most + 1; n > maxSize {
			break
		}
	}
	return n
}

// equal compares terms.
func (p polynomial) equal(q polynomial) bool {
	return maps.EqualFunc(p, q, func(t, u term) bool { return t.coef.Cmp(u.coef) == 0 })
}

// multiple reports whether p is q times a positive number.
func (p polynomial) multiple(q polynomial) bool {
	for key, t := range q {
		mine, ok := p[key]
		if !ok {
			return false
		}
		r := new(big.Rat).Quo(mine.coef, t.coef)
		return r.Sign() > 0 && p.equal(q.scale(r))
	}
	return false
}

// least returns the product of the lowest powers of each variable, as a divisor of
// every term.
func (p polynomial) least() map[string]*big.Rat {
	low := map[string]*big.Rat{}
	for _, v := range p.variables() {
		for _, t := range p {
			e, ok := t.powers[v]
			if !ok {
				e = new(big.Rat)
			}
			if old, ok := low[v]; !ok || e.Cmp(old) < 0 {
				low[v] = e
			}
		}
	}
	return low
}

// factor takes apart a polynomial into a product of powers and what is left.
func (p polynomial) factor() (powers, rest polynomial) {
	least := p.least()
	return sum(term{big.NewRat(1, 1), least}), p.divide(least)
}

// divide divides by a product of powers.
func (p polynomial) divide(powers map[string]*big.Rat) polynomial {
	if !slices.ContainsFunc(slices.Collect(maps.Values(powers)), func(e *big.Rat) bool { return e.Sign() != 0 }) {
		return p
	}
	inverse := term{big.NewRat(1, 1), map[string]*big.Rat{}}
	for v, e := range powers {
		inverse.powers[v] = new(big.Rat).Neg(e)
	}
	return p.times(sum(inverse))
}

// String writes the polynomial as a Go expression, powers apart.
func (p polynomial) String() string {
	if len(p) == 0 {
		return "0"
	}
	var b strings.Builder
	for i, k := range slices.SortedFunc(maps.Keys(p), func(a, b string) int {
		// Constants first, and positive terms before negative ones.
		if s := p[b].coef.Sign() - p[a].coef.Sign(); s != 0 {
			return s
		}
		return strings.Compare(a, b)
	}) {
		c := p[k].coef
		switch {
		case c.Sign() < 0 && i > 0:
			b.WriteString(" - ")
		case c.Sign() < 0:
			b.WriteString("-")
		case i > 0:
			b.WriteString(" + ")
		}
		c = new(big.Rat).Abs(c)
		switch {
		case k == "":
			b.WriteString(c.RatString())
		case c.Cmp(one) == 0:
			b.WriteString(k)
		default:
			b.WriteString(c.RatString() + "*" + k)
		}
	}
	return b.String()
}
