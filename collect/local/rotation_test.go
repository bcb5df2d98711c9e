package local

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// every is what visit says, value by value.
func every(prime, step, at, width uint64, counts []uint64) {
	for v := range counts {
		if at < width {
			counts[v]++
		}
		at = (at + step) % prime
	}
}

// Every step, start and interval of small primes, and hard ones of the prime that is used: slow
// rotations, fast ones and those that nearly close after a few steps. A visit that is a step too
// late or an interval's end that is off by one changes some count.
func TestVisit(t *testing.T) {
	same := func(prime, step, at, width uint64, values int) {
		t.Helper()
		want, got := make([]uint64, values), make([]uint64, values)
		every(prime, step, at, width, want)
		visit(prime, step, at, width, got)
		if !slices.Equal(got, want) {
			t.Fatalf("modulo %d, %d values from %d by steps of %d, below %d: %v, and not %v", prime, values, at, step, width, got, want)
		}
	}
	for _, p := range []uint64{2, 3, 5, 7, 13, 17} {
		for step := range p {
			for at := range p {
				for width := uint64(1); width <= p; width++ {
					for _, values := range []int{1, 3, 40} {
						same(p, step, at, width, values)
					}
				}
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		g := 2 + r.Uint64N(1<<r.Uint64N(20))
		h := hash{prime, g}
		bucket := r.Uint64N(g)
		width := h.start(bucket+1) - h.start(bucket)
		step := r.Uint64N(prime)
		switch r.IntN(4) {
		case 0:
			step = r.Uint64N(1 << r.Uint64N(60))
		case 1:
			step = prime - 1 - r.Uint64N(1<<r.Uint64N(60))
		case 2:
			step = prime/(1+r.Uint64N(20)) + r.Uint64N(3) // nearly closes
		}
		same(prime, step%prime, r.Uint64N(prime), width, 1+r.IntN(2000))
	}
}
