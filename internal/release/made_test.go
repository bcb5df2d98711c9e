package release

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/privacy"
)

// A sum of so many noisy values lies within its bound but with probability beta, of the laws that releases have, alone and blended. Of
// 3,000 sums at beta 1/5 at most 20 % miss in the mean; that more than 26 % do has a probability below exp(−2·3000·0.06²) < 1e-9. The
// bound of one draw, in its place, is missed by half of the sums of six. Of long sums, which are nearly normal, the bound is at least 1.28 and
// at most 2.7 standard deviations.
func TestBoundOfAddedNoise(t *testing.T) {
	t.Parallel()
	const sums = 3000
	beta, bits := big.NewRat(1, 5), entropy.New()
	laplace, err := mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: big.NewRat(40, 1), Epsilon: must(privacy.ParseEpsilon("2"))})
	if err != nil {
		t.Fatal(err)
	}
	gauss, err := mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: big.NewRat(1600, 1), Rho: must(privacy.ParseRho("2"))})
	if err != nil {
		t.Fatal(err)
	}
	misses := func(bound *big.Int, draw func() *big.Int) (n int) {
		for range sums {
			if draw().CmpAbs(bound) > 0 {
				n++
			}
		}
		return n
	}
	for name, law := range map[string]mechanism.Additive{"laplace": laplace, "gauss": gauss} {
		for _, weights := range [][]*big.Rat{nil, {big.NewRat(1, 3), big.NewRat(1, 3)}, {big.NewRat(2, 3), big.NewRat(-1, 5), new(big.Rat)}} {
			fifteenths := []*big.Int{big.NewInt(15)}
			for i, w := range weights {
				fifteenths = append(fifteenths[:i], new(big.Rat).Mul(w, big.NewRat(15, 1)).Num())
			}
			for _, terms := range []int{2, 6, 400} {
				one := law
				if weights != nil {
					one = blended{law, weights}
				}
				draw := func() *big.Int { // as mixed.add rounds
					total := new(big.Int)
					for range terms {
						sum, drawn := new(big.Int), []*big.Int{new(big.Int)}
						for _, w := range fifteenths {
							drawn[0].SetInt64(0)
							if err := law.AddTo(bits, drawn); err != nil {
								t.Fatal(err)
							}
							sum.Add(sum, drawn[0].Mul(drawn[0], w))
						}
						rounded, err := nearest(bits, sum, big.NewInt(15))
						if err != nil {
							t.Fatal(err)
						}
						total.Add(total, rounded)
					}
					return total
				}
				t.Run(fmt.Sprint(name, weights, terms), func(t *testing.T) {
					own := added{one, terms}
					bound, err := own.Bound(beta)
					if err != nil {
						t.Fatal(err)
					}
					if x, _ := new(big.Float).SetInt(bound).Float64(); terms == 400 {
						if sigma := math.Sqrt(own.Variance()); x < 1.28*sigma || x > 2.7*sigma {
							t.Errorf("the bound %v of %d draws is %v standard deviations", bound, terms, x/sigma)
						}
						return
					}
					if n := misses(bound, draw); n > sums*26/100 {
						t.Errorf("%d of %d sums of %d miss the bound %v", n, sums, terms, bound)
					}
					single, err := one.Bound(beta)
					if err != nil {
						t.Fatal(err)
					}
					if terms == 6 && misses(single, draw) <= sums*26/100 {
						t.Errorf("the test does not see that %v is the bound of one draw", single)
					}
				})
			}
		}
	}
}
