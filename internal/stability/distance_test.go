package stability

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// grouped is a release over so many groups, or, with 0, over an unknown number.
func grouped(groups, l0 int64) *Release {
	key := Key{Expr: &plan.Ref{T: sqltype.Of(sqltype.Bigint)}, Name: "k"}
	for i := range groups {
		if key.Domain == nil {
			key.Domain = []*catalog.PublicDomain{{}}
		}
		key.Domain[0].Values = append(key.Domain[0].Values, i)
	}
	return &Release{Keys: []Key{key}, MaxGroups: l0, Private: groups == 0}
}

// vectors are all vectors over so many groups with at most l0 entries that are not 0, each one
// of these.
func vectors(groups, l0 int, entries []int64) (out [][]int64) {
	v := make([]int64, groups)
	var fill func(i, left int)
	fill = func(i, left int) {
		if i == groups {
			out = append(out, append([]int64(nil), v...))
			return
		}
		v[i] = 0
		fill(i+1, left)
		if left > 0 {
			for _, e := range entries {
				if e != 0 {
					v[i] = e
					fill(i+1, left-1)
				}
			}
			v[i] = 0
		}
	}
	fill(0, l0)
	return out
}

// TestDistancesByBruteForce holds the theorem at Distances against every pair of a unit's
// possible contributions: no pair is farther apart than it says, and some pair is as far.
// Doubling, the formula for many groups where there are few, and M for W are all caught by it,
// as too large or too small.
func TestDistancesByBruteForce(t *testing.T) {
	t.Parallel()
	for _, bounds := range [][2]int64{{0, 1}, {-1, 0}, {-2, 2}, {-1, 2}, {-3, 1}, {-1, 1}, {-1, 3}, {-5, 12}} {
		for l0 := int64(1); l0 <= 3; l0++ {
			for groups := l0; groups <= 2*l0+1 && groups <= 6; groups++ {
				r := grouped(groups, l0)
				c := Component{Kind: Sum}
				c.PerGroup, c.Width = reach(1, big.NewInt(bounds[0]), big.NewInt(bounds[1]))
				all := vectors(int(groups), int(l0), bounds[:])
				zero := make([]int64, groups)
				for relation, others := range map[privacy.Neighbours][][]int64{privacy.AddRemove: {zero}, privacy.ReplaceOne: all} {
					var most, square int64
					for _, x := range all {
						for _, y := range others {
							var l1, l2 int64
							for i := range x {
								d := max(x[i]-y[i], y[i]-x[i])
								l1, l2 = l1+d, l2+d*d
							}
							most, square = max(most, l1), max(square, l2)
						}
					}
					l1, l2 := r.Distances(c, 0, relation)
					if l1.Cmp(big.NewRat(most, 1)) != 0 || l2.Cmp(big.NewRat(square, 1)) != 0 {
						t.Errorf("%v of %d groups in %v, %v: distances %v and %v, measured %d and %d", bounds, groups, l0, relation, l1, l2, most, square)
					}
				}
				if groups < 2*l0 {
					continue
				}
				unknown := grouped(0, l0)
				known1, known2 := r.Distances(c, 0, privacy.ReplaceOne)
				if l1, l2 := unknown.Distances(c, 0, privacy.ReplaceOne); l1.Cmp(known1) != 0 || l2.Cmp(known2) != 0 {
					t.Errorf("%v of an unknown number of groups, L0 %d: %v and %v, of %d groups %v and %v", bounds, l0, l1, l2, groups, known1, known2)
				}
			}
		}
	}
}

// The same for one level of a tree, whose nodes are parts of a group: rows of a unit are spread
// over them in every way.
func TestTreeDistancesByBruteForce(t *testing.T) {
	t.Parallel()
	const nodes = 2
	for rows := int64(1); rows <= 3; rows++ {
		var spread [][nodes]int64
		for a := range rows + 1 {
			for b := range rows + 1 - a {
				spread = append(spread, [nodes]int64{a, b})
			}
		}
		for groups := int64(1); groups <= 2; groups++ {
			c := Component{Kind: Tree, PerGroup: big.NewInt(rows)}
			r := grouped(groups, groups)
			var most, square int64 // of one group, of which all add up
			for _, x := range spread {
				for _, y := range spread {
					var l1, l2 int64
					for i := range x {
						d := max(x[i]-y[i], y[i]-x[i])
						l1, l2 = l1+d, l2+d*d
					}
					most, square = max(most, l1), max(square, l2)
				}
			}
			l1, l2 := r.Distances(c, 5, privacy.ReplaceOne)
			if l1.Cmp(big.NewRat(5*groups*most, 1)) != 0 || l2.Cmp(big.NewRat(5*groups*square, 1)) != 0 {
				t.Errorf("%d rows, %d groups: distances %v and %v, measured %d and %d a level", rows, groups, l1, l2, groups*most, groups*square)
			}
		}
	}
}

// reach is held against all sums of at most so many values.
func TestReachOfSums(t *testing.T) {
	t.Parallel()
	for lower := int64(-4); lower <= 4; lower++ {
		for upper := lower; upper <= 4; upper++ {
			for rows := int64(1); rows <= 3; rows++ {
				sums := map[int64]bool{0: true}
				for range rows {
					next := map[int64]bool{0: true}
					for s := range sums {
						for x := lower; x <= upper; x++ {
							next[s+x], next[s] = true, true
						}
					}
					sums = next
				}
				most, wide := int64(1), int64(1) // never nothing: see atLeastOne
				for a := range sums {
					most = max(most, a, -a)
					for b := range sums {
						wide = max(wide, a-b)
					}
				}
				m, w := reach(rows, big.NewInt(lower), big.NewInt(upper))
				if got, want := fmt.Sprint(m, w), fmt.Sprint(most, wide); got != want {
					t.Errorf("%d values in [%d, %d]: M and W are %s, want %s", rows, lower, upper, got, want)
				}
			}
		}
	}
}

// Where nothing is known, and where a number makes no sense, W is what is safe.
func TestSpread(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		width *big.Int
		want  int64
	}{{nil, 14}, {big.NewInt(0), 7}, {big.NewInt(-3), 7}, {big.NewInt(9), 9}, {big.NewInt(15), 14}} {
		if got := (Component{PerGroup: big.NewInt(7), Width: test.width}).Spread(); got.Cmp(big.NewInt(test.want)) != 0 {
			t.Errorf("width %v: %v, want %d", test.width, got, test.want)
		}
	}
}
