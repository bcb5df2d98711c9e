//go:build unix

package bench

import (
	"fmt"
	"math/big"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// processTime is the time that the processors gave us: on a machine that is busy
// otherwise, long runs share it and short ones do not.
func processTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// beside measures private work and the same without noise in turn, and reports the
// processor time of both for each of n items, and their ratio.
func beside(b *testing.B, n int, private, plain func()) {
	b.Helper()
	var ours, theirs time.Duration
	for b.Loop() {
		start := processTime()
		plain()
		theirs += processTime() - start
		start = processTime()
		private()
		ours += processTime() - start
	}
	items := float64(b.N) * float64(n)
	b.ReportMetric(float64(ours.Nanoseconds())/items, "ns/item")
	b.ReportMetric(float64(theirs.Nanoseconds())/items, "ns/plain")
	b.ReportMetric(ours.Seconds()/theirs.Seconds(), "ratio")
	b.ReportMetric(ours.Seconds()/float64(b.N), "s/run")
}

// BenchmarkThreshold reads ten million queries far below a threshold, of which a run
// halts at none, beside comparing them.
func BenchmarkThreshold(b *testing.B) {
	const n = 10_000_000
	queries := make([]float64, n)
	for i := range queries {
		queries[i] = float64(i % 1000)
	}
	one := big.NewRat(1, 1)
	epsilon := must(privacy.NewEpsilon(one))
	bits := noise.System()
	above := 0
	plain := func() {
		for _, q := range queries {
			if q >= 1e6 {
				above++
			}
		}
	}
	b.Run("above-threshold", func(b *testing.B) {
		beside(b, n, func() {
			run := must(mechanism.NewAboveThreshold(mechanism.AboveThresholdOptions{Threshold: 1e6, Sensitivity: one, Epsilon: epsilon}))
			for a, err := range run.All(bits, slices.Values(queries)) {
				if err != nil {
					b.Fatal(err)
				}
				if a.Above {
					above++
				}
			}
		}, plain)
	})
	b.Run("above-threshold, one by one", func(b *testing.B) {
		beside(b, n, func() {
			run := must(mechanism.NewAboveThreshold(mechanism.AboveThresholdOptions{Threshold: 1e6, Sensitivity: one, Epsilon: epsilon}))
			for _, q := range queries {
				if must(run.Ask(bits, q)).Above {
					above++
				}
			}
		}, plain)
	})
	if above != 0 {
		b.Errorf("%d queries were above", above)
	}
}

// BenchmarkChoice chooses among a million candidates, beside looking for the best: with
// scores that spread over the noise, and with one that is far above all others.
func BenchmarkChoice(b *testing.B) {
	const n = 1_000_000
	options := mechanism.ScoreOptions{Sensitivity: big.NewRat(1, 1), Epsilon: must(privacy.NewEpsilon(big.NewRat(1, 1)))}
	exponential := must(mechanism.NewExponential(options))
	flip := must(mechanism.NewPermuteAndFlip(options))
	laplace := must(mechanism.NewNoisyMax(mechanism.NoisyMaxOptions{ScoreOptions: options}))
	for name, choose := range map[string]func(noise.Bits, []float64) (int, error){
		"exponential": exponential.Choose, "permute-and-flip": flip.Choose, "noisy max": laplace.Choose,
	} {
		for _, spread := range []float64{10, 1e6} {
			scores := make([]float64, n)
			for i := range scores {
				scores[i] = float64(i%1000) / 1000 * spread
			}
			scores[n/2] = spread + spread/2
			bits, sum := noise.System(), 0.0
			b.Run(fmt.Sprintf("%s/spread %g", name, spread), func(b *testing.B) {
				beside(b, n, func() { sum += float64(must(choose(bits, scores))) }, func() { sum += slices.Max(scores) })
			})
			if sum < 0 {
				b.Error("no choice was made")
			}
		}
	}
}
