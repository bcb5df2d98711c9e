package release

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
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

// TestGatheredNoiseSharesItsBound: parts of a sum are each within their bound but with their share of the probability, and what was
// rounded is added. Draws would not show a part that has all of the probability.
func TestGatheredNoiseSharesItsBound(t *testing.T) {
	t.Parallel()
	gauss, err := mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: big.NewRat(1_000_000, 1), Rho: must(privacy.ParseRho("2"))})
	if err != nil {
		t.Fatal(err)
	}
	laplace, err := mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: big.NewRat(400, 1), Epsilon: must(privacy.ParseEpsilon("2"))})
	if err != nil {
		t.Fatal(err)
	}
	g := gathered{parts: []mechanism.Additive{laplace, gauss}, times: []*big.Int{big.NewInt(3), big.NewInt(7)}, rounded: big.NewInt(5)}
	got, err := g.Bound(big.NewRat(1, 10))
	if err != nil {
		t.Fatal(err)
	}
	want := big.NewInt(5)
	for i, part := range g.parts {
		b, err := part.Bound(big.NewRat(1, 20))
		if err != nil {
			t.Fatal(err)
		}
		want.Add(want, b.Mul(b, g.times[i]))
	}
	if got.Cmp(want) != 0 {
		t.Errorf("the bound is %d, want %d", got, want)
	}
}

// A sum of noisy numbers of one release, each so often, lies within its bound but with probability beta: where both have their noise together,
// and where each has its own; of one group and of several. The bound of a part alone is missed. The figures are those above.
func TestBoundOfGatheredNoise(t *testing.T) {
	t.Parallel()
	const sums = 6000
	beta, bits := big.NewRat(1, 5), entropy.New()
	gauss, err := mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: big.NewRat(1_000_000, 1), Rho: must(privacy.ParseRho("2"))})
	if err != nil {
		t.Fatal(err)
	}
	laplace, err := mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: big.NewRat(400, 1), Epsilon: must(privacy.ParseEpsilon("2"))})
	if err != nil {
		t.Fatal(err)
	}
	x := &plan.Ref{Name: "x", T: sqltype.Of(sqltype.Bigint)}
	one := big.NewRat(1, 1)
	values := &stability.Release{Components: []stability.Component{
		{Kind: stability.Rows, Arg: x, Grid: one, ArgGrid: one, PerGroup: big.NewInt(1)},
		{Kind: stability.Sum, Arg: x, Grid: one, ArgGrid: one, PerGroup: big.NewInt(9), LowerUnits: new(big.Int), UpperUnits: big.NewInt(9), Center: big.NewInt(4)},
	}}
	all := blends(values)
	if len(all) != 1 {
		t.Fatalf("%d blends", len(all))
	}
	for name, law := range map[string]mechanism.Additive{"laplace": laplace, "gauss": gauss} {
		apart := &Release{Release: values, Noise: []Noise{{Additive: law, Terms: 1}, {Additive: law, Terms: 1}}}
		blend := &Release{Release: values, blends: []mixed{{all[0], law}}}
		for i := range values.Components {
			blend.Noise = append(blend.Noise, Noise{Additive: blended{law, all[0].weights[slices.Index(all[0].components, i)]}, Terms: 2})
		}
		for _, r := range []*Release{apart, blend} {
			for _, groups := range []int{1, 3} {
				for _, times := range []int64{4, -7} {
					t.Run(fmt.Sprint(name, len(r.blends), groups, times), func(t *testing.T) {
						parts := []stability.Part{{Component: 1, Times: big.NewInt(1)}, {Component: 0, Times: big.NewInt(times)}}
						own := r.together(parts, groups)
						bound, err := own.Bound(beta)
						if err != nil {
							t.Fatal(err)
						}
						alone, err := r.together(parts[:1], groups).Bound(beta)
						if err != nil {
							t.Fatal(err)
						}
						if _, _, _, ok := sumsOf(own.Additive, beta, 1); ok {
							t.Error("sums over rows are bounded by the law of a part")
						}
						missed, by, squares := 0, 0, 0.0
						for range sums {
							total := new(big.Int)
							for range groups {
								drawn := [][]*big.Int{{new(big.Int)}, {new(big.Int)}}
								if len(r.blends) > 0 {
									err = r.blends[0].add(bits, [][]*big.Int{drawn[all[0].components[0]], drawn[all[0].components[1]]})
								} else {
									err = errors.Join(law.AddTo(bits, drawn[0]), law.AddTo(bits, drawn[1]))
								}
								if err != nil {
									t.Fatal(err)
								}
								total.Add(total, drawn[1][0])
								total.Add(total, drawn[0][0].Mul(drawn[0][0], big.NewInt(times)))
							}
							if total.CmpAbs(bound) > 0 {
								missed++
							}
							if total.CmpAbs(alone) > 0 {
								by++
							}
							f, _ := new(big.Float).SetInt(total).Float64()
							squares += f * f
						}
						if missed > sums*26/100 {
							t.Errorf("%d of %d sums miss the bound %v", missed, sums, bound)
						}
						if len(r.blends) == 0 && by <= sums*26/100 {
							t.Errorf("the test does not see that %v is the bound of a part", alone)
						}
						if v := own.Variance(); v < squares/sums*0.8 || len(r.blends) > 0 && v > squares/sums*1.5 { // the mean of 6,000 Laplace variables' squares is a quarter above theirs with probability below 1e-12 (Chernoff)
							t.Errorf("the variance is said to be %v, and is %v", v, squares/sums)
						}
						if wide, _ := new(big.Float).SetInt(bound).Float64(); len(r.blends) > 0 && wide > 3*math.Sqrt(squares/sums)+20 {
							t.Errorf("the bound %v is wide for a deviation of %v", wide, math.Sqrt(squares/sums))
						}
					})
				}
			}
		}
	}
}
