package exact

import (
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// The recursion for geometric laws and the plain sum over the table agree, with
// tails and without: each is within the other's interval and what the table leaves
// out.
func TestSmearedByRecursionIsTheSum(t *testing.T) {
	for _, law := range []program.Law{program.DiscreteLaplace, program.Geometric} {
		p, rest := mass(law, rat("2"), 128)
		in := &masses{laws: []table{p}}
		for _, f := range []table{
			{in: in, from: -2, values: []narrow{{1, 1}, {0.25, 0.25}, {0, 0}, {2, 2}}, left: narrow{0.5, 0.5}, right: narrow{3, 3}},
			{in: in, from: 5, values: []narrow{{1, 1}}},
		} {
			quick, ok := f.smeared(0)
			if !ok {
				t.Fatal("refused")
			}
			slow, ok := f.smearedBy(p)
			if !ok {
				t.Fatal("refused")
			}
			slack := 4*rest.hi + 1e-12
			for m := int64(-200); m < 200; m++ {
				a, b := quick.at(m), slow.at(m)
				if m >= quick.from && m < quick.end() && (a.lo > b.hi+slack || b.lo > a.hi+slack) || a.hi < b.lo-slack || a.lo > b.hi+slack {
					t.Fatalf("%v at %d: %v and %v", law, m, a, b)
				}
			}
		}
	}
}
