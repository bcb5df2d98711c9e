package shuffle

import (
	"math"
	"testing"
)

// What is printed is guaranteed: an upper bound is not printed below itself, nor a lower one above.
func TestBoundsAreRoundedOutwards(t *testing.T) {
	for _, c := range []struct {
		x               float64
		atMost, atLeast string
	}{
		{0.40412, "0.4042", "0.4041"},
		{0.14827, "0.1483", "0.1482"},
		{3.9554, "3.956", "3.955"},
		{2.5, "2.5", "2.5"},
		{math.Inf(1), "+Inf", "+Inf"},
	} {
		if up, down := atMost(c.x), atLeast(c.x); up != c.atMost || down != c.atLeast {
			t.Errorf("%v is printed as %s at most and %s at least, want %s and %s", c.x, up, down, c.atMost, c.atLeast)
		}
	}
}
