package prove

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Groups of leaves are given the simplest choices that no nogood forbids, or none if there are
// none.
func TestGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &search{}
		for range rapid.IntRange(1, 4).Draw(t, "leaves") {
			l := &leaf{choices: []choice{{}}}
			for range rapid.IntRange(0, 2).Draw(t, "choices") {
				l.choices = append(l.choices, choice{weight: l.choices[len(l.choices)-1].weight + rapid.IntRange(0, 2).Draw(t, "weight")})
			}
			s.leaves = append(s.leaves, l)
			s.nogoods = append(s.nogoods, map[int][]nogood{})
		}
		var learned []nogood
		for {
			least := s.least(learned)
			made := make([]int, len(s.leaves))
			ok := !slices.ContainsFunc(s.groups, func(g *group) bool { return !s.solve(g, made) })
			if !ok && least < 0 {
				return
			}
			if !ok || s.weight(made) != least || met(learned, made) {
				t.Fatalf("%v of %v: %v, of weight %d", made, s.leaves, learned, least)
			}
			var n nogood
			for i, l := range s.leaves {
				if rapid.IntRange(0, 2).Draw(t, "named") > 0 {
					c := chosen{i, rapid.SliceOfN(rapid.Bool(), len(l.choices), len(l.choices)).Draw(t, "refuted")}
					c.choices[made[i]] = true
					n = append(n, c)
				}
			}
			n = rapid.Permutation(n).Draw(t, "order")
			learned = append(learned, n)
			if s.learn(&n); s.hopeless != (len(n) == 0) {
				t.Fatalf("%v leaves no hope: %v", n, s.hopeless)
			}
			if s.hopeless {
				return
			}
		}
	})
}

func (s *search) weight(made []int) (sum int) {
	for i, l := range s.leaves {
		sum += l.choices[made[i]].weight
	}
	return sum
}

func met(learned []nogood, made []int) bool {
	return slices.ContainsFunc(learned, func(n nogood) bool {
		return !slices.ContainsFunc(n, func(c chosen) bool { return !c.choices[made[c.leaf]] })
	})
}

// least is the weight of the simplest choices that no nogood forbids, by trying all; -1 if
// there are none.
func (s *search) least(learned []nogood) int {
	least := -1
	made := make([]int, len(s.leaves))
	var from func(i int)
	from = func(i int) {
		if i == len(made) {
			if w := s.weight(made); (least < 0 || w < least) && !met(learned, made) {
				least = w
			}
			return
		}
		for made[i] = range s.leaves[i].choices {
			from(i + 1)
		}
	}
	from(0)
	return least
}
