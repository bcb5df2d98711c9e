package verify_test

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/verify"
)

const vacuous = `package p

import (
	"context"

	"github.com/discreet-dp/discreet/dataset"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:requires eps < 0
//dp:cost eps
func VacuousShown(x, eps float64, src *noise.Source) float64 { return x }

//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:requires a + b < 3
//dp:requires a > 2 && b > 2
//dp:cost eps
func VacuousSum(x, eps float64, a, b int, src *noise.Source) float64 { return x + src.Laplace(1/eps) }

//dp:adjacent |x| <= 1
//dp:requires eps*eps < 0
//dp:cost eps
func VacuousSquare(x, eps float64, src *noise.Source) float64 { return x + src.Laplace(1/eps) }

//dp:adjacent |x| <= c
//dp:requires c < 0
//dp:requires eps > 0
//dp:cost eps
func VacuousNeighbours(x, c, eps float64, src *noise.Source) float64 { return x + src.Laplace(1/eps) }

//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:requires len(q) > 5
//dp:requires len(q) < 3
//dp:cost eps
func VacuousLength(q []float64, eps float64, src *noise.Source) float64 { return q[4] + src.Laplace(1/eps) }

//dp:adjacent bag(d) <= 1
//dp:requires eps > 0
//dp:requires eps < 0
//dp:cost eps
func VacuousData(ctx context.Context, d dataset.Dataset[int], eps privacy.Epsilon) (int64, error) {
	n, err := dataset.NoisyCount(ctx, noise.System(), d, dataset.Options{Epsilon: eps})
	if err != nil {
		return 0, err
	}
	return n.Value, nil
}

//dp:adjacent each(q) <= 1
//dp:requires c > 1
//dp:requires c < 1
//dp:sensitivity q = c
func VacuousSensitivity(q []float64, c float64) float64 {
	s := 0.0
	for _, x := range q {
		s += 3 * x
	}
	return s
}

//dp:adjacent |x| <= 1
//dp:requires eps > 1000
//dp:requires n > 100000
//dp:requires m > n
//dp:cost eps
func Far(x, eps float64, n, m int, src *noise.Source) float64 { return x + src.Laplace(1/eps) }

//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:requires len(q) > 50
//dp:cost eps
func Long(q []float64, eps float64, src *noise.Source) float64 { return q[17] + src.Laplace(1/eps) }

//dp:adjacent |x| <= 1
//dp:requires eps > 0.123 && eps < 0.1231
//dp:requires a + b == 7919
//dp:requires a > 4000
//dp:cost eps
func Narrow(x, eps float64, a, b int, src *noise.Source) float64 { return x + src.Laplace(1/eps) }

//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:requires a*a == 49
//dp:requires p*p*p == 1000
//dp:cost eps
func Powers(x, eps float64, a, p int, src *noise.Source) float64 { return x + src.Laplace(1/eps) }
`

// A claim of which no inputs meet what it requires has a verdict of its own, whoever would prove
// it; one that far inputs meet is judged. TestStoredProofs finds no such claim in the sources.
func TestVacuousClaims(t *testing.T) {
	dir := module(t, map[string]string{"p.go": vacuous})
	for _, check := range []bool{false, true} {
		r := run(t, verify.Options{Dir: dir, Check: check, Timeout: 10 * verify.DefaultTimeout})
		if len(r.Results) != 11 || r.Proved() {
			t.Fatalf("check %t: %d results, proved %t", check, len(r.Results), r.Proved())
		}
		for _, f := range r.Results {
			want := verify.Proved
			if strings.HasPrefix(f.Function, "Vacuous") {
				want = verify.Vacuous
			}
			if f.Verdict != want {
				t.Errorf("check %t: %s is %s: %s", check, f.Function, f.Verdict, f.Note)
			}
		}
	}
}
