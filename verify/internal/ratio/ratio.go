// Package ratio proves differential privacy directly from probabilities: of functions
// that toss coins (Bernoulli), choose by scores (the exponential mechanism), add noise, and
// test noisy values against thresholds that a delta pays for.
//
// Two runs on neighbours are related in lockstep, statement by statement. A part that
// has finitely many outcomes is enumerated, and the probabilities of each outcome are
// compared as rational functions of the public parameters and of e to their powers:
// that P <= r·P' for all parameters that the claim allows is decided by the signs of
// coefficients, exactly. Where a branch on private data is taken in one run only, both must
// end alike unless noise is far out, which costs the tail's probability as a delta. There
// is no solver, and no float.
//
// What it proves holds for inputs of any size and all parameters. It refutes nothing:
// an error says what stayed open, not that the claim is false.
package ratio

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// Errors that callers branch on.
var (
	// ErrUnknown is matched by the errors of claims that are not proved; the text says
	// what stayed open.
	ErrUnknown = errUndecided
	// ErrCertificate is matched when a certificate is not that of the claim.
	ErrCertificate = errors.New("the certificate does not prove the claim")
)

// An Outcome is a proof.
type Outcome struct {
	// Least is the least cost that the proof gives, as a Go expression.
	Least string
	// Steps explain it, line by line.
	Steps []Step
	// Certificate is what Check re-checks.
	Certificate Certificate
}

// A Step is a line of a readable proof.
type Step struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// A Certificate is a proof as data. It is small because the proof is found by rules
// alone: checking it is applying them again.
type Certificate struct {
	Kind string `json:"kind"` // "ratio"
	// Cost is what was shown to be at most the claimed cost: the largest of these.
	Cost  []string `json:"cost"`
	Steps []Step   `json:"steps"`
}

// Applies reports whether the rules of this package are for a claim: those of costs with
// a delta, and of functions that toss coins or choose.
func Applies(f *program.Function, c *claim.Claim) bool {
	if c.Cost == nil {
		return false
	}
	found := c.Cost.Measure == claim.Approximate
	program.Each(own(f.Body, map[string]*program.Loop{}), func(s program.Statement) {
		d, ok := s.(*program.Draw)
		found = found || ok && (d.Law == program.Bernoulli || d.Law == program.Choose || d.Law == program.Uniform)
	})
	return found
}

// Finite reports that a function draws, and all its draws have finitely many outcomes.
func Finite(f *program.Function) bool {
	some, all := false, true
	program.Each(own(f.Body, map[string]*program.Loop{}), func(s program.Statement) {
		if d, ok := s.(*program.Draw); ok {
			some = true
			all = all && (d.Law == program.Bernoulli || d.Law == program.Choose || d.Law == program.Uniform)
		}
	})
	return some && all
}

// Prove proves the cost of a claim, or says why not with an error that matches
// ErrUnknown.
func Prove(ctx context.Context, f *program.Function, c *claim.Claim) (*Outcome, error) {
	if c.Cost == nil || c.Cost.Measure == claim.ZCDP {
		return nil, undecided("only costs in epsilon are proved by ratios")
	}
	var first error
	for _, hits := range []bool{false, true} {
		for _, share := range shares(f, c) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			o, err := prove(f, c, share, hits)
			if err == nil {
				return o, nil
			}
			if first == nil {
				first = err
			}
		}
	}
	return nil, first
}

// shares lists the parts of the claimed epsilon that a sum with Gaussian noise may cost:
// all of it, or an equal part of some sums.
func shares(f *program.Function, c *claim.Claim) []program.Expression {
	gaussian := false
	program.Each(own(f.Body, map[string]*program.Loop{}), func(s program.Statement) {
		d, ok := s.(*program.Draw)
		gaussian = gaussian || ok && (d.Law == program.Gaussian || d.Law == program.DiscreteGaussian)
	})
	if !gaussian || c.Cost.Measure != claim.Approximate {
		return []program.Expression{nil}
	}
	all := []program.Expression{c.Cost.Epsilon}
	over := func(n program.Expression) {
		all = append(all, program.Binary{Op: program.Quo, X: c.Cost.Epsilon, Y: n})
	}
	for k := int64(2); k <= 4; k++ {
		over(program.Number{Value: big.NewRat(k, 1), Sort: program.Real})
	}
	seen := map[string]bool{}
	var sizes func(e program.Expression)
	sizes = func(e program.Expression) {
		if program.SortOf(e) == program.Int {
			switch e.(type) {
			case program.Ref, program.Length:
				if !seen[e.String()] {
					seen[e.String()] = true
					over(program.Call{Func: "real", Args: []program.Expression{e}})
				}
				return
			}
		}
		for _, x := range parts(e) {
			sizes(x)
		}
	}
	sizes(c.Cost.Epsilon)
	return all
}

// prove proves a claim if each sum with Gaussian noise costs a share; hits asks for the
// conditions of loops that hold once.
func prove(f *program.Function, c *claim.Claim, share program.Expression, hits bool) (*Outcome, error) {
	g := *f
	g.Body = own(f.Body, map[string]*program.Loop{})
	runs := maxRuns
	p := &prover{
		algebra: algebra{newRegion()}, f: &g, claim: c, public: map[*program.Variable]bool{},
		moving: map[string]bool{}, changed: assigned(g.Body), runs: &runs,
	}
	if hits {
		if p.hits = p.strikes(); len(p.hits) == 0 {
			return nil, undecided("no condition of a loop holds once")
		}
	}
	start, err := p.start()
	if err != nil {
		return nil, err
	}
	if share != nil {
		x, err := p.fraction(share)
		if err == nil && (!p.same(share) || !p.positive(x.num)) {
			err = undecided("that the share %v of Gaussian noise is positive", share)
		}
		if err != nil {
			return nil, err
		}
		p.share = &x
	}
	if p.empty() {
		none := Step{p.line(g.Pos), "no inputs meet what is required"}
		return &Outcome{Least: "0", Steps: []Step{none}, Certificate: Certificate{Kind: "ratio", Cost: []string{"0"}, Steps: []Step{none}}}, nil
	}
	e, err := p.list(g.Body, start)
	if err != nil {
		return nil, err
	}
	paid := e.returned
	if !e.end.dead {
		paid = slices.Concat(paid, e.end.paid)
	}
	paid = p.largest(paid)
	if err := p.within(paid); err != nil {
		return nil, err
	}
	o := &Outcome{Steps: e.steps, Certificate: Certificate{Kind: "ratio", Steps: e.steps}}
	for _, x := range paid {
		o.Certificate.Cost = append(o.Certificate.Cost, x.String())
	}
	o.Least = p.least(paid)
	return o, nil
}

// least writes the largest of costs.
func (p *prover) least(paid []cost) string {
	largest := func(part func(cost) cost) string {
		var all []cost
		for _, x := range paid {
			all = append(all, part(x))
		}
		var texts []string
		for _, x := range p.largest(all) {
			texts = append(texts, x.String())
		}
		if len(texts) == 1 {
			return texts[0]
		}
		return "max(" + strings.Join(texts, ", ") + ")"
	}
	text := largest(func(x cost) cost { return cost{x.epsilon, rational(zero)} })
	delta := largest(func(x cost) cost { return cost{fixed(x.delta), rational(zero)} })
	if delta != "0" {
		text += ", " + delta
	}
	return text
}

// Check re-checks a certificate.
func Check(f *program.Function, c *claim.Claim, certificate Certificate) error {
	o, err := Prove(context.Background(), f, c)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCertificate, err)
	}
	want := o.Certificate
	// A function may have moved in its file.
	moved := slices.EqualFunc(want.Steps, certificate.Steps, func(a, b Step) bool { return a.Text == b.Text })
	if want.Kind != certificate.Kind || !slices.Equal(want.Cost, certificate.Cost) || !moved {
		return fmt.Errorf("%w: it is not the one that the rules give", ErrCertificate)
	}
	return nil
}

// requirements lists what the claim and the types require, taken apart.
func (p *prover) requirements() []program.Expression {
	var all []program.Expression
	for _, e := range slices.Concat(p.f.Requires, p.claim.Requires) {
		all = append(all, conjuncts(e)...)
	}
	return all
}

// start is what is known of the inputs.
func (p *prover) start() (state, error) {
	s := state{vars: map[*program.Variable]value{}, paid: []cost{free()}}
	for _, e := range p.requirements() {
		if p.same(e) {
			p.require(e)
		}
	}
	p.region.close()
	p.learn()
	for _, v := range p.f.Inputs {
		x := value{}
		switch {
		case v.Slice:
			x.lengths, x.length = true, program.Length{Slice: v}
		default:
			x.expr = program.Ref{Var: v}
		}
		s.vars[v] = x
	}
	for _, a := range p.claim.Adjacent {
		x, err := p.adjacent(a)
		if err != nil {
			return s, err
		}
		s.vars[a.Input] = x
	}
	return s, nil
}

// same reports whether an expression over inputs has the same value for neighbours.
func (p *prover) same(e program.Expression) bool {
	adjacent := func(v *program.Variable, relations ...claim.Relation) bool {
		return slices.ContainsFunc(p.claim.Adjacent, func(a claim.Adjacency) bool {
			return a.Input == v && (len(relations) == 0 || slices.Contains(relations, a.Relation))
		})
	}
	switch e := e.(type) {
	case program.Ref:
		return !adjacent(e.Var)
	case program.Length:
		return !e.Slice.Stream && !adjacent(e.Slice, claim.Bag)
	}
	for _, x := range parts(e) {
		if !p.same(x) {
			return false
		}
	}
	return true
}

// adjacent is what an adjacency says of its input.
func (p *prover) adjacent(a claim.Adjacency) (value, error) {
	if a.Input.Sort == program.Bool && a.Relation == claim.Scalar {
		return value{relation: apart, expr: program.Ref{Var: a.Input}}, nil
	}
	if a.Relation == claim.Bag || a.Input.Stream {
		return value{relation: apart}, nil
	}
	if !p.same(a.Low) || !p.same(a.High) {
		return value{}, undecided("the distance of %s depends on private data", a.Input.Name)
	}
	low, err := p.fraction(a.Low)
	if err != nil {
		return value{}, err
	}
	high, err := p.fraction(a.High)
	if err != nil {
		return value{}, err
	}
	x := value{relation: near, low: low, high: high}
	if a.Relation == claim.One {
		// The other elements do not differ.
		x = p.hull(x, value{})
		x.one = true
	}
	if a.Input.Sort == program.Bool {
		x.relation = apart
	}
	if !a.Input.Slice {
		x.expr = program.Ref{Var: a.Input}
	}
	if a.Input.Slice {
		x.lengths, x.length = true, program.Length{Slice: a.Input}
	}
	return x, nil
}

// require narrows the region by a comparison of public inputs.
func (p *prover) require(e program.Expression) {
	b, ok := e.(program.Binary)
	if !ok {
		return
	}
	x, err := p.fraction(b.X)
	if err != nil {
		return
	}
	y, err := p.fraction(b.Y)
	if err != nil {
		return
	}
	// d >= 0, or d > 0.
	d := y.minus(x)
	switch b.Op {
	case program.Gt, program.Ge:
		d = d.neg()
	case program.Eq:
		p.narrow(d.neg(), false)
	case program.Lt, program.Le:
	default:
		return
	}
	p.narrow(d, b.Op == program.Lt || b.Op == program.Gt)
}

// narrow learns that d >= 0, or d > 0, from which bounds of one variable follow, or
// the order of two.
func (p *prover) narrow(d fraction, strict bool) {
	den, ok := d.den.constant()
	if !ok {
		return
	}
	if den.Sign() > 0 {
		p.facts = append(p.facts, d.num)
		clear(p.decided)
	}
	c := new(big.Rat)
	if t, ok := d.num[""]; ok {
		c = t.coef
	}
	vs := d.num.variables()
	factor := make([]*big.Rat, len(vs))
	for i, v := range vs {
		t, ok := d.num[v]
		if !ok || p.exps[v] != nil {
			return
		}
		factor[i] = t.coef
	}
	terms := len(vs)
	if c.Sign() != 0 {
		terms++
	}
	if terms != len(d.num) {
		return
	}
	switch {
	case len(vs) == 1:
		b := bound{new(big.Rat).Quo(new(big.Rat).Neg(c), factor[0]), strict}
		if p.integers[vs[0]] && strict {
			// Of integers, x > b says x >= ⌊b⌋+1.
			b.strict = false
			if factor[0].Sign() > 0 {
				b.value = new(big.Rat).SetInt(new(big.Int).Add(numeric.Floor(b.value), big.NewInt(1)))
			} else {
				b.value = new(big.Rat).SetInt(new(big.Int).Sub(numeric.Ceil(b.value), big.NewInt(1)))
			}
		}
		if factor[0].Sign() > 0 {
			p.above(vs[0], b)
		} else {
			p.below(vs[0], b)
		}
	case len(vs) == 2 && c.Sign() == 0 && new(big.Rat).Add(factor[0], factor[1]).Sign() == 0:
		pair := [2]string{vs[0], vs[1]} // vs[0] <= vs[1]
		if factor[0].Sign() > 0 {
			pair = [2]string{vs[1], vs[0]}
		}
		p.less[pair] = p.less[pair] || strict
		clear(p.decided)
	}
}

// few lists the whole numbers that the requirements leave to a private input, or nil if
// they may be many.
func (p *prover) few(v *program.Variable) []program.Expression {
	var all []program.Expression
	if low, high := p.bounds(v); low != nil && high != nil && new(big.Int).Sub(high, low).Cmp(big.NewInt(16)) < 0 {
		for n := new(big.Int).Set(low); n.Cmp(high) <= 0; n.Add(n, big.NewInt(1)) {
			all = append(all, program.Number{Value: new(big.Rat).SetInt(n), Sort: program.Int})
		}
		return all
	}
	for _, e := range p.requirements() {
		if all := listed(e, v); len(all) > 0 && len(all) <= 16 {
			return all
		}
	}
	return nil
}

// listed reads v == 1 || v == 2 || ...
func listed(e program.Expression, v *program.Variable) []program.Expression {
	b, ok := e.(program.Binary)
	if !ok {
		return nil
	}
	switch b.Op {
	case program.Or:
		x, y := listed(b.X, v), listed(b.Y, v)
		if x == nil || y == nil {
			return nil
		}
		return append(x, y...)
	case program.Eq:
		for _, side := range [][2]program.Expression{{b.X, b.Y}, {b.Y, b.X}} {
			r, is := side[0].(program.Ref)
			if n, ok := side[1].(program.Number); ok && is && r.Var == v {
				return []program.Expression{n}
			}
		}
	}
	return nil
}

// bounds returns the whole numbers between which the requirements put a private input.
func (p *prover) bounds(v *program.Variable) (low, high *big.Int) {
	if v.Natural {
		low = new(big.Int)
	}
	for _, e := range p.requirements() {
		b, ok := e.(program.Binary)
		if !ok {
			continue
		}
		x, y, op := b.X, b.Y, b.Op
		if n, ok := x.(program.Number); ok {
			mirror := map[program.Op]program.Op{program.Lt: program.Gt, program.Le: program.Ge, program.Gt: program.Lt, program.Ge: program.Le}
			x, y, op = y, n, mirror[op]
		}
		n, ok := y.(program.Number)
		if r, same := x.(program.Ref); !ok || !same || r.Var != v {
			continue
		}
		switch op {
		case program.Lt:
			high = lesser(high, new(big.Int).Sub(numeric.Ceil(n.Value), big.NewInt(1)))
		case program.Le:
			high = lesser(high, numeric.Floor(n.Value))
		case program.Gt:
			low = greater(low, new(big.Int).Add(numeric.Floor(n.Value), big.NewInt(1)))
		case program.Ge:
			low = greater(low, numeric.Ceil(n.Value))
		}
	}
	return low, high
}

func lesser(x, y *big.Int) *big.Int {
	if x == nil || y.Cmp(x) < 0 {
		return y
	}
	return x
}

func greater(x, y *big.Int) *big.Int {
	if x == nil || y.Cmp(x) > 0 {
		return y
	}
	return x
}

// within reports an error unless every amount is at most the claimed cost.
func (p *prover) within(paid []cost) error {
	claimed := p.claim.Cost
	if !p.same(claimed.Epsilon) {
		return undecided("the claimed cost %v depends on private data", claimed.Epsilon)
	}
	epsilons, err := p.alternatives(claimed.Epsilon)
	if err != nil {
		return fmt.Errorf("read the claimed cost: %w", err)
	}
	delta, err := p.delta()
	if err != nil {
		return err
	}
	for _, x := range paid {
		if !slices.ContainsFunc(epsilons, func(e amount) bool { return p.dominates(cost{e, delta}, x) }) {
			return undecided("the least cost that the rules give is %v, which is not shown to be at most the claimed", x)
		}
	}
	return nil
}

// delta is the claimed one; 0 of pure claims.
func (p *prover) delta() (fraction, error) {
	d := p.claim.Cost.Delta
	if p.claim.Cost.Measure != claim.Approximate {
		return rational(zero), nil
	}
	if !p.same(d) {
		return fraction{}, undecided("the claimed delta %v depends on private data", d)
	}
	x, err := p.fraction(d)
	if err != nil {
		return x, fmt.Errorf("read the claimed delta: %w", err)
	}
	return x, nil
}

// alternatives reads a cost that is the largest of several.
func (p *prover) alternatives(e program.Expression) ([]amount, error) {
	var options []program.Expression
	switch e := e.(type) {
	case program.Binary:
		if e.Op == program.Max {
			options = []program.Expression{e.X, e.Y}
		}
	case program.Call:
		if e.Func == "abs" && len(e.Args) == 1 {
			options = []program.Expression{e.Args[0], program.Unary{Op: program.Sub, X: e.Args[0]}}
		}
	}
	if options == nil {
		c, err := p.amount(e)
		return []amount{c}, err
	}
	var all []amount
	for _, o := range options {
		more, err := p.alternatives(o)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// Within returns the largest of amounts, expressions over public inputs, or says that they
// are not shown to be at most the claimed cost, for all inputs that are allowed.
func Within(f *program.Function, c *claim.Claim, amounts []program.Expression) (string, error) {
	runs := maxRuns
	p := &prover{
		algebra: algebra{newRegion()}, f: f, claim: c, public: map[*program.Variable]bool{},
		moving: map[string]bool{}, changed: assigned(f.Body), runs: &runs,
	}
	if _, err := p.start(); err != nil {
		return "", err
	}
	if p.empty() {
		return "0", nil
	}
	paid := []cost{free()}
	for _, e := range amounts {
		if !p.same(e) {
			return "", undecided("%v depends on private data", e)
		}
		x, err := p.amount(e)
		if err != nil {
			return "", err
		}
		paid = append(paid, cost{x, rational(zero)})
	}
	paid = p.largest(paid)
	return p.least(paid), p.within(paid)
}
