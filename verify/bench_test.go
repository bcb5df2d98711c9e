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
