// Package normal draws from the normal law with no error at all: whole numbers that
// are the floor of a multiple of a normal deviate.
//
// Added to whole numbers they give the floor of the Gaussian mechanism's result,
// since floor(n + x) = n + floor(x): a function of it, which has its guarantee in any
// number of dimensions and within any sample. (The discrete Gaussian of package noise is
// another law: of a vector of it within a Poisson sample no accountant here has a bound
// as good as the Gaussian's.)
//
// The algorithm is that of Karney 2016, "Sampling exactly from the normal
// distribution" (ACM TOMS 42, arXiv 1303.6257), Algorithm N, over uniform deviates
// whose digits are drawn when a comparison needs them. It takes about half a microsecond a
// draw, and its time depends on the draw.
package normal

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/discreet-dp/discreet/noise"
)

// Steps is the number of grid steps in a standard deviation, as in package gaussian.
const Steps = 1 << bits

const bits = 20

// A uniform is a uniform deviate in (0, 1), as digits of 16 bits that are drawn when a
// comparison asks for them. Two mostly do.
type uniform struct {
	digits [2]uint16
	known  int
	rest   []uint16
}

// A source makes deviates of bits. Its first error stays, and ends every loop.
type source struct {
	bits noise.Bits
	word uint64 // of which left digits are not used yet
	left int
	err  error
}

func (s *source) digit() uint16 {
	if s.left == 0 && s.err == nil {
		s.word, s.err = s.bits.Uint64()
		s.left = 4
	}
	if s.err != nil {
		return 0
	}
	d := uint16(s.word)
	s.word >>= 16
	s.left--
	return d
}

// at returns the i-th digit of u.
func (s *source) at(u *uniform, i int) uint16 {
	for u.known <= i {
		if d := s.digit(); u.known < len(u.digits) {
			u.digits[u.known] = d
		} else {
			u.rest = append(u.rest, d)
		}
		u.known++
	}
	if i < len(u.digits) {
		return u.digits[i]
	}
	return u.rest[i-len(u.digits)]
}

// less reports u < v. They are equal with probability 0.
func (s *source) less(u, v *uniform) bool {
	for i := 0; s.err == nil; i++ {
		if a, b := s.at(u, i), s.at(v, i); a != b {
			return a < b
		}
	}
	return false
}

// half is true with probability exp(-1/2): a run of deviates that descends from 1/2
// has an even length with that probability (von Neumann 1951).
func (s *source) half() bool {
	var run [2]uniform
	if s.at(&run[0], 0) >= 1<<15 {
		return true
	}
	for n := 1; s.err == nil; n++ {
		u, v := &run[(n-1)%2], &run[n%2]
		*v = uniform{}
		if !s.less(v, u) {
			return n%2 == 0
		}
	}
	return false
}

// below draws a whole number below n.
func (s *source) below(n uint64) uint64 {
	for s.err == nil {
		w, end := uint64(s.digit()), uint64(1)<<16
		if n > 1<<12 { // an event that nobody will see
			w, end = w<<16|uint64(s.digit()), end<<16
		}
		if w < end-end%n {
			return w % n
		}
	}
	return 0
}

// accept is true with probability exp(-x(2k+x)/(2k+2)): Algorithm B, von Neumann's
// run from x, each step of which goes on only with probability (2k+x)/(2k+2) besides.
func (s *source) accept(k uint64, x *uniform) bool {
	var run [2]uniform
	y := x
	for n := 0; s.err == nil; n++ {
		z := &run[n%2]
		*z = uniform{}
		if !s.less(z, y) {
			return n%2 == 0
		}
		switch s.below(2*k + 2) {
		case 0:
			return n%2 == 0
		case 1:
			if r := (uniform{}); !s.less(&r, x) {
				return n%2 == 0
			}
		}
		y = z
	}
	return false
}

// floor draws the floor of a normal deviate of standard deviation Steps: Algorithm N.
func (s *source) floor() int64 {
	for s.err == nil {
		k := uint64(0)
		for s.half() {
			k++
		}
		ok := true
		for n := k * (k - 1); ok && n > 0 && k > 0; n-- {
			ok = s.half()
		}
		if !ok {
			continue
		}
		var x uniform
		for n := k + 1; ok && n > 0; n-- {
			ok = s.accept(k, &x)
		}
		if !ok {
			continue
		}
		digits := uint64(s.at(&x, 0))<<16 | uint64(s.at(&x, 1))
		whole := int64(k<<bits | digits>>(32-bits))
		if s.digit()&1 == 1 {
			return -whole - 1
		}
		return whole
	}
	return 0
}

// A Source adds noise to vectors. One call at a time.
type Source struct {
	bits    func() noise.Bits // one for each goroutine
	workers int
}

// New returns a source of noise on so many goroutines; 0: one a processor. Bits
// returns a source of bits for one goroutine, outside tests noise.System.
func New(bits func() noise.Bits, workers int) *Source {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return &Source{bits, workers}
}

// Add rounds each number to the nearest multiple of sigma/Steps, adds noise of
// standard deviation sigma on that grid, all draws independent, and half a step.
// Numbers beyond 2^32 standard deviations are taken for that many, and NaN for 0. An
// error leaves the vector unchanged.
func (s *Source) Add(v []float32, sigma float64) error {
	if !(sigma >= 0x1p-100 && sigma <= 0x1p100) {
		return fmt.Errorf("add normal noise: sigma = %v is not between 2^-100 and 2^100", sigma)
	}
	count := min(s.workers, len(v))
	errs := make([]error, count)
	out := make([]float32, len(v))
	var wg sync.WaitGroup
	for w := range count {
		wg.Go(func() {
			from, to := w*len(v)/count, (w+1)*len(v)/count
			errs[w] = add(out[from:to], v[from:to], sigma, &source{bits: s.bits()})
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("add normal noise: %w", err)
	}
	copy(v, out)
	return nil
}

func add(out, v []float32, sigma float64, s *source) error {
	const limit = Steps << 32
	for i, x := range v {
		n := int64(0)
		if x == x {
			n = int64(math.RoundToEven(min(max(float64(x)*(Steps/sigma), -limit), limit)))
		}
		out[i] = float32((float64(n+s.floor()) + 0.5) * (sigma / Steps))
	}
	return s.err
}
