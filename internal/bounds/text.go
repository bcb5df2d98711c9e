package bounds

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// AtMost prints six digits of an upper bound, rounded up: "none" of one that is infinite.
func AtMost(x float64) string {
	if math.IsInf(x, 1) {
		return "none"
	}
	return outward(x, numeric.CeilDigits)
}

// AtLeast prints six digits of a lower bound, rounded down.
func AtLeast(x float64) string {
	if x <= 0 {
		return "0"
	}
	return outward(x, numeric.FloorDigits)
}

func outward(x float64, round func(*big.Rat, int) *big.Rat) string {
	r := new(big.Rat)
	if r.SetFloat64(x) == nil {
		return fmt.Sprint(x)
	}
	f, _ := round(r, 6).Float64()
	return strconv.FormatFloat(f, 'g', 6, 64)
}
