package stability

import (
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// keyed is a key of so many values.
func keyed(values int64) Key {
	k := Key{Expr: &plan.Ref{T: sqltype.Of(sqltype.Bigint)}, Domain: []*catalog.PublicDomain{{}}}
	for i := range values {
		k.Domain[0].Values = append(k.Domain[0].Values, i)
	}
	return k
}

// TestChoicesByBruteForce holds the theorem of choices against every pair of a unit's possible contributions, in units of R: what all
// choices lose together is at most what Choices of them lose by F steps each, or F·T where T rows of a unit are all that is bounded, in sums and in sums of squares, and some pair loses as much. A
// choice loses what its scores rise by at most and fall by at most, together: the length of the exponential mechanism's range, and the shift of
// one-sided noise. A range of R under replace-one, and one choice for all combinations, are caught by it as too small.
func TestChoicesByBruteForce(t *testing.T) {
	t.Parallel()
	for _, shape := range []struct {
		combinations, values, l0 int
		rows                     int64 // in all, where nothing else is bounded
	}{{1, 2, 2, 0}, {1, 3, 3, 0}, {1, 4, 2, 0}, {2, 2, 1, 0}, {2, 2, 2, 0}, {2, 3, 3, 0}, {3, 2, 2, 0}, {3, 2, 1, 0}, {4, 2, 2, 0}, {1, 3, 3, 2}, {2, 2, 4, 2}, {2, 2, 4, 3}, {3, 2, 6, 2}} {
		groups := shape.combinations * shape.values
		r := &Release{Keys: []Key{keyed(int64(shape.combinations)), keyed(int64(shape.values))}, MaxGroups: int64(shape.l0), Chosen: true}
		all := vectors(groups, shape.l0, []int64{1})
		if shape.rows > 0 {
			all = slices.DeleteFunc(vectors(groups, shape.l0, []int64{1, 2, 3}), func(v []int64) bool {
				sum := int64(0)
				for _, x := range v {
					sum += x
				}
				return sum > shape.rows
			})
		}
		for relation, others := range map[privacy.Neighbours][][]int64{privacy.AddRemove: {make([]int64, groups)}, privacy.ReplaceOne: all} {
			var most, square int64
			for _, x := range all {
				for _, y := range others {
					var sum, squares int64
					for first := 0; first < groups; first += shape.values {
						up, down := int64(0), int64(0)
						for i := first; i < first+shape.values; i++ {
							up, down = max(up, x[i]-y[i]), max(down, y[i]-x[i])
						}
						sum, squares = sum+up+down, squares+(up+down)*(up+down)
					}
					most, square = max(most, sum), max(square, squares)
				}
			}
			f := int64(2)
			if relation == privacy.AddRemove {
				f = 1
			}
			if shape.rows > 0 {
				r.Kept, f = true, f*shape.rows
			}
			if c := r.Choices(); most != c*f || square != c*f*f {
				t.Errorf("%v, %v: %d choices of %d steps, measured %d and %d squared", shape, relation, c, f, most, square)
			}
		}
	}
}
