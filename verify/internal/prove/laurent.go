package prove

import (
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// A laurent is a sum of products of powers, positive or not, of factors: the
// parameters of a claim, and sums of them that stand below a line. Rates of noise
// and claimed costs are such sums: ε/(4·N), (1+6·c)/4·ε.
type laurent struct {
	terms   map[string]product
	factors map[string]p.Expression
}

type product struct {
	coef   *big.Rat
	powers map[string]int // no power is 0
}

func (t product) key() string {
	var b strings.Builder
	for _, f := range slices.Sorted(maps.Keys(t.powers)) {
		b.WriteString(f + "^" + strconv.Itoa(t.powers[f]) + ";")
	}
	return b.String()
}

func constantLaurent(r *big.Rat) laurent {
	l := laurent{terms: map[string]product{}, factors: map[string]p.Expression{}}
	l.add(product{coef: r})
	return l
}

func factorLaurent(name string, x p.Expression) laurent {
	l := laurent{terms: map[string]product{}, factors: map[string]p.Expression{name: x}}
	l.add(product{coef: big.NewRat(1, 1), powers: map[string]int{name: 1}})
	return l
}

func (l laurent) add(t product) {
	k := t.key()
	c := new(big.Rat).Set(t.coef)
	if old, ok := l.terms[k]; ok {
		c.Add(c, old.coef)
	}
	if c.Sign() == 0 {
		delete(l.terms, k)
		return
	}
	l.terms[k] = product{c, t.powers}
}

func (l laurent) plus(m laurent) laurent {
	s := laurent{maps.Clone(l.terms), maps.Clone(l.factors)}
	maps.Copy(s.factors, m.factors)
	for _, t := range m.terms {
		s.add(t)
	}
	return s
}

func (l laurent) times(m laurent) laurent {
	s := laurent{map[string]product{}, maps.Clone(l.factors)}
	maps.Copy(s.factors, m.factors)
	for _, t := range l.terms {
		for _, u := range m.terms {
			powers := maps.Clone(t.powers)
			if powers == nil {
				powers = map[string]int{}
			}
			for f, n := range u.powers {
				if powers[f] += n; powers[f] == 0 {
					delete(powers, f)
				}
			}
			s.add(product{new(big.Rat).Mul(t.coef, u.coef), powers})
		}
	}
	return s
}

// inverse is 1/l; a sum of several terms becomes a factor of its own. False if l
// is 0.
func (l laurent) inverse(x p.Expression) (laurent, bool) {
	switch len(l.terms) {
	case 0:
		return l, false
	case 1:
		for _, t := range l.terms {
			powers := map[string]int{}
			for f, n := range t.powers {
				powers[f] = -n
			}
			s := laurent{map[string]product{}, l.factors}
			s.add(product{new(big.Rat).Inv(t.coef), powers})
			return s, true
		}
	}
	name := x.String()
	s := laurent{map[string]product{}, map[string]p.Expression{name: x}}
	s.add(product{big.NewRat(1, 1), map[string]int{name: -1}})
	return s, true
}

// expanded multiplies out factors that are sums and stand above the line: what is left
// of a budget, ε - share·ε, has ε for a factor.
func (l laurent) expanded() laurent {
	out := laurent{map[string]product{}, map[string]p.Expression{}}
	for _, t := range l.terms {
		whole := laurent{map[string]product{}, map[string]p.Expression{}}
		whole.add(product{coef: t.coef})
		for f, n := range t.powers {
			x := l.factors[f]
			power := laurent{map[string]product{}, map[string]p.Expression{f: x}}
			power.add(product{big.NewRat(1, 1), map[string]int{f: n}})
			if sum := laurentOf(x); n > 0 && len(sum.terms) > 1 {
				power = constantLaurent(big.NewRat(1, 1))
				for range n {
					power = power.times(sum)
				}
			}
			whole = whole.times(power)
		}
		out = out.plus(whole)
	}
	return out
}

// sorted are the terms in a fixed order.
func (l laurent) sorted() []product {
	var ts []product
	for _, k := range slices.Sorted(maps.Keys(l.terms)) {
		ts = append(ts, l.terms[k])
	}
	return ts
}

// laurentOf reads an expression over public inputs. What is neither a sum, a
// product nor a quotient is a factor of its own.
func laurentOf(x p.Expression) laurent {
	switch x := x.(type) {
	case p.Number:
		return constantLaurent(x.Value)
	case p.Unary:
		if x.Op == p.Sub {
			return constantLaurent(big.NewRat(-1, 1)).times(laurentOf(x.X))
		}
	case p.Call:
		if x.Func == "real" {
			return laurentOf(x.Args[0])
		}
		if x.Func == "pow" && len(x.Args) == 2 {
			if n, ok := x.Args[1].(p.Number); ok && n.Value.IsInt() && n.Value.Sign() > 0 && n.Value.Cmp(big.NewRat(8, 1)) <= 0 {
				l := constantLaurent(big.NewRat(1, 1))
				for range n.Value.Num().Int64() {
					l = l.times(laurentOf(x.Args[0]))
				}
				return l
			}
		}
	case p.Binary:
		switch x.Op {
		case p.Add:
			return laurentOf(x.X).plus(laurentOf(x.Y))
		case p.Sub:
			return laurentOf(x.X).plus(constantLaurent(big.NewRat(-1, 1)).times(laurentOf(x.Y)))
		case p.Mul:
			return laurentOf(x.X).times(laurentOf(x.Y))
		case p.Quo:
			if p.SortOf(x) == p.Int {
				break // it truncates
			}
			if below, ok := laurentOf(x.Y).inverse(x.Y); ok {
				return laurentOf(x.X).times(below)
			}
		}
	}
	return factorLaurent(x.String(), x)
}

// expression writes a product without its negative powers.
func (t product) expression(factors map[string]p.Expression, coef *big.Rat) p.Expression {
	var x p.Expression
	for _, f := range slices.Sorted(maps.Keys(t.powers)) {
		for range t.powers[f] {
			if x == nil {
				x = factors[f]
			} else {
				x = p.Binary{Op: p.Mul, X: x, Y: factors[f]}
			}
		}
	}
	c := p.Number{Value: coef, Sort: p.Real}
	if coef.IsInt() {
		c.Sort = p.Int
	}
	switch {
	case x == nil:
		return c
	case coef.Cmp(big.NewRat(1, 1)) == 0:
		return x
	}
	return p.Binary{Op: p.Mul, X: c, Y: x}
}
