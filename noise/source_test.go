package noise

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// from makes a draw of a Source one of a stream, for enumerate.
func from(draw func(*Source) int64) func(*Stream) (int64, error) {
	return func(stream *Stream) (int64, error) {
		s := NewSource(nil)
		s.stream = stream
		return Try(func() int64 { return draw(s) })
	}
}

// within holds what was found of a law, and what may still come, against it.
func within(law map[int64]float64, open float64, want func(int64) float64) error {
	for k := int64(-40); k <= 40; k++ {
		if p := want(k); p < law[k]-1e-12 || p > law[k]+open+1e-12 {
			return fmt.Errorf("P(%d) is %v to %v, want %v", k, law[k], law[k]+open, p)
		}
	}
	return nil
}

// The exact laws, by all strings of bits. A law at a scale 1.2 times as large fails.
func TestSourceAllBitStrings(t *testing.T) {
	for _, scale := range []float64{0.5, 1, 0.75} {
		for name, tc := range map[string]struct {
			draw func(*Source, float64) int64
			law  func(scale float64) func(int64) float64
		}{
			"laplace": {(*Source).DiscreteLaplace, func(t float64) func(int64) float64 { return laplaceLaw(fmt.Sprint(t)).at }},
			"geometric": {(*Source).Geometric, func(t float64) func(int64) float64 {
				return func(k int64) float64 {
					if k < 0 {
						return 0
					}
					return (1 - math.Exp(-1/t)) * math.Exp(-float64(k)/t)
				}
			}},
			"gaussian": {(*Source).DiscreteGaussian, func(t float64) func(int64) float64 { return gaussianLaw(fmt.Sprint(t * t)).at }},
		} {
			law, open := enumerate(16, from(func(s *Source) int64 { return tc.draw(s, scale) }))
			if err := within(law, open, tc.law(scale)); err != nil {
				t.Errorf("%s(%v): %v", name, scale, err)
			}
			if open < 0.1 && within(law, open, tc.law(2*scale)) == nil {
				t.Errorf("%s(%v): passes for twice the scale", name, scale)
			}
		}
	}
}

func TestSourceBernoulli(t *testing.T) {
	for _, p := range []float64{0, 1, 0.5, 0.3, 5e-324, 1 - 0x1p-53} {
		law, open := enumerate(18, from(func(s *Source) int64 { return truth(s.Bernoulli(p)) }))
		if p < law[1] || p > law[1]+open || open > 1e-5 {
			t.Errorf("Bernoulli(%v) is %v, %v open", p, law[1], open)
		}
	}
}

func TestSourceUniform(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 16} {
		law, open := enumerate(18, from(func(s *Source) int64 { return int64(s.Uniform(n)) }))
		if len(law) != n {
			t.Errorf("Uniform(%d) has %d values", n, len(law))
		}
		for k, p := range law {
			if k < 0 || k >= int64(n) || p > 1/float64(n) || p+open < 1/float64(n) || open > 0.01 {
				t.Errorf("Uniform(%d): %d with probability %v, %v open", n, k, p, open)
			}
		}
	}
}

func TestSourceChoose(t *testing.T) {
	for _, tc := range []struct {
		scores []float64
		eps    float64
		law    []float64 // proportions
	}{
		{[]float64{7}, 1, []float64{1}},
		{[]float64{0, 0}, 3, []float64{1, 1}},
		{[]float64{0, 1}, 1, []float64{1, math.Exp(0.5)}},
		{[]float64{-3, -1, -2, -1}, 0.5, []float64{1, math.Exp(0.5), math.Exp(0.25), math.Exp(0.5)}},
		{[]float64{math.NaN(), 1e300, math.Inf(-1)}, 1, []float64{0, 1, 0}},
		{[]float64{math.Inf(1), math.MaxFloat64, 0}, 1, []float64{1, 1, 0}},
		{[]float64{0, 0x1p-1074, 0x1p-1074}, 0x1p-1074, []float64{1, 1, 1}},
	} {
		law, open := enumerate(15, from(func(s *Source) int64 { return int64(s.Choose(tc.scores, tc.eps)) }))
		sum := 0.0
		for _, w := range tc.law {
			sum += w
		}
		if open > 0.5 {
			t.Errorf("Choose(%v, %v): %v open", tc.scores, tc.eps, open)
		}
		for i, w := range tc.law {
			if p := w / sum; p < law[int64(i)]-1e-12 || p > law[int64(i)]+open+1e-12 {
				t.Errorf("Choose(%v, %v): P(%d) is %v to %v, want %v", tc.scores, tc.eps, i, law[int64(i)], law[int64(i)]+open, p)
			}
		}
	}
}

// Float draws are, bit for bit, g times those of the integer law with scale/g, of which
// other tests show that it is exact.
func TestSourceDrawsSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := drawScale(t)
		g := stepOf(scale)
		steps := new(big.Rat).Quo(exactly(scale), g)
		laplace, err := NewDiscreteLaplace(steps)
		if err != nil {
			t.Fatal(err)
		}
		gaussian, err := NewDiscreteGaussian(new(big.Rat).Mul(steps, steps))
		if err != nil {
			t.Fatal(err)
		}
		words := make([]uint64, 200)
		bits := entropy.New()
		for i := range words {
			words[i], _ = bits.Uint64()
		}
		src := NewSource(&script{words})
		stream := NewStream(&script{words})
		for range 3 {
			k, err := laplace.Int64(stream)
			sameSteps(t, "Laplace", src.Laplace(scale), k, g, err)
			k, err = laplace.magnitude64(stream)
			sameSteps(t, "Exponential", src.Exponential(scale), k, g, err)
			var z big.Int
			err = gaussian.draw(stream, &z)
			sameSteps(t, "Gaussian", src.Gaussian(scale), z.Int64(), g, err)
		}
	})
}

func drawScale(t *rapid.T) float64 {
	return math.Ldexp(rapid.Float64Range(1, math.Nextafter(2, 1)).Draw(t, "mantissa"), rapid.OneOf(
		rapid.IntRange(-900, 39), rapid.IntRange(-10, 10)).Draw(t, "exponent"))
}

// stepOf is 2^(⌊log₂ scale⌋−40) in other words.
func stepOf(scale float64) *big.Rat {
	g := big.NewRat(1, 1<<40)
	for two := big.NewRat(2, 1); new(big.Rat).Mul(g, big.NewRat(1<<41, 1)).Cmp(exactly(scale)) <= 0; {
		g.Mul(g, two)
	}
	for half := big.NewRat(1, 2); new(big.Rat).Mul(g, big.NewRat(1<<40, 1)).Cmp(exactly(scale)) > 0; {
		g.Mul(g, half)
	}
	return g
}

func exactly(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

func sameSteps(t *rapid.T, name string, got float64, k int64, g *big.Rat, err error) {
	if want := new(big.Rat).Mul(big.NewRat(k, 1), g); err != nil || exactly(got).Cmp(want) != 0 {
		t.Fatalf("%s is %v, want %d steps; %v", name, got, k, err)
	}
}

// What Round returns is the nearest multiple of g, halves up, clamped.
func TestSourceRound(t *testing.T) {
	src := NewSource(nil)
	rapid.Check(t, func(t *rapid.T) {
		scale := drawScale(t)
		g := stepOf(scale)
		f, _ := g.Float64()
		x := rapid.OneOf(
			rapid.Float64(),
			rapid.Just(math.Copysign(0, -1)),
			rapid.Map(rapid.Int64Range(-1<<54, 1<<54), func(k int64) float64 { return float64(k) / 4 * f }),
			rapid.Map(rapid.Int64Range(-9, 9), func(k int64) float64 { return float64(k) / 4 * f }),
		).Draw(t, "x")
		got := src.Round(x, scale)
		if got == 0 && math.Signbit(got) {
			t.Fatalf("Round(%v, %v) is -0", x, scale)
		}
		steps := new(big.Rat).Quo(exactly(got), g)
		if !steps.IsInt() {
			t.Fatalf("Round(%v, %v) = %v is off the grid", x, scale, got)
		}
		limit := big.NewRat(maxRound, 1)
		inSteps := new(big.Rat).Quo(exactly(x), g)
		switch {
		case inSteps.Cmp(limit) >= 0:
			if steps.Cmp(limit) != 0 {
				t.Fatalf("Round(%v, %v) is %v steps", x, scale, steps)
			}
		case inSteps.Cmp(limit.Neg(limit)) <= 0:
			if steps.Cmp(limit) != 0 {
				t.Fatalf("Round(%v, %v) is %v steps", x, scale, steps)
			}
		default: // -1/2 < x - round <= ... : x is in [k-1/2, k+1/2)
			d := new(big.Rat).Sub(inSteps, steps)
			if d.Cmp(big.NewRat(-1, 2)) < 0 || d.Cmp(big.NewRat(1, 2)) >= 0 {
				t.Fatalf("Round(%v, %v) is %v steps for %v", x, scale, steps, inSteps)
			}
		}
	})
	for x, want := range map[float64]float64{math.Inf(1): maxRound, math.Inf(-1): -maxRound, math.NaN(): -maxRound, math.MaxFloat64: maxRound} {
		if got := src.Round(x, 1); got != want*0x1p-40 {
			t.Errorf("Round(%v, 1) = %v", x, got)
		}
	}
}

// Neighbours that are whole steps apart stay so, at the clamps too; and order stays.
func TestSourceRoundKeepsDistances(t *testing.T) {
	src := NewSource(nil)
	rapid.Check(t, func(t *rapid.T) {
		scale := drawScale(t)
		g, _ := stepOf(scale).Float64()
		eighths := rapid.OneOf(rapid.Int64Range(-1<<48, 1<<48), rapid.Int64Range(-1<<55, 1<<55)).Draw(t, "eighths") &^ 7
		x := float64(eighths|rapid.SampledFrom([]int64{0, 3, 4, 7}).Draw(t, "eighth")&(1<<48-1)) / 8 * g
		n := rapid.Int64Range(0, 1<<40).Draw(t, "n")
		y := x + float64(n)*g
		if exactly(y).Cmp(new(big.Rat).Add(exactly(x), new(big.Rat).Mul(big.NewRat(n, 1), exactly(g)))) != 0 {
			t.Skip("the neighbour is no float64")
		}
		a, b := src.Round(x, scale), src.Round(y, scale)
		if b < a || b-a > y-x {
			t.Fatalf("%v and %v, %d steps apart, are rounded to %v and %v", x, y, n, a, b)
		}
		if math.Abs(a) < maxRound*g && math.Abs(b) < maxRound*g && b-a != float64(n)*g {
			t.Fatalf("%v and %v, %d steps apart, are rounded to %v and %v", x, y, n, a, b)
		}
	})
}

// The sum of a rounded number and a draw is exact, up to the extremes of both.
func TestSourceSumsAreExact(t *testing.T) {
	bits := entropy.New()
	rapid.Check(t, func(t *rapid.T) {
		src := NewSource(bits)
		scale := drawScale(t)
		x := src.Round(rapid.OneOf(rapid.Float64(), rapid.Float64Range(-10, 10), rapid.Just(math.Inf(1))).Draw(t, "x"), scale)
		_, e := math.Frexp(scale)
		for _, y := range []float64{
			src.Laplace(scale), src.Exponential(scale), src.Gaussian(scale),
			onGrid(math.MaxInt64, nil, e-1-gridPlaces), onGrid(math.MinInt64, nil, e-1-gridPlaces),
		} {
			for _, sign := range []float64{1, -1} {
				if got, want := x+sign*y, new(big.Rat).Add(exactly(x), exactly(sign*y)); exactly(got).Cmp(want) != 0 {
					t.Fatalf("%v + %v = %v", x, sign*y, got)
				}
			}
			if math.Abs(y) > 0x1p52*math.Ldexp(1, e-1-gridPlaces) {
				t.Fatalf("a draw of %v at scale %v", y, scale)
			}
		}
	})
}

// A right sampler fails with probability at most falseReject; see fit. Scales 1.1
// times too large are refuted.
func TestSourceFits(t *testing.T) {
	for name, tc := range map[string]struct {
		draw  func(*Source, float64) float64
		above func(float64) float64 // P(X > x), x >= 0, at scale 1
		both  bool
	}{
		"laplace":     {(*Source).Laplace, laplaceAbove, true},
		"gaussian":    {(*Source).Gaussian, normalAbove, true},
		"exponential": {(*Source).Exponential, func(x float64) float64 { return math.Exp(-x) }, false},
	} {
		for _, scale := range []float64{1, 0.3, 1e-200, 3e9} {
			for _, wrong := range []bool{false, true} {
				t.Run(fmt.Sprint(name, " ", scale, " ", wrong), func(t *testing.T) {
					t.Parallel()
					src, s := NewSource(entropy.New()), scale
					if wrong {
						s *= 1.1
					}
					// Cells of a quarter of the scale, in size; signs apart.
					var counts [2][]int
					var p [2][]float64
					for x := 0.0; x < 16 && tc.above(x) > 1e-7; x += 0.25 {
						q := tc.above(x) - tc.above(x+0.25)
						p[0], p[1] = append(p[0], q), append(p[1], q)
					}
					rest := tc.above(float64(len(p[0])) * 0.25)
					for i := range p {
						p[i] = append(p[i], rest)
						counts[i] = make([]int, len(p[i]))
					}
					for range draws(t, 200_000) {
						x := tc.draw(src, s) / scale
						side := int(truth(x < 0))
						counts[side][min(int(math.Abs(x)*4), len(p[0])-1)]++
					}
					err := error(nil)
					if tc.both {
						err = fit(append(counts[0], counts[1]...), append(p[0], p[1]...))
					} else if err = fit(counts[0], p[0]); counts[1][0] > 0 {
						err = errors.New("negative draws")
					}
					if (err == nil) == wrong && !(wrong && testing.Short()) {
						t.Errorf("the fit says %v", err)
					}
				})
			}
		}
	}
}

// every way to draw, with parameters that are right.
func sourceDraws() map[string]func(*Source) {
	return map[string]func(*Source){
		"Laplace":          func(s *Source) { s.Laplace(1.5) },
		"Exponential":      func(s *Source) { s.Exponential(1.5) },
		"Gaussian":         func(s *Source) { s.Gaussian(1.5) },
		"DiscreteLaplace":  func(s *Source) { s.DiscreteLaplace(1.5) },
		"Geometric":        func(s *Source) { s.Geometric(1.5) },
		"DiscreteGaussian": func(s *Source) { s.DiscreteGaussian(1.5) },
		"Bernoulli":        func(s *Source) { s.Bernoulli(0.3) },
		"Uniform":          func(s *Source) { s.Uniform(3) },
		"Choose":           func(s *Source) { s.Choose([]float64{1, 2}, 1) },
	}
}

// Wherever the bits end, Try returns their error and no value.
func TestSourceFailingBits(t *testing.T) {
	for name, draw := range sourceDraws() {
		for n := range 4 {
			words := make([]uint64, n)
			for i := range words {
				words[i] = ^uint64(0) >> (3 * n) // mostly rejected
			}
			value, err := Try(func() float64 {
				s := NewSource(&script{words})
				for range 1000 {
					draw(s)
				}
				return 42
			})
			if !errors.Is(err, errExhausted) || value != 0 {
				t.Errorf("%s after %d words: %v, %v", name, n, value, err)
			}
			if failure := new(Failure); !errors.As(err, &failure) {
				t.Errorf("%s: %T is no *Failure", name, err)
			}
		}
	}
}

func TestSourceRefusesParameters(t *testing.T) {
	s := NewSource(entropy.New())
	type draw = func(float64)
	scaled := map[string]draw{
		"Laplace":          func(x float64) { s.Laplace(x) },
		"Exponential":      func(x float64) { s.Exponential(x) },
		"Gaussian":         func(x float64) { s.Gaussian(x) },
		"Round":            func(x float64) { s.Round(1, x) },
		"DiscreteLaplace":  func(x float64) { s.DiscreteLaplace(x) },
		"Geometric":        func(x float64) { s.Geometric(x) },
		"DiscreteGaussian": func(x float64) { s.DiscreteGaussian(x) },
	}
	refuses := func(name string, f draw, x float64, want bool) {
		t.Helper()
		_, err := Try(func() bool { f(x); return true })
		if errors.Is(err, ErrParameter) != want || (err == nil) == want {
			t.Errorf("%s(%v): %v", name, x, err)
		}
	}
	for name, f := range scaled {
		for _, x := range []float64{0, math.Copysign(0, -1), -1, math.NaN(), math.Inf(1), math.Inf(-1), 0x1p40, math.Nextafter(0x1p-900, 0), 5e-324} {
			refuses(name, f, x, true)
		}
		for _, x := range []float64{0x1p-900, 1, math.Nextafter(0x1p40, 0)} {
			refuses(name, f, x, name == "DiscreteGaussian" && x < 0x1p-450)
		}
	}
	refuses("DiscreteGaussian", scaled["DiscreteGaussian"], 0x1.fffffffffffffp-450, false)
	for _, p := range []float64{-0.1, math.Nextafter(1, 2), math.NaN(), math.Inf(1)} {
		refuses("Bernoulli", func(p float64) { s.Bernoulli(p) }, p, true)
	}
	for _, eps := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		refuses("Choose", func(eps float64) { s.Choose([]float64{1}, eps) }, eps, true)
	}
	for _, n := range []float64{0, -1, math.MinInt32} {
		refuses("Uniform", func(n float64) { s.Uniform(int(n)) }, n, true)
	}
	refuses("Choose from nothing", func(eps float64) { s.Choose(nil, eps) }, 1, true)
}

// A panic that is not a Source's is nobody's error.
func TestTryLetsOtherPanicsThrough(t *testing.T) {
	defer func() {
		if r := recover(); r != "mine" {
			t.Errorf("recovered %v", r)
		}
	}()
	Try(func() int { panic("mine") })
}

// More scales than are kept change nothing.
func TestSourceForgetsScales(t *testing.T) {
	s := NewSource(entropy.New())
	for i := range 3 * maxKept {
		s.Laplace(1 + float64(i))
		s.DiscreteGaussian(1 + float64(i))
		if len(s.laplaces) > maxKept || len(s.gaussians) > maxKept {
			t.Fatal("scales are kept without end")
		}
	}
}

// What exactness costs: the float sampler below, which is not private, against ours.
func BenchmarkSource(b *testing.B) {
	bits := entropy.New()
	src := NewSource(bits)
	for name, draw := range map[string]func(){
		"Laplace":         func() { src.Laplace(2) },
		"Exponential":     func() { src.Exponential(2) },
		"Gaussian":        func() { src.Gaussian(2) },
		"DiscreteLaplace": func() { src.DiscreteLaplace(2) },
		"Round":           func() { src.Round(math.Pi, 2) },
		"float Laplace": func() {
			w, _ := bits.Uint64()
			u := float64(w>>11)*0x1p-53 - 0.5
			_ = math.Copysign(2*math.Log1p(-2*math.Abs(u)), u)
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				draw()
			}
		})
	}
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprint("Choose ", n), func(b *testing.B) {
			scores := make([]float64, n)
			for i := range scores {
				scores[i] = float64(i)
			}
			for b.Loop() {
				src.Choose(scores, 0.1)
			}
		})
	}
}
