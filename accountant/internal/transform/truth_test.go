package transform_test

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
	"github.com/discreet-dp/discreet/accountant/internal/transform"
)

// upper is P(N(0) > u).
func upper(u float64) float64 { return math.Erfc(u/math.Sqrt2) / 2 }

// pair is one step of the mixture, for any real epsilon, from its definition.
type pair struct {
	mu, q float64
	dir   transform.Direction
}

func (p pair) loss(u float64) float64 {
	up := math.Log1p(p.q * math.Expm1(p.mu*u-p.mu*p.mu/2))
	down := math.Log1p(p.q * math.Expm1(-p.mu*u-p.mu*p.mu/2))
	switch p.dir {
	case transform.Remove:
		return up
	case transform.Add:
		return -up
	}
	return up - down
}

// density of P.
func (p pair) density(u float64) float64 {
	phi := math.Exp(-u*u/2) / math.Sqrt(2*math.Pi)
	if p.dir == transform.Add {
		return phi
	}
	return phi * (1 + p.q*math.Expm1(p.mu*u-p.mu*p.mu/2))
}

// at solves loss(u) = x by bisection: ±Inf where the loss does not reach x.
func (p pair) at(x float64) float64 {
	lo, hi := -60., 60.
	increasing := p.dir != transform.Add
	for range 60 {
		mid := (lo + hi) / 2
		if (p.loss(mid) < x) == increasing {
			lo = mid
		} else {
			hi = mid
		}
	}
	switch {
	case lo > 59.9:
		return math.Inf(1)
	case hi < -59.9:
		return math.Inf(-1)
	}
	return (lo + hi) / 2
}

// masses returns P and Q of {loss > x}.
func (p pair) masses(x float64) (inP, inQ float64) {
	u := p.at(x)
	with, without, other := upper(u-p.mu), upper(u), upper(u+p.mu)
	switch p.dir {
	case transform.Remove:
		return (1-p.q)*without + p.q*with, without
	case transform.Add:
		return 1 - without, 1 - ((1-p.q)*without + p.q*with)
	}
	return (1-p.q)*without + p.q*with, (1-p.q)*without + p.q*other
}

func (p pair) delta(eps float64) float64 {
	inP, inQ := p.masses(eps)
	return inP - math.Exp(eps)*inQ
}

func within(t *testing.T, what string, b loss.Bracket, want, rel float64) {
	t.Helper()
	if !(b.Low <= want*(1+rel) && want*(1-rel) <= b.High) {
		t.Errorf("%s: [%.17g, %.17g] does not hold %.17g", what, b.Low, b.High, want)
	}
	if b.High-b.Low > 1e-6*b.High {
		t.Errorf("%s: width %g of %g", what, b.High-b.Low, b.High)
	}
	if !(b.Low <= b.Estimate && b.Estimate <= b.High) {
		t.Errorf("%s: %v is out of order", what, b)
	}
}

func compose(t testing.TB, d transform.Direction, terms ...transform.Term) *transform.Composition {
	t.Helper()
	c, err := transform.New(nil, terms, d)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var directions = []transform.Direction{transform.Remove, transform.Add, transform.Replace}

// Gaussian steps are one Gaussian, whose δ has a closed form.
func TestGaussianStepsAreOneGaussian(t *testing.T) {
	for _, mu := range []float64{0.01, 0.3, 1, 4, 20} {
		for _, eps := range []float64{0, 0.001, 0.1, 1, 10, 100} {
			want := upper(eps/mu-mu/2) - math.Exp(eps)*upper(eps/mu+mu/2)
			if want < 1e-12 {
				continue // the difference has lost its digits
			}
			for _, d := range []transform.Direction{transform.Remove, transform.Add} {
				for _, n := range []int64{1, 10000} {
					sigma := math.Sqrt(float64(n)) / mu
					b, err := compose(t, d, transform.Term{Sigma: sigma, Sensitivity: 1, Rate: 1, Count: n}).Delta(eps)
					if err != nil {
						t.Fatal(mu, eps, err)
					}
					within(t, "gaussian", b, want, 1e-14/want*(1+eps/mu)+1e-12)
				}
			}
		}
	}
}

// gauss-delta-tiny and others of accountant/testdata/vectors.json.
func TestPublishedDeltas(t *testing.T) {
	for _, v := range []struct {
		sigma, sensitivity, rate float64
		dir                      transform.Direction
		eps, want, rel           float64
	}{
		{500, 10, 1, transform.Remove, 0.5, 3.129776773173962e-141, 1e-6},
		{1, 1, 1, transform.Remove, 1, 0.12693674, 1e-7},
		{5, 5, 1, transform.Add, 2, 0.02092364, 1e-6},
		{10, 5, 1, transform.Remove, 1.0986122886681098, 0.004159742234000802, 1e-10},
		{0.5, 1, 1, transform.Remove, 0, 0.6826894921370859, 1e-10},
		{1, 1, 1, transform.Replace, 1, 0.50986166, 1e-7},
		{1, 1, 0.8, transform.Add, 1, 0.0231362104090899, 1e-9},
		{1, 3, 0.7, transform.Remove, 1, 0.5356298793262404, 1e-9},
		{1, 3, 0.7, transform.Add, 1, 0.1195051215523554, 1e-9},
		{2, 1, 0.3, transform.Replace, 2, 2.4770380148941894e-09, 1e-6},
	} {
		c := compose(t, v.dir, transform.Term{Sigma: v.sigma, Sensitivity: v.sensitivity, Rate: v.rate, Count: 1})
		b, err := c.Delta(v.eps)
		if err != nil {
			t.Fatal(v, err)
		}
		within(t, "published", b, v.want, v.rel)
	}
}

// One step of sampling by its definition, two by one quadrature of it.
func TestOneAndTwoStepsByDefinition(t *testing.T) {
	answered := 0
	for _, d := range directions {
		for _, sigma := range []float64{0.7, 2} {
			for _, q := range []float64{0.01, 0.3} {
				p := pair{1 / sigma, q, d}
				for _, eps := range []float64{0.02, 0.5} {
					one := compose(t, d, transform.Term{Sigma: sigma, Sensitivity: 1, Rate: q, Count: 1})
					if want := p.delta(eps); want > 1e-9 {
						b, err := one.Delta(eps)
						if err != nil {
							t.Fatal(p, eps, err)
						}
						answered++
						within(t, "one step", b, want, 1e-13/want)
						e, err := one.Epsilon(want)
						if err != nil {
							t.Fatal(p, eps, err)
						}
						within(t, "one step's epsilon", e, eps, 1e-12/want)
					}
					// E over the first step of δ of the second at what is left of eps.
					const n = 4000
					lo, hi := -10., 10+p.mu
					want := 0.
					for i := 0; i <= n; i++ {
						u := lo + (hi-lo)*float64(i)/n
						want += p.density(u) * p.delta(eps-p.loss(u)) * (hi - lo) / n
					}
					if want < 1e-9 {
						continue
					}
					two := compose(t, d, transform.Term{Sigma: sigma, Sensitivity: 1, Rate: q, Count: 2})
					b, err := two.Delta(eps)
					if errors.Is(err, transform.ErrUnsuited) {
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					answered++
					within(t, "two steps", b, want, 1e-12/want+1e-9)
				}
			}
		}
	}
	if answered < 20 {
		t.Errorf("%d answers", answered)
	}
}

// Eight steps by convolution of the loss on a lattice, rounded up and down: an
// independent bracket, a percent wide.
func TestEightStepsByConvolution(t *testing.T) {
	const grid = 0.004
	for _, d := range directions {
		p := pair{1, 0.1, d}
		lo, hi := math.Floor(p.loss(-9)/grid), math.Ceil(p.loss(9)/grid)
		if d == transform.Add {
			lo, hi = math.Floor(p.loss(9)/grid), math.Ceil(p.loss(-9)/grid)
		}
		var mass []float64 // of {(lo+i) grid < loss <= (lo+i+1) grid}
		above, _ := p.masses(lo * grid)
		missing := 1 - above
		for i := lo; i < hi; i++ {
			next, _ := p.masses((i + 1) * grid)
			mass = append(mass, above-next)
			above = next
		}
		missing += above
		for range 3 {
			twice := make([]float64, 2*len(mass)-1)
			for i, a := range mass {
				for j, b := range mass {
					twice[i+j] += a * b
				}
			}
			mass = twice
		}
		for _, eps := range []float64{0, 0.5, 1, 2} {
			if d == transform.Add && eps > 0.5 {
				continue // the greatest loss is 0.84
			}
			low, high := 0., 8*missing
			for i, m := range mass {
				s := (8*lo + float64(i)) * grid
				low += m * max(0, -math.Expm1(eps-s))
				high += m * max(0, -math.Expm1(eps-s-8*grid))
			}
			b, err := compose(t, d, transform.Term{Sigma: 1, Sensitivity: 1, Rate: 0.1, Count: 8}).Delta(eps)
			if err != nil {
				t.Errorf("%v at %g: %v", d, eps, err)
				continue
			}
			// The middle of the lattice is better than either end.
			if !(low <= b.High && b.Low <= high) || math.Abs(b.Estimate/((low+high)/2)-1) > 0.1 {
				t.Errorf("%v at %g: %v, by convolution [%g, %g]", d, eps, b, low, high)
			}
		}
	}
}
