package learn

import (
	"os"
	"testing"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/cli/clitest"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/privacy"

	"github.com/discreet-dp/discreet/budget"
)

// A run that nobody said the sampling of can be made however many units are counted, at no more
// than it costs with few: the count is charged before they are known. Of the ways to ask, half
// are asked, each two settings together, of three numbers of units; with DISCREET_SOAK, all.
func TestRunsOfVeryManyUnits(t *testing.T) {
	all := os.Getenv("DISCREET_SOAK") != ""
	numbers := []int64{100_000, 1_100_000, 10_000_000_000} // the first are few
	if all {
		numbers = append(numbers, 100_000_000)
	}
	for i, measure := range []filter.Measure{filter.ZCDP, filter.GDP, filter.RDP, filter.Approx} {
		for _, counted := range []bool{true, false} {
			for k, perUnit := range []int{1, 8} {
				if even := (i+k)%2 == 0; !all && even != counted {
					continue
				}
				least := 0.0
				for _, units := range numbers {
					r := recipe{delta: clitest.Must(privacy.ParseDelta("1e-6")), noise: 20, perUnit: perUnit, sampler: learn.Exact, count: "discrete_laplace(50)"}
					if !counted {
						r.units = units
					}
					r.complete("logistic", measure)
					p := r.plan(units, perUnit > 1, privacy.AddRemove)
					b := clitest.Must(budget.NewInMemory("p", filter.Budget{Measure: filter.Approx, Epsilon: clitest.Must(privacy.ParseEpsilon("1000")), Delta: p.Delta, Neighbours: privacy.AddRemove}))
					if err := learn.Check(learn.Options{Plan: p, Network: clitest.Must(networkOf("logistic", nil, task{[]int{4}, 2})), Budget: b}); err != nil {
						t.Errorf("%s, %d units of %d: %v", measure, units, perUnit, err)
						continue
					}
					g := clitest.Must(p.Guarantee())
					if least == 0 {
						least = g.Epsilon
					}
					if g.Epsilon > least*(1+1e-9) {
						t.Errorf("%s, %d units of %d: epsilon %v, of few %v", measure, units, perUnit, g.Epsilon, least)
					}
				}
			}
		}
	}
}
