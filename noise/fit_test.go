package noise

import (
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// A law is a distribution over the integers, for tests: P(k) and P(K > k) for
// k >= 0, symmetric.
type law struct {
	at    func(k int64) float64
	above func(k int64) float64
	scale float64
}

// laplaceLaw has P(0) = tanh(1/2t) and P(K > k) = p^(k+1)/(1+p).
func laplaceLaw(scale string) law {
	t, _ := ratio(scale).Float64()
	p := math.Exp(-1 / t)
	return law{
		at:    func(k int64) float64 { return math.Tanh(1/(2*t)) * math.Exp(-math.Abs(float64(k))/t) },
		above: func(k int64) float64 { return math.Exp(-float64(k+1)/t) / (1 + p) },
		scale: t,
	}
}

// gaussianLaw adds up exp(-k²/(2σ²)).
func gaussianLaw(variance string) law {
	v, _ := ratio(variance).Float64()
	f := func(k int64) float64 { return math.Exp(-float64(k) * float64(k) / (2 * v)) }
	last := int64(40*math.Sqrt(v)) + 40
	sums := make([]float64, last+1) // sums[k] is the sum over j > k
	for k := last - 1; k >= 0; k-- {
		sums[k] = sums[k+1] + f(k+1)
	}
	norm := 1 + 2*sums[0]
	return law{
		at:    func(k int64) float64 { return f(k) / norm },
		above: func(k int64) float64 { return sums[min(k, last)] / norm },
		scale: math.Sqrt(v),
	}
}

// A histogram counts draws in the cells (edge[i-1], edge[i]], the first open to
// the left; beyond the last edge lies one cell more.
type histogram struct {
	edges       []int64
	probability []float64
	counts      []int
}

// cells has every integer near zero for itself, then cells that grow, out to
// where one draw in about 10^8 falls: the lattice and the tails.
func cells(l law) *histogram {
	edges := []int64{0}
	for k := int64(1); l.above(k) > 1e-8; {
		edges = append(edges, k, -k)
		k += 1 + int64(max(0, float64(k)-20)/6)
	}
	slices.Sort(edges)
	below := func(k int64) float64 { // P(K <= k)
		if k < 0 {
			return l.above(-k - 1)
		}
		return 1 - l.above(k)
	}
	h := &histogram{edges: edges, counts: make([]int, len(edges)+1)}
	for i, e := range edges {
		switch {
		case i == 0:
			h.probability = append(h.probability, below(e))
		case edges[i-1] >= 0: // as a difference of small numbers
			h.probability = append(h.probability, l.above(edges[i-1])-l.above(e))
		default:
			h.probability = append(h.probability, below(e)-below(edges[i-1]))
		}
	}
	h.probability = append(h.probability, l.above(edges[len(edges)-1]))
	return h
}

func (h *histogram) add(k int64) {
	i, _ := slices.BinarySearch(h.edges, k)
	h.counts[i]++
}

// falseReject is the probability with which a right sampler fails one test.
const falseReject = 1e-9

// fit tells whether counts can come from the probabilities. It refuses right ones
// with probability at most falseReject, whatever the number of draws:
//
// Theorem (Agrawal 2020, arXiv 1904.02291, Theorem I.2). For n draws over m cells
// and the relative entropy D of their frequencies to the probabilities,
// P(n·D >= x) <= exp(-x)·(e·x/(m-1))^(m-1) if x > m-1.
//
// 2·n·D is the statistic of the G-test.
func fit(counts []int, probability []float64) error {
	n, total := 0, 0.0
	for i, c := range counts {
		n += c
		total += probability[i]
	}
	if math.Abs(total-1) > 1e-9 {
		return fmt.Errorf("probabilities add up to %v", total)
	}
	divergence := 0.0
	for i, c := range counts {
		if c > 0 {
			divergence += float64(c) * math.Log(float64(c)/(float64(n)*probability[i]))
		}
	}
	m := float64(len(counts) - 1)
	limit := m
	for -limit+m*(1+math.Log(limit/m)) > math.Log(falseReject) {
		limit++
	}
	if divergence > limit {
		return fmt.Errorf("%d draws in %d cells: relative entropy %.1f exceeds %.1f", n, len(counts), divergence, limit)
	}
	return nil
}

// draws are so many as TestFitRejectsFaults needs to see its faults, or more.
func draws(t *testing.T, full int) int {
	switch {
	case testing.Short():
		return full / 10
	case os.Getenv("DISCREET_SOAK") != "":
		return 10 * full
	}
	return full
}

// fitInt64 draws n values and holds them against l.
func fitInt64(t *testing.T, d distribution, b Bits, n int, l law) error {
	t.Helper()
	h := cells(l)
	s, z := &Stream{source: b}, new(big.Int)
	for range n {
		if err := d.draw(s, z); err != nil {
			t.Fatal(err)
		}
		h.add(z.Int64())
	}
	return fit(h.counts, h.probability)
}

func TestFit(t *testing.T) {
	for scale, n := range map[string]int{"10": 1.5e6, "1/3": 7e5, "10000/123": 7e5} {
		t.Run("laplace "+scale, func(t *testing.T) {
			t.Parallel()
			d, _ := NewDiscreteLaplace(ratio(scale))
			if err := fitInt64(t, d, entropy.New(), draws(t, n), laplaceLaw(scale)); err != nil {
				t.Error(err)
			}
		})
	}
	for variance, n := range map[string]int{"100": 1.5e6, "1/3": 7e5, "12345678/1234567": 7e5} {
		t.Run("gaussian "+variance, func(t *testing.T) {
			t.Parallel()
			d, _ := NewDiscreteGaussian(ratio(variance))
			if err := fitInt64(t, d, entropy.New(), draws(t, n), gaussianLaw(variance)); err != nil {
				t.Error(err)
			}
		})
	}
	// Paths that are taken only for large parameters or once in 2^40 draws, at
	// parameters where the law is known.
	t.Run("big integers", func(t *testing.T) {
		t.Parallel()
		l, _ := NewDiscreteLaplace(ratio("10"))
		l.native = false
		if err := fitInt64(t, l, entropy.New(), draws(t, 3e5), laplaceLaw("10")); err != nil {
			t.Error("laplace: ", err)
		}
		g, _ := NewDiscreteGaussian(ratio("100"))
		g.alpha = math.NaN()
		if err := fitInt64(t, g, entropy.New(), draws(t, 3e5), gaussianLaw("100")); err != nil {
			t.Error("gaussian, no filter: ", err)
		}
		g.proposal = l
		if err := fitInt64(t, g, entropy.New(), draws(t, 3e5), gaussianLaw("100")); err != nil {
			t.Error("gaussian, no native proposal: ", err)
		}
	})
}

// fitHuge draws n values at a scale of 2^63 or more: divided by it, they follow
// the continuous law, and their low digits are uniform, up to about 2^-57.
func fitHuge(t *testing.T, d distribution, scale *big.Rat, n int, above func(x float64) float64) error {
	t.Helper()
	var edges, probability []float64
	for x := -18.0; x <= 18; x += 0.25 {
		if above(math.Abs(x)) > 1e-8 {
			edges = append(edges, x)
		}
	}
	below := func(x float64) float64 {
		if x < 0 {
			return above(-x)
		}
		return 1 - above(x)
	}
	for i, x := range edges {
		switch {
		case i == 0:
			probability = append(probability, below(x))
		case x <= 0:
			probability = append(probability, below(x)-below(edges[i-1]))
		default:
			probability = append(probability, above(edges[i-1])-above(x))
		}
	}
	probability = append(probability, above(edges[len(edges)-1]))
	counts, low := make([]int, len(probability)), make([]int, 64)
	uniform := slices.Repeat([]float64{1.0 / 64}, 64)
	s, z := &Stream{source: entropy.New()}, new(big.Int)
	unit, _ := scale.Float64()
	for range n {
		if err := d.draw(s, z); err != nil {
			t.Fatal(err)
		}
		f, _ := new(big.Float).SetInt(z).Float64()
		i, _ := slices.BinarySearch(edges, f/unit)
		counts[i]++
		low[new(big.Int).And(z, big.NewInt(63)).Int64()]++
	}
	if err := fit(low, uniform); err != nil {
		return fmt.Errorf("low digits: %w", err)
	}
	return fit(counts, probability)
}

func laplaceAbove(x float64) float64 { return math.Exp(-x) / 2 }
func normalAbove(x float64) float64  { return math.Erfc(x/math.Sqrt2) / 2 }

func TestFitHugeScales(t *testing.T) {
	for _, tc := range []struct {
		scale float64
		draws int
	}{
		{0x1p63, 1e5}, {0x1.8p64, 1e5}, {0x1p70, 3e5}, {0x1.23p100, 1e5}, {0x1.8p118, 1e5}, {0x1p119, 1e5}, {0x1.8p127, 1e5}, {0x1p200, 1e5},
	} {
		scale := new(big.Rat).SetFloat64(tc.scale)
		l, _ := NewDiscreteLaplace(scale)
		t.Run(fmt.Sprintf("laplace %x", tc.scale), func(t *testing.T) {
			t.Parallel()
			if err := fitHuge(t, l, scale, draws(t, tc.draws), laplaceAbove); err != nil {
				t.Error(err)
			}
		})
		g, _ := NewDiscreteGaussian(new(big.Rat).Mul(scale, scale))
		t.Run(fmt.Sprintf("gaussian %x", tc.scale), func(t *testing.T) {
			t.Parallel()
			if err := fitHuge(t, g, scale, draws(t, tc.draws), normalAbove); err != nil {
				t.Error(err)
			}
		})
	}
}

// biased turns one zero in 64 into a one.
type biased struct{ *entropy.Source }

func (b biased) Uint64() (uint64, error) {
	mask := ^uint64(0)
	for range 6 {
		w, err := b.Source.Uint64()
		if err != nil {
			return 0, err
		}
		mask &= w
	}
	w, err := b.Source.Uint64()
	return w | mask, err
}

func (b biased) Words(p []uint64) (err error) {
	for i := range p {
		if p[i], err = b.Uint64(); err != nil {
			return err
		}
	}
	return nil
}

// modulo is the discrete Laplace sampler for scale 10 with the fault that its
// uniform number is four bits modulo 10.
type modulo struct{ *DiscreteLaplace }

func (d modulo) draw(s *Stream, z *big.Int) error {
	below := func() (uint64, error) { x, err := s.bits(4); return x % 10, err }
	for {
		u, err := below()
		if err != nil {
			return err
		}
		ok, err := s.evenRun(func() (bool, error) { w, err := below(); return w < u, err })
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		v, err := s.geometric()
		if err != nil {
			return err
		}
		z.SetUint64(u + 10*v)
		minus, err := s.bits(1)
		if err != nil || minus == 0 {
			return err
		}
		if z.Sign() != 0 {
			z.Neg(z)
			return nil
		}
	}
}

// The tests above see each of these faults.
func TestFitRejectsFaults(t *testing.T) {
	const n = 1.5e6
	unit := new(big.Rat).SetFloat64(0x1p70)
	laplace := func(scale string) *DiscreteLaplace { d, _ := NewDiscreteLaplace(ratio(scale)); return d }
	gaussian := func(v string) *DiscreteGaussian { d, _ := NewDiscreteGaussian(ratio(v)); return d }
	for name, err := range map[string]error{
		"laplace scale 1.02 times too large":  fitInt64(t, laplace("51/5"), entropy.New(), n, laplaceLaw("10")),
		"laplace scale 1.02 times too small":  fitInt64(t, laplace("49/5"), entropy.New(), n, laplaceLaw("10")),
		"-0 counts as 0":                      fitInt64(t, unredrawn{laplace("10")}, entropy.New(), n/10, laplaceLaw("10")),
		"uniform by modulo":                   fitInt64(t, modulo{laplace("10")}, entropy.New(), n/10, laplaceLaw("10")),
		"biased bits":                         fitInt64(t, laplace("10"), biased{entropy.New()}, n/2, laplaceLaw("10")),
		"gaussian sigma 1.02 times too small": fitInt64(t, gaussian("96"), entropy.New(), n/2, gaussianLaw("100")),
		"gaussian without rejection":          fitInt64(t, unaccepted{gaussian("100")}, entropy.New(), n/10, gaussianLaw("100")),
		"laplace at 2^70 times 1.05":          fitHuge(t, laplace("1239621201753281868595"), unit, 3e5, laplaceAbove),
		"only even values at 2^70":            fitHuge(t, even{laplace("590295810358705651712")}, unit, 1e5, laplaceAbove),
	} {
		if err == nil {
			t.Errorf("%s: passes", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}

// even doubles each draw: the right spread on the wrong lattice.
type even struct{ distribution }

func (d even) draw(s *Stream, z *big.Int) error {
	err := d.distribution.draw(s, z)
	z.Lsh(z, 1)
	return err
}

// Each value has noise of its own.
func TestAddToIsIndependent(t *testing.T) {
	d, _ := NewDiscreteLaplace(ratio("1180591620717411303424"))
	values := make([]*big.Int, 1000)
	for i := range values {
		values[i] = big.NewInt(5)
	}
	if err := d.AddTo(entropy.New(), values); err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool) // equal draws at this scale: odds below 2^-50
	for _, x := range values {
		if seen[x.String()] {
			t.Fatalf("the noise of two values is the same: %v", x)
		}
		seen[x.String()] = true
	}
}
