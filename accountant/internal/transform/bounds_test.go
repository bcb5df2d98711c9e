package transform

import (
	"math"
	"testing"
)

// Each error term is shown to hold the error that it is for, and to be needed:
// without it, or with it halved in the exponent, the truth is missed.

// truth is δ(1) of 100 steps of sigma 1, rate 0.01, remove: see TestFortyDigits.
const truth = 6.6713989156035470272e-7

func sampled(t *testing.T) (*Composition, []point) {
	t.Helper()
	c, err := New(nil, []Term{{Sigma: 1, Sensitivity: 1, Rate: 0.01, Count: 100}}, Remove)
	if err != nil {
		t.Fatal(err)
	}
	s, ok := c.saddleAt(1)
	if !ok {
		t.Fatal("no saddle point")
	}
	return c, c.points(s)
}

func TestAliasesAreBounded(t *testing.T) {
	c, points := sampled(t)
	good, err := c.lay(points, 1, math.Log(truth))
	if err != nil {
		t.Fatal(err)
	}
	needed := 0
	for _, shorter := range []float64{1, 1.5, 2, 2.5, 3, 4} {
		l := &line{base: good.base, points: points, dt: good.dt * shorter}
		if err := c.sample(l, math.Log(truth)-(l.base.k-l.base.theta)); err != nil {
			t.Fatal(err)
		}
		v := l.value(1)
		scale := math.Exp(v.scale)
		if v.low*scale > truth || v.high*scale < truth {
			t.Errorf("a period %g times shorter: [%g, %g] misses %g", shorter, v.low*scale, v.high*scale, truth)
		}
		if mid := v.mid - (v.high - v.mid); mid*scale > truth*(1+1e-13) {
			needed++ // without the aliases' bound the truth is below the bracket
		}
	}
	if needed < 3 {
		t.Errorf("the aliases were noticed %d times", needed)
	}
}

func TestTruncationIsBounded(t *testing.T) {
	c, points := sampled(t)
	l, err := c.lay(points, 1, math.Log(truth))
	if err != nil {
		t.Fatal(err)
	}
	law := c.events[0].cells(l.base.theta)
	needed := 0
	all := l.phi
	for n := len(all) / 20; n < len(all); n += len(all) / 20 {
		l.phi = all[:n]
		l.tail = 0
		v := l.value(1)
		if e := math.Exp(v.scale); v.low*e > truth || v.high*e < truth {
			needed++
		}
		l.tail = math.Exp(c.beyond([]*cells{law}, float64(n)*l.dt))
		v = l.value(1)
		if e := math.Exp(v.scale); v.low*e > truth || v.high*e < truth {
			t.Errorf("%d of %d frequencies: [%g, %g] misses %g", n, len(all), v.low*e, v.high*e, truth)
		}
	}
	if needed < 3 {
		t.Errorf("the truncation was noticed %d times", needed)
	}
}

var laws = []event{
	{mu: 1, q: 0.01, n: 1, dir: Remove},
	{mu: 1 / 0.6, q: 0.2, n: 1, dir: Remove},
	{mu: 0.1, q: 1e-4, n: 1, dir: Remove},
	{mu: 1, q: 0.01, n: 1, dir: Add},
	{mu: 1 / 0.6, q: 0.3, n: 1, dir: Add},
	{mu: 0.1, q: 1e-4, n: 1, dir: Add},
	{mu: 1, q: 0.05, n: 1, dir: Replace},
	{mu: 0.3, q: 0.5, n: 1, dir: Replace},
	{mu: 3, q: 0.1, n: 1, dir: Replace},
}

// phi is the characteristic function less 1 on a grid that is fine enough for the
// laws below: the phase turns by less than 3 from node to node.
func phi(c *cells, x float64) (re, im float64) {
	mass := 0.
	c.e.nodes(c.e.window(c.theta, 40), c.theta, 0.02/(1+c.e.mu), 40, false, func(u float64, n node) {
		g := math.Exp(n.psi)
		s := math.Sin(x * n.l / 2)
		mass += g
		re -= 2 * g * s * s
		im += g * math.Sin(x*n.l)
	})
	return re / mass, im / mass
}

func TestDecayIsAboveTheCharacteristicFunction(t *testing.T) {
	for _, e := range laws {
		for _, theta := range []float64{0.3, 2, 6} {
			c := e.cells(theta)
			unit := 1 / math.Sqrt(e.moments(theta).vari)
			for x := 0.01; x < 20; x *= 1.6 {
				re, im := phi(c, x*unit)
				log, _ := modulus(re, im, 0)
				bound := c.decay(x * unit)
				if log > bound+1e-15 && log > -30 { // e^-33 is rounding
					t.Errorf("%+v tilted by %g: log|φ(%g)| = %g above its bound %g", e, theta, x*unit, log, bound)
				}
				if x < 1 && bound > log*0.15 {
					t.Errorf("%+v tilted by %g: log|φ(%g)| = %g, the bound %g is weak", e, theta, x*unit, log, bound)
				}
			}
		}
	}
}

// The rule's error is below e^{-depth} at the step chosen and above it at thrice that.
func TestStepOfTheTrapezoidalRule(t *testing.T) {
	noticed := 0
	for _, e := range laws {
		for _, theta := range []float64{0.3, 4} {
			c := e.cells(theta)
			m := e.moments(theta)
			for _, at := range []float64{0.1, 1, 4} {
				x := at / math.Sqrt(m.vari)
				re, im := phi(c, x)
				for _, depth := range []float64{3, 8, 20} {
					for _, coarse := range []float64{1, 3} {
						h := c.step(x, depth) * coarse
						w := e.window(theta, 40)
						var a, b float64
						e.nodes(w, theta, h, 40, false, func(u float64, n node) {
							g := h * math.Exp(n.psi-ln2π/2-m.logM)
							a += g * math.Cos(x*n.l)
							b += g * math.Sin(x*n.l)
						})
						err := math.Hypot(a-1-re, b-im)
						if coarse == 1 && err > math.Exp(-depth)+1e-12 {
							t.Errorf("%+v tilted by %g at %g: error %g at depth %g", e, theta, x, err, depth)
						}
						if coarse > 1 && err > math.Exp(-depth)+1e-12 {
							noticed++
						}
					}
				}
			}
		}
	}
	if noticed < 50 {
		t.Errorf("a coarse step was noticed %d times", noticed)
	}
}

// Moments at integer orders have a closed form: with j the number of times that a
// record is drawn, E[B^a] = Σ C(a,j) q^j (1-q)^{a-j} e^{j(j-1)mu²/2}.
func TestMomentsAtIntegerOrders(t *testing.T) {
	for _, mu := range []float64{0.05, 0.5, 1, 2, 10} {
		for _, q := range []float64{1e-9, 1e-4, 0.01, 0.5} {
			for _, a := range []int{2, 3, 8, 32, 64} {
				m := (&event{mu: mu, q: q, n: 1 / (q * q * mu * mu), dir: Remove}).moments(float64(a - 1))
				// E[B^a] - 1 = Σ over j >= 2 of C(a,j) q^j (1-q)^{a-j} (e^{j(j-1)mu²/2} - 1).
				top := math.Inf(-1)
				var logs []float64
				for j := 2; j <= a; j++ {
					n, _ := math.Lgamma(float64(a + 1))
					k, _ := math.Lgamma(float64(j + 1))
					r, _ := math.Lgamma(float64(a - j + 1))
					x := float64(j*(j-1)) * mu * mu / 2
					grow := x
					if x < 30 {
						grow = math.Log(math.Expm1(x))
					}
					logs = append(logs, n-k-r+float64(j)*math.Log(q)+float64(a-j)*math.Log1p(-q)+grow)
					top = max(top, logs[len(logs)-1])
				}
				sum := 0.
				for _, l := range logs {
					sum += math.Exp(l - top)
				}
				want := top + math.Log(sum) // log(M - 1)
				if want < 30 {
					want = math.Log1p(math.Exp(want))
				}
				if math.Abs(m.logM-want) > m.err+1e-12*want || m.err > 1e-11*want {
					t.Errorf("mu %g, q %g, order %d: %g ± %g, want %g", mu, q, a, m.logM, m.err, want)
				}
			}
		}
	}
}

// At fractional orders E[B^a] is a signed series (Mironov, Talwar and Zhang 2019,
// section 3.3): the mixture is expanded in powers of its lesser part on either side
// of u0, where q e^w = 1-q.
func TestMomentsAtFractionalOrders(t *testing.T) {
	for _, mu := range []float64{0.5, 1} {
		for _, q := range []float64{0.01, 0.2} {
			for _, a := range []float64{1.25, 1.5, 2.5, 4.5, 9.75} {
				u0 := math.Log((1-q)/q)/mu + mu/2
				// ∫ of φ e^{iw} beyond u0, and before it.
				tail := func(i, sign float64) float64 {
					return math.Exp(i*(i-1)*mu*mu/2) * math.Erfc(sign*(u0-i*mu)/math.Sqrt2) / 2
				}
				want, binomial, last := 0., 1., 0.
				for i := 0.; i < 400; i++ {
					left := math.Pow(q, i) * math.Pow(1-q, a-i) * tail(i, -1)
					right := math.Pow(q, a-i) * math.Pow(1-q, i) * tail(a-i, 1)
					if math.IsNaN(left+right) || math.IsInf(left+right, 0) || left == 0 {
						break // overflow times underflow
					}
					last = binomial * (left + right)
					want += last
					binomial *= (a - i) / (i + 1)
				}
				want -= last / 2 // it alternates
				m := (&event{mu: mu, q: q, n: 1, dir: Remove}).moments(a - 1)
				if math.Abs(math.Expm1(m.logM)-(want-1)) > 1e-5*(want-1)+1e-13 {
					t.Errorf("mu %g, q %g, order %g: %.15g, want %.15g", mu, q, a, math.Expm1(m.logM), want-1)
				}
			}
		}
	}
}
