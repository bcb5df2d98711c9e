package shuffle

import (
	"math"
	"testing"
)

// The law of X has the mean and the mass that it must have, and hardly more variance.
func TestLaplaceBlanketLaw(t *testing.T) {
	for _, eps0 := range []float64{1e-6, 0.01, 1, 4, 12} {
		for _, part := range []float64{0, 0.1, 0.9} {
			b := laplaceBlanket{n: 1, eps0: eps0}
			eps := part * eps0
			l := b.law(eps)
			var mass, mean, square float64
			for i, p := range l.p {
				x := float64(i+l.first) * l.step
				mass += p
				mean += p * x
				square += p * x * x
			}
			// E(Z-1) = 2(e^(ε0/2)-1), E(Z-1)² by ∫ u²·½(1+u)^-3/2 du and the end.
			gamma, top, rise := math.Exp(-eps0/2), math.Expm1(eps0), math.Expm1(eps)
			one, two := 2*math.Expm1(eps0/2), 0.0
			const n = 200000
			for i := range n {
				u := top * (float64(i) + 0.5) / n
				two += u * u / 2 * math.Pow(1+u, -1.5) * top / n
			}
			two += top * top * gamma
			e := rise + 1
			want := gamma / 2 * (two - 2*rise*one + rise*rise + rise*rise + 2*rise*e*one + e*e*two)
			if math.Abs(mass-1) > 1e-12 || !(mean >= -rise*(1+1e-9)-1e-9*l.step) || mean > -rise+2e-10*l.step+1e-12*rise ||
				square < want*(1-1e-6) || square > want+l.step*l.step/4+1e-6*want {
				t.Errorf("eps0 %v, eps %v: mass %v, mean %v (%v), square %v (%v)", eps0, eps, mass, mean, -rise, square, want)
			}
		}
	}
}

// The inversion is the sum over a convolution, term by term: at every number of users
// from one on, also where many points are left out.
func TestLaplaceBlanketInverts(t *testing.T) {
	for _, eps0 := range []float64{0.3, 2, 5} {
		for _, part := range []float64{0.02, 0.3, 0.8} {
			b := laplaceBlanket{eps0: eps0}
			l := b.law(part * eps0)
			sum := []float64{1}
			first := 0
			for n := int64(1); n <= 200; n++ {
				next := make([]float64, len(sum)+len(l.p)-1)
				for i, p := range sum {
					if p > 1e-25 {
						for j, q := range l.p {
							next[i+j] += p * q
						}
					}
				}
				if first += l.first; len(next) > 6000 { // far below 0 nothing counts any more
					drop := min(len(next)-6000, max(0, -first-5500))
					next, first = next[drop:], first+drop
				}
				sum = next
				if n > 3 && n != 20 && n != 200 {
					continue
				}
				want := 0.0
				for i, p := range sum {
					want += p * math.Max(0, float64(i+first)*l.step)
				}
				want = math.Log(want / float64(n))
				b.n = n
				if got := b.logDelta(part * eps0); want > -45 && !(got > want-1e-9 && got < want+1e-6) {
					t.Errorf("n %d, eps0 %v, eps %v: ln δ = %v, by convolution %v", n, eps0, part*eps0, got, want)
				}
			}
		}
	}
}

// The reports of two users, on a grid: what an observer really sees is below the bound,
// whatever the other's input. With one user the bound is the noise's own profile.
func TestLaplaceBlanketCoversRealReports(t *testing.T) {
	const step = 0.05
	for _, eps0 := range []float64{0.5, 2} {
		c := eps0 / 2
		cell := func(at, x float64) float64 { // the mass of a cell of one report
			cdf := func(y float64) float64 {
				if y < 0 {
					return math.Exp(y) / 2
				}
				return 1 - math.Exp(-y)/2
			}
			return cdf(at+step-x) - cdf(at-x)
		}
		for _, eps := range []float64{0, 0.2 * eps0, 0.7 * eps0} {
			one := laplaceBlanket{n: 1, eps0: eps0}.logDelta(eps)
			if want := math.Log(-math.Expm1((eps - eps0) / 2)); !(one >= want && one < want+2e-3) {
				t.Errorf("one user, eps0 %v: δ(%v) = e^%v, exactly e^%v", eps0, eps, one, want)
			}
			two := math.Exp(laplaceBlanket{n: 2, eps0: eps0}.logDelta(eps))
			for _, other := range []float64{-c, 0, c} {
				seen := 0.0
				for y := -12.0; y < 12; y += step {
					for z := -12.0; z < 12; z += step {
						p := (cell(y, -c)*cell(z, other) + cell(z, -c)*cell(y, other)) / 2
						q := (cell(y, c)*cell(z, other) + cell(z, c)*cell(y, other)) / 2
						seen += math.Max(0, p-math.Exp(eps)*q)
					}
				}
				if !(seen < two) {
					t.Errorf("eps0 %v, the other at %v: δ(%v) = %v, the bound is %v", eps0, other, eps, seen, two)
				}
			}
		}
	}
}

// Bounds of the blanket for Laplace reports in BorjaBalle/amplification-by-shuffling
// (commit 1778a0dd, Bennett's inequality) at δ = 1e-6: the expectation itself is less.
func TestLaplaceBlanketIsBelowItsAuthorsBounds(t *testing.T) {
	for _, tc := range []struct {
		n            int64
		eps0, theirs float64
	}{
		{10_000, 1, 0.04501790978323535},
		{100_000, 1, 0.01310262714534014},
		{10_000, 0.4, 0.01569553800723908},
	} {
		b, err := Epsilon(nil, Blanket, tc.n, Randomizer{Epsilon0: tc.eps0, Laplace: true}, 1e-6)
		if err != nil || !(b.High < tc.theirs && b.High > 0.75*tc.theirs && b.Low > 0.7*b.High) {
			t.Errorf("%d users of %v: %v %v, they have %v", tc.n, tc.eps0, b, err, tc.theirs)
		}
	}
}

// Over every decade: the blanket is above what the observer of signs sees, below one, and
// falls with epsilon and with users.
func TestLaplaceBlanketIsABound(t *testing.T) {
	for _, eps0 := range []float64{1e-6, 0.05, 1, 6, 40} {
		r := Randomizer{Epsilon0: eps0, Laplace: true}
		before := map[float64]float64{}
		for _, n := range []int64{1, 1000, 1_000_000, 1 << 40} {
			last := 0.0
			for _, part := range []float64{0, 0.1, 0.9} {
				eps := part * eps0
				log := laplaceBlanket{n: n, eps0: eps0}.logDelta(eps)
				if low := lower(nil, n, r)(eps, -800); !(log >= low-1e-9) || !(log <= last+1e-6) {
					t.Errorf("n %d, eps0 %v: δ(%v) = e^%v, at least e^%v; before e^%v", n, eps0, eps, log, low, last)
				}
				if b, ok := before[part]; ok && log > b+1e-3+0.02*math.Abs(b) {
					t.Errorf("n %d, eps0 %v: δ(%v) = e^%v, e^%v for less users", n, eps0, eps, log, b)
				}
				last, before[part] = log, log
			}
		}
	}
}

// Of many users, where most points are left out, the sum is about normal.
func TestLaplaceBlanketOfManyIsNormal(t *testing.T) {
	const n, eps0 = 1 << 30, 1.0
	b := laplaceBlanket{n: n, eps0: eps0}
	for _, z := range []float64{0.5, 2, 4} {
		eps := z * 0.9 / math.Sqrt(n)
		l := b.law(eps)
		var mean, square float64
		for i, p := range l.p {
			x := float64(i+l.first) * l.step
			mean += p * x
			square += p * x * x
		}
		sd := math.Sqrt(n * square)
		y := -n * mean / sd
		want := math.Log(sd / n * (math.Exp(-y*y/2)/math.Sqrt(2*math.Pi) - y*math.Erfc(y/math.Sqrt2)/2))
		if got := b.logDelta(eps); math.Abs(got-want) > 0.01 {
			t.Errorf("%v deviations: ln δ = %v, normal %v", y, got, want)
		}
	}
}
