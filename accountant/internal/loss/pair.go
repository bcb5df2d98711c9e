package loss

import (
	"errors"
	"math"
)

// A Pair is two laws P and Q on a line that is ordered by the loss L = ln dP/dQ.
// Each law has atoms, a continuous part, and a rest where the other law is zero.
//
// δ(ε) of the pair is the hockey-stick divergence sup_S P(S) - e^ε Q(S). Pairs that
// are equal as Go values are the same pair.
type Pair interface {
	// Atoms returns the discrete part, in increasing order of loss.
	Atoms() []Atom
	// Cells measures the continuous part between consecutive losses t, which
	// increase and may begin at -Inf and end at +Inf: logP[i] becomes
	// ln P{t[i] < L <= t[i+1]} and ratio[i] the logarithm of P over Q of the
	// same set. Where P is zero, logP is -Inf and the ratio means nothing.
	Cells(t, logP, ratio []float64) Rounding
	// Thresholds returns some n increasing finite losses that show where the
	// continuous part lies, or nil if there is none. Outside of them P has less
	// than e^-90 below, and less than e^-1000 above.
	Thresholds(n int) []float64
	// Max returns the least upper bound of the finite losses, or +Inf.
	Max() float64
	// Ends returns P{Q = 0}, the loss +Inf, and Q{P = 0}, the loss -Inf.
	Ends() (p, q float64)
	// Delta returns δ(ε) for any real ε, to a relative error of Precision.
	Delta(epsilon float64) float64
}

// Steps is about how many exponential functions a call of Delta takes, after the first.
func Steps(p Pair) int {
	if s, ok := p.(interface{ steps() int }); ok {
		return s.steps()
	}
	return 2 * rung
}

// CellSteps is about how many exponential functions Cells takes for one cell.
func CellSteps(p Pair) int {
	if s, ok := p.(interface{ cellSteps() int }); ok {
		return s.cellSteps()
	}
	return 8
}

// Precision bounds the relative error of Pair.Delta where it is above 1e-300.
const Precision = 1e-10

// An Atom is one outcome: its loss, and the logarithm of its P-measure. The
// Q-measure is the P-measure times e^-Loss.
type Atom struct{ Loss, LogP float64 }

// A Rounding bounds the errors of cells: Mass the relative error of a P-measure
// with its Q-measure, Ratio the absolute error of the logarithm of their ratio.
type Rounding struct{ Mass, Ratio float64 }

func (r Rounding) join(s Rounding) Rounding {
	return Rounding{max(r.Mass, s.Mass), max(r.Ratio, s.Ratio)}
}

// ErrUnsupported says that an event has no dominating pair here.
var ErrUnsupported = errors.New("no dominating pair")

// exact returns the bracket of δ(ε) of one event.
func exact(p Pair, epsilon float64) (Bracket, error) {
	d := min(1, p.Delta(epsilon))
	b := Bracket{d, d, d}.Outward(d * Precision)
	if b.Low < 0 {
		b.Low = 0
	}
	b.High = min(1, b.High)
	return b, b.Check()
}

// positive refuses parameters that no noise has.
func positive(xs ...float64) bool {
	for _, x := range xs {
		if !(x > 0) || math.IsInf(x, 1) {
			return false
		}
	}
	return true
}
