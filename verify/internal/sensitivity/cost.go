package sensitivity

import (
	"context"
	"fmt"
	"go/token"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// Cost holds the claim of a function's cost against its plan.
//
// Inputs with an adjacency are private, and datasets always: what a function asks of
// a dataset costs what its budgets are charged, by the theorems of package dataset.
//
// Neighbours that differ in one element are tried as such first, by how far it moves, and
// then as multisets in which any element takes the place of another one: what asks whether
// an element is above 0 jumps, but only for that one.
func (p *Program) Cost(ctx context.Context, fn string, c *claim.Claim) Result {
	r := p.cost(ctx, fn, c, false)
	one := func(adj claim.Adjacency) bool { return adj.Relation == claim.One }
	if r.Proved || !slices.ContainsFunc(c.Adjacent, one) {
		return r
	}
	if swapped := p.cost(ctx, fn, c, true); swapped.Proved || r.Plan == nil && swapped.Plan != nil {
		return swapped
	}
	return r
}

func (p *Program) cost(ctx context.Context, fn string, c *claim.Claim, swapped bool) (r Result) {
	r = Result{Over: "integers"}
	d, ok := p.funcs[fn]
	if !ok {
		return r.refused(errUnknown)
	}
	defer func() { r.place(d) }()
	var inputs []Input
	most := map[string]Expr{}
	f := &facts{work: &work{ctx: ctx, left: maxWork}}
	for _, q := range c.Requires {
		f.require(f.understood(q), func(Expr) bool { return false })
	}
	for _, adj := range c.Adjacent {
		in := adjacentInput(adj)
		high, err := f.reading(nil).expression(adj.High)
		if err != nil {
			return r.refused(err)
		}
		if adj.Relation != claim.Bag {
			low, err := f.reading(nil).expression(adj.Low)
			if err != nil {
				return r.refused(err)
			}
			high = f.max(f.abs(low), f.abs(high))
		}
		if swapped && in.One {
			in.One, in.Swapped, high = false, true, one()
		}
		if _, twice := most[in.Name]; twice {
			return r.refused(fmt.Errorf("%s has two adjacencies", in.Name))
		}
		inputs, most[in.Name] = append(inputs, in), high
	}
	sig := d.fn.Signature()
	for i := range sig.Params().Len() {
		v := sig.Params().At(i)
		if _, named := most[v.Name()]; !named && isNamed(v.Type(), "dataset", "Dataset") {
			inputs, most[v.Name()] = append(inputs, Input{Name: v.Name(), Bag: true}), one()
		}
	}
	a, items, out, err := p.run(ctx, fn, c, inputs, true)
	if err != nil {
		return r.refused(err)
	}
	if len(out[l1]) > 0 {
		why := a.why(d.decl, "noise on all that is returned", "the result shows private data without noise")
		if inf := out[l1].refusal(); inf != nil && inf.Pos != token.NoPos {
			why.Pos = inf.Pos
		}
		return r.refused(why)
	}
	r.Uses = a.uses
	switch {
	case a.reals:
		r.Over = "reals"
	case a.grid && c.Cost.Measure == claim.Approximate:
		r.Over = "reals" // the delta is that of real noise
	case a.grid:
		r.Over = "grid"
	}
	// What is asked of parts is one of several, which the accountant does not evaluate here.
	plans := [][]item{a.parallel(items, most)}
	if len(plans[0]) < len(items) {
		plans = append(plans, items)
	}
	var all []Result
	for _, items := range plans {
		q := r
		if err := a.settle(items, most); err != nil {
			all = append(all, q.refused(err))
			continue
		}
		items = withoutChecks(items)
		q.Plan, q.Steps = &Plan{items, a.facts}, steps(items)
		if q = q.compare(q.Plan, c.Cost); q.Proved {
			return q
		}
		all = append(all, q)
	}
	return all[0]
}

// Ending is a result for the function as it was lowered, nil if it was not. The rules of
// static cost speak of runs that end: they prove no cost where private data may end one of
// two neighbours in a panic, which telling finds.
func (r Result) Ending(f *program.Function, c *claim.Claim, telling func(*program.Function, *claim.Claim) (token.Pos, bool)) Result {
	if !r.Proved {
		return r
	}
	if f == nil {
		r.Note += "; of runs that end: what may panic was not read"
	} else if pos, tells := telling(f, c); tells {
		return Result{
			Note: "they prove it of runs that end only",
			Refusals: []Refusal{{
				Pos: pos, Reason: "private data or noise may make this panic, which tells of them",
				Hint: "test before it that the index lies within, or that the divisor is not zero",
			}},
		}
	}
	return r
}

// parallel writes what is asked of slices that share no record as a choice between them.
//
// Theorem (McSherry 2009, Theorem 4). Neighbours that differ in one record differ in one of
// the slices, which one what was answered before decides alike in both runs: what is asked
// of the others costs nothing.
func (a *analysis) parallel(items []item, most map[string]Expr) []item {
	part := func(it item) (source string, sp *split) {
		if it.law == choice || len(it.path) > 0 || len(it.sens) != 1 {
			return "", nil
		}
		source = sortedKeys(it.sens)[0]
		if sp = a.splits[source]; sp == nil || sp.numbers || sp.loop != nil {
			return "", nil
		}
		records := Expr{}
		for s, b := range a.resolved(sp.env, func(string) bool { return true }) {
			d, ok := most[s]
			if !ok || b.infinite != nil {
				return "", nil
			}
			records = records.add(b.most.mul(d))
		}
		if !a.isNonneg(one().sub(records)) {
			return "", nil
		}
		return source, sp
	}
	groups := map[int]map[string][]item{}
	for _, it := range items {
		if s, sp := part(it); sp != nil {
			if groups[sp.group] == nil {
				groups[sp.group] = map[string][]item{}
			}
			groups[sp.group][s] = append(groups[sp.group][s], it)
		}
	}
	var out []item
	for _, it := range items {
		_, sp := part(it)
		if sp == nil || len(groups[sp.group]) == 1 {
			out = append(out, it)
			continue
		}
		if parts := groups[sp.group]; len(parts) > 1 {
			c := item{id: a.next(), pos: it.pos, law: choice, times: one()}
			for _, s := range sortedKeys(parts) {
				c.choices = append(c.choices, parts[s])
			}
			out = append(out, c)
			groups[sp.group] = nil
		}
	}
	return out
}

// settle writes the distances of neighbours for the sources of a plan.
func (a *analysis) settle(items []item, most map[string]Expr) error {
	for i := range items {
		it := &items[i]
		for _, c := range it.choices {
			if err := a.settle(c, most); err != nil {
				return err
			}
		}
		refuse := func(what string) error {
			return &Refusal{it.pos, what, "noise on a number of bounded sensitivity"}
		}
		a.rescale(it)
		for _, e := range []Expr{it.times, it.scale, it.epsilon, it.delta, it.rho} {
			if !a.fixed(e) {
				return refuse("what it costs depends on a number of the program: " + e.String())
			}
		}
		drawn := a.isPositive(it.scale)
		if it.hasScale() && !drawn && !a.whenDrawn(it.rounds).isPositive(it.scale) {
			// A run that ends has drawn it with a positive scale, or not at all: then it costs
			// 0, and is said to cost no less.
			it.scale = a.abs(it.scale)
		}
		for _, e := range []Expr{it.times, it.epsilon, it.delta, it.rho} {
			if !a.isNonneg(e) {
				return refuse("a cost is not known to be positive: " + e.String())
			}
		}
		if it.law == choice {
			continue
		}
		switch it.law {
		case pureCost, approxCost, zcdpCost:
			// (Of what a mechanism costs no distance is known: it is 1.)
			// A release of package dataset costs so much for one unit, whatever the
			// stability of what is asked; of as many units as may change it costs as
			// much as for a group of them.
			units := Expr{}
			for s, b := range a.resolved(it.sens, func(string) bool { return true }) {
				d, ok := most[s]
				if !ok || b.infinite != nil || !a.fixed(b.most) {
					return refuse("a dataset depends on private data in a way that is not followed")
				}
				units = units.add(b.most.mul(d))
			}
			if len(units.terms) == 0 || a.isNonneg(one().sub(units)) {
				units = one()
			}
			if it.law == approxCost && !units.is(one()) {
				return refuse("a cost with a δ is of one unit, not of " + units.String())
			}
			it.sens = env{unit: {most: units}}
			continue
		}
		sum := Expr{}
		e := a.resolved(it.sens, func(string) bool { return true })
		for _, s := range sortedKeys(e) {
			b := e[s]
			if !a.fixed(b.most) {
				if by, ok := a.most(b.most, a.fixed); ok {
					b.most = by
				}
			}
			d, ok := most[s]
			switch {
			case b.infinite != nil:
				why := *b.infinite
				if why.Pos == token.NoPos {
					why.Pos = it.pos
				}
				return &why
			case !ok:
				return refuse("noise is added to what depends on private data in a way that is not followed")
			case !a.fixed(b.most):
				return refuse("the distance that noise hides depends on a number of the program: " + b.most.String())
			}
			sum = sum.add(b.most.mul(d))
		}
		if !a.isNonneg(sum) {
			return refuse("a distance is not known to be positive: " + sum.String())
		}
		if it.law == withinLaw && !a.isNonneg(it.scale.sub(sum)) {
			return &Refusal{it.pos, fmt.Sprintf("a mechanism is told a sensitivity of %s, and given what moves by %s", it.scale, sum), "Sensitivity: " + sum.String()}
		}
		if it.law == claimedCost {
			switch n, ok := sum.number(); {
			case a.isNonneg(one().sub(sum)):
				sum = one()
			case ok:
				up := new(big.Int).Add(n.Num(), new(big.Int).Sub(n.Denom(), big.NewInt(1)))
				sum = rat(new(big.Rat).SetInt(up.Quo(up, n.Denom())))
			default:
				return refuse("the claim used here is of neighbours that are nearer than " + sum.String())
			}
		}
		it.sens = env{unit: {most: sum}}
		if it.hasScale() && !drawn && !a.isNonneg(it.paid()) {
			return refuse("the scale of noise is not known to be positive: " + it.scale.String())
		}
	}
	return nil
}

// rescale writes real noise of a scale that is a number of the program as noise of scale 1, where
// what it is added to moves by multiples of the scale. (Noise of scale b on what moves by d tells
// as much as that of scale 1 on what moves by d/b.)
func (a *analysis) rescale(it *item) {
	if it.law != laplace && it.law != gaussian || a.fixed(it.scale) || !a.isPositive(it.scale) {
		return
	}
	sens := env{}
	for s, b := range it.sens {
		if b.infinite == nil {
			r, ok := Expr{}, false
			for r = range ratios(b.most, it.scale) {
				ok = true
				break
			}
			if !ok || !a.isNonneg(r) {
				return
			}
			b.most = r
		}
		sens[s] = b
	}
	it.sens, it.scale = sens, one()
}

// whenDrawn are the facts where a draw is made that stands in loops of such counts: each
// runs at least once.
//
// Lemma: what a draw is said to cost, written over the parameters, may be of use only
// where it is made. Elsewhere it costs 0, and is said to cost what is not negative.
func (a *analysis) whenDrawn(rounds []Expr) *facts {
	f := a.facts
	for _, n := range rounds {
		if !a.fixed(n) {
			continue
		}
		if len(n.terms) == 1 && len(n.terms[0].powers) == 1 && n.is(atomic(n.terms[0].powers[0].atom)) {
			if x := n.terms[0].powers[0].atom; x.op == maximum && len(x.args) == 2 && len(x.args[1].terms) == 0 {
				n = x.args[0] // max(n, 0) >= 1
			} else if x.op == maximum && len(x.args) == 2 && len(x.args[0].terms) == 0 {
				n = x.args[1]
			}
		}
		f = f.and(n.sub(one()))
	}
	return f
}

// paid is what all draws cost, in terms of the measure that adds up.
func (it item) paid() Expr {
	inverse, ok := it.scale.inverse()
	if !ok {
		return integer(-1)
	}
	each := it.sensitivity().mul(inverse)
	if it.law == gaussian || it.law == discreteGaussian {
		each = each.mul(each)
	}
	return it.times.mul(each)
}

func steps(items []item) (all []Step) {
	for _, it := range items {
		if it.law == choice {
			for i, c := range it.choices {
				for _, s := range steps(c) {
					s.Text = fmt.Sprintf("choice %d of %d, of which the most costly counts: %s", i+1, len(it.choices), s.Text)
					all = append(all, s)
				}
			}
			continue
		}
		t := it.text()
		if !it.times.is(one()) {
			t = it.times.String() + " times " + t
		}
		all = append(all, Step{it.pos, t})
	}
	return all
}
