package noise

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// The sum of all shares is discrete Laplace noise, and one share is the difference of two negative
// binomial draws: 10,000 of each, of four shares 20,000, at small and large scales and numbers that are no power of two, in
// cells of probability; false-reject probability 1e-9 (fit), and 1e-10 for the single share. One share
// too few, which is what half of a mean would be, is rejected.
func TestSharesAddUpToTheirNoise(t *testing.T) {
	t.Parallel()
	const draws = 10_000
	for _, c := range []struct {
		scale  string
		shares int
	}{{"1/2", 2}, {"1", 3}, {"7/2", 2}, {"8", 4}, {"1000", 3}} {
		d, err := NewLaplaceShare(ratio(c.scale), c.shares)
		if err != nil {
			t.Fatal(err)
		}
		l := laplaceLaw(c.scale)
		s := NewStream(entropy.New())
		whole, fewer := cells(l), cells(l)
		for range draws * max(1, c.shares-2) { // the more shares, the less is one of them
			sum := new(big.Int)
			for i := range c.shares {
				z, err := d.Sample(s)
				if err != nil {
					t.Fatal(err)
				}
				if i == c.shares-1 {
					fewer.add(sum.Int64())
				}
				sum.Add(sum, z)
			}
			whole.add(sum.Int64())
		}
		if err := fit(whole.counts, whole.probability); err != nil {
			t.Errorf("scale %s in %d shares: %v", c.scale, c.shares, err)
		}
		if fit(fewer.counts, fewer.probability) == nil {
			t.Errorf("scale %s: %d of %d shares pass as all: the test has no power", c.scale, c.shares-1, c.shares)
		}
	}
	// One share of scale 2 in 3: P(X−Y = k) by the negative binomial law.
	d, err := NewLaplaceShare(big.NewRat(2, 1), 3)
	if err != nil {
		t.Fatal(err)
	}
	p, r := math.Exp(-0.5), 1.0/3
	one := make([]float64, 400)
	one[0] = math.Pow(1-p, r)
	for n := 1; n < len(one); n++ {
		one[n] = one[n-1] * p * (float64(n) - 1 + r) / float64(n)
	}
	counts, s := map[int64]float64{}, NewStream(entropy.New())
	for range draws {
		z, err := d.Sample(s)
		if err != nil {
			t.Fatal(err)
		}
		counts[max(-8, min(8, z.Int64()))]++
	}
	statistic := 0.0
	for k := int64(-8); k <= 8; k++ {
		want := 0.0
		for a := range one {
			for b := range one {
				if diff := int64(a - b); max(-8, min(8, diff)) == k {
					want += one[a] * one[b]
				}
			}
		}
		want *= draws
		statistic += (counts[k] - want) * (counts[k] - want) / want
	}
	if statistic > 80 { // 16 degrees of freedom: 1e-10 at 80
		t.Errorf("one share: chi-square %v", statistic)
	}
	for _, bad := range []struct {
		scale  *big.Rat
		shares int
	}{{nil, 2}, {new(big.Rat), 2}, {big.NewRat(1, 1), 1}, {big.NewRat(1, 1), 101}} {
		if _, err := NewLaplaceShare(bad.scale, bad.shares); err == nil {
			t.Errorf("scale %v in %d shares is taken", bad.scale, bad.shares)
		}
	}
}

// nothing is a source without bits.
type nothing struct{}

func (nothing) Uint64() (uint64, error) { return 0, errors.New("no bits") }

// A source that fails gives no value, at whatever bit it fails.
func TestSharesFailClosed(t *testing.T) {
	d, err := NewLaplaceShare(big.NewRat(5, 1), 2)
	if err != nil {
		t.Fatal(err)
	}
	values := []*big.Int{big.NewInt(1), big.NewInt(2)}
	if err := d.AddTo(nothing{}, values); err == nil || values[0] != nil || values[1] != nil {
		t.Errorf("a broken source gives %v, %v", values, err)
	}
}

func BenchmarkLaplaceShare(b *testing.B) {
	for _, scale := range []string{"3", "1000000", "36028797018963968"} {
		b.Run(scale, func(b *testing.B) {
			d, err := NewLaplaceShare(ratio(scale), 3)
			if err != nil {
				b.Fatal(err)
			}
			s := NewStream(entropy.New())
			for b.Loop() {
				if _, err := d.Sample(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
