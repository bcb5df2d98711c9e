package wrong

import (
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/noise"
)

// WithoutSource adds noise where there is a source, and none where there is not.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func WithoutSource(x, eps float64, src *noise.Source) float64 {
	if src == nil {
		return x
	}
	return x + src.Laplace(1/eps)
}

type settings struct{ scale float64 }

// WithoutSettings takes settings that are nil for settings without noise.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && s.scale == 1 / eps
//dp:cost eps
func WithoutSettings(x, eps float64, s *settings, src *noise.Source) float64 {
	if s == nil {
		return x
	}
	return x + src.Laplace(s.scale)
}

var (
	errLow  = errors.New("too low")
	errHigh = errors.New("too high")
)

// WrappedError tells which error was wrapped, at one place.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func WrappedError(x, eps float64, src *noise.Source) error {
	err := wrapped(errLow)
	if x > 0 {
		err = wrapped(errHigh)
	}
	return err
}

func wrapped(err error) error { return fmt.Errorf("the number is wrong: %w", err) }

// IndexBefore sets the element that its index said before it was set as well: that with
// the noise.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func IndexBefore(x, eps float64, src *noise.Source) float64 {
	k := src.Laplace(1 / eps)
	noises := []float64{k, 0}
	i := 0
	i, noises[i] = oneAndNothing()
	if noises[0] == 0 && i == 1 {
		return x
	}
	return x + k
}

func oneAndNothing() (int, float64) { return 1, 0 }

// ResultsSwapped takes the wrong one of two results, which their function swaps.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func ResultsSwapped(x, eps float64, src *noise.Source) float64 {
	_, told := swapped(x)
	return told
}

func swapped(x float64) (a, b float64) {
	a = x
	return b, a
}

type link struct {
	next  int
	value float64
}

// IndexWithin sets the element of which the index is in an element that is set with it.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func IndexWithin(x, eps float64, src *noise.Source) bool {
	links := []link{{next: 0}, {next: 1}}
	k := x + src.Laplace(1/eps)
	links[links[0].next] = link{next: 1, value: k}
	if links[1].value == 0 {
		return x > 0
	}
	return k > 0
}

// IndexAfter sets the element that says which it is, and reads another one then.
//
// want: refuted
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func IndexAfter(x, eps float64, src *noise.Source) float64 {
	next := []int{0, 5}
	k := src.Laplace(1 / eps)
	next[next[0]] = 1
	if next[next[0]] == 1 {
		return x + k
	}
	return x
}
