package prove

import (
	"fmt"
	"go/token"
	"maps"
	"math/big"
	"slices"
	"strings"

	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// A budget counts costs in units in which no division by a parameter remains: for
// noise of scales 2/ε and 4·N/ε and a claim of ε the unit is ε/(4·N), a step of
// the first costs 2·N, of the second 1, and 4·N may be spent. Costs of which the
// quotients are no constants (ε₁ and ε₂) are counted apart, and each claimed part
// must cover its own: enough, if not always necessary. Where no part of the claim could,
// all are counted together, and what is required must say how they compare.
type budget struct {
	counters []counter
	// positive are the factors by which was multiplied or divided. Of guarded ones the
	// requirements do not say that they are: wherever anything is paid, the way there
	// must have (a draw of which the scale is not positive panics).
	positive, guarded []p.Expression
}

type counter struct {
	name string
	unit string                   // for people
	rate map[*p.Draw]p.Expression // cost of moving by 1, in units
	goal p.Expression
}

// normalise finds the units. The definitions are those of variables that are
// assigned once.
func normalise(draws []*p.Draw, goal p.Expression, definitions map[*p.Variable]p.Expression, written map[*p.Variable]bool) (*budget, error) {
	rates := make([]laurent, len(draws))
	for i, d := range draws {
		x := inline(d.Parameter, definitions)
		switch d.Law {
		case p.Choose:
			rates[i] = laurentOf(x).times(constantLaurent(big.NewRat(1, 2)))
		case p.Laplace, p.Exponential, p.DiscreteLaplace, p.Geometric:
			r, ok := laurentOf(x).inverse(x)
			if !ok {
				return nil, &Position{d.Pos, "the scale of this noise is 0"}
			}
			rates[i] = r.expanded()
		default:
			rates[i] = constantLaurent(new(big.Rat))
		}
		if v := local(rates[i], written); v != "" {
			return nil, &Position{d.Pos, fmt.Sprintf("the scale of this noise depends on %s, which changes as the function runs", v)}
		}
	}
	g := laurentOf(inline(goal, definitions))
	if len(g.terms) == 0 {
		g = constantLaurent(new(big.Rat))
	}
	all := append(slices.Clone(rates), g)
	for range draws {
		left(all)
	}
	b := &budget{}
	unit := clear(all, b)

	// Group by the real factors that remain.
	groups := map[string]bool{}
	for _, l := range all {
		for _, t := range l.terms {
			groups[realPart(t, l.factors)] = true
		}
	}
	if len(groups) == 0 {
		groups[""] = true
	}
	names := slices.Sorted(maps.Keys(groups))
	if slices.ContainsFunc(names, func(name string) bool { return uncovered(all, name) }) {
		names = names[:1] // counted together
	}
	for _, name := range names {
		part := make([]laurent, len(all))
		for i, l := range all {
			part[i] = laurent{map[string]product{}, l.factors}
			for k, t := range l.terms {
				if len(names) == 1 || realPart(t, l.factors) == name {
					part[i].terms[k] = t
				}
			}
		}
		own := unit
		if len(names) > 1 {
			own = multiply(unit, clear(part, b))
		}
		c := counter{name: "cost", rate: map[*p.Draw]p.Expression{}}
		if len(names) > 1 {
			c.name = "cost(" + strings.ReplaceAll(strings.TrimSuffix(name, ";"), "^1", "") + ")"
		}
		whole := whole(part)
		for i, d := range draws {
			c.rate[d] = part[i].polynomial(whole)
		}
		c.goal = part[len(draws)].polynomial(whole)
		c.unit = unitText(own, whole)
		b.counters = append(b.counters, c)
	}
	return b, nil
}

// left finds what is left of a budget, ε − share·ε, in the sum of a draw, takes 1 − share for
// a factor, and writes share·ε + (1−share)·ε for ε everywhere: a claim of ε has a part that
// pays for what has the share, and one for what has the rest.
func left(all []laurent) {
	one := big.NewRat(1, 1)
	for _, l := range all {
		for _, t := range l.sorted() {
			for _, u := range l.sorted() {
				times, rest := t.split(l.factors)
				same, share := u.split(l.factors)
				if t.coef.Sign() < 0 || new(big.Rat).Add(t.coef, u.coef).Sign() != 0 || times.key() != same.key() || len(rest.powers) == 0 || !rest.divides(share) {
					continue
				}
				part := product{one, maps.Clone(share.powers)}
				for f, n := range rest.powers {
					if part.powers[f] -= n; part.powers[f] == 0 {
						delete(part.powers, f)
					}
				}
				x := p.Binary{Op: p.Sub, X: p.Number{Value: one, Sort: p.Real}, Y: part.expression(l.factors, one)}
				sum := laurent{map[string]product{}, l.factors}
				sum.add(rest)
				sum = sum.times(factorLaurent(x.String(), x))
				sum.add(share)
				for i, m := range all {
					out := laurent{map[string]product{}, m.factors}
					for _, v := range m.terms {
						term := laurent{map[string]product{}, m.factors}
						if times, real := v.split(m.factors); real.key() == rest.key() {
							term.add(times)
							term = term.times(sum)
						} else {
							term.add(v)
						}
						out = out.plus(term)
					}
					all[i] = out
				}
				return
			}
		}
	}
}

// split takes a product apart: what counts things, with the number, and the real factors.
func (t product) split(factors map[string]p.Expression) (whole, real product) {
	whole, real = product{t.coef, map[string]int{}}, product{big.NewRat(1, 1), map[string]int{}}
	for f, n := range t.powers {
		if wholeFactor(factors[f]) {
			whole.powers[f] = n
		} else {
			real.powers[f] = n
		}
	}
	return whole, real
}

// divides reports whether u is t times other factors, of which all powers are positive.
func (t product) divides(u product) bool {
	for f, n := range t.powers {
		if n < 0 || u.powers[f] < n {
			return false
		}
	}
	for _, n := range u.powers {
		if n < 0 {
			return false
		}
	}
	return t.key() != u.key()
}

// uncovered reports whether draws cost something with the real factors of the name, and
// nothing that is claimed (the last) has them: a noise of scale 1/e and a claim of b.
func uncovered(all []laurent, name string) bool {
	has := func(l laurent) bool {
		for _, t := range l.terms {
			if realPart(t, l.factors) == name {
				return true
			}
		}
		return false
	}
	claimed := len(all) - 1
	return !has(all[claimed]) && slices.ContainsFunc(all[:claimed], has)
}

// inline writes definitions out.
func inline(x p.Expression, definitions map[*p.Variable]p.Expression) p.Expression {
	return replace(x, func(x p.Expression) (p.Expression, bool) {
		if r, ok := x.(p.Ref); ok {
			if d, ok := definitions[r.Var]; ok {
				return inline(d, definitions), true
			}
		}
		return nil, false
	})
}

// local names a variable of the sum that is no input.
func local(l laurent, written map[*p.Variable]bool) string {
	name := ""
	for _, x := range l.factors {
		p.Walk(x, func(x p.Expression) {
			switch x := x.(type) {
			case p.Ref:
				if !x.Var.Input || written[x.Var] {
					name = x.Var.Name
				}
			case p.Element:
				name = x.String()
			}
		})
	}
	return name
}

// clear divides all sums by the greatest common product of powers, so that no
// negative power remains, and returns it.
func clear(all []laurent, b *budget) product {
	least := map[string]int{}
	terms := 0
	for _, l := range all {
		for _, t := range l.terms {
			terms++
			for f, n := range t.powers {
				if terms == 1 {
					least[f] = n
				} else {
					least[f] = min(least[f], n)
				}
			}
			for f := range least {
				if _, ok := t.powers[f]; !ok {
					least[f] = min(least[f], 0)
				}
			}
		}
	}
	by := map[string]int{}
	for f, n := range least {
		if n == 0 {
			delete(least, f)
			continue
		}
		by[f] = -n
		for _, l := range all {
			if x, ok := l.factors[f]; ok {
				if !slices.ContainsFunc(b.positive, func(y p.Expression) bool { return y.String() == x.String() }) {
					b.positive = append(b.positive, x)
				}
				break
			}
		}
	}
	slices.SortFunc(b.positive, func(x, y p.Expression) int { return strings.Compare(x.String(), y.String()) })
	factor := laurent{map[string]product{}, map[string]p.Expression{}}
	for _, l := range all {
		maps.Copy(factor.factors, l.factors)
	}
	factor.add(product{big.NewRat(1, 1), by})
	for i := range all {
		all[i] = all[i].times(factor)
	}
	return product{big.NewRat(1, 1), least}
}

func multiply(t, u product) product {
	one := laurent{map[string]product{}, nil}
	one.add(t)
	two := laurent{map[string]product{}, nil}
	two.add(u)
	for _, t := range one.times(two).terms {
		return t
	}
	return product{coef: big.NewRat(1, 1)}
}

// realPart names the product of the factors that are no integers.
func realPart(t product, factors map[string]p.Expression) string {
	u := product{powers: map[string]int{}}
	for f, n := range t.powers {
		if x := factors[f]; x != nil && !wholeFactor(x) {
			u.powers[f] = n
		}
	}
	return u.key()
}

// wholeFactor reports whether a factor counts things.
func wholeFactor(x p.Expression) bool {
	whole := true
	p.Walk(x, func(x p.Expression) {
		switch x := x.(type) {
		case p.Ref:
			whole = whole && x.Var.Sort == p.Int
		case p.Call:
			whole = whole && x.Func == "real"
		}
	})
	return whole
}

// whole is the least number that makes all coefficients whole.
func whole(all []laurent) *big.Rat {
	n := big.NewInt(1)
	for _, l := range all {
		for _, t := range l.terms {
			g := new(big.Int).GCD(nil, nil, n, t.coef.Denom())
			n.Mul(n, new(big.Int).Quo(t.coef.Denom(), g))
		}
	}
	return new(big.Rat).SetInt(n)
}

// polynomial is k·l as an expression; l has no negative powers.
func (l laurent) polynomial(k *big.Rat) p.Expression {
	var x p.Expression
	for _, t := range l.sorted() {
		y := t.expression(l.factors, new(big.Rat).Mul(k, t.coef))
		if x == nil {
			x = y
		} else {
			x = p.Binary{Op: p.Add, X: x, Y: y}
		}
	}
	if x == nil {
		return p.Number{Value: new(big.Rat), Sort: p.Int}
	}
	return x
}

// unitText writes u/k.
func unitText(u product, k *big.Rat) string {
	above, below := []string{}, []string{}
	for _, f := range slices.Sorted(maps.Keys(u.powers)) {
		n := u.powers[f]
		name := f
		if strings.ContainsAny(f, " ") {
			name = "(" + f + ")"
		}
		for range max(n, -n) {
			if n > 0 {
				above = append(above, name)
			} else {
				below = append(below, name)
			}
		}
	}
	if k.Cmp(big.NewRat(1, 1)) != 0 {
		below = append([]string{k.RatString()}, below...)
	}
	if len(above) == 0 {
		above = []string{"1"}
	}
	text := strings.Join(above, "*")
	switch len(below) {
	case 0:
		return text
	case 1:
		return text + "/" + below[0]
	}
	return text + "/(" + strings.Join(below, "*") + ")"
}

// once are the definitions of variables that are assigned in one place, to what does
// not change: parameters of functions that are written out, most of them.
func once(f *p.Function) map[*p.Variable]p.Expression {
	count := map[*p.Variable]int{}
	var visit func(list []p.Statement)
	visit = func(list []p.Statement) {
		for _, st := range list {
			switch st := st.(type) {
			case *p.Assign:
				count[st.To]++
			case *p.Draw:
				count[st.To] += 2
			case *p.If:
				visit(st.Then)
				visit(st.Else)
			case *p.Loop:
				visit(st.Body)
				visit(st.Post)
			}
		}
	}
	visit(f.Body)
	definitions := map[*p.Variable]p.Expression{}
	p.Each(f.Body, func(st p.Statement) {
		a, ok := st.(*p.Assign)
		if !ok || count[a.To] != 1 || a.To.Slice || a.To.Input {
			return
		}
		fixed := true
		p.Walk(a.Value, func(x p.Expression) {
			switch x := x.(type) {
			case p.Ref:
				_, defined := definitions[x.Var]
				fixed = fixed && (defined || x.Var.Input && count[x.Var] == 0)
			case p.Element:
				fixed = false
			case p.Length:
				fixed = fixed && x.Slice.Input
			}
		})
		if fixed {
			definitions[a.To] = a.Value
		}
	})
	return definitions
}

// A Position is an error with its place in the source.
type Position struct {
	Pos    token.Pos
	Reason string
}

func (e *Position) Error() string { return e.Reason }
