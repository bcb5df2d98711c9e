package exact

import "testing"

// Of one query just above the threshold, which is paid for, and of any number below it,
// chains force what is claimed, all but a hundredth, and not more. Where two are paid for
// and three are answered they refute the claim: by seven queries far from each other, of
// which four are below.
func TestChains(t *testing.T) {
	for _, test := range []struct {
		price   string
		n       int64
		refuted bool
	}{{"2", 1, false}, {"1", 2, true}} {
		f, cl := adaptiveSVT(false, test.price)
		c, err := compile(f)
		if err != nil {
			t.Fatal(err)
		}
		r := &refuter{space: newSpace(c, cl), tried: &Tried{}, measurers: []*measurer{newMeasurer(c)}}
		found, ends, err := r.chained(t.Context(), []setting{fractions(0, 0, test.n, 1)}, 8, 6000)
		if err != nil {
			t.Fatal(err)
		}
		if (found != nil) != test.refuted {
			t.Errorf("price %s, N = %d: %v", test.price, test.n, found)
		}
		if found == nil && !(ends[0].score > -0.01 && ends[0].score < 0) {
			t.Errorf("price %s, N = %d: they force %v of the claim", test.price, test.n, 1+ends[0].score)
		}
		if found != nil {
			t.Logf("%v, %v: %s: %v", found.pair.first[0], found.pair.second[0], c.words(found.event), found.score)
		}
	}
}
