package datanode

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// Vouched is what an access definition rests on that nothing here can check: the owner
// vouches for it. It is recorded with the definition.
type Vouched struct {
	Of string `json:"of"` // the function or mechanism
	// L1 and L2 are the sensitivities of a function: the most by which a neighbour
	// changes its values, in either norm. Each is needed for noise of its kind. Max is
	// the most by which a neighbour changes any one value, for choices. An Estimate is
	// no such bound.
	L1  *big.Rat `json:"l1,omitempty"`
	L2  *big.Rat `json:"l2,omitempty"`
	Max *big.Rat `json:"max,omitempty"`
	Decision
}

// Rows are the argument of an owner's function. The function must only read them, and its
// values must be finite and depend on nothing else.
type Rows struct {
	withheld
	frame func() *frame
}

func rowsOf(f *frame) Rows { return Rows{frame: func() *frame { return f }} }

// Len returns the number of rows.
func (r Rows) Len() int { return r.frame().rows }

// Numbers returns a copy of a column of numbers, nil if there is none of that name.
func (r Rows) Numbers(name string) []float64 {
	if i, err := r.frame().shape(false).number(name); err == nil {
		return append([]float64{}, r.frame().columns[i].numbers...)
	}
	return nil
}

// Texts returns a copy of a column of texts, nil if there is none of that name.
func (r Rows) Texts(name string) []string {
	if i, err := r.frame().shape(false).find(name); err == nil && r.frame().columns[i].text() {
		return append([]string{}, r.frame().columns[i].texts...)
	}
	return nil
}

// Function is a query whose sensitivity an owner declares. It may stand in access
// definitions, but not in a query.
type Function struct {
	Values      int // how many F returns; required
	F           func(Rows) []float64
	Sensitivity Vouched
}

func (q Function) String() string { return fmt.Sprintf("function(%q)", q.Sensitivity.Of) }

// compile puts the values on a grid whose step is at most 2^-40 of the sensitivity.
// Rounding moves each value by half a step at most, so that neighbours' integers are
// at L1 distance at most S₁/step + d, and at L2 distance at most S₂/step + d.
//
// A function that panics, or returns something else than so many finite values,
// counts as zeros: what happens must not be seen. The owner vouches for that as well.
func (q Function) compile(shape) (compiled, error) {
	if err := q.Sensitivity.check(); err != nil {
		return compiled{}, err
	}
	if q.F == nil || q.Values < 1 || q.Sensitivity.Of == "" {
		return compiled{}, fmt.Errorf("%w: a function without its name, number of values, or body", ErrQuery)
	}
	c := compiled{declared: q.declared()}
	least := math.Inf(1)
	for _, s := range []*big.Rat{q.Sensitivity.L1, q.Sensitivity.L2} {
		if s == nil {
			continue
		}
		f, _ := s.Float64()
		if s.Sign() <= 0 || f < 1e-200 || f > 1e200 {
			return compiled{}, fmt.Errorf("%w: the declared sensitivity is not positive, or absurd", ErrQuery)
		}
		least = min(least, f)
	}
	if math.IsInf(least, 1) {
		return compiled{}, fmt.Errorf("%w: no sensitivity is declared", ErrQuery)
	}
	_, e := math.Frexp(least)
	step := new(big.Rat).SetFloat64(math.Ldexp(1, e-1-gridBits))
	onGrid := func(s *big.Rat) *big.Rat {
		d := new(big.Rat).Quo(s, step)
		return d.Add(d, big.NewRat(int64(q.Values), 1))
	}
	if q.Sensitivity.L1 != nil {
		c.l1 = onGrid(q.Sensitivity.L1)
	}
	if q.Sensitivity.L2 != nil {
		c.l2squared = onGrid(q.Sensitivity.L2)
		c.l2squared.Mul(c.l2squared, c.l2squared)
	}
	c.worth = []*big.Rat{step}
	c.exact = func(f *frame) []*big.Int {
		values := make([]*big.Int, q.Values)
		for i, x := range q.values(f) {
			r := new(big.Rat).SetFloat64(x)
			r.Quo(r, step).Add(r, big.NewRat(1, 2))
			values[i] = new(big.Int).Div(r.Num(), r.Denom())
		}
		return values
	}
	return c, nil
}

// values calls F.
func (q Function) values(f *frame) []float64 {
	var values []float64
	guarded(func() { values = q.F(rowsOf(f)) })
	bad := func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }
	if len(values) != q.Values || slices.ContainsFunc(values, bad) {
		return make([]float64, q.Values)
	}
	return values
}

// Declared is a mechanism of the owner's own: its event is declared, not derived. It may
// stand in access definitions, but not in a query.
type Declared struct {
	Event  privacy.Event
	Answer func(bits noise.Bits, rows Rows) ([]float64, error)
	Vouched
}

func (m Declared) String() string { return fmt.Sprintf("declared(%q, %v)", m.Of, m.Event) }

func (m Declared) release(shape) (release, error) {
	if m.Answer == nil || m.Of == "" {
		return release{}, fmt.Errorf("%w: a mechanism without its name or body", ErrQuery)
	}
	if m.Event == nil {
		return release{}, ErrNoEvent
	}
	event, err := privacy.New(m.Event) // a copy, which the caller cannot change
	if err != nil {
		return release{}, fmt.Errorf("%w: %w", ErrQuery, err)
	}
	r := release{statement: m.String(), events: []privacy.Event{event}, declared: m.declared()}
	r.answer = func(bits noise.Bits, f *frame) (Answer, error) {
		var values []float64
		failed := true
		guarded(func() {
			made, err := m.Answer(bits, rowsOf(f))
			values, failed = made, err != nil
		})
		if failed { // the way in which it failed may show data
			return Answer{}, fmt.Errorf("the mechanism %q failed", m.Of)
		}
		return Answer{Statement: r.statement, Events: r.events, Values: values}, nil
	}
	return r, nil
}

func (m Declared) declared() []Vouched { return []Vouched{m.Vouched} }

func (Declared) access() {}

func (q Function) declared() []Vouched { return []Vouched{q.Sensitivity} }
