package accountant

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/accountant/internal/referee"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/privacy/plan"
)

// Every Rényi divergence is an upper bound, of every event that the referee knows, at
// every decade of its parameters and of α - 1; and for those that are computed as they
// are, one within rdpError.
func TestDivergencesAreAboveTheReferees(t *testing.T) {
	orders := []float64{1 + 0x1p-27, 1.0001, 1.1, 1.5, 2, 3, 7.3, 10.9, 63, 1024, 1 << 20, 1 << 34}
	plans := []struct {
		plan  string
		exact bool
	}{
		{"gaussian(%s)", true}, {"laplace(%s)", true}, {"pure(%s)", true}, {"gdp(%s)", true}, {"zcdp(%s)", true},
		{"exponential(%s)", false}, {"discrete_laplace(%s)", false}, {"discrete_laplace(%s, sensitivity=7)", false},
		{"poisson(0.01, gaussian(%s))", false}, {"poisson(1e-9, gaussian(%s))", false}, {"poisson(0.5, gaussian(%s))", false},
		{"poisson(0.999999, gaussian(%s))", false}, {"poisson(1-1e-9, gaussian(%s))", false},
		{"poisson(0.01, pure(%s))", false}, {"poisson(1e-7, discrete_laplace(%s, sensitivity=2))", false},
		{"discrete_gaussian(%s)", false}, {"tree(%s, 1000)", true},
	}
	judgedBounds := 0
	for _, p := range plans {
		for x := -308; x <= 302; {
			for _, digits := range []string{"1", "3.7"}[:1+x&1] {
				text := fmt.Sprintf(p.plan, fmt.Sprintf("%se%d", digits, x))
				written, err := plan.Parse(text)
				if err != nil {
					continue
				}
				e, err := written.Event()
				if err != nil {
					continue
				}
				flats, err := flatten(nil, e, Options{})
				if err != nil {
					continue
				}
				got, err := flats[0].divergences(orders)
				if err != nil {
					continue // a refusal
				}
				for i, a := range orders {
					order := new(big.Rat).SetFloat64(a)
					floor, ok := referee.Renyi(e, privacy.AddRemove, 1, order, 200)
					if !ok {
						continue
					}
					judgedBounds++
					if math.IsInf(got[i], 1) {
						continue
					}
					high := numeric.Of(new(big.Rat).SetFloat64(got[i]))
					if floor.Cmp(high) > 0 {
						t.Errorf("%s: order %v: %v is below %v", text, a, got[i], floor)
					}
					if p.exact && high.Cmp(floor.Mul(numeric.OfFloat(1+4*rdpError))) > 0 && got[i] > 1e-270 {
						t.Errorf("%s: order %v: %v is far above %v", text, a, got[i], floor)
						continue
					}
				}
			}
			if x > -8 && x < 8 {
				x++
			} else {
				x += 30
			}
		}
	}
	if judgedBounds < 2000 {
		t.Errorf("%d bounds were judged", judgedBounds)
	}
}
