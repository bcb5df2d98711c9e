//go:build unix

package verify_test

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/verify"
)

// processor is a clock that goes on while this process or one that it has waited for, a
// solver, computes: what the machine does besides does not count.
func processor() time.Time {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return time.Unix(0, int64(sum))
}

// A verdict from the source alone, one at a time: the processor time of all of a folder,
// the loading of its package apart, and of the slowest claim. `-v` lists the others.
func BenchmarkVerdicts(b *testing.B) {
	for _, folder := range folders {
		b.Run(folder, func(b *testing.B) {
			var results []verify.Result
			for b.Loop() {
				r, err := verify.Run(b.Context(), verify.Options{
					Patterns: []string{"./testdata/" + folder}, Fresh: true, NoStore: true, Workers: 1, Now: processor,
				})
				if err != nil {
					b.Fatal(err)
				}
				results = r.Results
			}
			slices.SortFunc(results, func(x, y verify.Result) int { return int(1e6 * (y.Seconds - x.Seconds)) })
			total, lines := 0.0, []string{}
			for _, r := range results {
				total += r.Seconds
				lines = append(lines, fmt.Sprintf("%-24s %6.3f s %s", r.Function, r.Seconds, r.Verdict))
			}
			if testing.Verbose() {
				b.Log(folder + ":\n" + strings.Join(lines, "\n"))
			}
			b.ReportMetric(total, "s/all")
			b.ReportMetric(results[0].Seconds, "s/slowest")
			b.ReportMetric(float64(len(results)), "claims")
		})
	}
}

// Certificates are checked one at a time, without a solver. Of each counts the least of
// three times: a collection of what the loader left falls on one certificate or another.
func BenchmarkCertificates(b *testing.B) {
	var least map[string]float64
	for b.Loop() {
		least = map[string]float64{}
		for range 3 {
			r, err := verify.Run(b.Context(), verify.Options{
				Patterns: []string{"../mechanism", "./testdata/right", "./testdata/lyu", "./testdata/more", "./testdata/scaled", "./testdata/fresh", "./testdata/delta"},
				Check:    true, Workers: 1, Now: processor,
			})
			if err != nil {
				b.Fatal(err)
			}
			for _, result := range r.Results {
				if result.Verdict == verify.Proved && result.Certificate != "" { // and not by rules, which are applied anew
					name := result.Package + "." + result.Function
					if t, ok := least[name]; !ok || result.Seconds < t {
						least[name] = result.Seconds
					}
				}
			}
		}
	}
	var slowest, total float64
	for _, t := range least {
		total, slowest = total+t, max(slowest, t)
	}
	b.ReportMetric(1000*slowest, "ms/slowest")
	b.ReportMetric(1000*total, "ms/all")
	b.ReportMetric(float64(len(least)), "proofs")
}
