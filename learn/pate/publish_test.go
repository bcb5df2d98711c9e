package pate

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/audit"
	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/pate/analysis"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// agreeing is so many queries on which most of 250 teachers agree.
func agreeing(n int) *analysis.Votes {
	v := &analysis.Votes{Classes: 10, Counts: make([]int32, 10*n)}
	for i := range n {
		row := v.Row(i)
		row[i%10], row[(i+1)%10], row[(i+2)%10] = int32(246-i%10), int32(2+i%10), 2
	}
	return v
}

var (
	gnmax     = analysis.Options{GNMax: &analysis.GNMax{Sigma: 40}, Delta: 1e-5}
	confident = analysis.Options{GNMax: &analysis.GNMax{Sigma: 40}, Threshold: &analysis.Threshold{At: 200, Sigma: 150}, Delta: 1e-5}
)

func TestPublish(t *testing.T) {
	v := agreeing(300)
	answered := make([]bool, v.Len())
	for i := range answered {
		answered[i] = i%2 == 0
	}
	run := confident
	run.Answered = answered
	for name, o := range map[string]analysis.Options{"gnmax": gnmax, "run": run} {
		for _, measure := range []filter.Measure{filter.RDP, filter.Approx, filter.ZCDP} {
			p := PublishOptions{Teachers: 250, Budget: purse(t, measure, "10", "1e-5", privacy.AddRemove)}
			if measure == filter.ZCDP {
				p.Budget = kept(t)
			}
			if measure != filter.RDP {
				p.Delta = amount(t, privacy.ParseDelta, "1e-6")
			}
			before, err := p.Budget.Left(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			out, err := Publish(t.Context(), v, o, p)
			if err != nil {
				t.Errorf("%s, %s: %v", name, measure, err)
				continue
			}
			if !(out.Epsilon >= out.Estimate && out.Estimate > 0 && out.RDP >= 0) || math.IsInf(out.Epsilon, 1) {
				t.Errorf("%s: %+v", name, out)
			}
			if _, err := json.Marshal(out); err != nil {
				t.Error(err)
			}
			exact, err := analysis.Local(v, o, 250, out.Order)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s, %s: order %g, exact rdp %.3f, noisy %.3f, epsilon %.3f, at most %.3f, charged %v", name, measure, out.Order, exact.RDP, out.RDP, out.Estimate, out.Epsilon, out.Charged)
			if left, err := p.Budget.Left(t.Context()); err != nil || fmt.Sprint(left) == fmt.Sprint(before) {
				t.Errorf("%s: nothing was charged (%v)", measure, err)
			}
		}
	}
}

// kept is a zCDP budget that keeps a part of its δ for events that have one.
func kept(t *testing.T) budget.Budget {
	b, err := budget.NewInMemory("kept", filter.Budget{Measure: filter.ZCDP, Epsilon: amount(t, privacy.ParseEpsilon, "10"),
		Delta: amount(t, privacy.ParseDelta, "1e-5"), SelectionDelta: amount(t, privacy.ParseDelta, "5e-6")})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What no theorem covers is not published, and nothing is charged.
func TestNoPublication(t *testing.T) {
	v := agreeing(20)
	for name, test := range map[string]struct {
		o analysis.Options
		p PublishOptions
	}{
		"LNMax":                       {analysis.Options{LNMax: &analysis.LNMax{Gamma: 0.05}, Delta: 1e-5}, PublishOptions{}},
		"C6 fails":                    {analysis.Options{GNMax: &analysis.GNMax{Sigma: 20}, Delta: 1e-5}, PublishOptions{Order: 25}},
		"beta beyond the theorem":     {gnmax, PublishOptions{Order: 16, Beta: 1.0 / 32}},
		"an expectation":              {confident, PublishOptions{}},
		"order 1":                     {gnmax, PublishOptions{Order: 1}},
		"two teachers change":         {gnmax, PublishOptions{Budget: purse(t, filter.RDP, "10", "1e-5", privacy.ReplaceOne)}},
		"no divergence of that order": {analysis.Options{GNMax: &analysis.GNMax{Sigma: 0.1}, Delta: 1e-5}, PublishOptions{Order: 1e7}},
	} {
		purse := purse(t, filter.RDP, "10", "1e-5", privacy.AddRemove)
		if test.p.Budget == nil {
			test.p.Budget = purse
		}
		test.p.Teachers = 250
		_, err := Publish(t.Context(), v, test.o, test.p)
		if !errors.Is(err, analysis.ErrConditions) {
			t.Errorf("%s: %v", name, err)
		}
		if spent, err := purse.Spent(t.Context()); err != nil || len(spent.In(filter.RDP)) > 0 && spent.In(filter.RDP)[0].Amount.Sign() != 0 {
			t.Errorf("%s: %v was charged (%v)", name, spent, err)
		}
	}
	if _, err := Publish(t.Context(), v, gnmax, PublishOptions{Teachers: 249, Budget: purse(t, filter.RDP, "10", "1e-5", privacy.AddRemove)}); err == nil {
		t.Error("votes of 250 teachers pass for those of 249")
	}
}

// The noise has the law of the theorem: of 4000 releases as many lie above the cost by
// one, and by two, standard deviations as those of a normal law, and the upper bound
// is above as often as it says or more, each exactly at 1e-9. A scale that is wrong by
// a tenth is seen at two.
func TestReleasedNoise(t *testing.T) {
	const draws = 4000
	c := &analysis.Private{Order: 16, RDP: 0.5, Bounds: []float64{0.001, 0.004, 0.01, 0.01}}
	p := PublishOptions{Order: 16, Beta: 0.025, Sigma: 10, Confidence: 0.9, Teachers: 250, Budget: purse(t, filter.RDP, "10", "1e-5", privacy.AddRemove)}
	slack := 1e-9
	s := analysis.Smooth(p.Beta, c.Bounds)
	var one, two, above int
	for range draws {
		out, err := p.draw(noise.System(), c, slack)
		if err != nil {
			t.Fatal(err)
		}
		if z := (out.RDP - c.RDP) / (s * p.Sigma); z > 2 {
			one, two = one+1, two+1
		} else if z > 1 {
			one++
		}
		if out.Epsilon >= c.RDP {
			above++
		}
	}
	for _, test := range []struct {
		count int
		p     float64
	}{{one, 0.158655}, {two, 0.02275}} {
		if bad := misfit([]int64{int64(test.count)}, draws, []float64{test.p}); bad != "" {
			t.Error(bad)
		}
	}
	if _, high, err := audit.ClopperPearson(above, draws, within); err != nil || high < p.Confidence {
		t.Errorf("%d of %d bounds hold (%v)", above, draws, err)
	}
}

// The slack bounds what a factor e^η of q does to the cost below q0.
func TestSlack(t *testing.T) {
	for _, sigma := range []float64{1, 3, 40, 150} {
		for _, order := range []float64{1.5, 3, 10, 30} {
			s, err := analysis.NewGNMaxSensitivity(sigma, 10, order)
			if err != nil {
				continue
			}
			const eta = 1e-6
			for logq := s.LogQ0() * 1.001; logq > -200; logq *= 1.1 {
				if change := s.RDP(logq+eta) - s.RDP(logq); !(change <= 4*eta*order/(order-1)) {
					t.Errorf("sigma %g, order %g, ln q %g: %g", sigma, order, logq, change)
				}
			}
		}
	}
}

// Neighbouring tables of votes differ by less than their sensitivities say, which are
// smooth: also where one teacher changes its vote in every query.
func TestLocalOverManyQueries(t *testing.T) {
	v := agreeing(40)
	for _, o := range []analysis.Options{gnmax, confident} {
		a, err := analysis.Local(v, o, 250, 16)
		if err != nil {
			t.Fatal(err)
		}
		w := v.Rows([]int{})
		w.Counts = append(w.Counts, v.Counts...)
		for i := range w.Len() {
			row := w.Row(i)
			row[i%10]-- // from the leader to the runner-up, or to a class with none
			row[(i+1+i%2*5)%10]++
		}
		b, err := analysis.Local(w, o, 250, 16)
		if err != nil {
			t.Fatal(err)
		}
		if change := math.Abs(a.RDP - b.RDP); change > a.Bounds[0] || change > b.Bounds[0] || change == 0 {
			t.Errorf("the cost changes by %g, the bounds are %g and %g", change, a.Bounds[0], b.Bounds[0])
		}
		const beta = 0.02
		if x, y := analysis.Smooth(beta, a.Bounds), analysis.Smooth(beta, b.Bounds); math.Abs(math.Log(x/y)) > beta*(1+1e-9) {
			t.Errorf("smooth sensitivities %g and %g", x, y)
		}
	}
}
