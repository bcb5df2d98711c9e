package learn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// A Guarantee is what a plan promises to each unit.
type Guarantee struct {
	Event      string             `json:"event"` // in the text form of plans: "discreet account EVENT" shows the same
	Neighbours privacy.Neighbours `json:"neighbours"`
	Group      int                `json:"group,omitempty"` // examples that change together, with Grouped units
	Delta      privacy.Delta      `json:"delta"`
	Epsilon    float64            `json:"epsilon"`    // at Delta, the least that is certified
	Accountant string             `json:"accountant"` // whose Epsilon is
	PLD        *float64           `json:"pld"`        // by privacy loss distributions; nil where that has no bound
	RDP        *float64           `json:"rdp"`        // by Rényi divergences; nil where that has no bound
}

func (p Plan) accounting() accountant.Options {
	o := accountant.Options{Neighbours: p.Neighbours}
	if p.Units.Mode == Grouped && p.Units.Examples > 1 {
		o.Group = p.Units.Examples
	}
	return o
}

// Guarantee returns what everything that is released of a run promises, the noisy count
// included, as the best of all accountants has it.
//
// Where the count decides the run's event (see Released), the epsilons of count and steps
// are added, with half of Delta each if the count needs one: basic composition holds for
// what is chosen by what came before, if each run that could have been chosen has the
// epsilon of this one at most, as those of one target have.
func (p Plan) Guarantee() (Guarantee, error) {
	e, err := p.Released()
	if err != nil {
		return Guarantee{}, err
	}
	count, err := p.Population.count(p.Neighbours)
	if count == nil || err != nil || p.Population.Alike {
		return GuaranteeOf(e, nil, p.Delta, p.accounting())
	}
	steps, err := p.Event()
	if err != nil {
		return Guarantee{}, err
	}
	left := p.Delta
	counted, err := GuaranteeOf(count, nil, privacy.Delta{}, p.accounting())
	if err != nil {
		if left, err = privacy.NewDelta(new(big.Rat).Quo(p.Delta.Rat(), big.NewRat(2, 1))); err != nil {
			return Guarantee{}, fmt.Errorf("guarantee: %w", err)
		}
		if counted, err = GuaranteeOf(count, nil, left, p.accounting()); err != nil {
			return Guarantee{}, err
		}
	}
	g, err := GuaranteeOf(steps, nil, left, p.accounting())
	if err != nil {
		return Guarantee{}, err
	}
	g.Event, g.Delta, g.PLD, g.RDP = e.String(), p.Delta, nil, nil
	g.Epsilon, g.Accountant = math.Nextafter(g.Epsilon+counted.Epsilon, math.Inf(1)), string(accountant.Basic)
	return g, nil
}

// GuaranteeOf returns what a plan of another learner promises at a delta, 0 included, by the
// best of all accountants. Known is an event that is known to hold for the whole plan, by
// a theorem that no accountant has; nil if there is none.
func GuaranteeOf(plan, known privacy.Event, delta privacy.Delta, o accountant.Options) (Guarantee, error) {
	g := Guarantee{Event: plan.String(), Neighbours: o.Neighbours, Group: o.Group, Delta: delta, Epsilon: math.Inf(1)}
	report, err := accountant.Epsilon(context.Background(), plan, max(math.Nextafter(delta.Float64(), 0), 0), o) // a Delta may be rounded up
	if err != nil && !errors.Is(err, accountant.ErrNoBound) {
		return Guarantee{}, fmt.Errorf("guarantee: %w", err)
	}
	if err == nil {
		for _, b := range report.Bounds {
			high := b.Epsilon.High
			if math.IsNaN(high) || math.IsInf(high, 1) {
				continue
			}
			switch b.Accountant {
			case accountant.PLD:
				g.PLD = &high
			case accountant.RDP:
				g.RDP = &high
			}
			if high < g.Epsilon {
				g.Epsilon, g.Accountant = high, string(b.Accountant)
			}
		}
	}
	epsilon := new(big.Rat)
	switch e := known.(type) {
	case privacy.Pure:
		epsilon = e.Epsilon.Rat()
	case privacy.Approx:
		if e.Delta.Cmp(delta) <= 0 {
			epsilon = e.Epsilon.Rat()
		}
	}
	if high, exact := epsilon.Float64(); epsilon.Sign() > 0 {
		if !exact {
			high = math.Nextafter(high, math.Inf(1))
		}
		if high < g.Epsilon {
			g.Epsilon, g.Accountant = high, "theorem"
		}
	}
	if g.Accountant == "" {
		return Guarantee{}, errors.New("guarantee: no finite epsilon is known of this plan: more noise, fewer steps or a larger delta")
	}
	return g, nil
}

// Calibrate returns the plan with the least noise at which it, and its count, are
// (epsilon, Delta)-differentially private; see Within.
func (p Plan) Calibrate(epsilon privacy.Epsilon) (Plan, error) {
	f, err := filter.New(filter.Budget{Measure: filter.Approx, Epsilon: epsilon, Delta: p.Delta, Neighbours: p.Neighbours})
	if err != nil {
		return Plan{}, fmt.Errorf("calibrate: %w", err)
	}
	return p.Within(context.Background(), f)
}

// Within returns the plan with the least noise for which the whole budget of a filter admits it
// together with its count. It is calibrated by its Cost. Its multiplier is ignored, its schedule is
// kept.
func (p Plan) Within(ctx context.Context, f filter.Filter) (Plan, error) {
	p.Noise.Multiplier = 1
	if err := p.Validate(); err != nil && p.Clip.Mode != Adaptive { // the count of adaptive clipping may refuse a multiplier of 1
		return Plan{}, err
	}
	// Rényi divergences are cheap, even with far too little noise, so they are tried first.
	// Then come privacy loss distributions, which admit more, then any accountant. The
	// excess is the logarithm of the charge over the budget; it is NaN where nothing is charged.
	excess := math.NaN()
	meets := func(multiplier float64, accountants ...accountant.Name) (bool, error) {
		excess = math.NaN()
		p.Noise.Multiplier = multiplier
		for _, by := range accountants {
			events, err := p.cost(ctx, f, by)
			if errors.Is(err, accountant.ErrNoBound) {
				continue
			} else if err != nil {
				return false, err
			}
			charge, err := f.Charge(events, p.Delta)
			if err != nil {
				return false, err
			}
			share, _ := new(big.Rat).Quo(charge.Loss.Rat(), f.Budget().Loss.Rat()).Float64()
			if excess = math.Log(share); charge.Within(f.Budget()) {
				return true, nil
			}
			if by == accountant.PLD {
				return false, nil
			}
		}
		return false, nil
	}
	// Powers of two, upwards and then downwards.
	high := 1.0 / 2
	var below float64 // the excess at high
	for {
		ok, err := meets(high, accountant.RDP)
		if err != nil {
			return Plan{}, fmt.Errorf("calibrate: %w", err)
		}
		if ok {
			below = excess
			break
		}
		if high *= 2; high > 1e6 {
			return Plan{}, fmt.Errorf("calibrate: no amount of noise suffices, at delta %v in %d steps", p.Delta, p.Steps)
		}
	}
	low, above := high/2, math.NaN() // above: the excess at low
	for ; low > 1.0/1024; low, high = low/2, low {
		ok, err := meets(low, accountant.RDP, accountant.PLD, "")
		if err != nil {
			return Plan{}, fmt.Errorf("calibrate: %w", err)
		}
		if !ok {
			above = excess
			break
		}
		below = excess
	}
	// Then the secant in logarithms, or halves where it does not help (Illinois), rounded up
	// to five digits, so that plans are readable: each is tested as it is written.
	for moved, slow := 0, 0; high/low > 1.00005; {
		before := math.Log(high / low)
		share := above / (above - below) // of the way from low to high
		if !(share >= 0 && share <= 1) || slow >= 4 {
			share, slow = 0.5, 0
		}
		middle := fiveDigitsUp(low * math.Exp(before*share))
		if digit := math.Pow(10, math.Floor(math.Log10(high))-4); middle >= high { // the next below
			middle = fiveDigitsUp(high - 1.5*digit)
		} else if middle <= low {
			middle = fiveDigitsUp(low + digit/2)
		}
		if middle <= low || middle >= high {
			break
		}
		ok, err := meets(middle, accountant.RDP, accountant.PLD, "")
		if err != nil {
			return Plan{}, fmt.Errorf("calibrate: %w", err)
		}
		if ok {
			if high, below = middle, min(excess, 0); moved > 0 {
				above /= 2
			}
			moved = 1
		} else {
			if low, above = middle, max(excess, 0); moved < 0 {
				below /= 2
			}
			moved = -1
		}
		if slow++; math.Log(high/low) <= before/2 {
			slow = 0
		}
	}
	p.Noise.Multiplier = high
	return p, p.Validate()
}

// Cost is what the whole plan is charged by a filter: its count, if it has one, and the
// steps as one event.
func (p Plan) Cost(ctx context.Context, f filter.Filter) ([]privacy.Event, error) {
	return p.cost(ctx, f, "")
}

func (p Plan) cost(ctx context.Context, f filter.Filter, by accountant.Name) ([]privacy.Event, error) {
	steps, err := p.charge(ctx, f, 0, by)
	if err != nil {
		return nil, err
	}
	count, err := p.Population.count(p.Neighbours)
	if count == nil || err != nil {
		return []privacy.Event{steps}, err
	}
	if o := p.accounting(); o.Group > 1 { // the count is of one example, and a unit has several
		if count, err = accountant.Guarantee(ctx, count, f, p.Delta, o); err != nil {
			return nil, err
		}
	}
	return []privacy.Event{count, steps}, nil
}

func fiveDigitsUp(x float64) float64 {
	f, _ := numeric.CeilDigits(new(big.Rat).SetFloat64(x), 5).Float64()
	return f
}

// charge is the one event that the plan from a step on is to a filter, by one accountant
// or all.
func (p Plan) charge(ctx context.Context, f filter.Filter, from int, by accountant.Name) (privacy.Event, error) {
	e, err := p.eventFrom(from)
	if err != nil {
		return nil, err
	}
	o := p.accounting()
	o.Accountant = by
	return accountant.Guarantee(ctx, e, f, p.Delta, o)
}

// A spending says what epsilon a run has reached after each step, cheaply: by Rényi
// divergences, which add up.
type spending struct {
	orders []float64
	delta  float64
	base   []float64 // of the count, by order
	runs   []noiseRun
	each   [][]float64 // of a step of each run, by order
}

func (p Plan) spending() (*spending, error) {
	s := &spending{orders: accountant.DefaultOrders(), delta: p.Delta.Float64(), runs: p.noises()}
	of := func(e privacy.Event) ([]float64, error) {
		o := p.accounting()
		o.Group = 0 // of one example: a group's divergences are not known order by order
		points, err := accountant.RenyiCurve(context.Background(), e, s.orders, o)
		if err != nil {
			return nil, fmt.Errorf("epsilon so far: %w", err)
		}
		each := make([]float64, len(points))
		for i, pt := range points {
			each[i] = pt.Y.High
		}
		return each, nil
	}
	s.base = make([]float64, len(s.orders))
	if count, err := p.Population.count(p.Neighbours); err != nil {
		return nil, err
	} else if count != nil {
		if s.base, err = of(count); err != nil {
			return nil, err
		}
	}
	for _, r := range s.runs {
		one := p
		one.Steps, one.Noise.Multiplier, one.Noise.Schedule.Every, one.Noise.Schedule.Factor, one.Noise.Schedule.Shape = 1, r.multiplier, 0, 0, ""
		e, err := one.Event()
		if err != nil {
			return nil, err
		}
		each, err := of(e)
		if err != nil {
			return nil, err
		}
		s.each = append(s.each, each)
	}
	return s, nil
}

// epsilon returns an estimate of what steps have spent.
//
// Proposition 12 of Canonne, Kamath and Steinke 2020: divergence r of order α is
// (ε, δ)-DP at ε = r + ln((α-1)/α) - (ln δ + ln α)/(α-1).
func (s *spending) epsilon(steps int) float64 {
	if steps == 0 && s.base[0] == 0 {
		return 0
	}
	best := math.Inf(1)
	for i, a := range s.orders {
		r, left := s.base[i], steps
		for j, run := range s.runs {
			n := min(left, run.steps)
			r += float64(n) * s.each[j][i]
			left -= n
		}
		best = min(best, r+math.Log1p(-1/a)-(math.Log(s.delta)+math.Log(a))/(a-1))
	}
	return math.Max(best, 0)
}
