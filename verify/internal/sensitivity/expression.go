package sensitivity

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// An Expr is a sum of monomials over atoms, with rational coefficients: what is
// known of a number by its parameters. Powers are counted in halves, so that square
// roots of monomials are monomials. Expressions are immutable and in normal form:
// equal sums are the same text. The zero Expr is 0.
type Expr struct{ terms []term }

type term struct {
	coef   *big.Rat // not zero
	powers []power  // by the atoms' names, none zero
}

type power struct {
	atom  *atom
	halfs int // twice the exponent
}

// An atom is a parameter, a number known only by its name, or a function of other
// expressions that is no sum of monomials. Atoms with the same name are the same.
type atom struct {
	name string
	op   operation
	args []Expr
	// sign is what is known of a parameter or a hidden number.
	nonneg, positive bool
}

type operation uint8

const (
	parameter operation = iota
	maximum
	minimum
	absolute
	logarithm
	exponential
	sum    // args[0], which is a sum: only in powers
	rootOf // the positive integer that its name is: only in roots
)

func rat(r *big.Rat) Expr {
	if r.Sign() == 0 {
		return Expr{}
	}
	return Expr{[]term{{coef: r}}}
}

func integer(n int64) Expr { return rat(big.NewRat(n, 1)) }

func atomic(a *atom) Expr {
	return Expr{[]term{{big.NewRat(1, 1), []power{{a, 2}}}}}
}

func named(name string) Expr { return atomic(&atom{name: name}) }

func (t term) key() string {
	var b []byte
	for _, p := range t.powers {
		b = append(append(b, p.atom.name...), '^')
		if p.halfs%2 == 0 {
			b = strconv.AppendInt(b, int64(p.halfs)/2, 10)
		} else {
			b = append(strconv.AppendInt(b, int64(p.halfs), 10), "/2"...)
		}
		b = append(b, ' ')
	}
	return string(b)
}

// normal sorts terms and adds up those with the same monomial.
func normal(terms []term) Expr {
	byKey := map[string]term{}
	keys := []string{}
	for _, t := range terms {
		k := t.key()
		old, ok := byKey[k]
		if !ok {
			keys = append(keys, k)
			byKey[k] = t
			continue
		}
		byKey[k] = term{new(big.Rat).Add(old.coef, t.coef), t.powers}
	}
	slices.Sort(keys)
	var e Expr
	for _, k := range keys {
		if t := byKey[k]; t.coef.Sign() != 0 {
			e.terms = append(e.terms, t)
		}
	}
	return e
}

func (e Expr) add(f Expr) Expr {
	if len(e.terms) == 0 {
		return f
	}
	if len(f.terms) == 0 {
		return e
	}
	return normal(slices.Concat(e.terms, f.terms))
}

func (e Expr) neg() Expr {
	opposite := make([]term, len(e.terms))
	for i, t := range e.terms {
		if slices.ContainsFunc(t.powers, power.multipliedOut) {
			return e.mul(integer(-1))
		}
		opposite[i] = term{new(big.Rat).Neg(t.coef), t.powers}
	}
	return Expr{opposite}
}

func (e Expr) sub(f Expr) Expr { return e.add(f.neg()) }

// multipliedOut says that mul replaces the power: it is a sum in a whole power.
func (p power) multipliedOut() bool { return p.atom.op == sum && p.halfs >= 2 }

func (e Expr) mul(f Expr) Expr {
	var terms []term
	for _, s := range e.terms {
		for _, t := range f.terms {
			terms = append(terms, s.times(t))
		}
	}
	// A sum in a whole power is multiplied out.
	product := Expr{}
	for i, t := range terms {
		for j, p := range t.powers {
			if !p.multipliedOut() {
				continue
			}
			rest := term{t.coef, slices.Clone(t.powers)}
			if rest.powers[j].halfs -= 2; rest.powers[j].halfs == 0 {
				rest.powers = slices.Delete(rest.powers, j, j+1)
			}
			product = product.add(Expr{[]term{rest}}.mul(p.atom.args[0]))
			terms[i].coef = new(big.Rat)
			break
		}
	}
	return normal(terms).add(product)
}

func (t term) times(u term) term {
	coef := new(big.Rat).Mul(t.coef, u.coef)
	var powers []power // in the order of their names, as those of t and u are
	add := func(p power) {
		if p.atom.op == rootOf && p.halfs%2 == 0 {
			n, _ := new(big.Rat).SetString(p.atom.name)
			coef.Mul(coef, ratPower(n, p.halfs/2))
		} else if p.halfs != 0 {
			powers = append(powers, p)
		}
	}
	these, those := t.powers, u.powers
	for len(these) > 0 || len(those) > 0 {
		order := 0
		switch {
		case len(those) == 0:
			order = -1
		case len(these) == 0:
			order = 1
		default:
			order = strings.Compare(these[0].atom.name, those[0].atom.name)
		}
		switch {
		case order < 0:
			add(these[0])
			these = these[1:]
		case order > 0:
			add(those[0])
			those = those[1:]
		default:
			add(power{those[0].atom, these[0].halfs + those[0].halfs})
			these, those = these[1:], those[1:]
		}
	}
	return term{coef, powers}
}

func ratPower(r *big.Rat, n int) *big.Rat {
	p := big.NewRat(1, 1)
	for range max(n, -n) {
		p.Mul(p, r)
	}
	if n < 0 {
		p.Inv(p)
	}
	return p
}

// inverse returns 1/e; ok is false for 0.
func (e Expr) inverse() (f Expr, ok bool) {
	switch len(e.terms) {
	case 0:
		return Expr{}, false
	case 1:
		t := e.terms[0]
		powers := make([]power, len(t.powers))
		for i, p := range t.powers {
			powers[i] = power{p.atom, -p.halfs}
		}
		return Expr{[]term{{new(big.Rat).Inv(t.coef), powers}}}, true
	}
	return Expr{[]term{{big.NewRat(1, 1), []power{{asAtom(e), -2}}}}}, true
}

// asAtom makes an atom of a sum, that it may stand in a power.
func asAtom(e Expr) *atom {
	return &atom{name: "(" + e.String() + ")", op: sum, args: []Expr{e}}
}

// sqrt returns the root of what is not negative.
func (e Expr) sqrt() Expr {
	if len(e.terms) == 0 {
		return e
	}
	if len(e.terms) > 1 {
		return Expr{[]term{{big.NewRat(1, 1), []power{{asAtom(e), 1}}}}}
	}
	t := e.terms[0]
	powers := make([]power, 0, len(t.powers))
	for _, p := range t.powers {
		if p.halfs%2 != 0 {
			return Expr{[]term{{big.NewRat(1, 1), []power{{asAtom(e), 1}}}}}
		}
		powers = append(powers, power{p.atom, p.halfs / 2})
	}
	root := Expr{[]term{{big.NewRat(1, 1), powers}}}
	// The root of n/d is that of n·d over d.
	n := new(big.Int).Mul(t.coef.Num(), t.coef.Denom())
	if n.Sign() < 0 {
		return Expr{[]term{{big.NewRat(1, 1), []power{{asAtom(e), 1}}}}}
	}
	over := rat(new(big.Rat).SetFrac(big.NewInt(1), t.coef.Denom()))
	return root.mul(over).mul(rootOfInteger(n))
}

// anyRoot is the root of what may be a square, or a product of two that are negative: those
// are not taken apart.
func (e Expr) anyRoot() Expr {
	if len(e.terms) == 1 {
		powers := e.terms[0].powers
		square := slices.ContainsFunc(powers, func(p power) bool { return p.halfs%4 == 0 })
		if square || len(powers) > 1 {
			return Expr{[]term{{big.NewRat(1, 1), []power{{asAtom(e), 1}}}}}
		}
	}
	return e.sqrt()
}

// rootOfInteger is √n as a product of roots of small primes and of what is left.
func rootOfInteger(n *big.Int) Expr {
	product := one()
	factor := func(p *big.Int) {
		a := &atom{name: p.String(), op: rootOf, nonneg: true}
		product = product.mul(Expr{[]term{{big.NewRat(1, 1), []power{{a, 1}}}}})
	}
	left, rest := new(big.Int).Set(n), new(big.Int)
	for p := int64(2); p < 1000 && left.Cmp(big.NewInt(1)) > 0; p++ {
		prime := big.NewInt(p)
		for {
			q, r := new(big.Int).QuoRem(left, prime, rest)
			if r.Sign() != 0 {
				break
			}
			left = q
			factor(prime)
		}
	}
	square := new(big.Int).Sqrt(left)
	if new(big.Int).Mul(square, square).Cmp(left) == 0 {
		return product.mul(rat(new(big.Rat).SetInt(square)))
	}
	factor(left)
	return product
}

// number returns the value of an expression without atoms.
func (e Expr) number() (*big.Rat, bool) {
	switch {
	case len(e.terms) == 0:
		return new(big.Rat), true
	case len(e.terms) == 1 && len(e.terms[0].powers) == 0:
		return e.terms[0].coef, true
	}
	return nil, false
}

// size is about how many symbols the expression is written with.
func (e Expr) size() (n int) {
	for _, t := range e.terms {
		n++
		for _, p := range t.powers {
			n += len(p.atom.name)
		}
	}
	return n
}

func (e Expr) is(f Expr) bool { return len(e.sub(f).terms) == 0 }

func call(op operation, name string, args ...Expr) Expr {
	texts := make([]string, len(args))
	for i, x := range args {
		texts[i] = x.String()
	}
	return atomic(&atom{name: name + "(" + strings.Join(texts, ", ") + ")", op: op, args: args})
}

// log returns ln e; of a monomial that is a reciprocal it is -ln(1/e), so that the
// two ways to write it are one.
func (e Expr) log() Expr {
	if n, ok := e.number(); ok && n.Cmp(big.NewRat(1, 1)) == 0 {
		return Expr{}
	}
	if len(e.terms) == 1 {
		halfs := 0
		for _, p := range e.terms[0].powers {
			halfs += p.halfs
		}
		if f, ok := e.inverse(); ok && halfs > 0 {
			return call(logarithm, "log", f).neg()
		}
	}
	return call(logarithm, "log", e)
}

func (e Expr) exp() Expr {
	if len(e.terms) == 0 {
		return integer(1)
	}
	return call(exponential, "exp", e)
}

// atoms calls f for every atom, also those within others.
func (e Expr) atoms(f func(*atom)) {
	for _, t := range e.terms {
		for _, p := range t.powers {
			f(p.atom)
			for _, x := range p.atom.args {
				x.atoms(f)
			}
		}
	}
}

func (e Expr) has(name string) (found bool) {
	e.atoms(func(a *atom) { found = found || a.name == name })
	return found
}

// replace writes x for every atom of a name; ok is false where x is 0 in a
// denominator.
func (e Expr) replace(name string, x Expr) (out Expr, ok bool) {
	return e.rewrite(func(a *atom) (Expr, bool) { return x, a.name == name })
}

// rewrite replaces atoms, those within others too.
func (e Expr) rewrite(f func(*atom) (Expr, bool)) (out Expr, ok bool) {
	for _, t := range e.terms {
		product := rat(t.coef)
		for _, p := range t.powers {
			x, found := f(p.atom)
			if !found {
				x, ok = p.atom.rewrite(f)
				if !ok {
					return Expr{}, false
				}
			}
			if p.halfs < 0 {
				if x, ok = x.inverse(); !ok {
					return Expr{}, false
				}
			}
			n := max(p.halfs, -p.halfs)
			for range n / 2 {
				product = product.mul(x)
			}
			if n%2 != 0 {
				product = product.mul(x.anyRoot())
			}
		}
		out = out.add(product)
	}
	return out, true
}

func (a *atom) rewrite(f func(*atom) (Expr, bool)) (Expr, bool) {
	if len(a.args) == 0 {
		return atomic(a), true
	}
	args := make([]Expr, len(a.args))
	changed := false
	for i, x := range a.args {
		y, ok := x.rewrite(f)
		if !ok {
			return Expr{}, false
		}
		args[i], changed = y, changed || !y.is(x)
	}
	if !changed {
		return atomic(a), true
	}
	switch a.op {
	case maximum:
		return call(maximum, "max", sorted(args)...), true
	case minimum:
		return call(minimum, "min", sorted(args)...), true
	case absolute:
		return call(absolute, "abs", args...), true
	case logarithm:
		return args[0].log(), true
	case exponential:
		return args[0].exp(), true
	}
	return args[0], true
}

func sorted(args []Expr) []Expr {
	args = slices.Clone(args)
	slices.SortFunc(args, func(x, y Expr) int { return strings.Compare(x.String(), y.String()) })
	return args
}

// eval returns the value with the given parameters; NaN where one is missing.
func (e Expr) eval(at map[string]float64) float64 {
	v := 0.0
	for _, t := range e.terms {
		v += t.eval(at)
	}
	return v
}

func (t term) eval(at map[string]float64) float64 {
	v, _ := t.coef.Float64()
	for _, p := range t.powers {
		v *= math.Pow(p.atom.eval(at), float64(p.halfs)/2)
	}
	return v
}

func (a *atom) eval(at map[string]float64) float64 {
	args := make([]float64, len(a.args))
	for i, x := range a.args {
		args[i] = x.eval(at)
	}
	switch a.op {
	case maximum:
		return slices.Max(args)
	case minimum:
		return slices.Min(args)
	case absolute:
		return math.Abs(args[0])
	case logarithm:
		return math.Log(args[0])
	case exponential:
		return math.Exp(args[0])
	case sum:
		return args[0]
	case rootOf:
		n, _ := new(big.Rat).SetString(a.name)
		f, _ := n.Float64()
		return f
	}
	if v, ok := at[a.name]; ok {
		return v
	}
	return math.NaN()
}

// String writes the expression as Go would, with ^ only in roots of parameters.
func (e Expr) String() string {
	if len(e.terms) == 0 {
		return "0"
	}
	var b strings.Builder
	for i, t := range e.terms {
		coef := t.coef
		switch {
		case i > 0 && coef.Sign() < 0:
			b.WriteString(" - ")
			coef = new(big.Rat).Neg(coef)
		case i > 0:
			b.WriteString(" + ")
		}
		b.WriteString(term{coef, t.powers}.String())
	}
	return b.String()
}

func (t term) String() string {
	var over, under []string
	num, den := t.coef.Num(), t.coef.Denom()
	sign := ""
	if num.Sign() < 0 {
		sign, num = "-", new(big.Int).Neg(num)
	}
	if num.Cmp(big.NewInt(1)) != 0 {
		over = append(over, num.String())
	}
	if den.Cmp(big.NewInt(1)) != 0 {
		under = append(under, den.String())
	}
	for _, p := range t.powers {
		list := &over
		if p.halfs < 0 {
			list = &under
		}
		n := max(p.halfs, -p.halfs)
		for range n / 2 {
			*list = append(*list, p.atom.name)
		}
		if n%2 != 0 {
			under := p.atom.name
			if p.atom.op == sum {
				under = under[1 : len(under)-1]
			}
			*list = append(*list, "sqrt("+under+")")
		}
	}
	if len(over) == 0 {
		over = []string{"1"}
	}
	text := sign + strings.Join(over, "*")
	switch len(under) {
	case 0:
	case 1:
		text += "/" + under[0]
	default:
		text += "/(" + strings.Join(under, "*") + ")"
	}
	return text
}
