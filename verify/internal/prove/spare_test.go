package prove

import (
	"math/big"
	"os/exec"
	"testing"

	p "github.com/discreet-dp/discreet/verify/internal/program"
)

// Claims of more than a program costs are proved as tight ones are.
func TestCostToSpare(t *testing.T) {
	if _, err := exec.LookPath("z3"); err != nil {
		t.Skip("skip: missing tool z3")
	}
	for name, folder := range map[string]string{"SVT": "./right", "BelowThreshold": "./more", "Lyu2": "./lyu", "Rethreshold": "./more"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := load(t, folder)[name]
			more, cost := *u.Claim, *u.Claim.Cost
			cost.Epsilon = p.Binary{Op: p.Mul, X: p.Number{Value: big.NewRat(5, 4), Sort: p.Real}, Y: cost.Epsilon}
			more.Cost = &cost
			o, err := Prove(t.Context(), u.Function, &more, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if o.Status != Proved {
				t.Errorf("status %v, tried %q", o.Status, o.Tried)
			}
		})
	}
}
