package ratio

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// errUndecided is what stays open in a proof; the text says what.
var errUndecided = errors.New("not proved")

func undecided(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errUndecided, fmt.Sprintf(format, args...))
}

// A fraction is a quotient of polynomials; den is positive all over the region in
// which it was made, and so is each variable that divides it: what cancels, a product of
// such variables, does not change its sign.
type fraction struct{ num, den polynomial }

func rational(r *big.Rat) fraction { return fraction{number(r), whole(1)} }

func (x fraction) neg() fraction { return fraction{x.num.neg(), x.den} }

func (x fraction) plus(y fraction) fraction {
	if x.den.equal(y.den) {
		return simplify(fraction{x.num.plus(y.num), x.den})
	}
	mx, cx := x.den.factor()
	my, cy := y.den.factor()
	if cx.equal(cy) {
		return simplify(fraction{x.num.times(my).plus(y.num.times(mx)), cx.times(mx).times(my)})
	}
	return simplify(fraction{x.num.times(y.den).plus(y.num.times(x.den)), x.den.times(y.den)})
}

func (x fraction) minus(y fraction) fraction { return x.plus(y.neg()) }

func (x fraction) times(y fraction) fraction {
	// What is above and below cancels.
	a, b := cancel(x.num, y.den)
	c, d := cancel(y.num, x.den)
	return simplify(fraction{a.times(c), b.times(d)})
}

// cancel divides both of two polynomials by a factor that they share but for powers.
func cancel(p, q polynomial) (polynomial, polynomial) {
	mp, cp := p.factor()
	mq, cq := q.factor()
	if len(p) > 0 && cp.equal(cq) {
		return mp, mq
	}
	return p, q
}

func (x fraction) constant() (*big.Rat, bool) {
	n, ok := x.num.constant()
	if !ok {
		return nil, false
	}
	d, ok := x.den.constant()
	if !ok {
		return nil, false
	}
	return new(big.Rat).Quo(n, d), true
}

// simplify cancels a common monomial, and a denominator that is a multiple of the
// numerator.
func simplify(x fraction) fraction {
	if len(x.num) == 0 {
		return fraction{polynomial{}, whole(1)}
	}
	common := map[string]*big.Rat{}
	den := x.den.least()
	for v, e := range x.num.least() {
		if d, ok := den[v]; ok {
			if d.Cmp(e) < 0 {
				e = d
			}
			common[v] = e
		}
	}
	num, d := x.num.divide(common), x.den.divide(common)
	lead := d.terms()[0].coef
	if lead.Sign() > 0 {
		num, d = num.scale(new(big.Rat).Inv(lead)), d.scale(new(big.Rat).Inv(lead))
	}
	if ratio := new(big.Rat).Quo(num.terms()[0].coef, d.terms()[0].coef); num.equal(d.scale(ratio)) {
		return rational(ratio)
	}
	return fraction{num, d}
}

func (x fraction) String() string {
	if d, ok := x.den.constant(); ok && d.Cmp(one) == 0 {
		return x.num.String()
	}
	common := big.NewInt(1)
	for _, p := range []polynomial{x.num, x.den} {
		for _, t := range p {
			common.Mul(common, new(big.Int).Quo(t.coef.Denom(), new(big.Int).GCD(nil, nil, common, t.coef.Denom())))
		}
	}
	k := new(big.Rat).SetInt(common)
	x = fraction{x.num.scale(k), x.den.scale(k)}
	wrap := func(p polynomial, single bool) string {
		if len(p) > 1 || single && strings.Contains(p.String(), "*") {
			return "(" + p.String() + ")"
		}
		return p.String()
	}
	return wrap(x.num, false) + "/" + wrap(x.den, true)
}

// An algebra reads expressions over public inputs.
type algebra struct{ *region }

// quo divides by what is never zero.
func (a algebra) quo(x, y fraction) (fraction, error) {
	for v, e := range y.num.least() {
		if e.Sign() != 0 && !a.positive(variable(v)) {
			return fraction{}, undecided("that %s is positive", v)
		}
	}
	switch {
	case a.positive(y.num):
		return x.times(fraction{y.den, y.num}), nil
	case a.positive(y.num.neg()):
		return x.times(fraction{y.den.neg(), y.num.neg()}), nil
	}
	return fraction{}, undecided("that %v is never zero", y)
}

// atMost reports that x <= y all over the region.
func (a algebra) atMost(x, y fraction) bool {
	if x.den.equal(y.den) {
		return a.nonnegative(y.num.minus(x.num))
	}
	return a.nonnegative(y.num.times(x.den).minus(x.num.times(y.den)))
}

// fraction reads an expression without logarithms. What is no rational function of
// exponentials becomes a variable of its own, of which nothing is known.
func (a algebra) fraction(e program.Expression) (fraction, error) {
	switch e := e.(type) {
	case program.Number:
		return rational(e.Value), nil
	case program.Ref:
		if !e.Var.Slice && e.Var.Sort != program.Bool {
			return a.input(e.String(), e.Var.Sort, e.Var.Natural), nil
		}
	case program.Length:
		return a.input(e.String(), program.Int, true), nil
	case program.Unary:
		if e.Op == program.Sub {
			x, err := a.fraction(e.X)
			return x.neg(), err
		}
	case program.Binary:
		return a.binary(e)
	case program.Call:
		switch {
		case len(e.Args) == 0:
		case e.Func == "real":
			return a.fraction(e.Args[0])
		case e.Func == "exp":
			return a.exponential(e.Args[0])
		case e.Func == "sqrt":
			return a.root(e.Args[0])
		case e.Func == "pow" && len(e.Args) == 2:
			if n, ok := e.Args[1].(program.Number); ok && n.Value.IsInt() && n.Value.Sign() >= 0 && n.Value.Num().BitLen() < 6 {
				x, err := a.fraction(e.Args[0])
				k := int(n.Value.Num().Int64())
				return fraction{x.num.raise(k), x.den.raise(k)}, err
			}
		}
	}
	return fraction{}, undecided("%v is no rational function of public inputs and exponentials", e)
}

// root reads a square root of what is positive: a variable of which the square is known.
func (a algebra) root(x program.Expression) (fraction, error) {
	square, err := a.amount(x)
	if err != nil {
		return fraction{}, err
	}
	if !a.covers(square, nothing()) {
		return fraction{}, undecided("that %v is not negative", x)
	}
	name := "math.Sqrt(" + square.String() + ")"
	a.roots[name] = square
	a.above(name, bound{zero, a.above0(square)})
	return fraction{variable(name), whole(1)}, nil
}

// above0 reports that an amount is positive, as far as one factor at a time tells.
func (a algebra) above0(c amount) bool {
	if len(c.logs) == 0 {
		return a.positive(c.rest.num)
	}
	if len(c.logs) > 1 || !a.nonnegative(c.rest.num) || !a.positive(c.logs[0].count.num) {
		return false
	}
	of := c.logs[0].of
	return a.positive(of.num.minus(of.den))
}

// squared reads a fraction in squares of roots as an amount.
func (a algebra) squared(x fraction) (amount, error) {
	rooted := func(powers map[string]*big.Rat) (name string, ok bool) {
		for v := range powers {
			if _, is := a.roots[v]; is {
				if name != "" || powers[v].Cmp(big.NewRat(2, 1)) != 0 {
					return "", false
				}
				name = v
			}
		}
		return name, true
	}
	for _, t := range x.den {
		if name, ok := rooted(t.powers); name != "" || !ok {
			return amount{}, undecided("%v divides by a root", x)
		}
	}
	total := nothing()
	for _, t := range x.num.terms() {
		name, ok := rooted(t.powers)
		if !ok {
			return amount{}, undecided("%v has roots that are not squared", x)
		}
		factor := fraction{sum(t), x.den}
		if name == "" {
			total = total.plus(fixed(simplify(factor)))
			continue
		}
		factor.num = factor.num.divide(map[string]*big.Rat{name: big.NewRat(2, 1)})
		total = total.plus(a.roots[name].times(simplify(factor)))
	}
	return total, nil
}

// input is a variable of the function.
func (a algebra) input(name string, sort program.Sort, natural bool) fraction {
	a.integers[name] = sort == program.Int
	if natural {
		a.above(name, bound{zero, false})
	}
	return fraction{variable(name), whole(1)}
}

func (a algebra) binary(e program.Binary) (fraction, error) {
	x, err := a.fraction(e.X)
	if err != nil {
		return x, err
	}
	y, err := a.fraction(e.Y)
	if err != nil {
		return y, err
	}
	switch e.Op {
	case program.Add:
		return x.plus(y), nil
	case program.Sub:
		return x.minus(y), nil
	case program.Mul:
		return x.times(y), nil
	case program.Quo:
		if program.SortOf(e) == program.Real {
			return a.quo(x, y)
		}
	case program.Min, program.Max:
		less, more := a.atMost(x, y), a.atMost(y, x)
		switch {
		case less && e.Op == program.Min, more && e.Op == program.Max:
			return x, nil
		case less || more:
			return y, nil
		}
	}
	return fraction{}, undecided("%v is no rational function", e)
}

// exponential reads e^x: a product of powers of one variable for each monomial of x,
// and of the arguments of logarithms with whole factors.
func (a algebra) exponential(x program.Expression) (fraction, error) {
	c, err := a.amount(x)
	if err != nil {
		return fraction{}, err
	}
	return a.raise(c)
}

// raise returns e^c.
func (a algebra) raise(c amount) (fraction, error) {
	result, err := a.exp(c.rest)
	if err != nil {
		return fraction{}, err
	}
	for _, l := range c.logs {
		n, ok := l.count.constant()
		if !ok || !n.IsInt() || n.Num().BitLen() > 5 {
			return fraction{}, undecided("the power %v of %v", l.count, l.of)
		}
		k := int(n.Num().Int64())
		of := l.of
		if k < 0 {
			if of, err = a.quo(rational(one), of); err != nil {
				return fraction{}, err
			}
			k = -k
		}
		result = result.times(fraction{of.num.raise(k), of.den.raise(k)})
	}
	return result, nil
}

// exp returns e^x of a sum of monomials.
func (a algebra) exp(x fraction) (fraction, error) {
	sum, err := a.laurent(x)
	if err != nil {
		return fraction{}, err
	}
	result := fraction{whole(1), whole(1)}
	for _, t := range sum.terms() {
		m, e := polynomial{monomial(t.powers): {one, t.powers}}, t.coef
		if len(t.powers) == 0 {
			m, e = number(new(big.Rat).Abs(t.coef)), big.NewRat(int64(t.coef.Sign()), 1)
		}
		name := "math.Exp(" + m.String() + ")"
		a.exps[name] = m
		result = result.times(fraction{power(name, e), whole(1)})
	}
	return result, nil
}

// laurent writes a fraction over one monomial as a sum.
func (a algebra) laurent(x fraction) (polynomial, error) {
	if len(x.den) != 1 {
		return nil, undecided("%v is no sum of monomials", x)
	}
	den := x.den.terms()[0]
	inverse := maps.Clone(den.powers)
	return x.num.divide(inverse).scale(new(big.Rat).Inv(den.coef)), nil
}
