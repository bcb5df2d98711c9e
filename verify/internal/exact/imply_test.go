package exact

import (
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// Orders of three, whose comparisons form cycles, are evaluated, and all of them together
// are certain.
func TestOrders(t *testing.T) {
	found := 0
	for _, u := range gallery(t) {
		switch u.Name {
		case "FlipThree", "FlipThreeShort", "WholeThree", "BestOfThree":
		default:
			continue
		}
		found++
		for _, q := range [][3]int64{{0, 0, 0}, {1, 0, -1}, {-2, 1, 1}} {
			in := program.Inputs{"eps": {Number: big.NewRat(1, 1)}, "u": {}}
			v := in["u"]
			for _, x := range q {
				v.Elements = append(v.Elements, big.NewRat(x, 1))
			}
			in["u"] = v
			lo, hi := 0.0, 0.0
			for k := range int64(4) {
				p, err := Probability(t.Context(), u.Function, in, Event{Return: []Range{Is(big.NewRat(k, 1))}}, Options{Width: 1e-9})
				if err != nil {
					t.Fatalf("%s of %v returns %d: %v", u.Name, q, k, err)
				}
				lo, hi = lo+p.Lo, hi+p.Hi
			}
			if lo > 1 || hi < 1 || hi-lo > 1e-6 {
				t.Errorf("%s of %v returns something with a probability in [%v, %v]", u.Name, q, lo, hi)
			}
		}
	}
	if found != 4 {
		t.Errorf("%d functions", found)
	}
}
