package stability

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/privacy"
)

// TestCoarserDistancesByBruteForce holds the theorem of coarser groups against every pair of a unit's
// possible contributions to fine groups, of which so many make a coarse one: no pair is farther
// apart over the coarse groups than Distances says, and some pair is as far. √L0·M, L0·M without Width, and the
// distances of groups that share nothing are caught by it.
func TestCoarserDistancesByBruteForce(t *testing.T) {
	t.Parallel()
	for _, bounds := range [][2]int64{{0, 1}, {-1, 0}, {-1, 2}, {-3, 1}, {-1, 1}} {
		for l0 := int64(1); l0 <= 3; l0++ {
			for groups := int64(1); groups <= 2; groups++ {
				r := grouped(groups, l0)
				r.Within = []Key{{}, {}}
				c := Component{Kind: Sum}
				c.PerGroup, c.Width = reach(1, big.NewInt(bounds[0]), big.NewInt(bounds[1]))
				r.Components = []Component{c}
				r.gather()
				all := vectors(int(groups*l0), int(l0), bounds[:])
				zero := make([]int64, groups*l0)
				for relation, others := range map[privacy.Neighbours][][]int64{privacy.AddRemove: {zero}, privacy.ReplaceOne: all} {
					var most, square int64
					for _, x := range all {
						for _, y := range others {
							var l1, l2 int64
							for g := range groups {
								d := int64(0)
								for i := g * l0; i < (g+1)*l0; i++ {
									d += x[i] - y[i]
								}
								d = max(d, -d)
								l1, l2 = l1+d, l2+d*d
							}
							most, square = max(most, l1), max(square, l2)
						}
					}
					l1, l2 := r.Distances(r.Components[0], 0, relation)
					if l1.Cmp(big.NewRat(most, 1)) != 0 || l2.Cmp(big.NewRat(square, 1)) != 0 {
						t.Errorf("%v in %d of the groups that make %d, %v: distances %v and %v, measured %d and %d", bounds, l0, groups, relation, l1, l2, most, square)
					}
				}
			}
		}
	}
	// A unit is one in a group, and in no more groups than it may be, or than there are.
	for _, test := range []struct{ groups, l0, want int64 }{{5, 3, 3}, {2, 3, 2}, {1, 3, 1}} {
		r := grouped(test.groups, test.l0)
		r.Within, r.Components = []Key{{}, {}}, []Component{{Kind: Units, PerGroup: big.NewInt(1), Width: big.NewInt(1)}}
		r.gather()
		if l1, l2 := r.Distances(r.Components[0], 0, privacy.AddRemove); l1.Cmp(big.NewRat(test.want, 1)) != 0 || l2.Cmp(l1) != 0 {
			t.Errorf("units in %d of %d groups: distances %v and %v, want %d", test.l0, test.groups, l1, l2, test.want)
		}
	}
}

// TestLeastErrorByBruteForce tries every choice of the sets that are summed.
func TestLeastErrorByBruteForce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		fine := rapid.SliceOfN(rapid.SampledFrom([]float64{1, 2, 3, 12, 100, 5000}), 1, 6).Draw(t, "fine")
		whole := rapid.IntRange(-1, len(fine)-1).Draw(t, "whole")
		if whole >= 0 {
			fine[whole] = 1
		}
		groups, laplace := float64(rapid.IntRange(1, 40).Draw(t, "groups")), rapid.Bool().Draw(t, "laplace")
		best := math.Inf(1)
		for bits := range 1 << len(fine) {
			summed := make([]bool, len(fine))
			for i := range summed {
				summed[i] = bits>>i&1 == 1
			}
			if whole >= 0 && summed[whole] {
				continue
			}
			best = min(best, meanError(fine, summed, whole, groups, laplace))
		}
		got := leastError(fine, whole, groups, laplace)
		if cost := meanError(fine, got, whole, groups, laplace); cost > best+1e-9 {
			t.Fatalf("%v of %v: %v, the least is %v", got, fine, cost, best)
		}
	})
	// One large set among small ones is worth noise of its own; halves of a small table are not.
	if got, want := leastError([]float64{1, 2, 5000}, 0, 3, false), []bool{false, true, false}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
