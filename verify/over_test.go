package verify_test

import (
	"testing"

	"github.com/discreet-dp/discreet/verify"
)

const parts = `package p

import "github.com/discreet-dp/discreet/noise"

//dp:adjacent |x| <= 1
//dp:requires b > 0 && b < 1000
//dp:cost 1 / (3*b)
func Third(x, b float64, src *noise.Source) bool {
	y := src.Round(x, b)
	a := src.Laplace(b)
	return y+a >= -a-a
}

//dp:adjacent |x| <= 1
//dp:requires b > 0 && b < 1000
//dp:cost 1 / b
func Whole(x, b float64, src *noise.Source) bool {
	y := src.Round(x, b)
	return y+src.Laplace(b) >= 0
}
`

// Noise that moves by a third of what does is not on the grid any more: there are as many
// steps more as it takes to the next multiple, and they are paid.
func TestPartsOfSteps(t *testing.T) {
	needSolver(t)
	want := map[string]verify.Over{"Third": verify.Reals, "Whole": verify.Grid}
	r := run(t, verify.Options{Dir: module(t, map[string]string{"p.go": parts}), NoStore: true})
	for _, r := range r.Results {
		if r.Verdict != verify.Proved || r.Over != want[r.Function] {
			t.Errorf("%s: %s over %s: %s", r.Function, r.Verdict, r.Over, r.Note)
		}
	}
}
