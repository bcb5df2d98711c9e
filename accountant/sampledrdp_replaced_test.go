package accountant

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/privacy"
)

// What dp_accounting certifies for these by Theorem 27 of Wang, Balle and Kasiviswanathan 2019,
// evaluated with 400 digits, and what is certified here.
func TestWithoutReplacementIsBelowItsPeers(t *testing.T) {
	for plan, peer := range map[string]float64{
		"without_replacement(256, 60000, gaussian(1.1))":        3.9405641423330247,
		"1000 * without_replacement(256, 60000, gaussian(1.1))": 9.00807283565541,
		"1000 * without_replacement(256, 60000, gaussian(4))":   0.6541869126960531,
		"100 * without_replacement(10, 100, gaussian(2))":       15.205042771843534,
	} {
		var rdp, pld float64
		r, err := Epsilon(t.Context(), parse(t, plan), 1e-6, Options{Neighbours: privacy.ReplaceOne})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range r.Bounds {
			switch b.Accountant {
			case "rdp":
				rdp = b.Epsilon.High
			case "pld":
				pld = b.Epsilon.Low
			}
		}
		if !(rdp > pld && rdp < 0.95*peer) {
			t.Errorf("%s: rdp %v, at least %v by pld, dp_accounting %v", plan, rdp, pld, peer)
		}
	}
}

// Divergences of real data sets, by quadrature: a sum of numbers of size at most 1 with
// noise, where the unit's value is 1, its replacement's -1, and the one drawn in their
// place has any other.
func TestWithoutReplacementCoversRealData(t *testing.T) {
	const sigma, m, n = 1.3, 3, 20
	orders := []float64{1.2, 2, 3.5, 9}
	points, err := RenyiCurve(t.Context(), parse(t, "without_replacement(3, 20, gaussian(1.3))"), orders, Options{Neighbours: privacy.ReplaceOne})
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range orders {
		worst := 0.0
		for other := -1.0; other <= 1; other += 0.25 {
			for _, unit := range []float64{1, -1} { // and the other way round
				moment := 0.0
				for x := -25.0; x < 25; x += 4e-3 {
					law := func(at float64) float64 {
						density := func(c float64) float64 { return math.Exp(-(x-c)*(x-c)/2/sigma/sigma) / sigma / math.Sqrt(2*math.Pi) }
						return (1-float64(m)/n)*density(other) + float64(m)/n*density(at)
					}
					moment += math.Exp(a*math.Log(law(unit))+(1-a)*math.Log(law(-unit))) * 4e-3
				}
				worst = math.Max(worst, math.Log(moment)/(a-1))
			}
		}
		if high := points[i].Y.High; !(high >= worst*(1-1e-6) && high < 2*worst) {
			t.Errorf("order %v: %v, real data have %v", a, high, worst)
		}
	}
}
