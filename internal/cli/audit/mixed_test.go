package audit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/learn/example"
)

// However the examples fall into two sides, the mixed set is the same to the bit: what
// an attack computes of it has seen membership through the model alone.
func TestMixedSidesHideMembership(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	values := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 1e-30, float32(math.NaN()), float32(math.Inf(1))}
	for range 200 {
		n := 2 + random.IntN(40)
		all := &example.Set{Width: 2, Classes: 3, Outputs: 1}
		for range n {
			all.Features = append(all.Features, values[random.IntN(len(values))], float32(random.IntN(30)))
			all.Labels = append(all.Labels, int32(random.IntN(3)))
		}
		var first *example.Set
		for range 5 {
			order, cut := random.Perm(n), random.IntN(n+1)
			members := all.Pick(order[:cut])
			set, member := mixed(members, all.Pick(order[cut:]))
			if first == nil {
				first = set
			}
			bits := func(s *example.Set) (out []uint32) {
				for _, x := range s.Features {
					out = append(out, math.Float32bits(x))
				}
				return out
			}
			if !slices.Equal(bits(set), bits(first)) || !slices.Equal(set.Labels, first.Labels) {
				t.Fatal("the order of the mixed set depends on who is a member")
			}
			count := 0
			for i, in := range member {
				if in {
					count++
					if !slices.ContainsFunc(order[:cut], func(row int) bool {
						return slices.Equal(bits(all.Pick([]int{row})), bits(set.Pick([]int{i}))) && all.Labels[row] == set.Labels[i]
					}) {
						t.Fatal("somebody else is called a member")
					}
				}
			}
			if count != cut {
				t.Fatalf("%d members of %d", count, cut)
			}
		}
	}
}
