//go:build cgo

package release

// End to end, what an attacker can tell: for each aggregate and mechanism, a
// statement is computed exactly by the engine on worst-case neighbours D and D',
// and published many times on each; then the most telling event is counted and
// held against the claim that the release makes by its events. A test accepts
// the real system, but for a false reject of probability 1e-12 for each event,
// below 1e-9 for each test; and it rejects the same system with noise 1.18 times
// too small.

import (
	"fmt"
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// falseEvent is the probability with which a bound on one event is wrong.
const falseEvent = 1e-12

// klBounds returns p's for which k successes of n, or fewer (more), are not less
// probable than falseEvent: by Chernoff's bound exp(−n·KL(k/n ‖ p)), it holds the
// true probability between them, but for probability falseEvent on each side.
func klBounds(k, n int) (low, high float64) {
	q := float64(k) / float64(n)
	limit := -math.Log(falseEvent) / float64(n)
	apart := func(p float64) bool {
		kl := 0.0
		if q > 0 {
			kl += q * math.Log(q/p)
		}
		if q < 1 {
			kl += (1 - q) * math.Log((1-q)/(1-p))
		}
		return kl > limit
	}
	search := func(inside, outside float64) float64 {
		for range 60 {
			if mid := (inside + outside) / 2; apart(mid) {
				outside = mid
			} else {
				inside = mid
			}
		}
		return outside
	}
	return search(q, 0), search(q, 1)
}

// violates reports whether a event's counts, k of n under P and l of n under Q,
// contradict P(E) ≤ e^epsilon·Q(E) + delta.
func violates(k, l, n int, epsilon, delta float64) error {
	low, _ := klBounds(k, n)
	_, high := klBounds(l, n)
	if low > math.Exp(epsilon)*high+delta {
		return fmt.Errorf("an event that happens %d times on one side and %d on the other, of %d, contradicts epsilon %.4g, delta %.4g", k, l, n, epsilon, delta)
	}
	return nil
}

// level is the ε at which claims of Gaussian noise are tested.
const level = 0.3

// contradiction publishes both sides and looks for the claim's contradiction.
func (a *arranged) contradiction(t *testing.T, r *Release) error {
	t.Helper()
	n := soak(4000, 16_000) << a.m
	if a.mu > 0 {
		n = soak(6000, 25_000)
	}
	k, err := a.count(r, a.neighbour, n)
	if err != nil {
		t.Fatal(err)
	}
	l, err := a.count(r, a.d, n)
	if err != nil {
		t.Fatal(err)
	}
	if a.mu == 0 {
		if err := violates(k.there, l.there, n, a.epsilon, 0); err != nil {
			return err
		}
		return violates(l.here, k.here, n, a.epsilon, 0)
	}
	// Gaussian noise at distance mu: δ(ε) = Φ(μ/2−ε/μ) − e^ε·Φ(−μ/2−ε/μ) (Balle and
	// Wang 2018, Theorem 8), and the law on a grid of σ ≥ 10 differs by less than
	// 0.002 from that.
	normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	delta := normal(a.mu/2-level/a.mu) - math.Exp(level)*normal(-a.mu/2-level/a.mu) + 0.002
	if err := violates(k.there, l.there, n, level, delta); err != nil {
		return err
	}
	return violates(l.here, k.here, n, level, delta)
}

type tellings struct{ there, here int }

// count publishes a side and counts the events that tell most: of Laplace
// noise, that all numbers are at the neighbour's or beyond (at D's or beyond);
// of Gaussian noise, that the likelihood ratio of the claim exceeds e^level.
func (a *arranged) count(r *Release, s side, n int) (tellings, error) {
	var out tellings
	bits := entropy.New()
	center := 0.0
	for _, x := range a.tellings {
		if a.mu > 0 {
			center += x.d * x.d / x.variance / 2
		}
	}
	for range n {
		table, err := r.Publish(s.exact, s.domains, bits)
		if err != nil {
			return out, err
		}
		there, here, llr := true, true, -center
		for _, x := range a.tellings {
			off := x.from(table, a.d.bare) // from D's number
			if a.mu > 0 {
				llr += x.d * off / x.variance
				continue
			}
			if x.d < 0 {
				off = -off
			}
			// Beyond the neighbour's, seen from D's; weights have roundings.
			there, here = there && off >= math.Abs(x.d)*(1-1e-12), here && off <= 0
		}
		if a.mu > 0 {
			there, here = llr > level, llr < -level
		}
		if there {
			out.there++
		}
		if here {
			out.here++
		}
	}
	return out, nil
}

// soak is how much of a sweep CI does, or make soak.
func soak(ci, long int) int {
	if os.Getenv("DISCREET_SOAK") != "" {
		return long
	}
	return ci
}

// faulty is how many hundredths of the right noise a planted fault has too much of: it is told from a
// quarter of the answers that make soak takes. A sensitivity that is forgotten once is √2 or 2.
func faulty() int { return soak(140, 118) }

// weakened has noise that is too small by that, under the events of the right noise.
type weakened struct{ mechanism.Additive }

func (w weakened) AddTo(bits noise.Bits, values []*big.Int) error {
	factor := big.NewRat(100, int64(faulty()))
	switch e := w.Additive.Event().(type) {
	case privacy.DiscreteLaplace:
		n, err := noise.NewDiscreteLaplace(new(big.Rat).Mul(e.Scale, factor))
		if err != nil {
			return err
		}
		return n.AddTo(bits, values)
	case privacy.DiscreteGaussian:
		n, err := noise.NewDiscreteGaussian(new(big.Rat).Mul(e.Variance, new(big.Rat).Mul(factor, factor)))
		if err != nil {
			return err
		}
		return n.AddTo(bits, values)
	}
	return fmt.Errorf("%T", w.Additive)
}

func (r *Release) weaken() *Release {
	out := *r
	out.Noise, out.blends = nil, nil
	for _, n := range r.Noise {
		if _, together := n.Additive.(blended); !together {
			n.Additive = weakened{n.Additive}
		}
		out.Noise = append(out.Noise, n)
	}
	for _, b := range r.blends {
		b.law = weakened{b.law}
		out.blends = append(out.blends, b)
	}
	return &out
}

func TestDistinguishingNeighbours(t *testing.T) {
	if testing.Short() {
		t.Skip("skip: statistics, in -short")
	}
	for _, c := range contests(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := c.arrange(t)
			if a.mu == 0 && c.measure == "zcdp" {
				t.Error("a cost in rho gets Laplace noise")
			}
			if err := a.contradiction(t, a.release); err != nil {
				t.Error(err)
			}
			if a.m > 2 && os.Getenv("DISCREET_SOAK") == "" {
				return // it takes 4,000·2^m answers, and the others show that the test sees what it must
			}
			if err := a.contradiction(t, a.release.weaken()); err == nil {
				t.Errorf("noise %d/100 times too small passes", faulty())
			}
		})
	}
}

// Groups that are shown: one unit more in a group changes how often it is shown
// by no more than the selection's events say.
func TestDistinguishingGroups(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("skip: statistics, in -short")
	}
	var rows strings.Builder
	id := 0
	const sizes = 12
	for units := 1; units <= sizes; units++ {
		for range units {
			fmt.Fprintf(&rows, "%d,a,%02d,0,0,0,0\n", id, units)
			id++
		}
	}
	for _, c := range []struct {
		name    string
		measure filter.Measure
		spend   Spend
		half    int // the selection's part of ε; 0 for a threshold
	}{
		{"approx", "approx", Spend{Epsilon: eps(t, "4"), Delta: del(t, "0.08")}, 2},
		{"zcdp by table", "zcdp", Spend{Rho: rho(t, "0.5"), Delta: del(t, "0.04")}, 1},
		{"zcdp by threshold", "zcdp", Spend{Rho: rho(t, "0.7"), Delta: del(t, "0.04")}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := fmt.Sprintf(contestCatalog, "add-remove", c.measure, "delta = 0.5")
			r, exact, _ := exactly(t, text, "SELECT k, count(*) FROM t GROUP BY k", c.spend, rows.String())
			epsilon, delta, appears := claimOfOneGroup(t, r.Selection)
			t.Logf("%s: epsilon %v, delta %v", r.Selection.Name(), epsilon, delta)
			check := func(r *Release) error {
				n := soak(25_000, 100_000)
				bits := entropy.New()
				shown := make([]int, sizes+1)
				for range n {
					table, err := r.Publish(engine.NewExact(copied(exact.RevealExact())), nil, bits)
					if err != nil {
						t.Fatal(err)
					}
					for _, key := range table.keys {
						units, err := strconv.Atoi(key[0].(string))
						if err != nil {
							t.Fatal(err)
						}
						shown[units]++
					}
				}
				if err := violates(shown[1], 0, n, 0, appears); err != nil { // without a unit the group is not there
					return fmt.Errorf("a group of one unit: %w", err)
				}
				for units := 1; units < sizes; units++ {
					a, b := shown[units], shown[units+1]
					for _, err := range []error{violates(b, a, n, epsilon, delta), violates(a, b, n, epsilon, delta), violates(n-a, n-b, n, epsilon, delta), violates(n-b, n-a, n, epsilon, delta)} {
						if err != nil {
							return fmt.Errorf("from %d units to %d: %w", units, units+1, err)
						}
					}
				}
				return nil
			}
			if err := check(r); err != nil {
				t.Error(err)
			}
			weak := *r
			if weak.Selection = (weakThreshold{r.Selection}); c.half > 0 {
				epsilon := eps(t, big.NewRat(int64(c.half*faulty()), 100).FloatString(2))
				weak.Selection = must(mechanism.ChooseSelection(mechanism.SelectionOptions{MaxGroups: r.MaxGroups, Epsilon: epsilon, Delta: del(t, "0.04")}))
			}
			if check(&weak) == nil {
				t.Errorf("a selection by %d/100 times the epsilon passes", faulty())
			}
		})
	}
}

// weakThreshold keeps the threshold and draws noise that is too small by faulty.
type weakThreshold struct{ mechanism.Selection }

func (w weakThreshold) Select(bits noise.Bits, units []*big.Int) ([]bool, error) {
	e := must(privacy.Released(w.Events()[0], privacy.AddRemove)).(privacy.DiscreteGaussian)
	n, err := noise.NewDiscreteGaussian(new(big.Rat).Mul(e.Variance, big.NewRat(10_000, int64(faulty()*faulty()))))
	if err != nil {
		return nil, err
	}
	noisy := copyOf(units)
	kept := make([]bool, len(units))
	err = n.AddTo(bits, noisy)
	for i := range noisy {
		kept[i] = err == nil && noisy[i].Cmp(w.HalfCount()) >= 0
	}
	return kept, err
}

func copyOf(values []*big.Int) []*big.Int {
	out := make([]*big.Int, len(values))
	for i, v := range values {
		out[i] = new(big.Int).Set(v)
	}
	return out
}

// claimOfOneGroup returns what the events claim of one group that one unit
// enters: (ε, δ), and the δ of its appearance. Gaussian noise with
// variance V moved by 1 has the total variation of its law, ε = 0.
func claimOfOneGroup(t *testing.T, s mechanism.Selection) (epsilon, delta, appears float64) {
	t.Helper()
	for _, e := range s.Events() {
		e := must(privacy.Released(e, privacy.AddRemove))
		if repeat, ok := e.(privacy.Repeat); ok {
			e = repeat.Event
		}
		switch e := e.(type) {
		case privacy.Selection:
			epsilon, delta, appears = epsilon+e.Epsilon.Float64(), delta+e.Delta.Float64(), appears+e.Delta.Float64()
		case privacy.DiscreteGaussian:
			v, _ := e.Variance.Float64()
			total := 0.0
			for k := -1000; k <= 1000; k++ {
				total += math.Exp(-float64(k*k) / (2 * v))
			}
			return 0, 1 / total, 1 // P(K ≥ 0) − P(K ≥ 1) = P(K = 0)
		default:
			t.Fatalf("a selection by %v", e)
		}
	}
	return epsilon, delta, appears
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// The released counts have the exact law of the noise: Pearson's statistic over
// the values near the count and the two tails, below the bound that a χ² of d
// degrees passes with probability e^-x: d + 2√(dx) + 2x (Laurent and Massart 2000).
func TestReleasedCountHasItsLaw(t *testing.T) {
	if testing.Short() {
		t.Skip("skip: statistics, in -short")
	}
	rows := unitRows(1, "bc", "3", "2", "1.25", "4")
	for _, c := range []struct {
		measure filter.Measure
		spend   Spend
	}{{"pure", Spend{Epsilon: eps(t, "3")}}, {"zcdp", Spend{Rho: rho(t, "4.5")}}} {
		text := fmt.Sprintf(contestCatalog, "add-remove", c.measure, map[string]string{"zcdp": "delta = 0.1"}[string(c.measure)])
		r, exact, domains := exactly(t, text, "SELECT count(*) FROM t", c.spend, rows)
		weight := func(k int) float64 { // of Laplace noise of scale 10, of Gaussian noise of σ = 10
			if c.measure == "pure" {
				return math.Exp(-math.Abs(float64(k)) / 10)
			}
			return math.Exp(-float64(k*k) / 200)
		}
		total := 0.0
		for k := -2000; k <= 2000; k++ {
			total += weight(k)
		}
		fit := func(r *Release) (statistic, bound float64) {
			const n, reach = 100_000, 32
			counts, expected := make([]float64, 2*reach+3), make([]float64, 2*reach+3)
			cell := func(k int) int { return min(max(k, -reach-1), reach+1) + reach + 1 }
			for k := -2000; k <= 2000; k++ {
				expected[cell(k)] += n * weight(k) / total
			}
			bits := entropy.New()
			for range n {
				table, err := r.Publish(exact, domains, bits)
				if err != nil {
					t.Fatal(err)
				}
				counts[cell(int(table.noisy[0][0].Int64())-30)]++ // of 40 rows 30 are kept
			}
			for i := range counts {
				statistic += (counts[i] - expected[i]) * (counts[i] - expected[i]) / expected[i]
			}
			d, x := float64(len(counts)-1), math.Log(1e10)
			return statistic, d + 2*math.Sqrt(d*x) + 2*x
		}
		if got, bound := fit(r); got > bound {
			t.Errorf("%s: χ² is %.1f, want at most %.1f", c.measure, got, bound)
		}
		if got, bound := fit(r.weaken()); got <= bound {
			t.Errorf("%s: noise 1.18 times too small has a χ² of only %.1f", c.measure, got)
		}
	}
}
