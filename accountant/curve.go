package accountant

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/accountant/internal/work"
	"github.com/discreet-dp/discreet/privacy"
)

// A Point is one point of a curve.
type Point struct {
	X float64
	Y Bracket
}

// EpsilonCurve returns the best ε at each of the deltas, by o.Accountant if it is
// set.
func EpsilonCurve(ctx context.Context, plan privacy.Event, deltas []float64, o Options) ([]Point, error) {
	return curve(deltas, NewCurve(ctx, plan, o).Epsilon)
}

// DeltaCurve returns the best δ at each of the epsilons, which are not negative.
func DeltaCurve(ctx context.Context, plan privacy.Event, epsilons []float64, o Options) ([]Point, error) {
	return curve(epsilons, NewCurve(ctx, plan, o).Delta)
}

// A Curve is a plan that is asked at many points, by one goroutine. Its answers hold as those of functions Epsilon and Delta do, and each may take as many steps; but what
// depends on no point is computed once, and what is composed on a lattice for one point answers at others where it is as narrow as their own would be
// planned. Then brackets may differ from theirs, within their widths. All else is the same. It looks for no Warnings.
type Curve struct {
	inquiry
}

// NewCurve returns a curve of a plan. The deadline of ctx is that of all its answers.
func NewCurve(ctx context.Context, plan privacy.Event, o Options) *Curve {
	return &Curve{inquiry{ctx: ctx, meter: work.New(ctx), plan: plan, o: o, keeps: true}}
}

// Epsilon is function Epsilon at a point of the curve.
func (c *Curve) Epsilon(delta float64) (*Report, error) { return c.epsilon(delta) }

// Delta is function Delta at a point of the curve.
func (c *Curve) Delta(epsilon float64) (*Report, error) { return c.delta(epsilon) }

// RenyiCurve returns the plan's Rényi divergence of each order above 1; High is what
// the accountants moments and rdp use.
func RenyiCurve(ctx context.Context, plan privacy.Event, orders []float64, o Options) ([]Point, error) {
	o.Orders = orders
	meter := work.New(ctx)
	plans, err := flattenGroups(meter, plan, o)
	if err != nil {
		return nil, fmt.Errorf("curve of Rényi divergences: %w", err)
	}
	points := make([]Point, len(orders))
	for _, p := range plans {
		var divergences []float64
		err := meter.Do(o.work(), func() (err error) { divergences, err = p.divergences(orders); return err })
		if err != nil {
			return nil, fmt.Errorf("curve of Rényi divergences: %w", err)
		}
		for i, r := range divergences {
			high := math.Max(points[i].Y.High, r)
			points[i] = Point{orders[i], bracket(0, high/(1+rdpError), high)}
		}
	}
	return points, nil
}

func curve(xs []float64, at func(float64) (*Report, error)) ([]Point, error) {
	points := make([]Point, len(xs))
	for i, x := range xs {
		r, err := at(x)
		if err != nil {
			return nil, fmt.Errorf("curve at %v: %w", x, err)
		}
		points[i] = Point{x, r.tightest()}
	}
	return points, nil
}

// tightest joins the brackets of all accountants: each holds the truth.
func (r *Report) tightest() Bracket {
	b := r.Bounds[0].value()
	for _, other := range r.Bounds {
		b.Low = math.Max(b.Low, other.value().Low)
	}
	b.Low = math.Min(b.Low, b.High)
	b.Estimate = math.Max(b.Estimate, b.Low)
	return b
}

// Power returns, for each false positive rate, the greatest true positive rate of
// any test that tells two neighbours apart, membership inference above all. High is
// what protects.
//
// Theorem (Wasserman and Zhou 2010; Dong, Roth and Su 2022, Proposition 2.13): against
// a plan that is (ε, δ(ε))-DP a test with false positive rate α has power at most
// δ(ε)+e^ε α, and at most 1-e^-ε(1-δ(ε)-α), for every ε; the least of these over all ε
// is attained if δ is exact. High takes the least over some ε; Low takes, between two
// of them, less than any in between. Against Gaussian noise power is Φ(Φ^-1(α)+μ).
func Power(ctx context.Context, plan privacy.Event, rates []float64, o Options) ([]Point, error) {
	for _, a := range rates {
		if !(a >= 0 && a <= 1) {
			return nil, fmt.Errorf("power: rate %v is not a probability", a)
		}
	}
	meter := work.New(ctx)
	plans, err := flattenGroups(meter, plan, o)
	if errors.Is(err, errGroup) {
		plans, err = nil, nil // the general rule has no closed curve
	}
	if err != nil {
		return nil, fmt.Errorf("power: %w", err)
	}
	var power func(float64) Bracket
	err = meter.Do(o.work(), func() error { power = gaussianPower(plans); return nil })
	if err != nil {
		return nil, fmt.Errorf("power: %w", err)
	}
	if power == nil {
		profile, err := profileOf(ctx, plan, rates, o)
		if err != nil {
			return nil, fmt.Errorf("power: %w", err)
		}
		power = profile.power
	}
	points := make([]Point, len(rates))
	for i, a := range rates {
		points[i] = Point{a, power(a)}
	}
	return points, nil
}

// TradeOff returns the plan's trade-off curve (Dong, Roth and Su 2022): for each
// type I error α the least type II error f(α) = 1 - power of a test that tells two
// neighbours apart. Here Low is what protects: no test errs less.
func TradeOff(ctx context.Context, plan privacy.Event, alphas []float64, o Options) ([]Point, error) {
	points, err := Power(ctx, plan, alphas, o)
	if err != nil {
		return nil, fmt.Errorf("trade-off: %w", err)
	}
	for i, p := range points {
		points[i].Y = bracket(down(1-p.Y.High), 1-p.Y.Estimate, math.Min(1, up(1-p.Y.Low)))
	}
	return points, nil
}

// gaussianPower is the power against plans of Gaussian noise alone, or nil.
func gaussianPower(plans []*flat) func(float64) Bracket {
	if len(plans) == 0 {
		return nil
	}
	mu := 0.0
	for _, p := range plans {
		sum, err := p.muSquaredSum()
		if err != nil || !p.exactlyGaussian() {
			return nil
		}
		mu = math.Max(mu, math.Sqrt(toFloat(sum)))
	}
	return func(a float64) Bracket {
		if a == 0 || a == 1 {
			return bracket(a, a, a)
		}
		x := 0.0 // Φ^-1(α)
		if a <= 0.5 {
			x = normalQuantile(math.Log(a))
		} else {
			x = -normalQuantile(math.Log1p(-a))
		}
		p := math.Erfc(-(x+mu)/math.Sqrt2) / 2
		// An error e of x is one of at most 2(1+|x+μ|)e of p, relatively.
		e := p * (1 + math.Abs(x+mu)) * (1 + math.Abs(x) + mu) * 0x1p-48
		return bracket(math.Max(0, p-e), p, math.Min(1, p+e))
	}
}

// A profile is δ at increasing ε.
type profile []Point

// profileSize is the number of ε of a profile: in between, e^ε grows by a factor of
// 1 + ε_max/profileSize.
const profileSize = 192

func profileOf(ctx context.Context, plan privacy.Event, alphas []float64, o Options) (profile, error) {
	// Where δ is far below every α, the power is about e^ε·α: larger ε are not needed.
	least := 1e-3
	for _, a := range alphas {
		if a > 0 {
			least = math.Min(least, a)
		}
	}
	if o.Accountant == "" {
		o.Accountant = PLD // no other is better by more than rounding, and it falls back on others
	}
	top, err := Epsilon(ctx, plan, least/1e3, o)
	if err != nil {
		return nil, err
	}
	best, ok := top.Best()
	if !ok {
		return nil, fmt.Errorf("no finite ε is known at δ = %g", least/1e3)
	}
	var epsilons []float64
	for i := range profileSize {
		epsilons = append(epsilons, best.Epsilon.High*float64(i)/(profileSize-1))
	}
	epsilons = slices.Compact(epsilons)
	unjudged := o
	unjudged.unjudged = true
	points, err := DeltaCurve(ctx, plan, epsilons, unjudged)
	if err != nil {
		return nil, err
	}
	return points, profile(points).judge(ctx, plan, o)
}

// judgedEvery is how many knots of a profile one value of the floors judges.
const judgedEvery = 16

// judge is an error where a knot lies below what one event of the plan costs. A floor
// falls with ε: what it is at one knot is the least at those before, too.
func (p profile) judge(ctx context.Context, plan privacy.Event, o Options) error {
	meter := work.New(ctx)
	plans, _, err := prepare(meter, plan, o)
	if err != nil {
		return err
	}
	floors := floorsOf(plans)
	for end := len(p); end > 0; end -= min(judgedEvery, end) {
		knots := p[max(0, end-judgedEvery):end]
		last := knots[len(knots)-1]
		high := slices.MinFunc(knots, func(a, b Point) int { return cmp.Compare(a.Y.High, b.Y.High) }).Y.High
		r := &Report{Epsilon: &last.X}
		if why := r.below(floors, Bound{Delta: &Bracket{High: high}}); why != "" {
			return fmt.Errorf("at ε = %v: %s", last.X, why)
		}
	}
	return nil
}

func (p profile) power(a float64) Bracket {
	// The two bounds at t = e^ε, for δ.
	at := func(t, delta float64) float64 {
		return math.Min(1, math.Min(delta+t*a, 1-(1-delta-a)/t))
	}
	b := bracket(1, 1, 1)
	for i, x := range p {
		t := math.Exp(x.X)
		b.High = math.Min(b.High, at(t, x.Y.High))
		b.Estimate = math.Min(b.Estimate, at(t, x.Y.Estimate))
		for _, v := range p.under(i) {
			b.Low = math.Min(b.Low, at(v[0], math.Max(0, v[1])))
		}
	}
	b.Low, b.High = math.Max(a, down(b.Low*(1-0x1p-40))), math.Min(1, up(b.High))
	b.Low = math.Min(b.Low, b.High)
	b.Estimate = math.Min(b.High, math.Max(b.Low, b.Estimate))
	return b
}

// under returns the corners of a function of t = e^ε that is linear between them and
// nowhere above δ, between the knots i and i+1. As a supremum of P(S) - tQ(S), δ is
// convex in t with slopes in [-1, 0], so it lies above the chords on either side, drawn
// on. On a linear piece the bounds of power are linear or monotone in t: they are
// least at a corner. Beyond the last knot δ may be 0.
func (p profile) under(i int) [][2]float64 {
	t := func(i int) float64 { return math.Exp(p[i].X) }
	if i+1 == len(p) {
		return [][2]float64{{t(i), 0}}
	}
	lo, hi := t(i), t(i+1)
	before, after := -1.0, 0.0
	if i > 0 {
		before = (p[i].Y.Low - p[i-1].Y.High) / (lo - t(i-1))
	}
	if i+2 < len(p) {
		after = math.Min(0, (p[i+2].Y.High-p[i+1].Y.Low)/(t(i+2)-hi))
	}
	lines := [3]func(float64) float64{
		func(t float64) float64 { return p[i].Y.Low + before*(t-lo) },
		func(t float64) float64 { return p[i+1].Y.Low + after*(t-hi) },
		func(float64) float64 { return p[i+1].Y.Low },
	}
	corners := []float64{lo, hi}
	for j, f := range lines {
		for _, g := range lines[:j] {
			// Linear: the difference at both ends gives the root.
			if at, to := f(lo)-g(lo), f(hi)-g(hi); at*to < 0 {
				corners = append(corners, lo+(hi-lo)*at/(at-to))
			}
		}
	}
	out := make([][2]float64, len(corners))
	for k, c := range corners {
		out[k] = [2]float64{c, math.Max(lines[0](c), math.Max(lines[1](c), lines[2](c)))}
	}
	return out
}
