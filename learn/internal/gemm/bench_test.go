package gemm

import (
	"fmt"
	"math"
	"syscall"
	"testing"
	"time"
)

// processorTime is what this process has used: other processes do not count.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkMultiply reports GFLOP a second of processor time, the best of all
// repetitions, on the products of a step of training.
func BenchmarkMultiply(b *testing.B) {
	for _, s := range []struct {
		what           string
		transA, transB bool
		m, n, k        int
	}{
		{"forward", false, false, 128, 256, 784},
		{"gradient", true, false, 784, 256, 128},
		{"back", false, true, 128, 784, 256},
		{"conv1", false, false, 12 * 196, 16, 64},
		{"conv1gradient", true, false, 64, 16, 12 * 196},
		{"conv1one", true, false, 64, 16, 196},
		{"conv2", false, false, 12 * 25, 32, 256},
		{"conv2one", true, false, 256, 32, 25},
		{"conv2back", false, true, 25, 256, 32},
		{"large", false, false, 512, 512, 512},
	} {
		for _, e := range engines() {
			b.Run(fmt.Sprintf("%s/%s", s.what, e.Name()), func(b *testing.B) {
				x, y, z := make([]float32, s.m*s.k), make([]float32, s.k*s.n), make([]float32, s.m*s.n)
				for i := range x {
					x[i] = float32(i%7) + 1
				}
				for i := range y {
					y[i] = float32(i%5) + 1
				}
				lda, ldb := s.k, s.n
				if s.transA {
					lda = s.m
				}
				if s.transB {
					ldb = s.k
				}
				flops := 2 * float64(s.m) * float64(s.n) * float64(s.k)
				times := max(1, int(2e7/flops))
				best := math.Inf(1)
				for b.Loop() {
					start := processorTime(b)
					for range times {
						e.Multiply(s.transA, s.transB, s.m, s.n, s.k, 1, x, lda, y, ldb, 0, z, s.n)
					}
					best = min(best, float64(processorTime(b)-start)/float64(times))
				}
				b.ReportMetric(flops/best, "GFLOP/s")
			})
		}
	}
}
