package noise_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/noise"
)

// summed is what the bounds of sums hold of.
type summed interface {
	Sample(noise.Bits) (*big.Int, error)
	Bound(beta *big.Rat) (*big.Int, error)
	BoundOfSum(n int, beta *big.Rat) (*big.Int, error)
}

func summands(t *testing.T) map[string]summed {
	t.Helper()
	all := map[string]summed{}
	for _, s := range []string{"1/3", "1", "10", "80", "1000", "1000000", "123456789012345678901"} {
		scale, _ := new(big.Rat).SetString(s)
		l, err := noise.NewDiscreteLaplace(scale)
		if err != nil {
			t.Fatal(err)
		}
		g, err := noise.NewDiscreteGaussian(new(big.Rat).Mul(scale, scale))
		if err != nil {
			t.Fatal(err)
		}
		all["laplace "+s], all["gaussian "+s] = l, g
	}
	return all
}

// Sums of 1 to 5 draws leave their bound with at most the probability stated, and with half
// of it at least: the bounds are tight. Of 2,000 sums at beta = 0.2 more than 515 are outside a
// right bound with probability below 1e-9 (binomial: 6.4 standard deviations), and fewer than
// 100 outside one that half the probability leaves. The fault "n times the scale of one" is outside the second limit,
// "the bound of one" outside the first.
func TestBoundOfSum(t *testing.T) {
	const trials = 2000
	beta := big.NewRat(1, 5)
	for name, d := range summands(t) {
		for _, n := range []int{1, 2, 3, 5} {
			q, err := d.BoundOfSum(n, beta)
			if err != nil {
				t.Fatal(err)
			}
			outside, alone := 0, 0
			one, err := d.Bound(beta)
			if err != nil {
				t.Fatal(err)
			}
			for range trials {
				total := new(big.Int)
				for range n {
					z, err := d.Sample(noise.System())
					if err != nil {
						t.Fatal(err)
					}
					total.Add(total, z)
				}
				if total.CmpAbs(q) > 0 {
					outside++
				}
				if total.CmpAbs(one) > 0 {
					alone++
				}
			}
			if outside > 515 {
				t.Errorf("%s: %d of %d sums of %d are outside %v, want at most a fifth", name, outside, trials, n, q)
			}
			if outside < 100 && q.Cmp(big.NewInt(20)) > 0 {
				t.Errorf("%s: %d of %d sums of %d are outside %v: it is loose", name, outside, trials, n, q)
			}
			if n == 5 && one.Sign() > 0 && alone <= 515 {
				t.Errorf("%s: the bound of one draw passes for a sum of 5: the test has no power", name)
			}
		}
	}
}

// Sums grow with the root of their number, whatever the scale, and the two ways of computing
// them agree where they meet.
func TestBoundOfSumGrowsWithTheRoot(t *testing.T) {
	for name, d := range summands(t) {
		for _, beta := range []*big.Rat{big.NewRat(1, 20), big.NewRat(1, 1<<40)} {
			one, err := d.BoundOfSum(1, beta)
			if err != nil {
				t.Fatal(err)
			}
			if one.Cmp(big.NewInt(100)) < 0 {
				continue
			}
			for _, n := range []int{2, 4, 9} {
				q, err := d.BoundOfSum(n, beta)
				if err != nil {
					t.Fatal(err)
				}
				ratio, _ := new(big.Rat).SetFrac(q, one).Float64()
				if ratio > 1.05*math.Sqrt(float64(n)) || ratio < 1.05 {
					t.Errorf("%s at %v: a sum of %d reaches %v times as far as one draw", name, beta, n, ratio)
				}
			}
		}
	}
}

func TestBoundOfSumRefuses(t *testing.T) {
	for name, d := range summands(t) {
		for _, n := range []int{0, -1, 257} {
			if _, err := d.BoundOfSum(n, big.NewRat(1, 2)); err == nil {
				t.Errorf("%s: a sum of %d draws has a bound", name, n)
			}
		}
		for _, beta := range []*big.Rat{nil, new(big.Rat), big.NewRat(1, 1)} {
			if _, err := d.BoundOfSum(3, beta); err == nil {
				t.Errorf("%s: beta %v is taken", name, beta)
			}
		}
	}
}
