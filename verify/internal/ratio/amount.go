package ratio

import (
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// An amount is a cost: Σ count·ln(of) + rest.
type amount struct {
	logs []logarithm
	rest fraction
}

// A logarithm is count·ln(of), of a positive number.
type logarithm struct{ count, of fraction }

func fixed(x fraction) amount { return amount{rest: x} }

func nothing() amount { return fixed(rational(zero)) }

func (c amount) plus(d amount) amount {
	sum := amount{slices.Clone(c.logs), c.rest.plus(d.rest)}
next:
	for _, l := range d.logs {
		for i, k := range sum.logs {
			if k.of.num.equal(l.of.num) && k.of.den.equal(l.of.den) {
				sum.logs[i].count = k.count.plus(l.count)
				continue next
			}
		}
		sum.logs = append(sum.logs, l)
	}
	sum.logs = slices.DeleteFunc(sum.logs, func(l logarithm) bool { return len(l.count.num) == 0 })
	return sum
}

func (c amount) times(n fraction) amount {
	product := amount{rest: c.rest.times(n)}
	for _, l := range c.logs {
		product.logs = append(product.logs, logarithm{l.count.times(n), l.of})
	}
	return product
}

func (c amount) free() bool { return len(c.logs) == 0 && len(c.rest.num) == 0 }

// String writes the amount as a Go expression.
func (c amount) String() string {
	var parts []string
	if len(c.rest.num) > 0 || len(c.logs) == 0 {
		parts = append(parts, c.rest.String())
	}
	for _, l := range c.logs {
		s := "math.Log(" + l.of.String() + ")"
		if n, ok := l.count.constant(); !ok || n.Cmp(one) != 0 {
			count := l.count.String()
			if len(l.count.num) > 1 {
				count = "(" + count + ")"
			}
			s = count + "*" + s
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " + ")
}

// variables lists what an amount depends on.
func (c amount) variables() []string {
	all := slices.Concat(c.rest.num.variables(), c.rest.den.variables())
	for _, l := range c.logs {
		all = slices.Concat(all, l.count.num.variables(), l.count.den.variables(), l.of.num.variables(), l.of.den.variables())
	}
	return all
}

// amount reads a cost.
func (a algebra) amount(e program.Expression) (amount, error) {
	switch e := e.(type) {
	case program.Unary:
		if e.Op == program.Sub {
			x, err := a.amount(e.X)
			return x.times(rational(big.NewRat(-1, 1))), err
		}
	case program.Binary:
		switch e.Op {
		case program.Add, program.Sub, program.Mul, program.Quo:
			return a.combined(e)
		}
	case program.Call:
		if len(e.Args) != 1 {
			break
		}
		switch e.Func {
		case "real":
			return a.amount(e.Args[0])
		case "log":
			of, err := a.fraction(e.Args[0])
			if err != nil {
				return amount{}, err
			}
			if !a.positive(of.num) {
				return amount{}, undecided("that %v is positive", e.Args[0])
			}
			return amount{[]logarithm{{rational(one), of}}, rational(zero)}, nil
		}
	}
	x, err := a.fraction(e)
	return fixed(x), err
}

func (a algebra) combined(e program.Binary) (amount, error) {
	x, err := a.amount(e.X)
	if err != nil {
		return x, err
	}
	y, err := a.amount(e.Y)
	if err != nil {
		return y, err
	}
	switch {
	case e.Op == program.Add:
		return x.plus(y), nil
	case e.Op == program.Sub:
		return x.plus(y.times(rational(big.NewRat(-1, 1)))), nil
	case e.Op == program.Mul && len(x.logs) == 0:
		return y.times(x.rest), nil
	case e.Op == program.Mul && len(y.logs) == 0:
		return x.times(y.rest), nil
	case e.Op == program.Quo && len(y.logs) == 0 && program.SortOf(e) == program.Real:
		inverse, err := a.quo(rational(one), y.rest)
		return x.times(inverse), err
	}
	return amount{}, undecided("%v multiplies logarithms", e)
}

// covers reports that c <= d all over the region.
func (a algebra) covers(d, c amount) bool {
	question := asked{d.String() + " >= " + c.String(), false}
	known, ok := a.decided[question]
	if !ok {
		known = a.exceeds(d, c)
		a.decided[question] = known
	}
	return known
}

// exceeds is covers, decided anew.
//
// d − c = Σ countᵢ·ln(ofᵢ) + rest is taken apart by the monomials m of the counts:
// Σ m·(Σ kⱼ·ln(ofⱼ) + restₘ). It is not negative if each m and each factor of an m is
// not, which is that Π ofⱼ^kⱼ · e^restₘ >= 1.
func (a algebra) exceeds(d, c amount) bool {
	gap := d.plus(c.times(rational(big.NewRat(-1, 1))))
	if len(gap.logs) == 0 {
		return a.nonnegative(gap.rest.num)
	}
	rest, err := a.laurent(gap.rest)
	if err != nil {
		return false
	}
	type part struct {
		of    polynomial // m
		inner amount
	}
	parts := map[string]*part{}
	add := func(m map[string]*big.Rat, l amount) {
		key := monomial(m)
		if parts[key] == nil {
			parts[key] = &part{polynomial{key: {one, m}}, nothing()}
		}
		parts[key].inner = parts[key].inner.plus(l)
	}
	for _, l := range gap.logs {
		count, err := a.laurent(l.count)
		if err != nil {
			return false
		}
		for _, t := range count.terms() {
			add(t.powers, amount{[]logarithm{{rational(t.coef), l.of}}, rational(zero)})
		}
	}
	for _, t := range rest.terms() {
		best, powers := "", map[string]*big.Rat{}
		for key, p := range parts {
			m := p.of[key].powers
			if divides(m, t.powers) && (len(m) > len(powers) || len(m) == len(powers) && key < best) {
				best, powers = key, m
			}
		}
		add(powers, fixed(fraction{sum(t).divide(powers), whole(1)}))
	}
	for _, p := range parts {
		if !a.nonnegative(p.of) || !a.atLeastOne(p.inner) {
			return false
		}
	}
	return true
}

// divides reports whether a monomial is part of another one.
func divides(m, of map[string]*big.Rat) bool {
	for v, e := range m {
		if o, ok := of[v]; !ok || o.Cmp(e) != 0 {
			return false
		}
	}
	return true
}

// atLeastOne reports that e^c >= 1, after a power has made the counts whole.
func (a algebra) atLeastOne(c amount) bool {
	common := big.NewInt(1)
	for _, l := range c.logs {
		n, ok := l.count.constant()
		if !ok {
			return false
		}
		common.Mul(common, new(big.Int).Quo(n.Denom(), new(big.Int).GCD(nil, nil, common, n.Denom())))
	}
	x, err := a.raise(c.times(rational(new(big.Rat).SetInt(common))))
	return err == nil && a.atMost(rational(one), x)
}
