package accountant

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/accountant/internal/referee"
	"github.com/discreet-dp/discreet/privacy"
)

// Pairs with probabilities of every decade, alone, repeated and on a Poisson sample: no
// bound lies on the wrong side of the referee's.
func TestPairsAreJudged(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	law := func(n int) []*big.Rat {
		rest := big.NewRat(1, 1)
		out := make([]*big.Rat, n)
		for i := range n - 1 {
			f := math.Pow(10, -r.Float64()*r.Float64()*30)
			out[i], _ = new(big.Rat).SetString(fmt.Sprintf("%.3g", f/float64(n)))
			rest.Sub(rest, out[i])
		}
		out[n-1] = rest
		if r.IntN(4) == 0 { // an outcome that the law has not
			i := r.IntN(n)
			out[(i+1)%n].Add(out[(i+1)%n], out[i])
			out[i] = new(big.Rat)
		}
		return out
	}
	judgedAny, pairs := 0, soak(12)
	for range pairs {
		n := 2 + r.IntN(3)
		e := privacy.Pair{P: law(n), Q: law(n)}
		if e.Validate() != nil {
			continue
		}
		delta, eps := math.Pow(10, -12*r.Float64()), math.Pow(10, 3*r.Float64()-2)
		for _, plan := range []privacy.Event{e, privacy.Repeat{Count: 1 + r.IntN(10), Event: e}, privacy.Poisson{Rate: big.NewRat(1+r.Int64N(99), 100), Event: e}} {
			for _, n := range relations() {
				if privacy.Holds(plan, n) != nil {
					continue
				}
				o := Options{Neighbours: n, Work: 1 << 20}
				b := referee.Of(plan, n, 1, 200)
				if b.Floor != nil {
					judgedAny++
				}
				report, err := Epsilon(t.Context(), plan, delta, o)
				if err := judged(report, err, b); err != nil {
					t.Errorf("%v under %v: %v", plan, n, err)
				}
				faultless(t, report)
				report, err = Delta(t.Context(), plan, eps, o)
				if err := judged(report, err, b); err != nil {
					t.Errorf("%v under %v: %v", plan, n, err)
				}
				faultless(t, report)
			}
		}
	}
	if judgedAny < 2*pairs {
		t.Errorf("of the plans of %d pairs only %d were judged", pairs, judgedAny)
	}
}

// faultless fails where the referee had to refuse an accountant at run time.
func faultless(t *testing.T, r *Report) {
	t.Helper()
	if r == nil {
		return
	}
	for _, f := range r.Refused {
		if strings.Contains(f.Why, "a fault") {
			t.Errorf("%v: %s: %s", r.Plan, f.Accountant, f.Why)
		}
	}
}

// A pair that is a known mechanism costs what that does: randomized response, and discrete
// Laplace noise, whose outcomes beyond both centres are one each.
func TestPairsOfKnownMechanisms(t *testing.T) {
	response := "pair(0.75: 0.25, 0.25: 0.75)"
	for plan, other := range map[string]string{
		response:         "randomized_response(0.75)",
		"30*" + response: "30*randomized_response(0.75)",
		"without_replacement(5, 100, " + response + ")": "without_replacement(5, 100, randomized_response(0.75))",
		"shuffled(1000, " + response + ")":              "shuffled(1000, pure(ln(3)))",
	} {
		for _, accountant := range []Name{PLD, RDP, Basic} {
			o := Options{Neighbours: privacy.ReplaceOne, Accountant: accountant}
			a, errA := Epsilon(t.Context(), parse(t, plan), 1e-6, o)
			b, errB := Epsilon(t.Context(), parse(t, other), 1e-6, o)
			if errA != nil || errB != nil {
				t.Error(plan, errA, errB)
				continue
			}
			x, _ := a.Best()
			y, _ := b.Best()
			if x.Epsilon.High > y.Epsilon.High*(1+1e-6)+1e-9 || x.Epsilon.High < y.Epsilon.Low*(1-1e-6) {
				t.Errorf("%s by %s: %v, and %s: %v", plan, accountant, x.Epsilon, other, y.Epsilon)
			}
		}
	}
}

// What is missing of a law is taken for an outcome that gives the unit away.
func TestMissingMassIsLost(t *testing.T) {
	e := parse(t, "pair(0.5: 0.4999999, 0.4999999: 0.5)")
	r, err := Delta(t.Context(), e, 5, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := r.Best(); b.Delta.High < 1e-7 || b.Delta.High > 1.01e-7 {
		t.Errorf("δ(5) is %v, want 1e-7", b.Delta)
	}
	for _, b := range r.Bounds {
		if b.Delta.High < 1e-7 {
			t.Errorf("%s: %v", b.Accountant, b.Delta)
		}
	}
	for _, f := range r.Refused {
		if f.Accountant == "rdp" && !strings.Contains(f.Why, "Rényi") {
			t.Errorf("rdp refuses it because %s", f.Why)
		}
	}
}
