package linear

import (
	"fmt"
	"math/big"
	"math/rand/v2"
)

// A generator makes random terms and formulas, each with what it means, computed
// another way.
type generator struct {
	*rand.Rand
	ints, reals, bools int
}

type (
	meaning[T any] func(Model) T
	quantity       = meaning[*big.Rat]
	truth          = meaning[bool]
)

func newGenerator(seed int) generator {
	g := generator{Rand: rand.New(rand.NewPCG(uint64(seed), 1))}
	g.ints, g.reals, g.bools = g.IntN(4), 1+g.IntN(4), g.IntN(3)
	return g
}

// conjunction is a conjunction, as obligations are.
func (g generator) conjunction() (Formula, truth) {
	var parts []Formula
	var means []truth
	for range 1 + g.IntN(8) {
		f, m := g.formula(g.IntN(4))
		parts, means = append(parts, f), append(means, m)
	}
	return And(parts...), all(means)
}

func all(means []truth) truth {
	return func(m Model) bool {
		for _, mean := range means {
			if !mean(m) {
				return false
			}
		}
		return true
	}
}

func valueOf(m Model, v Var) *big.Rat {
	if r := m[v]; r != nil {
		return r
	}
	return new(big.Rat)
}

func (g generator) variable() (Term, quantity) {
	v := Var{fmt.Sprintf("i%d", g.IntN(max(g.ints, 1))), Int}
	if g.IntN(g.ints+g.reals) >= g.ints {
		v = Var{fmt.Sprintf("r%d", g.IntN(g.reals)), Real}
	}
	return v.Term(), func(m Model) *big.Rat { return valueOf(m, v) }
}

func (g generator) rational(size int) *big.Rat {
	q := int64(1)
	if g.IntN(8) == 0 {
		q = int64(g.IntN(4) + 1)
	}
	return big.NewRat(int64(g.IntN(2*size+1)-size), q)
}

func (g generator) term(depth int) (Term, quantity) {
	c := g.rational(4)
	t, mean := Constant(c), func(Model) *big.Rat { return c }
	for range 1 + g.IntN(3) {
		u, of := g.variable()
		if depth > 0 && g.IntN(4) == 0 {
			u, of = g.conditional(depth - 1)
		}
		k, before := g.rational(3), mean
		t = t.Add(u.Scale(k))
		mean = func(m Model) *big.Rat {
			r := new(big.Rat).Mul(k, of(m))
			return r.Add(r, before(m))
		}
	}
	return t, mean
}

func (g generator) conditional(depth int) (Term, quantity) {
	t, of := g.term(depth)
	u, or := g.term(depth)
	pick := func(cond func(Model) bool) quantity {
		return func(m Model) *big.Rat {
			if cond(m) {
				return of(m)
			}
			return or(m)
		}
	}
	switch g.IntN(6) {
	case 0:
		return Abs(t), func(m Model) *big.Rat { return new(big.Rat).Abs(of(m)) }
	case 1:
		return Min(t, u), pick(func(m Model) bool { return of(m).Cmp(or(m)) < 0 })
	case 2:
		return Max(t, u), pick(func(m Model) bool { return of(m).Cmp(or(m)) > 0 })
	}
	c, cond := g.formula(depth)
	return Ite(c, t, u), pick(cond)
}

func (g generator) formula(depth int) (Formula, truth) {
	if depth <= 0 {
		return g.atom(depth)
	}
	args := make([]Formula, 2+g.IntN(3))
	means := make([]truth, len(args))
	for i := range args {
		args[i], means[i] = g.formula(depth - 1 - g.IntN(2))
	}
	a, b, c := means[0], means[1], means[len(args)-1]
	switch g.IntN(9) {
	case 0:
		return Not(And(args...)), func(m Model) bool { return !all(means)(m) }
	case 1:
		return Iff(args[0], args[1]), func(m Model) bool { return a(m) == b(m) }
	case 2:
		return If(args[0], args[1], args[len(args)-1]), func(m Model) bool { return a(m) && b(m) || !a(m) && c(m) }
	case 3:
		return Implies(args[0], args[1]), func(m Model) bool { return !a(m) || b(m) }
	case 4:
		return xor(args[0], args[1]), func(m Model) bool { return a(m) != b(m) }
	case 5, 6:
		return Or(args...), func(m Model) bool {
			for _, mean := range means {
				if mean(m) {
					return true
				}
			}
			return false
		}
	}
	return And(args...), all(means)
}

func (g generator) atom(depth int) (Formula, truth) {
	if g.bools > 0 && g.IntN(5) == 0 {
		v := Var{fmt.Sprintf("b%d", g.IntN(g.bools)), Bool}
		return v.Formula(), func(m Model) bool { return valueOf(m, v).Sign() != 0 }
	}
	t, left := g.term(depth)
	u, right := g.term(depth)
	compare := func(holds func(int) bool) truth {
		return func(m Model) bool { return holds(left(m).Cmp(right(m))) }
	}
	switch g.IntN(6) {
	case 0:
		return Le(t, u), compare(func(c int) bool { return c <= 0 })
	case 1:
		return Lt(t, u), compare(func(c int) bool { return c < 0 })
	case 2:
		return Eq(t, u), compare(func(c int) bool { return c == 0 })
	case 3:
		return Ne(t, u), compare(func(c int) bool { return c != 0 })
	case 4:
		return Ge(t, u), compare(func(c int) bool { return c >= 0 })
	}
	return Gt(t, u), compare(func(c int) bool { return c > 0 })
}

func (g generator) model(vars []Var) Model {
	m := Model{}
	for _, v := range vars {
		switch v.Sort {
		case Int:
			m[v] = big.NewRat(int64(g.IntN(13)-6), 1)
		case Real:
			m[v] = big.NewRat(int64(g.IntN(25)-12), int64(g.IntN(4)+1))
		case Bool:
			m[v] = big.NewRat(int64(g.IntN(2)), 1)
		}
	}
	return m
}
