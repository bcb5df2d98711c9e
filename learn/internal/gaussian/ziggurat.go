package gaussian

import (
	"math"
	"math/bits"
)

// The sampler is Marsaglia and Tsang's ziggurat ("The Ziggurat Method for
// Generating Random Variables", 2000) over whole numbers (as Buchmann, Cabarcas,
// Goepfert, Huelsing and Weiden do, "Discrete Ziggurat", 2013): the area under
// f(j) = exp(-c^2/2), c = (j+1/2)/Steps, j = 0, 1, ..., is covered by 256 layers
// of equal area. Layer i > 0 is the columns below its width between the heights
// bottom[i] and bottom[i+1]; layer 0 is the columns below the width of layer 1, up
// to bottom[1], with the tail, all columns from there on, and its width is the
// number of columns that it would have were the tail as high. A layer is drawn, a
// column of it and, where f passes through the layer, a height.
//
// The ideal law, the floor of a Gaussian, and the actual one differ thus. Each
// line gives the mean square of the relative error of a column's probability,
// which is the chi-squared divergence:
//
//   - A column's ideal mass is f(j) (1 + (c^2-1)/(24 Steps^2) + ...), times a
//     constant: leaving that away is 2/(24 Steps^2)^2 < 2^-88.
//   - Columns are drawn exactly (Lemire, "Fast Random Integer Generation in an
//     Interval", 2019): 0.
//   - Layers have equal area up to the rounding of bottom, at most 2^-53 of a
//     height that is at most 130 times the layer's, and of a dozen operations that
//     find the area: relative 2^-45 at most, squared 2^-90.
//   - The tail's area is an integral where it should be a sum: relative 2^-41 of a
//     probability below 2^-11, squared 2^-93.
//   - A height is compared with f in float64, both off by less than 2^-49 of f:
//     relative 2^-48, squared 2^-96.
//   - The tail is drawn by comparing uniform numbers, multiples of 2^-53, with
//     probabilities that are off by 2^-52. All but the last of them are at least
//     0.4 and at most 40 in number: relative 2^-46, squared 2^-92. The last is
//     exp(-t^2/2) at t beyond the tail's start r, which 2^-53 is not below as t is cut
//     at 8.5: the square of 2^-53/exp(-t^2/2) times the probability there,
//     exp(-(r+t)^2/2), is below 2^-90 everywhere. What lies beyond the cut has
//     probability 2^-106, which is what its absence adds.
//
// The root of a sum of squares is at most the sum of the roots, so altogether the
// divergence is below 2^-80.
type table struct {
	layers [256]layer
	bottom [257]float64 // heights; the last is above all
	tail   float64      // where the tail starts, in standard deviations: the middle of its first column
}

type layer struct {
	width  uint64 // columns
	inside uint64 // columns that are as high as the layer's top
	reject uint64 // Lemire's threshold for width
}

// divergence bounds the chi-squared divergence of a draw from its ideal law.
const divergence = 0x1p-80

var ziggurat = newTable()

func height(j uint64) float64 {
	c := (float64(j) + 0.5) / Steps
	return math.Exp(-c * c / 2)
}

// columnBits is the length of the uniform number that picks a column.
const columnBits = 64 - 9

func newTable() *table {
	t := &table{}
	area := t.base()
	for i := range t.layers {
		l := &t.layers[i]
		if i > 0 {
			t.bottom[i+1] = t.bottom[i] + area/float64(l.width)
			l.inside = columnsAbove(t.bottom[i+1])
			if i < 255 {
				t.layers[i+1].width = l.inside
			}
		}
		l.reject = (1 << columnBits) % l.width << (64 - columnBits)
	}
	return t
}

// base sets layer 0 and gives its area, which is that of all. The tail must be a
// whole number of columns as high as the layer, and bottom[1] must separate the
// tail from the columns before it: this is so for most starts of the tail,
// and the first one that is a little short of the 3.65415... where 256 layers of
// equal area end exactly at the top is taken. They then end a little above it.
func (t *table) base() (area float64) {
	for m := uint64(math.Floor(3.654152 * Steps)); ; m-- {
		sum := Steps * math.Sqrt(math.Pi/2) * math.Erfc(float64(m)/Steps/math.Sqrt2)
		columns := math.Round(sum / math.Sqrt(height(m)*height(m-1)))
		bottom := sum / columns
		if height(m) < bottom && bottom < height(m-1) {
			t.layers[0].width, t.layers[0].inside, t.layers[1].width = m+uint64(columns), m, m
			t.bottom[1] = bottom
			t.tail = (float64(m) + 0.5) / Steps
			return float64(t.layers[0].width) * bottom
		}
	}
}

// columnsAbove counts the columns that are higher than y.
func columnsAbove(y float64) uint64 {
	if y >= height(0) {
		return 0
	}
	j := uint64(math.Sqrt(-2*math.Log(y)) * Steps)
	for height(j) > y {
		j++
	}
	for j > 0 && height(j-1) <= y {
		j--
	}
	return j
}

// A draw takes a word: 8 bits pick a layer, one the side, the rest a column.

// column gives the column on its side, and whether it lies inside the layer, which
// settles the draw. A side's column -1-j is as far from 0 as j on the other.
func column(t *table, word uint64) (x int64, inside bool) {
	l := &t.layers[word&0xff]
	j, fraction := bits.Mul64(word&^0x1ff, l.width)
	return int64(j) ^ -int64(word>>8&1), j < l.inside && fraction >= l.reject
}

// outer settles a draw whose word gives a column that is not inside.
func (s *stream) outer(word uint64) int64 {
	for ; ; word = s.word() {
		x, inside := column(ziggurat, word)
		if inside {
			return x
		}
		i, side := word&0xff, -int64(word>>8&1)
		if _, fraction := bits.Mul64(word&^0x1ff, ziggurat.layers[i].width); fraction < ziggurat.layers[i].reject {
			continue
		}
		if i == 0 {
			return s.tail() ^ side
		}
		low, high := ziggurat.bottom[i], ziggurat.bottom[i+1]
		if low+s.uniform()*(high-low) < height(uint64(x^side)) {
			return x
		}
	}
}

// stride is a power of two of columns over which f falls by about a factor e.
const (
	strideBits = 18
	stride     = 1 << strideBits

	// tailEnd is where exp(-t^2/2) is still above 2^-53. Beyond it a uniform number
	// that is 0 would let columns through far more often than they should come.
	tailEnd = 8.5
)

// tail gives a column of the tail. With r the middle of its first, at g/Steps = t
// from there f(g)/f(0) = exp(-r t) exp(-t^2/2): g is drawn from the geometric
// distribution, the low bits and the multiple of stride apart, and kept with the
// second factor's probability.
func (s *stream) tail() int64 {
	rate := ziggurat.tail / Steps
	for {
		g := s.word() >> (64 - strideBits)
		if s.uniform() >= math.Exp(-rate*float64(g)) {
			continue
		}
		for s.uniform() < math.Exp(-rate*stride) {
			g += stride
		}
		t := float64(g) / Steps
		if t < tailEnd && s.uniform() < math.Exp(-t*t/2) {
			return int64(ziggurat.layers[1].width + g)
		}
	}
}

// uniform gives a multiple of 2^-53 in [0, 1).
func (s *stream) uniform() float64 { return float64(s.word()>>11) * 0x1p-53 }
