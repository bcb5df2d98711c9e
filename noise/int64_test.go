package noise

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// Int64 makes the same of each bit as the draw of a big integer.
func TestInt64IsDraw(t *testing.T) {
	for _, scale := range []string{"1/3", "1", "10", "10000/123", "1125899906842624", "18446744073709551616/9223372036854775807", "3/18446744073709551617"} {
		d, _ := NewDiscreteLaplace(ratio(scale))
		for range 2000 {
			words := make([]uint64, 60)
			source := entropy.New()
			for i := range words {
				words[i], _ = source.Uint64()
			}
			k, err := d.Int64(NewStream(&script{words}))
			z, bigErr := d.Sample(&script{words})
			if (err == nil) != (bigErr == nil) || err == nil && z.Cmp(big.NewInt(k)) != 0 {
				t.Fatalf("scale %s: %d, %v; %v, %v", scale, k, err, z, bigErr)
			}
		}
	}
}

func TestInt64Range(t *testing.T) {
	for _, scale := range []float64{0x1p70, 0x1p118, 0x1p130} {
		d, _ := NewDiscreteLaplace(new(big.Rat).SetFloat64(scale))
		refused := 0
		for range 5 { // of scale 2^70 one draw in 512 is within the range, and five in a row once in 10^13
			k, err := d.Int64(NewStream(entropy.New()))
			if err == nil {
				continue
			}
			if refused++; !errors.Is(err, ErrRange) || k != 0 {
				t.Errorf("scale %v: %d, %v", scale, k, err)
			}
		}
		if refused == 0 {
			t.Errorf("scale %v: nothing is refused", scale)
		}
	}
	// Draws just within the range come out, and what is just beyond it does not.
	d, _ := NewDiscreteLaplace(new(big.Rat).SetFloat64(0x1p60))
	s, most, refused := NewStream(entropy.New()), int64(0), 0
	for range 10_000 { // P(|K| > 2^61) = e^-2
		k, err := d.Int64(s)
		if err != nil {
			refused++
			continue
		}
		most = max(most, k, -k)
	}
	if most > maxInt64 || most < maxInt64/10*9 || math.Abs(float64(refused)/10_000-math.Exp(-2)) > 0.03 {
		t.Errorf("draws reach %d; %d of 10000 refused", most, refused)
	}
}

func TestGeometricIsMagnitude(t *testing.T) {
	const depth = 16
	for _, scale := range []string{"1", "1/2", "3/2"} {
		g, _ := NewGeometric(ratio(scale))
		law, open := enumerate(depth, g.Int64)
		f, _ := ratio(scale).Float64()
		for k := range int64(40) {
			p := (1 - math.Exp(-1/f)) * math.Exp(-float64(k)/f)
			if p < law[k]-1e-12 || p > law[k]+open+1e-12 {
				t.Errorf("scale %s: P(%d) is %v to %v, want %v", scale, k, law[k], law[k]+open, p)
			}
		}
		if law[-1] != 0 {
			t.Errorf("scale %s: negative draws", scale)
		}
	}
}

// The coin's law by all its bits, with 64-bit numbers and with big ones.
func TestExpCoin(t *testing.T) {
	for _, rate := range []string{"1", "1/2", "2/3", "7/5", "1/9223372036854775807"} {
		c, _ := NewExpCoin(ratio(rate))
		for k := range uint64(4) {
			for _, native := range []bool{true, false} {
				c.native = native
				law, open := enumerate(16, func(s *Stream) (int64, error) {
					ok, err := c.Flip(s, k)
					return truth(ok), err
				})
				f, _ := ratio(rate).Float64()
				if want := math.Exp(-f * float64(k)); want < law[1]-1e-12 || want > law[1]+open+1e-12 {
					t.Errorf("exp(-%d·%s), native %v: %v to %v, want %v", k, rate, native, law[1], law[1]+open, want)
				}
			}
		}
	}
	// Exponents of up to 128 bits: false, and true if the rate makes up for it.
	huge, _ := NewExpCoin(ratio("18446744073709551615"))
	tiny, _ := NewExpCoin(ratio("1/18446744073709551615"))
	long, _ := NewExpCoin(ratio("1/1361129467683753853853498429727072845824"))
	s := NewStream(entropy.New())
	heads := 0
	for range 1000 {
		if ok, err := huge.Flip(s, math.MaxUint64); ok || err != nil {
			t.Fatal(ok, err)
		}
		if ok, err := long.Flip(s, math.MaxUint64); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if ok, _ := tiny.Flip(s, math.MaxUint64); ok { // e^-1
			heads++
		}
	}
	if heads < 250 || heads > 500 {
		t.Errorf("%d of 1000 with probability e^-1", heads)
	}
	for _, r := range []*big.Rat{nil, ratio("0"), ratio("-1")} {
		if c, err := NewExpCoin(r); c != nil || !errors.Is(err, ErrParameter) {
			t.Errorf("rate %v: %v, %v", r, c, err)
		}
	}
	if _, err := s.Below(0); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
	for _, n := range []int{0, -1, math.MinInt} {
		if _, err := s.Index(n); !errors.Is(err, ErrParameter) {
			t.Errorf("an index of %d: %v", n, err)
		}
	}
}

func BenchmarkInt64(b *testing.B) {
	for _, scale := range []string{"10", "10000/123", "3145728"} {
		b.Run(scale, func(b *testing.B) {
			d, _ := NewDiscreteLaplace(ratio(scale))
			s := NewStream(entropy.New())
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Int64(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
