package mechanism

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// A line is public candidates for an answer in equal steps: lower, lower+step, ...
// Values become the nearest candidate, each by itself.
type line struct {
	lower, step *big.Rat
	last        uint64 // the number of the last candidate
}

// maxLast leaves 20 bits of an integer to those who divide steps.
const maxLast = 1<<42 - 1

func newLine(lower, upper, step *big.Rat) (line, error) {
	if lower == nil || upper == nil || lower.Cmp(upper) > 0 {
		return line{}, fmt.Errorf("%w: a bound is missing, or the lower one is above the upper", ErrParameter)
	}
	if err := checkPositive("the step", step); err != nil {
		return line{}, err
	}
	for _, r := range []*big.Rat{lower, upper, step} {
		if f, _ := r.Float64(); math.IsInf(f, 0) || f == 0 && r.Sign() != 0 {
			return line{}, fmt.Errorf("%w: a bound or the step is beyond what float64 can hold", ErrParameter)
		}
	}
	width := new(big.Rat).Sub(upper, lower)
	last := numeric.Floor(width.Quo(width, step))
	if last.Cmp(big.NewInt(maxLast)) > 0 {
		return line{}, fmt.Errorf("%w: there are more than 2^42 candidates", ErrParameter)
	}
	return line{new(big.Rat).Set(lower), new(big.Rat).Set(step), last.Uint64()}, nil
}

// numbers returns the candidates' numbers of the values. Infinities are clamped as
// all values are; a NaN is left out.
func (l line) numbers(values []float64) []uint64 {
	lower, _ := l.lower.Float64()
	step, _ := l.step.Float64()
	numbers := make([]uint64, 0, len(values))
	for _, x := range values {
		if i := math.RoundToEven((x - lower) / step); !math.IsNaN(i) {
			numbers = append(numbers, uint64(min(max(i, 0), float64(l.last))))
		}
	}
	return numbers
}

// value returns the candidate of a number, which is clamped.
func (l line) value(number *big.Int) float64 {
	x := new(big.Rat)
	if number.Sign() > 0 {
		x.SetInt(number)
	}
	if last := new(big.Rat).SetInt(new(big.Int).SetUint64(l.last)); x.Cmp(last) > 0 {
		x = last
	}
	f, _ := x.Add(l.lower, x.Mul(x, l.step)).Float64()
	return f
}
