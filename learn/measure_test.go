package learn

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
)

// A density is a probability density of one number.
type density func(x float64) float64

func normalAt(mean, sigma float64) density {
	return func(x float64) float64 {
		return math.Exp(-(x-mean)*(x-mean)/2/sigma/sigma) / sigma / math.Sqrt(2*math.Pi)
	}
}

func mixed(q float64, with, without density) density {
	return func(x float64) float64 { return q*with(x) + (1-q)*without(x) }
}

// pairs are what a step shows of neighbouring data in one direction, which dominates all
// others: noise of z around what the unit adds, if it is in the sample.
func pairs(p Plan) [][2]density {
	z, q := p.Noise.Multiplier, float64(p.Batch)/float64(p.Population.Units)
	without := normalAt(0, z)
	one, other := mixed(q, normalAt(1, z), without), mixed(q, normalAt(-1, z), without)
	if p.Neighbours == privacy.ReplaceOne {
		return [][2]density{{one, other}}
	}
	return [][2]density{{one, without}, {without, one}}
}

// epsilonOf is the ε at δ of so many steps: the distribution of the privacy loss on a grid
// of 1/1000, convolved with itself, and nothing of package accountant.
func epsilonOf(pair [2]density, steps int, delta float64) float64 {
	const grid, dx, far = 1.0 / 1000, 1e-3, 60.0
	width := 4000
	one := make([]float64, 2*width+1)
	for x := -far; x <= far; x += dx {
		if a, b := pair[0](x), pair[1](x); a > 1e-25 {
			at := width + int(math.Round(math.Log(a/b)/grid))
			one[min(max(at, 0), 2*width)] += a * dx
		}
	}
	all, offset := []float64{1}, 0
	for range steps {
		next := make([]float64, len(all)+len(one)-1)
		for i, a := range all {
			if a > 1e-16 {
				for j, b := range one {
					next[i+j] += a * b
				}
			}
		}
		all, offset = next, offset+width
	}
	at := func(epsilon float64) (sum float64) {
		for i, p := range all {
			if l := float64(i-offset) * grid; l > epsilon {
				sum += p * -math.Expm1(epsilon-l)
			}
		}
		return sum
	}
	low, high := 0.0, 50.0
	for range 60 {
		if mid := (low + high) / 2; at(mid) > delta {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// divergence is the Rényi divergence of an order, by quadrature.
func divergence(pair [2]density, order float64) float64 {
	sum := 0.0
	for x := -80.0; x <= 80; x += 1e-3 {
		if a, b := pair[0](x), pair[1](x); a > 0 && b > 0 {
			sum += math.Exp(order*math.Log(a)+(1-order)*math.Log(b)) * 1e-3
		}
	}
	return math.Log(sum) / (order - 1)
}

// In every measure that a ledger has, with all units in each step and with Poisson samples,
// a run is charged what another computation says that it costs, or refused; and the budget
// falls by just that.
func TestChargesInEveryMeasure(t *testing.T) {
	const steps = 4
	near := func(t *testing.T, what string, got *big.Rat, want, more float64) {
		t.Helper()
		if x, _ := got.Float64(); !(x >= want*(1-more/2) && x <= want*(1+more)) {
			t.Errorf("%s: %v, and by another way %v", what, x, want)
		}
	}
	for _, batch := range []int64{1000, 200} {
		for _, relation := range []privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne} {
			p := small()
			p.Batch, p.Steps, p.Neighbours, p.Noise.Multiplier = batch, steps, relation, 2
			p.Noise.Sampler = Exact // of the fast one see TestFastNoiseIsPaidFor
			if batch == 1000 {
				p.Noise.Multiplier = 4
			}
			// Of all units in each step, in closed form.
			z, moved := p.Noise.Multiplier, 1.0
			if relation == privacy.ReplaceOne {
				moved = 2
			}
			rho := steps * moved * moved / (2 * z * z)
			epsilon := 0.0
			for _, pair := range pairs(p) {
				epsilon = max(epsilon, epsilonOf(pair, steps, 1e-5))
			}
			for _, measure := range []filter.Measure{filter.Pure, filter.Approx, filter.ZCDP, filter.RDP, filter.GDP, filter.Whitehouse} {
				t.Run(fmt.Sprintf("%s/%v/%d", measure, relation, batch), func(t *testing.T) {
					b := purse(t, measure, "100", relation)
					event, err := p.charge(ctx, b.Filter(), 0, "")
					if measure == filter.Pure {
						if err == nil || !strings.Contains(err.Error(), "pure") {
							t.Fatalf("charged %v, %v", event, err)
						}
						if _, err := Start(ctx, Options{Plan: p, Network: mlp(2), Data: circles(1000, 1), Budget: b}); err == nil {
							t.Error("a run with Gaussian noise for a pure budget")
						}
						return
					}
					if err != nil {
						t.Fatal(err)
					}
					switch e := event.(type) {
					case privacy.Approx:
						near(t, "epsilon", e.Epsilon.Rat(), epsilon, 0.01)
						if e.Delta.Rat().Cmp(p.Delta.Rat()) > 0 {
							t.Errorf("delta %v", e.Delta)
						}
					case privacy.ZCDP:
						near(t, "rho", e.Rho.Rat(), rho, 1e-9)
					case privacy.GDP:
						near(t, "mu", e.Mu, math.Sqrt(2*rho), 1e-9)
					case privacy.RDP:
						order, _ := e.Orders[0].Float64()
						want := 0.0
						for _, pair := range pairs(p) {
							want = max(want, steps*divergence(pair, order))
						}
						near(t, "divergence", e.Eps[0], want, 1e-6)
						if batch == 1000 {
							near(t, "divergence", e.Eps[0], order*rho, 1e-6)
						}
					default:
						t.Fatalf("charged %v", event)
					}
					// By which kind of event, in full batches: none is looser than its own.
					if _, point := event.(privacy.Approx); batch == 1000 && point != (measure == filter.Approx || measure == filter.Whitehouse) {
						t.Errorf("charged %v", event)
					}

					before, err := b.Left(ctx)
					if err != nil {
						t.Fatal(err)
					}
					r, err := Start(ctx, Options{Plan: p, Network: mlp(2), Data: circles(1000, 1), Budget: b, Statement: "learn a circle"})
					if err != nil {
						t.Fatal(err)
					}
					if err := r.Train(ctx); err != nil {
						t.Fatal(err)
					}
					if r.Charged() != event.String() {
						t.Errorf("charged %s, not %v", r.Charged(), event)
					}
					f := b.Filter()
					cost, err := f.Charge([]privacy.Event{event}, p.Delta)
					if err != nil {
						t.Fatal(err)
					}
					after, err := b.Left(ctx)
					if err != nil {
						t.Fatal(err)
					}
					if want := cost.Left(before.Total(f.Measure())); !after.Total(f.Measure()).Equal(want) {
						t.Errorf("left %v of %v, charged %v", after, before, f.Amounts(cost))
					}
				})
			}
		}
	}
}
