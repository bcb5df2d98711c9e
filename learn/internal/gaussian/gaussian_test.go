package gaussian

import (
	"crypto/rand"
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

// BenchmarkAdd reports processor time a draw, the best of all calls.
func BenchmarkAdd(b *testing.B) {
	s := New(rand.Reader, 1)
	v := make([]float32, 200_000)
	b.ReportAllocs()
	best := math.Inf(1)
	for b.Loop() {
		start := processorTime(b)
		if err := s.Add(v, 1.5); err != nil {
			b.Fatal(err)
		}
		best = min(best, float64(processorTime(b)-start)/float64(len(v)))
	}
	b.ReportMetric(best, "ns/draw")
}

func TestTable(t *testing.T) {
	for i := 1; i < 256; i++ {
		if ziggurat.width[i] <= ziggurat.width[i+1] {
			t.Fatal(i)
		}
	}
	if ziggurat.bottom[256] < height(0) || ziggurat.width[255] == 0 {
		t.Fatal(ziggurat.bottom[256])
	}
}
