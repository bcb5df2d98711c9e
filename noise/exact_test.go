package noise

import (
	"errors"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// enumerate runs draw on every string of at most depth fair bits and returns,
// for each result, the probability of the strings that lead to it, and the
// probability of those that are too short.
func enumerate(depth uint, draw func(s *Stream) (int64, error)) (law map[int64]float64, open float64) {
	law = make(map[int64]float64)
	type node struct {
		bits   uint64
		length uint
	}
	for stack := []node{{}}; len(stack) > 0; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		weight := math.Ldexp(1, -int(n.length)) // exact, and so are its sums
		x, err := draw(&Stream{source: &script{}, word: n.bits, left: n.length})
		switch {
		case err == nil:
			law[x] += weight
		case !errors.Is(err, errExhausted):
			panic(err)
		case n.length == depth:
			open += weight
		default:
			stack = append(stack, node{n.bits, n.length + 1}, node{n.bits | 1<<n.length, n.length + 1})
		}
	}
	return law, open
}

// checkLaw holds an enumerated law against exact probabilities: each must lie
// between what was found and that plus what is open.
func checkLaw(law map[int64]float64, open float64, probability func(int64) float64) error {
	for k := int64(-40); k <= 40; k++ {
		if p := probability(k); p < law[k]-1e-12 || p > law[k]+open+1e-12 {
			return errors.New("probability of " + big.NewInt(k).String() + " is wrong")
		}
	}
	return nil
}

func int64Of(d distribution) func(s *Stream) (int64, error) {
	return func(s *Stream) (int64, error) {
		var z big.Int
		err := d.draw(s, &z)
		return z.Int64(), err
	}
}

// The exact law of the samplers, by all their bits, without statistics.
func TestAllBitStrings(t *testing.T) {
	const depth = 16
	for _, scale := range []string{"1", "1/2", "2", "3/4", "3/2"} {
		d, _ := NewDiscreteLaplace(ratio(scale))
		for _, native := range []bool{true, false} {
			d.native = native
			law, open := enumerate(depth, int64Of(d))
			t.Logf("laplace(%s), native %v: %.2f open", scale, native, open)
			if err := checkLaw(law, open, laplaceLaw(scale).at); err != nil {
				t.Errorf("laplace(%s), native %v: %v; %v", scale, native, err, law)
			}
			checkSymmetry(t, law)
		}
	}
	for _, variance := range []string{"1/4", "1/2", "1", "2", "4/3"} {
		d, _ := NewDiscreteGaussian(ratio(variance))
		law, open := enumerate(depth, int64Of(d))
		t.Logf("gaussian(%s): %.2f open", variance, open)
		if err := checkLaw(law, open, gaussianLaw(variance).at); err != nil {
			t.Errorf("gaussian(%s): %v; %v", variance, err, law)
		}
		checkSymmetry(t, law)
		// The floating-point filter must not show: without it, each bit string
		// gives the same.
		exact := *d
		exact.alpha = math.NaN()
		again, openAgain := enumerate(depth, int64Of(&exact))
		if open != openAgain {
			t.Errorf("gaussian(%s): %v open with the filter, %v without", variance, open, openAgain)
		}
		for k, p := range law {
			if p != again[k] {
				t.Errorf("gaussian(%s): P(%d) is %v with the filter, %v without", variance, k, p, again[k])
			}
		}
	}
}

func checkSymmetry(t *testing.T, law map[int64]float64) {
	t.Helper()
	for k, p := range law {
		if law[-k] != p {
			t.Errorf("P(%d) = %v but P(%d) = %v", k, p, -k, law[-k])
		}
	}
}

func TestAllBitStringsOfPrimitives(t *testing.T) {
	for n := uint64(1); n <= 9; n++ {
		for name, draw := range map[string]func(s *Stream) (int64, error){
			"below": func(s *Stream) (int64, error) { x, err := s.below(n); return int64(x), err },
			"bigBelow": func(s *Stream) (int64, error) {
				x, err := s.bigBelow(new(big.Int).SetUint64(n))
				if err != nil {
					return 0, err
				}
				return x.Int64(), nil
			},
		} {
			law, open := enumerate(20, draw)
			for k, p := range law {
				if k < 0 || k >= int64(n) || p != law[0] {
					t.Errorf("%s(%d): P(%d) = %v, P(0) = %v", name, n, k, p, law[0])
				}
			}
			if uint64(len(law)) != n || open > 0.02 {
				t.Errorf("%s(%d): %d values, %v open", name, n, len(law), open)
			}
		}
	}
	for _, p := range []string{"0", "1", "1/2", "1/3", "5/7", "1/1000"} {
		law, open := enumerate(20, func(s *Stream) (int64, error) {
			ok, err := s.bernoulli(ratio(p).Num(), ratio(p).Denom())
			return truth(ok), err
		})
		want, _ := ratio(p).Float64()
		if want < law[1] || want > law[1]+open || open > 1e-5 {
			t.Errorf("bernoulli(%s) = %v, %v open", p, law[1], open)
		}
	}
	for _, x := range []string{"0", "1", "1/2", "2/3", "7/3", "3"} {
		law, open := enumerate(22, func(s *Stream) (int64, error) {
			ok, err := s.bernoulliExp(ratio(x).Num(), ratio(x).Denom())
			return truth(ok), err
		})
		f, _ := ratio(x).Float64()
		if want := math.Exp(-f); want < law[1]-1e-12 || want > law[1]+open+1e-12 || open > 0.01 {
			t.Errorf("bernoulliExp(%s) = %v, want %v; %v open", x, law[1], want, open)
		}
	}
}

func truth(ok bool) int64 {
	if ok {
		return 1
	}
	return 0
}

// A run counts by its parity, however long: zero bits let every success count.
func TestEvenRun(t *testing.T) {
	for length := range 40 {
		s, left := &Stream{source: &script{make([]uint64, 10)}}, length
		even, err := s.evenRun(func() (bool, error) { left--; return left >= 0, nil })
		if err != nil || even != (length%2 == 0) {
			t.Errorf("a run of %d: %v, %v", length, even, err)
		}
	}
}

// The native arithmetic of a draw is that of big integers, at the limits too.
func TestAssemble(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		num := rapid.SampledFrom([]uint{1, 63, 64, 65, 100, 118}).Draw(t, "num")
		den := rapid.Uint64Min(1).Draw(t, "den")
		scale := new(big.Int).Lsh(one, num)
		scale.Add(scale, new(big.Int).Rsh(scale, 1)).Sub(scale, one)
		d, err := NewDiscreteLaplace(new(big.Rat).SetFrac(scale, new(big.Int).SetUint64(den)))
		if err != nil || !d.native {
			t.Fatal(d, err)
		}
		v := rapid.OneOf(rapid.Uint64Range(0, 300), rapid.Just[uint64](maxNativeBlocks), rapid.Just[uint64](maxNativeBlocks+1)).Draw(t, "v")
		u := new(big.Int).Sub(d.num, one)
		u.Rsh(u, rapid.UintRange(0, 119).Draw(t, "shift"))
		want := new(big.Int).SetUint64(v)
		want.Mul(want, d.num).Add(want, u).Quo(want, d.den)
		got := new(big.Int)
		if d.assemble(got, toUint128(u), v); got.Cmp(want) != 0 {
			t.Fatalf("(%v + %v·%d)/%v = %v, want %v", u, d.num, v, d.den, got, want)
		}
	})
}

// unredrawn is the discrete Laplace sampler with the fault that -0 counts as 0.
type unredrawn struct{ *DiscreteLaplace }

func (d unredrawn) draw(s *Stream, z *big.Int) error {
	if err := d.magnitude(s, z); err != nil {
		return err
	}
	minus, err := s.bits(1)
	if minus == 1 {
		z.Neg(z)
	}
	return err
}

// unaccepted is the discrete Gaussian sampler with the fault that every proposal
// is accepted.
type unaccepted struct{ *DiscreteGaussian }

func (d unaccepted) draw(s *Stream, z *big.Int) error { return d.proposal.draw(s, z) }

func TestAllBitStringsRejectFaults(t *testing.T) {
	l, _ := NewDiscreteLaplace(ratio("1"))
	law, open := enumerate(19, int64Of(l))
	if err := checkLaw(law, open, laplaceLaw("1").at); err != nil || open > 0.08 {
		t.Errorf("the right sampler: %v, %v open", err, open)
	}
	law, open = enumerate(19, int64Of(unredrawn{l}))
	if checkLaw(law, open, laplaceLaw("1").at) == nil {
		t.Error("a sampler that counts zero twice passes")
	}
	g, _ := NewDiscreteGaussian(ratio("1"))
	law, open = enumerate(19, int64Of(unaccepted{g}))
	if checkLaw(law, open, gaussianLaw("1").at) == nil {
		t.Error("Laplace noise passes for Gaussian")
	}
}

// The bounds of the floating-point filter hold the exact exponent, for all sizes.
func TestBracketHoldsTheExponent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		integer := func(name string, maxBits uint) *big.Int {
			width := rapid.UintRange(1, maxBits).Draw(t, name+" bits")
			bytes := rapid.SliceOfN(rapid.Byte(), int(maxBits+7)/8, int(maxBits+7)/8).Draw(t, name)
			x := new(big.Int).SetBytes(bytes)
			x.And(x, new(big.Int).Sub(new(big.Int).Lsh(one, width), one))
			return x.SetBit(x, int(width)-1, 1)
		}
		variance := new(big.Rat).SetFrac(integer("a", 230), integer("b", 100))
		d, err := NewDiscreteGaussian(variance)
		if err != nil {
			t.Fatal(err)
		}
		if !d.proposal.native {
			t.Skip("no filter at this size")
		}
		u := new(big.Int).Rem(integer("u", 130), d.proposal.num)
		v := rapid.Uint64Range(0, 300).Draw(t, "v")
		y := new(big.Int).SetUint64(v)
		y.Mul(y, d.proposal.num).Add(y, u)
		lo, hi := d.bracket(toUint128(u), v)
		if math.IsNaN(lo) || math.IsInf(hi, 1) {
			return // decides nothing
		}
		x := new(big.Rat).SetFrac(d.exponent(y))
		if new(big.Rat).SetFloat64(lo).Cmp(x) > 0 || new(big.Rat).SetFloat64(hi).Cmp(x) < 0 {
			f, _ := x.Float64()
			t.Fatalf("σ² = %v, u = %v, v = %d: exponent %v is outside [%v, %v]", variance, u, v, f, lo, hi)
		}
		if f, _ := x.Float64(); f < 10 && d.alpha < 4 && hi-lo > 1e-8 {
			t.Fatalf("exponent %v is bounded by [%v, %v], too wide to decide", f, lo, hi)
		}
	})
}

// Bounds of any width give what the exact number gives, on the same bits.
func TestBernoulliBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		den := rapid.Int64Range(1, 1<<62).Draw(t, "den")
		num := rapid.Int64Range(0, den-1).Draw(t, "num")
		f, _ := big.NewRat(num, den).Float64()
		width := rapid.SampledFrom([]float64{0x1p-52, 0x1p-46, 0x1p-20, 0.1, 1}).Draw(t, "width")
		lo, hi := max(0, f-width), min(f+width, math.Nextafter(1, 0))
		if r := new(big.Rat).SetFloat64(hi); r.Cmp(big.NewRat(num, den)) < 0 {
			t.Skip("above the largest float below 1")
		}
		words := rapid.SliceOfN(rapid.Uint64(), 4, 4).Draw(t, "words")
		if rapid.Bool().Draw(t, "near") { // bits that agree with f for long
			words[0] = reverse64(uint64(f * 0x1p64))
		}
		fast, fastErr := (&Stream{source: &script{words}}).bernoulliBetween(lo, hi, func() (num_, den_ *big.Int) {
			return big.NewInt(num), big.NewInt(den)
		})
		exact, exactErr := (&Stream{source: &script{words}}).bernoulli(big.NewInt(num), big.NewInt(den))
		if fast != exact || (fastErr == nil) != (exactErr == nil) {
			t.Fatalf("%d/%d in [%v, %v]: %v, %v; exactly %v, %v", num, den, lo, hi, fast, fastErr, exact, exactErr)
		}
	})
}

// reverse64 puts the first binary digit, which a stream hands out first, lowest.
func reverse64(x uint64) (y uint64) {
	for range 64 {
		y, x = y<<1|x&1, x>>1
	}
	return y
}

// Bernoulli decides by bounds of its probability's first digits what the exact comparison, digit by
// digit, decides: of words at, just below and just above those digits, and of any others. Bounds that
// were one digit too tight would differ at these.
func TestFirstDigits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	random := func(n uint) *big.Int {
		x := new(big.Int)
		for range (n + 63) / 64 {
			x.Or(x.Lsh(x, 64), new(big.Int).SetUint64(r.Uint64()))
		}
		return x.And(x, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), n), big.NewInt(1)))
	}
	for range 4000 {
		size := 1 + r.UintN(300)
		den := random(size)
		den.SetBit(den, int(size-1), 1)
		if r.IntN(3) == 0 { // a power of two
			den.SetInt64(0).SetBit(den, int(size-1), 1)
		}
		num := random(1 + r.UintN(size))
		switch r.IntN(6) {
		case 0: // near 1
			num.Sub(den, random(1+r.UintN(4)))
		case 1: // near 0
			num = random(1 + r.UintN(4))
		}
		p := new(big.Rat).SetFrac(num, den)
		if p.Sign() < 0 || p.Cmp(big.NewRat(1, 1)) >= 0 {
			continue
		}
		at := new(big.Int).Lsh(p.Num(), 64)
		digits := at.Quo(at, p.Denom()).Uint64()
		for _, w := range []uint64{digits - 1, digits, digits + 1, digits + 2, 0, 1, math.MaxUint64, r.Uint64(), r.Uint64()} {
			words := []uint64{bits.Reverse64(w), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()}
			got, err := Bernoulli(&script{words}, p)
			want, wantErr := (&Stream{source: &script{words}}).bernoulli(p.Num(), p.Denom())
			if got != want || (err == nil) != (wantErr == nil) {
				t.Fatalf("p = %v, digits %x and %x: %v %v, and not %v %v", p, w, words[1:], got, err, want, wantErr)
			}
		}
	}
}
