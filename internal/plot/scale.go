package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A scale maps an axis's numbers to shares of its length. It works on places: the
// numbers, or their logarithms to the base 10.
type scale struct {
	axis   Axis
	lo, hi float64 // places, lo < hi
	ticks  []tick
}

// A tick is a round number at its place.
type tick struct {
	place float64
	label string
}

// at returns where x lies on the axis, from 0 to 1.
func (s scale) at(x float64) float64 { return s.share(s.axis.place(x)) }

func (s scale) share(place float64) float64 {
	return min(1, max(0, (place-s.lo)/(s.hi-s.lo)))
}

func (a Axis) place(x float64) float64 {
	if a.Log {
		return math.Log10(x)
	}
	return x
}

// text is the label, with the scale where ticks alone may not show it.
func (a Axis) text() string {
	if a.Log {
		return strings.TrimSpace(a.Label + " (log scale)")
	}
	return a.Label
}

// A reach is the least interval of places around what an axis shows.
type reach struct {
	axis   Axis
	lo, hi float64
}

func (a Axis) reach() reach {
	r := reach{a, math.Inf(1), math.Inf(-1)}
	if a.Max != 0 && a.has(a.Max) {
		r.hi = a.place(a.Max)
	}
	if a.Zero && !a.Log {
		r.lo, r.hi = 0, max(r.hi, 0)
	}
	return r
}

func (r *reach) include(x float64) {
	place := r.axis.place(x)
	r.lo, r.hi = min(r.lo, place), max(r.hi, place)
}

// widen adds a share of its length to both ends of a reach.
func (r *reach) widen(share float64) {
	if more := share * (r.hi - r.lo); !r.axis.Log && more > 0 {
		r.lo, r.hi = r.lo-more, r.hi+more
	}
}

// An axis ends at its data, unless a round number lies no further out than this share of it:
// else it would show little in much room.
const (
	loose = 0.08 // of values
	tight = 0.05 // of what they are drawn over
)

// scale returns the scale of a reach with about so many ticks, two at least. It ends at round
// numbers where these lie no further out than slack, as a share of the axis, or where it
// would have a single one otherwise.
func (r reach) scale(ticks int, slack float64) scale {
	s := scale{axis: r.axis, lo: r.lo, hi: r.hi}
	if !(s.hi-s.lo > 1e-9*max(math.Abs(s.lo), math.Abs(s.hi))) { // a single number
		switch {
		case s.axis.Kind == Moments, s.axis.Kind == Clock:
			s.lo, s.hi = s.lo-hour, s.hi+hour
		case s.axis.Log:
			s.lo, s.hi = s.lo-0.5, s.hi+0.5
		case s.hi == 0:
			s.lo, s.hi = 0, 1
		default:
			s.lo, s.hi = min(0, s.lo*2), max(0, s.hi*2)
		}
	}
	ticks = max(ticks, 2)
	ends := s.ends(ticks, slack)
	for n := ticks + 1; n <= 3*ticks && len(ends.ticks) < min(ticks, 3); n++ {
		if closer := s.ends(n, slack); len(closer.ticks) > len(ends.ticks) && len(closer.ticks) <= ticks+2 {
			ends = closer
		}
	}
	if len(ends.ticks) < 2 { // one number alone says nothing of the distance to it
		return s.ends(ticks, math.MaxFloat64)
	}
	return ends
}

// ends is s with about so many ticks, and with ends that fit them.
func (s scale) ends(ticks int, slack float64) scale {
	all := s.round(ticks)
	if len(all) < 2 {
		return s
	}
	hair, far := 1e-9*(s.hi-s.lo), slack*(s.hi-s.lo)
	lo, hi := s.lo, s.hi
	for _, t := range all {
		if t.place <= s.lo+hair && s.lo-t.place <= far {
			lo = t.place
		}
	}
	for i := len(all) - 1; i >= 0; i-- {
		if t := all[i]; t.place >= s.hi-hair && t.place-s.hi <= far {
			hi = t.place
		}
	}
	s.lo, s.hi = lo, hi
	for _, t := range all {
		if t.place >= s.lo-hair && t.place <= s.hi+hair {
			s.ticks = append(s.ticks, t)
		}
	}
	return s
}

// round returns round numbers from at most s.lo to at least s.hi.
func (s scale) round(n int) []tick {
	switch s.axis.Kind {
	case Moments, Clock:
		return moments(s.lo, s.hi, n, s.axis.Kind == Clock)
	case Keys:
		return keys(s.lo, s.hi, n)
	}
	if !s.axis.Log {
		return linear(s.lo, s.hi, n)
	}
	switch span := s.hi - s.lo; {
	case span < 0.7: // within a decade the numbers are nearly evenly spaced
		ticks := linear(math.Pow(10, s.lo), math.Pow(10, s.hi), n)
		for i, t := range ticks {
			ticks[i].place = math.Log10(t.place) // -Inf for 0, which no axis reaches
		}
		return ticks
	case 3*span <= float64(n):
		return decades(s.lo, s.hi, 1, []int64{1, 2, 5})
	default:
		step, _, _ := stride(span / float64(n))
		return decades(s.lo, s.hi, max(1, int(math.Ceil(step))), []int64{1})
	}
}

// stride returns the least of 1, 2, 5 times a power of ten that is at least x.
func stride(x float64) (step float64, digit int64, exponent int) {
	exponent = int(math.Floor(math.Log10(x)))
	for _, digit := range []int64{1, 2, 5} {
		if step := decimal(digit, exponent); step >= x*(1-1e-9) {
			return step, digit, exponent
		}
	}
	return decimal(1, exponent+1), 1, exponent + 1
}

func linear(lo, hi float64, n int) (ticks []tick) {
	step, digit, exponent := stride((hi - lo) / float64(n))
	first, last := math.Floor(lo/step+1e-9), math.Ceil(hi/step-1e-9)
	if !(last-first <= 1000) || math.Abs(first) > 1e15 || math.Abs(last) > 1e15 {
		return nil // the numbers differ by less than they can be told apart
	}
	for i := int64(first); i <= int64(last); i++ {
		x := decimal(i*digit, exponent)
		ticks = append(ticks, tick{x, number(x)})
	}
	return ticks
}

// keys are round numbers at least 1 apart, without marks between thousands.
func keys(lo, hi float64, n int) []tick {
	n = min(n, max(1, int(math.Ceil(min(hi-lo, 1e6)))))
	ticks := linear(lo, hi, n)
	for i, t := range ticks {
		ticks[i].label = strings.ReplaceAll(t.label, ",", "")
	}
	return ticks
}

func decades(lo, hi float64, step int, digits []int64) (ticks []tick) {
	first := int(math.Floor(lo/float64(step)+1e-9)) * step
	for e := first; ; e += step {
		for _, d := range digits {
			place := float64(e) + math.Log10(float64(d))
			ticks = append(ticks, tick{place, power(d, e)})
			if place >= hi-1e-9 {
				return ticks
			}
		}
	}
}

// power prints a digit times a power of ten, also one that is no float64.
func power(digit int64, exponent int) string {
	if exponent > -300 && exponent < 300 {
		return number(decimal(digit, exponent))
	}
	s := "10" + superscript.Replace(strconv.Itoa(exponent))
	if digit != 1 {
		s = strconv.FormatInt(digit, 10) + "×" + s
	}
	return s
}

// decimal returns digits times a power of ten, rounded once.
func decimal(digits int64, exponent int) float64 {
	x, err := strconv.ParseFloat(fmt.Sprintf("%de%d", digits, exponent), 64)
	if err != nil {
		return math.Inf(1) // no axis reaches it
	}
	return x
}

// number prints a round number: 25, 0.5, 12,000, 2×10⁻⁷.
func number(x float64) string {
	sign := ""
	if x < 0 {
		sign, x = "−", -x
	}
	if x != 0 && (x < 1e-3 || x >= 1e6) {
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(x, 'e', -1, 64), "e")
		power := "10" + superscript.Replace(strings.TrimLeft(strings.TrimPrefix(strings.Replace(exponent, "-0", "-", 1), "+"), "0"))
		if mantissa == "1" {
			return sign + power
		}
		return sign + mantissa + "×" + power
	}
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(x, 'f', -1, 64), ".")
	if len(whole) > 3 {
		whole = whole[:len(whole)-3] + "," + whole[len(whole)-3:]
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	return sign + whole + fraction
}

var superscript = strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")
