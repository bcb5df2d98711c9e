package filter

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/privacy"
)

// The event of a total is charged with that total, or with what the root of a square
// rounds up; and the events of two totals with their sum.
func TestEventOf(t *testing.T) {
	slack := Units{big.NewInt(1)}
	for _, b := range []Budget{
		{Measure: Pure, Epsilon: eps("3")},
		{Measure: Approx, Epsilon: eps("3"), Delta: del("1e-6")},
		{Measure: ZCDP, Epsilon: eps("3"), Delta: del("1e-6"), SelectionDelta: del("5e-7")},
		{Measure: Whitehouse, Epsilon: eps("3"), Delta: del("1e-6"), SelectionDelta: del("5e-7")},
		{Measure: RDP, Epsilon: eps("3"), Delta: del("1e-6"), SelectionDelta: del("5e-7")},
		{Measure: GDP, Epsilon: eps("3"), Delta: del("1e-6"), SelectionDelta: del("5e-7"), Neighbours: privacy.ReplaceOne},
	} {
		t.Run(string(b.Measure), rapid.MakeCheck(func(t *rapid.T) {
			f, err := New(b)
			if err != nil {
				t.Fatal(err)
			}
			draw := func(name string) Total {
				r := big.NewRat(rapid.Int64Range(0, 1000).Draw(t, name), 1000)
				want := Total{Loss: ceilUnits(r)}
				if b.Delta.Sign() > 0 {
					want.Delta = ceilUnits(big.NewRat(rapid.Int64Range(0, 1000).Draw(t, name+" delta"), 1e12))
				}
				return want
			}
			var sum, charged Total
			for _, name := range []string{"a", "b"} {
				total := draw(name)
				e, err := EventOf(f, total)
				if total.Equal(Total{}) {
					if err == nil {
						t.Fatalf("nothing is the event %v", e)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				c, err := f.Charge([]privacy.Event{e}, privacy.Delta{})
				if err != nil {
					t.Fatal(err)
				}
				if !total.Within(c) || !c.Within(total.Add(Total{Loss: slack})) {
					t.Fatalf("%v: the event %v is charged %v", total, e, c)
				}
				sum, charged = sum.Add(total), charged.Add(c)
			}
			if !f.Amounts(sum).Total(b.Measure).Equal(sum) {
				t.Fatalf("%v is not read back from its amounts", sum)
			}
			if !sum.Max(charged).Equal(charged) || !sum.Min(charged).Equal(sum) || !sum.Times(3).Quo(3).Equal(sum) {
				t.Fatalf("arithmetic of %v and %v", sum, charged)
			}
		}))
	}
}
