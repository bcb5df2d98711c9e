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

// Guarantee returns what the whole run promises, by both accountants.
func (p Plan) Guarantee() (Guarantee, error) {
	e, err := p.Event()
	if err != nil {
		return Guarantee{}, err
	}
	o := p.accounting()
	g := Guarantee{Event: e.String(), Neighbours: p.Neighbours, Group: o.Group, Delta: p.Delta, Epsilon: math.Inf(1)}
	for _, by := range []struct {
		name string
		high **float64
	}{{"pld", &g.PLD}, {"rdp", &g.RDP}} {
		high, err := p.epsilon(e, by.name)
		if err != nil {
			return Guarantee{}, fmt.Errorf("guarantee: %w", err)
		}
		if math.IsInf(high, 1) {
			continue
		}
		*by.high = &high
		if high < g.Epsilon {
			g.Epsilon, g.Accountant = high, by.name
		}
	}
	if g.Accountant == "" {
		return Guarantee{}, errors.New("guarantee: no finite epsilon is known of this plan: more noise, fewer steps or a larger delta")
	}
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
			case "pld":
				g.PLD = &high
			case "rdp":
				g.RDP = &high
			}
			if high < g.Epsilon {
				g.Epsilon, g.Accountant = high, b.Accountant
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

// epsilon is one accountant's bound, or +Inf if it has none.
func (p Plan) epsilon(e privacy.Event, by string) (float64, error) {
	delta := math.Nextafter(p.Delta.Float64(), 0) // a Delta may be rounded up
	o := p.accounting()
	o.Accountant = by
	report, err := accountant.Epsilon(context.Background(), e, delta, o)
	if errors.Is(err, accountant.ErrNoBound) {
		return math.Inf(1), nil
	} else if err != nil {
		return 0, err
	}
	best, ok := report.Best()
	if !ok || math.IsNaN(best.Epsilon.High) {
		return math.Inf(1), nil
	}
	return best.Epsilon.High, nil
}

// Calibrate returns the plan with the least noise at which it is (epsilon,
// Delta)-differentially private by either accountant; the multiplier that it has is
// ignored, its schedule kept.
func (p Plan) Calibrate(epsilon privacy.Epsilon) (Plan, error) {
	p.Noise.Multiplier = 1
	if err := p.Validate(); err != nil && p.Clip.Mode != Adaptive { // whose count may want other noise than 1
		return Plan{}, err
	}
	target := math.Nextafter(epsilon.Float64(), 0) // an Epsilon may be rounded up
	if !(target > 0) {
		return Plan{}, errors.New("calibrate: epsilon must be positive")
	}
	meets := func(multiplier float64, accountants ...string) (bool, error) {
		p.Noise.Multiplier = multiplier
		e, err := p.Event()
		if err != nil {
			return false, err
		}
		for _, by := range accountants {
			if high, err := p.epsilon(e, by); err != nil || high <= target {
				return err == nil, err
			}
		}
		return false, nil
	}
	// Powers of two, upwards by Rényi divergences, which are cheap wherever the noise
	// is far too small, then downwards.
	high := 1.0 / 2
	for {
		ok, err := meets(high, "rdp")
		if err != nil {
			return Plan{}, fmt.Errorf("calibrate: %w", err)
		}
		if ok {
			break
		}
		if high *= 2; high > 1e5 {
			return Plan{}, fmt.Errorf("calibrate: no noise meets epsilon %v at delta %v in %d steps", epsilon, p.Delta, p.Steps)
		}
	}
	low := high / 2
	for ; low > 1.0/1024; low, high = low/2, low {
		if ok, err := meets(low, "rdp", "pld"); err != nil {
			return Plan{}, fmt.Errorf("calibrate: %w", err)
		} else if !ok {
			break
		}
	}
	// Then halves, rounded up to five digits, so that plans are readable: each is
	// tested as it is written.
	for high/low > 1.00005 {
		middle := fiveDigitsUp((low + high) / 2)
		if middle >= high {
			break
		}
		ok, err := meets(middle, "rdp", "pld")
		if err != nil {
			return Plan{}, fmt.Errorf("calibrate: %w", err)
		}
		if ok {
			high = middle
		} else {
			low = middle
		}
	}
	p.Noise.Multiplier = high
	return p, p.Validate()
}

func fiveDigitsUp(x float64) float64 {
	f, _ := numeric.CeilDigits(new(big.Rat).SetFloat64(x), 5).Float64()
	return f
}

// charge is the one event that the plan from a step on is to a filter.
func (p Plan) charge(f filter.Filter, from int) (privacy.Event, error) {
	e, err := p.eventFrom(from)
	if err != nil {
		return nil, err
	}
	return accountant.Guarantee(context.Background(), e, f, p.Delta, p.accounting())
}

// A spending says what epsilon a run has reached after each step, cheaply: by Rényi
// divergences, which add up.
type spending struct {
	orders []float64
	delta  float64
	runs   []noiseRun
	each   [][]float64 // of a step of each run, by order
}

func (p Plan) spending() (*spending, error) {
	s := &spending{orders: accountant.DefaultOrders(), delta: p.Delta.Float64(), runs: p.noises()}
	for _, r := range s.runs {
		one := p
		one.Steps, one.Noise.Multiplier, one.Noise.Schedule.Every, one.Noise.Schedule.Factor, one.Noise.Schedule.Shape = 1, r.multiplier, 0, 0, ""
		e, err := one.Event()
		if err != nil {
			return nil, err
		}
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
		s.each = append(s.each, each)
	}
	return s, nil
}

// epsilon returns an estimate of what steps have spent.
//
// Proposition 12 of Canonne, Kamath and Steinke 2020: divergence r of order α is
// (ε, δ)-DP at ε = r + ln((α-1)/α) - (ln δ + ln α)/(α-1).
func (s *spending) epsilon(steps int) float64 {
	if steps == 0 {
		return 0
	}
	best := math.Inf(1)
	for i, a := range s.orders {
		r, left := 0.0, steps
		for j, run := range s.runs {
			n := min(left, run.steps)
			r += float64(n) * s.each[j][i]
			left -= n
		}
		best = min(best, r+math.Log1p(-1/a)-(math.Log(s.delta)+math.Log(a))/(a-1))
	}
	return math.Max(best, 0)
}
