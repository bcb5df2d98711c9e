package verify_test

import (
	"testing"
	"time"

	"github.com/discreet-dp/discreet/verify"
)

const edges = `package p

import (
	"math"

	"github.com/discreet-dp/discreet/noise"
)

//dp:adjacent |n| <= 1
//dp:cost 0
func ByteBelow256(n uint8) bool { return int(n) >= 256 }

//dp:adjacent |n| <= 1
//dp:cost 0
func NoneAbove(n int64) bool { return n > math.MaxInt64 }

//dp:adjacent |n| <= 1
//dp:cost 0
func ByteOf255(n uint8) bool { return n == 255 }

//dp:adjacent |x| <= 1
//dp:requires eps >= 0.001 && eps <= 0.002
//dp:cost eps
func SmallEpsilon(x int64, eps float64, src *noise.Source) int64 {
	return x + src.DiscreteLaplace(1 / (2 * eps))
}

//dp:adjacent |b| <= 1
//dp:requires p > 0.5 && p < 1
//dp:cost math.Log(p / (1 - p)) / 2
func HalfOfResponse(b bool, p float64, src *noise.Source) bool {
	return src.Bernoulli(p) == b
}
`

// A counterexample is of numbers that there are: those that types hold. Requirements that
// leave a narrow range are met.
func TestEdgesOfInputs(t *testing.T) {
	needSolver(t)
	want := map[string]bool{"ByteOf255": true, "SmallEpsilon": true, "HalfOfResponse": true}
	r := run(t, verify.Options{Dir: module(t, map[string]string{"p.go": edges}), NoStore: true, Timeout: 8 * time.Second})
	for _, r := range r.Results {
		if refuted := r.Verdict == verify.Refuted; refuted != want[r.Function] {
			t.Errorf("%s: %s: %s", r.Function, r.Verdict, r.Note)
		}
	}
}

const priceless = `package p

import "github.com/discreet-dp/discreet/noise"

//dp:adjacent |x| <= 1
//dp:requires sigma >= 0
//dp:cost zcdp(1 / (2 * sigma * sigma))
func FreeAtZero(x, sigma float64, src *noise.Source) float64 { return x + src.Gaussian(sigma) }

//dp:adjacent |x| <= 1
//dp:requires sigma > 0
//dp:cost zcdp(1 / (2 * sigma * sigma))
func Priced(x, sigma float64, src *noise.Source) float64 { return x + src.Gaussian(sigma) }

//dp:adjacent |b| <= 1
//dp:requires p >= 0.5 && p <= 1
//dp:cost math.Log(p / (1 - p))
func FreeAtOne(b bool, p float64, src *noise.Source) bool { return src.Bernoulli(p) == b }

//dp:adjacent |x| <= 1
//dp:requires b >= 0
//dp:cost 1 / (2 * b)
func WrongAboveZero(x, b float64, src *noise.Source) float64 { return x + src.Laplace(b) }

//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost 2*eps - eps*math.Sqrt(eps)/math.Sqrt(eps)
func SumsOfRoots(x, eps float64, src *noise.Source) float64 { return x + src.Laplace(1/eps) }
`

// A claim whose cost is no number at inputs that it allows is refused where it stands, unless
// it is wrong elsewhere.
func TestPriceless(t *testing.T) {
	needSolver(t)
	want := map[string]string{
		"FreeAtZero": "the cost: it is no number at sigma = 0",
		"FreeAtOne":  "the cost: it is no number at p = 1",
	}
	r := run(t, verify.Options{Dir: module(t, map[string]string{"p.go": priceless}), NoStore: true, Timeout: 8 * time.Second})
	for _, r := range r.Results {
		found := ""
		for _, p := range r.Problems {
			if p.Kind == verify.Directive {
				found = p.Text
				if p.Line != r.Line-1 || p.Hint == "" {
					t.Errorf("%s: %v, line %d", r.Function, p, r.Line)
				}
			}
		}
		if found != want[r.Function] || found != "" && r.Verdict != verify.Unknown {
			t.Errorf("%s: %s: %q: %s", r.Function, r.Verdict, found, r.Note)
		}
		if refuted := r.Verdict == verify.Refuted; refuted != (r.Function == "WrongAboveZero") {
			t.Errorf("%s: %s: %s", r.Function, r.Verdict, r.Note)
		}
	}
}
