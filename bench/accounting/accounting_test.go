package accounting

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/privacy"
)

func plan(t testing.TB, text string) privacy.Event {
	t.Helper()
	p, err := privacy.ParsePlan(text)
	if err != nil {
		t.Fatal(err)
	}
	e, err := p.Event()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// pld returns the Fourier accountant's bracket, and how long it took.
func pld(t testing.TB, e privacy.Event, delta float64) (accountant.Bracket, time.Duration) {
	t.Helper()
	begun := time.Now()
	r, err := accountant.Epsilon(t.Context(), e, delta, accountant.Options{Accountant: "pld"})
	if err != nil {
		t.Fatalf("%v: %v", e, err)
	}
	return *r.Bounds[0].Epsilon, time.Since(begun)
}

// training is the grid of the target: 10,000 steps of the subsampled Gaussian.
func training() (plans []string) {
	for _, sigma := range []string{"0.6", "1", "2", "4", "10"} {
		for _, rate := range []string{"1e-4", "1e-3", "0.01", "0.1"} {
			plans = append(plans, fmt.Sprintf("10000 * poisson(%s, gaussian(%s))", rate, sigma))
		}
	}
	return plans
}

// BenchmarkTraining is epsilon at 1e-5 over the grid: the median time of a plan,
// and the widest bracket in terms of the width that is promised.
func BenchmarkTraining(b *testing.B) {
	var plans []privacy.Event
	for _, text := range training() {
		plans = append(plans, plan(b, text))
	}
	for b.Loop() {
		var times []time.Duration
		widest := 0.0
		for _, p := range plans {
			e, took := pld(b, p, 1e-5)
			times = append(times, took)
			widest = max(widest, (e.High-e.Low)/max(0.001*e.Estimate, 1e-6))
		}
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2].Microseconds())/1e3, "ms/median")
		b.ReportMetric(float64(times[len(times)-1].Microseconds())/1e3, "ms/max")
		b.ReportMetric(widest, "width/allowed")
	}
}

// BenchmarkSteps is one plan at ever more steps: the time grows no faster than
// the logarithm.
func BenchmarkSteps(b *testing.B) {
	for _, steps := range []string{"100", "10000", "1000000", "100000000", "1000000000"} {
		b.Run(steps, func(b *testing.B) {
			e := plan(b, steps+" * poisson(1e-4, gaussian(2))")
			for b.Loop() {
				pld(b, e, 1e-6)
			}
		})
	}
}

// BenchmarkDifferent composes a thousand different events.
func BenchmarkDifferent(b *testing.B) {
	e := plan(b, different(1000))
	for b.Loop() {
		v, _ := pld(b, e, 1e-6)
		b.ReportMetric((v.High-v.Low)/v.Estimate, "width")
	}
}

func different(n int) string {
	var terms []string
	for i := range n {
		terms = append(terms, fmt.Sprintf("poisson(%v, gaussian(%v))", 0.001+0.00001*float64(i), 1+0.002*float64(i)))
	}
	return strings.Join(terms, " + ")
}

// BenchmarkRDP is the Rényi accountant at its default orders.
func BenchmarkRDP(b *testing.B) {
	e := plan(b, "10000 * poisson(0.01, gaussian(1))")
	for b.Loop() {
		if _, err := accountant.Epsilon(b.Context(), e, 1e-5, accountant.Options{Accountant: "rdp"}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCalibrate finds the noise of a training run.
func BenchmarkCalibrate(b *testing.B) {
	p, err := privacy.ParsePlan("10000 * poisson(0.01, gaussian(?))")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		c, err := accountant.Calibrate(b.Context(), p, 2, 1e-5, accountant.Options{Accountant: "pld"})
		if err != nil {
			b.Fatal(err)
		}
		if math.IsNaN(c.Value) {
			b.Fatal("no value")
		}
	}
}
