package pld

import (
	"math"
	"math/bits"
	"math/cmplx"

	"github.com/discreet-dp/discreet/accountant/internal/work"
)

// spectrum is the product of the transforms of tilted laws, one real law above and
// one below the pairs packed into one complex sequence. Indices are folded modulo
// n, which is exact for the sum folded modulo n.
//
// At a place and its mirror, acc holds the two products; limit holds, for each,
// Π(|φ|+e)^k with e the error of a transform, from which follows a bound on all
// rounding: |Πφ - Πφ̂| <= Π(|φ̂|+e) - Π|φ̂|.
type spectrum struct {
	meter *work.Meter
	*transform
	buf, acc []complex128
	limit    []float64
	limitOf  [2][2]float64 // at the two places that are their own mirrors: up, down
	e        float64
	events   float64
}

func newSpectrum(meter *work.Meter, lg int) *spectrum {
	n := 1 << lg
	meter.Spend(4 * n)
	s := &spectrum{
		meter:     meter,
		transform: newTransform(lg),
		buf:       make([]complex128, n),
		acc:       make([]complex128, n),
		limit:     make([]float64, n),
		e:         2 * transformError(lg), // the packed sequence has absolute sum at most 2
	}
	s.reset()
	return s
}

// reset makes the product empty.
func (s *spectrum) reset() {
	for i := range s.acc {
		s.acc[i], s.limit[i] = 1, 1
	}
	s.acc[0], s.acc[1] = complex(1, 1), complex(1, 1)
	s.limitOf = [2][2]float64{{1, 1}, {1, 1}}
	s.events = 0
}

// multiply takes count independent events of the laws into the product.
func (s *spectrum) multiply(up, down law, count int64) {
	s.meter.Spend(len(s.buf) / 8 * (s.lg + 3*bits.Len64(uint64(count))))
	clear(s.buf)
	mask := int64(len(s.buf) - 1)
	for i, w := range up.weight {
		s.buf[up.index[i]&mask] += complex(w, 0)
	}
	for i, w := range down.weight {
		s.buf[down.index[i]&mask] += complex(0, w)
	}
	s.forward(s.buf)
	s.events += float64(count)
	for place := range 2 { // their own mirrors: both spectra are real
		u, d := real(s.buf[place]), imag(s.buf[place])
		s.acc[place] = complex(real(s.acc[place])*power(u, count), imag(s.acc[place])*power(d, count))
		s.limitOf[place][0] *= power(math.Abs(u)+s.e, count)
		s.limitOf[place][1] *= power(math.Abs(d)+s.e, count)
	}
	for top := 2; top < len(s.buf); top *= 2 {
		for place := top; place < top+top/2; place++ {
			m := place ^ (top - 1)
			a, b := s.buf[place], s.buf[m]
			u := complex((real(a)+real(b))/2, (imag(a)-imag(b))/2)
			d := complex((imag(a)+imag(b))/2, (real(b)-real(a))/2)
			s.take(place, u, count)
			s.take(m, d, count)
		}
	}
}

func (s *spectrum) take(place int, z complex128, count int64) {
	size := math.Sqrt(real(z)*real(z) + imag(z)*imag(z))
	if count == 1 {
		s.acc[place] *= z
		s.limit[place] *= size + s.e
	} else {
		limit := power(size+s.e, count)
		s.limit[place] *= limit
		if limit < tiny {
			z = 0
		} else {
			z = cpower(z, count)
		}
		s.acc[place] *= z
	}
	if s.limit[place] < tiny { // no denormal numbers: the limit still covers it
		s.limit[place], s.acc[place] = tiny, 0
	}
}

const tiny = 1e-150

func power(x float64, k int64) float64 {
	y := 1.0
	for ; k > 0; k >>= 1 {
		if k&1 == 1 {
			y *= x
		}
		x *= x
		if math.Abs(x) < tiny {
			x = 0
		}
	}
	return y
}

func cpower(x complex128, k int64) complex128 {
	y := complex(1, 0)
	for ; k > 0; k >>= 1 {
		if k&1 == 1 {
			y *= x
		}
		x *= x
	}
	return y
}

// sums returns the tilted laws of the sum, folded, and a bound on the absolute
// error of each of their entries.
func (s *spectrum) sums() (up, down []float64, e float64) {
	n := len(s.buf)
	s.meter.Spend(n / 8 * (s.lg + 24))
	gamma := 16 * unit * s.events
	var lost, total float64
	note := func(limit, size float64) {
		lost += max(0, limit-size) + gamma*limit
		total += size
	}
	for place := range 2 {
		s.buf[place] = s.acc[place]
		note(s.limitOf[place][0], math.Abs(real(s.acc[place])))
		note(s.limitOf[place][1], math.Abs(imag(s.acc[place])))
	}
	for top := 2; top < n; top *= 2 {
		for place := top; place < top+top/2; place++ {
			m := place ^ (top - 1)
			u, d := s.acc[place], s.acc[m]
			s.buf[place] = u + complex(-imag(d), real(d))
			s.buf[m] = conj(u) + complex(imag(d), real(d))
			for range 2 {
				note(s.limit[place], cmplx.Abs(u))
				note(s.limit[m], cmplx.Abs(d))
			}
		}
	}
	s.inverse(s.buf)
	up, down = make([]float64, n), make([]float64, n)
	for i, z := range s.buf {
		up[i], down[i] = max(0, real(z)/float64(n)), max(0, imag(z)/float64(n))
	}
	return up, down, (lost + transformError(s.lg)*total) / float64(n)
}

// lost is more than all that denormal numbers can lose in one composition: each of some
// 2^23 operations at most 2^-1074, passed on through factors below 1.
const lost = 1e-300

// composition is the law of a sum on one side, tilted by θ, in the window.
type composition struct {
	theta, step float64
	offset      float64   // loss at the first entry of tail
	logM        float64   // ln E e^{θ·sum}
	end         float64   // P of the loss +Inf
	tail        []float64 // see newComposition
	slack       float64   // error of each entry of tail
	peak        int       // where what is left of tail without slack gives the greatest δ
	factor      float64   // relative error of δ, as a logarithm
	shift       float64   // error of losses
}

// newComposition takes the tilted law of the sum, which starts at index first of
// the folded sequence, to its hockey-stick divergences at every lattice point s_j:
//
//	δ(s_j) = e^{logM-θ·s_j}·T_j,   T_j = Σ_{m>0} (1-e^{-mh})·e^{-θmh}·π_{j+m},
//
// by a recurrence of positive terms. e bounds the error of each π, outside the
// tilted mass beyond either end of the window, which folding put somewhere in it. What
// underflows on the way is below lost: a tail of zero is not believed.
func newComposition(folded []float64, first int64, theta, step, e, outside float64) composition {
	n := len(folded)
	mask := int64(n - 1)
	c := composition{theta: theta, step: step, tail: make([]float64, n)}
	g := math.Exp(-theta * step)
	fall, drop := math.Exp(-step), -math.Expm1(-step)
	var t, b float64 // T_j, and Σ_{m>0} e^{-(1+θ)mh} π_{j+m}
	for j := n - 1; j >= 0; j-- {
		c.tail[j] = t
		p := folded[(first+int64(j))&mask]
		t = g * (t + drop*(b+p))
		b = g * fall * (b + p)
	}
	// The weights sum to this, and the greatest is at e^{-mh} = θ/(1+θ).
	all := g * drop / (-math.Expm1(-theta*step) * -math.Expm1(-(1+theta)*step))
	top := math.Exp(-theta*math.Log1p(1/theta)) / (1 + theta)
	c.slack = e*all + outside*top + lost
	c.factor = 8 * unit * float64(min(n, 1000))
	best := math.Inf(-1)
	for j, t := range c.tail {
		if t > c.slack {
			if d := math.Log(t-c.slack) - theta*step*float64(j); d > best {
				c.peak, best = j, d
			}
		}
	}
	return c
}
