package accounting

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/privacy/plan"
)

func parse(t testing.TB, text string) privacy.Event {
	t.Helper()
	p, err := plan.Parse(text)
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
		plans = append(plans, parse(b, text))
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
			e := parse(b, steps+" * poisson(1e-4, gaussian(2))")
			for b.Loop() {
				pld(b, e, 1e-6)
			}
		})
	}
}

// BenchmarkDifferent composes a thousand different events.
func BenchmarkDifferent(b *testing.B) {
	e := parse(b, different(1000))
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
	e := parse(b, "10000 * poisson(0.01, gaussian(1))")
	for b.Loop() {
		if _, err := accountant.Epsilon(b.Context(), e, 1e-5, accountant.Options{Accountant: "rdp"}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCalibrate finds the noise of a training run.
func BenchmarkCalibrate(b *testing.B) {
	p, err := plan.Parse("10000 * poisson(0.01, gaussian(?))")
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

// BenchmarkExtreme asks all accountants about plans that took from ten seconds to for ever.
func BenchmarkExtreme(b *testing.B) {
	for _, tc := range []struct {
		plan string
		o    accountant.Options
	}{
		{"gaussian(1e-160)", accountant.Options{}},
		{"gaussian(1e-400)", accountant.Options{}},
		{"gdp(1e300)", accountant.Options{}},
		{"1000 * poisson(0.5, gaussian(1e-4))", accountant.Options{}},
		{"discrete_gaussian(30000, sensitivity=100)", accountant.Options{}},
		{"100 * poisson(0.1, discrete_gaussian(10))", accountant.Options{Group: 5}},
		{"shuffled(1e12, pure(3))", accountant.Options{Neighbours: privacy.ReplaceOne}},
		{laplaces(5000), accountant.Options{}},
	} {
		name := tc.plan
		if len(name) > 60 {
			name = "5000 different laplace"
		}
		b.Run(name, func(b *testing.B) {
			e := parse(b, tc.plan)
			begun := processor(b)
			defer func() { b.ReportMetric((processor(b)-begun).Seconds()/float64(b.N), "cpu-s/op") }()
			for b.Loop() {
				r, err := accountant.Epsilon(b.Context(), e, 1e-6, tc.o)
				if err != nil {
					b.Fatal(err)
				}
				missing := 0
				for _, f := range r.Refused {
					if f.Unfinished {
						missing++
					}
				}
				b.ReportMetric(float64(missing), "missing")
			}
		})
	}
}

// BenchmarkCurve asks all accountants for δ at 41 points, of a curve and one by one.
func BenchmarkCurve(b *testing.B) {
	for _, text := range []string{"3*laplace(2) + gaussian(3)", "20*laplace(2) + 100*poisson(0.01, gaussian(1))", "1000*truncated_poisson(0.01, 1000, 100, gaussian(1))", "40*exponential(0.1)", "1000*poisson(0.01, gaussian(1))"} {
		e := parse(b, text)
		for name, ask := range map[string]func(*accountant.Curve, float64) (*accountant.Report, error){
			"curve": (*accountant.Curve).Delta,
			"one by one": func(_ *accountant.Curve, x float64) (*accountant.Report, error) {
				return accountant.Delta(b.Context(), e, x, accountant.Options{})
			},
		} {
			b.Run(text+"/"+name, func(b *testing.B) {
				begun := processor(b)
				defer func() { b.ReportMetric((processor(b)-begun).Seconds()/float64(b.N), "cpu-s/op") }()
				for b.Loop() {
					c := accountant.NewCurve(b.Context(), e, accountant.Options{})
					for i := range 41 {
						if _, err := ask(c, 0.05+4.95*float64(i)/40); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}

// processor is the time that this process has had a processor: that of a busy machine
// compares with that of an idle one.
func processor(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func laplaces(n int) string {
	var terms []string
	for i := range n {
		terms = append(terms, fmt.Sprintf("laplace(%v)", 100+float64(i)/10))
	}
	return strings.Join(terms, " + ")
}
