package accountant

import (
	"fmt"
	"os"
	"testing"

	"github.com/discreet-dp/discreet/privacy"
)

// What is cut off more often costs more; what is never cut off costs what the sample does; and
// dp_accounting 0.6 says about the same, which for exactly n units takes a lesser rate, and under
// add-remove the pair of a replacement.
func TestTruncatedPoisson(t *testing.T) {
	of := func(text string, n privacy.Neighbours, accountant Name) Bracket {
		r, err := Epsilon(t.Context(), parse(t, text), 1e-6, Options{Neighbours: n, Accountant: accountant})
		if err != nil {
			t.Fatal(text, err)
		}
		return r.Bounds[0].value()
	}
	for _, n := range []privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne} {
		for _, accountant := range []Name{PLD, RDP} {
			if os.Getenv("DISCREET_SOAK") == "" && n == privacy.ReplaceOne && accountant == PLD {
				continue // the peer's numbers below hold it
			}
			plain := of("1000*poisson(0.01, gaussian(1.1))", n, accountant)
			last := plain
			for _, atMost := range []int{60000, 1000, 700, 650, 620} {
				if os.Getenv("DISCREET_SOAK") == "" && (atMost == 1000 || atMost == 650) {
					continue
				}
				got := of(fmt.Sprintf("1000*truncated_poisson(0.01, 60000, %d, gaussian(1.1))", atMost), n, accountant)
				if got.High < last.High*(1-1e-3) || atMost == 60000 && got.High > plain.High*(1+1e-3) {
					t.Errorf("%v, %s, at most %d: %v after %v", n, accountant, atMost, got, last)
				}
				last = got
			}
		}
		for atMost, peer := range map[int][2]float64{700: {1.938587, 2.844091}, 650: {5.038143, 5.403779}} {
			got := of(fmt.Sprintf("1000*truncated_poisson(0.01, 60000, %d, gaussian(1.1))", atMost), n, "pld")
			if got.High > 1.01*peer[n] || got.Low > peer[n] || got.High < 0.98*peer[n] {
				t.Errorf("%v, at most %d: %v, and dp_accounting %v", n, atMost, got, peer[n])
			}
		}
	}
}
