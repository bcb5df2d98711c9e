package verify_test

import (
	"testing"

	"github.com/discreet-dp/discreet/verify"
)

const panicking = `package p

import "github.com/discreet-dp/discreet/noise"

//dp:adjacent each(q) <= 1
//dp:requires eps >= 0 && n >= 0
//dp:cost eps
func AlikeAtZero(q []float64, t, eps float64, n int, src *noise.Source) []bool {
	t += src.Laplace(2 / eps)
	var above []bool
	for i, count := 0, 0; i < len(q) && count < n; i++ {
		x := q[i]+src.Laplace(4*float64(n)/eps) >= t
		above = append(above, x)
		if x {
			count++
		}
	}
	return above
}

//dp:adjacent |x| <= 1
//dp:requires eps <= 0
//dp:cost eps
func LessThanNothing(x, eps float64, src *noise.Source) float64 {
	return x + src.Laplace(1/eps)
}

//dp:adjacent |x| <= 1
//dp:requires eps > 0 && x >= 0
//dp:cost eps
func TellsZero(x, eps float64, src *noise.Source) float64 {
	return src.Laplace(x/eps)
}

//dp:adjacent |n| <= 1
//dp:requires eps > 0 && n >= 0
//dp:cost eps
func TellsTheEnd(n int, eps float64, src *noise.Source) int64 {
	odd := []int64{1, 3, 5}
	return odd[n] + src.DiscreteLaplace(2/eps)
}
`

// That a call panics is an output: alike in both runs it tells nothing, and on private
// data it tells all.
func TestPanicsAreRevealed(t *testing.T) {
	needSolver(t)
	want := map[string]struct {
		verdict verify.Verdict
		event   string
	}{
		"AlikeAtZero":     {verify.Proved, ""},
		"LessThanNothing": {verify.Refuted, "panics"},
		"TellsZero":       {verify.Refuted, "panics"},
		"TellsTheEnd":     {verify.Refuted, "panics"},
	}
	r := run(t, verify.Options{Dir: module(t, map[string]string{"p.go": panicking}), NoStore: true})
	for _, r := range r.Results {
		w := want[r.Function]
		if r.Verdict != w.verdict {
			t.Errorf("%s: %s: %s", r.Function, r.Verdict, r.Note)
		} else if w.event != "" && r.Counterexample.Event != w.event {
			t.Errorf("%s: %q", r.Function, r.Counterexample.Event)
		}
	}
}
