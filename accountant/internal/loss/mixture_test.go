package loss

import (
	"math"
	"testing"
)

// hockeyOf is H of two mixtures by the trapezoid rule from its definition.
func hockeyOf(p, q func(float64) float64, epsilon, lo, hi float64) float64 {
	sum := 0.0
	const h = 1.0 / 512
	for x := lo; x < hi; x += h {
		sum += h * max(0, p(x)-math.Exp(epsilon)*q(x))
	}
	return sum
}

func binomial(n, k int) float64 {
	c := 1.0
	for i := range k {
		c *= float64(n-i) / float64(i+1)
	}
	return c
}

// The pair of a group against an integral of its definition.
func TestSampledGaussianGroup(t *testing.T) {
	ok := must(t)
	phi := func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
	law := func(n int, mu, q float64) func(float64) float64 {
		return func(x float64) float64 {
			sum := 0.0
			for k := 0; k <= n; k++ {
				sum += binomial(n, k) * math.Pow(q, float64(k)) * math.Pow(1-q, float64(n-k)) * phi(x-float64(k)*mu)
			}
			return sum
		}
	}
	for _, c := range []struct {
		mu, q         float64
		with, without int
	}{
		{1, 0.1, 2, 0}, {1, 0.1, 0, 2}, {1, 0.1, 1, 1}, {0.5, 0.6, 5, 0}, {0.5, 0.6, 2, 3}, {2, 0.01, 0, 4}, {2, 0.01, 3, 1}, {0.3, 0.3, 8, 8}, {0.7, 1, 3, 0},
	} {
		pair := ok(SampledGaussianGroup(c.mu, c.q, int64(c.with), int64(c.without)))
		p, minus := law(c.with, c.mu, c.q), law(c.without, c.mu, c.q)
		q := func(x float64) float64 { return minus(-x) }
		for _, epsilon := range []float64{-0.3, -0.05, 0, 0.02, 0.3, 1, 3} {
			want := hockeyOf(p, q, epsilon, -14-float64(c.without)*c.mu, 14+float64(c.with)*c.mu)
			if got := pair.Delta(epsilon); math.Abs(got-want) > 4e-7 {
				t.Errorf("%+v: delta(%v) = %v, want %v", c, epsilon, got, want)
			}
		}
	}
}

// A group of one is the unit; one without a sample is a Gaussian of its distance.
func TestGroupsOfOne(t *testing.T) {
	ok := must(t)
	for _, mu := range []float64{1e-3, 0.1, 1, 8} {
		base := ok(Gaussian(mu))
		for _, q := range []float64{1e-9, 0.3, 0.99} {
			for name, pair := range map[string][2]Pair{
				"remove":  {ok(SampledGaussianGroup(mu, q, 1, 0)), ok(PoissonRemove(base, q))},
				"add":     {ok(SampledGaussianGroup(mu, q, 0, 1)), ok(PoissonAdd(base, q))},
				"replace": {ok(SampledGaussianGroup(mu, q, 1, 1)), ok(SampledGaussianReplace(mu, q))},
				"all":     {ok(SampledGaussianGroup(mu, 1, 3, 0)), ok(Gaussian(3 * mu))},
			} {
				for _, x := range []float64{-1, -0.1, 0, 1e-6, 0.01, 0.5, 1, 4, 20} {
					epsilon := x * min(1, pair[1].Max())
					got, want := pair[0].Delta(epsilon), pair[1].Delta(epsilon)
					if math.Abs(got-want) > 3e-10*want && want > 1e-290 {
						t.Errorf("%s, mu %v, rate %v: delta(%v) = %v, want %v", name, mu, q, epsilon, got, want)
					}
				}
			}
		}
	}
}

// Vectors of contributions in other directions, of lengths up to mu, are dominated: the
// theorem's claim, on events of two dimensions by a sum over a grid.
func TestGroupsOfVectorsAreDominated(t *testing.T) {
	ok := must(t)
	type vector [2]float64
	const q, mu = 0.4, 1.3
	density := func(units []vector) func(x, y float64) float64 {
		type point struct{ x, y, w float64 }
		points := []point{{0, 0, 1}}
		for _, u := range units {
			var next []point
			for _, p := range points {
				next = append(next, point{p.x, p.y, p.w * (1 - q)}, point{p.x + u[0], p.y + u[1], p.w * q})
			}
			points = next
		}
		return func(x, y float64) float64 {
			sum := 0.0
			for _, p := range points {
				sum += p.w * math.Exp(-((x-p.x)*(x-p.x)+(y-p.y)*(y-p.y))/2) / (2 * math.Pi)
			}
			return sum
		}
	}
	caught := false
	for _, c := range []struct{ with, without []vector }{
		{[]vector{{mu, 0}, {mu, 0}}, nil},
		{[]vector{{mu, 0}, {0, mu}}, nil},
		{[]vector{{mu, 0}, {-mu, 0}}, nil},
		{[]vector{{mu, 0}, {mu / 2, 0}}, nil},
		{nil, []vector{{mu, 0}, {mu * 0.6, mu * 0.8}}},
		{[]vector{{mu, 0}}, []vector{{0, mu}}},
		{[]vector{{mu, 0}}, []vector{{mu, 0}}},
		{[]vector{{mu, 0}, {mu * 0.6, mu * 0.8}}, []vector{{-mu, 0}}},
	} {
		pair := ok(SampledGaussianGroup(mu, q, int64(len(c.with)), int64(len(c.without))))
		alone := ok(SampledGaussianGroup(mu*0.9, q, int64(len(c.with)), int64(len(c.without))))
		p, r := density(c.with), density(c.without)
		for _, epsilon := range []float64{0, 0.2, 0.6, 1.2} {
			sum := 0.0
			const h = 1.0 / 12
			for x := -9.0; x < 9; x += h {
				for y := -9.0; y < 9; y += h {
					sum += h * h * max(0, p(x, y)-math.Exp(epsilon)*r(x, y))
				}
			}
			if bound := pair.Delta(epsilon); sum > bound+2e-4 {
				t.Errorf("%v: delta(%v) = %v is above the pair's %v", c, epsilon, sum, bound)
			}
			caught = caught || sum > alone.Delta(epsilon)+2e-4
		}
	}
	if !caught {
		t.Error("a pair of nine tenths of the distance passes")
	}
}

func TestGroupRefusals(t *testing.T) {
	for _, c := range []struct {
		mu, q         float64
		with, without int64
	}{{0, 0.1, 1, 0}, {1, 0, 1, 0}, {1, 1.1, 1, 0}, {1, 0.1, 0, 0}, {1, 0.1, -1, 2}, {1, 0.1, 65, 0}, {100, 0.1, 11, 0}, {math.NaN(), 0.1, 1, 0}, {1, math.NaN(), 1, 0}} {
		if p, err := SampledGaussianGroup(c.mu, c.q, c.with, c.without); err == nil {
			t.Errorf("%+v: %v", c, p)
		}
	}
}

// Divergences of groups: of one unit the binomial sum of the sampled Gaussian, of more
// those of the definition by the trapezoid rule.
func TestSampledGaussianGroupRenyi(t *testing.T) {
	get := func(mu, q float64, with, without int64) *Renyi {
		r, err := SampledGaussianGroupRenyi(mu, q, with, without)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, mu := range []float64{1e-6, 0.01, 0.3, 1, 3} {
		for _, q := range []float64{1e-12, 1e-6, 0.01, 0.5, 0.999} {
			r := get(mu, q, 1, 0)
			for _, n := range []int{2, 3, 8, 20} {
				moment := 0.0
				for l := 2; l <= n; l++ {
					moment += binomial(n, l) * math.Pow(q, float64(l)) * math.Pow(1-q, float64(n-l)) * math.Expm1(float64(l*(l-1))/2*mu*mu)
				}
				want, got := math.Log1p(moment)/float64(n-1), r.Divergence(float64(n))
				if got < want*(1-1e-12) && want < math.Inf(1) || got > want*(1+2e-3*math.Max(1, mu*mu)) && want < math.Inf(1) {
					t.Errorf("mu %v, rate %v, order %d: %v, want %v", mu, q, n, got, want)
				}
			}
		}
	}
	for _, c := range []struct {
		mu, q         float64
		with, without int
	}{{1, 0.1, 2, 0}, {1, 0.1, 0, 2}, {1, 0.1, 1, 1}, {0.4, 0.5, 3, 2}, {0.4, 0.5, 6, 0}, {0.3, 0.01, 8, 8}} {
		r := get(c.mu, c.q, int64(c.with), int64(c.without))
		log := func(n int, mu, x float64) float64 {
			sum := 0.0
			for k := 0; k <= n; k++ {
				d := x - float64(k)*mu
				sum += binomial(n, k) * math.Pow(c.q, float64(k)) * math.Pow(1-c.q, float64(n-k)) * math.Exp(-d*d/2)
			}
			return math.Log(sum / math.Sqrt(2*math.Pi))
		}
		for _, a := range []float64{1.05, 1.5, 2, 5.5, 12} {
			forth, back := 0.0, 0.0
			const h = 1.0 / 64
			for x := -30.0; x < 30; x += h {
				p, q := log(c.with, c.mu, x), log(c.without, -c.mu, x)
				forth += h * math.Exp(a*p+(1-a)*q)
				back += h * math.Exp(a*q+(1-a)*p)
			}
			want := math.Log(math.Max(forth, back)) / (a - 1)
			if got := r.Divergence(a); got < want*(1-1e-9) || got > want*(1+3e-3) {
				t.Errorf("%+v, order %v: %v, want %v", c, a, got, want)
			}
		}
	}
	if r := get(1, 0.1, 2, 0); !math.IsInf(r.Divergence(40), 1) {
		t.Errorf("an order beyond the slices: %v", r.Divergence(40))
	}
}
