package noise

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// The exact law, by all strings of bits; twice the scale fails.
func TestChoiceAllBitStrings(t *testing.T) {
	for _, tc := range []struct {
		scale string
		s     []int64
	}{
		{"1", []int64{5}}, {"1", []int64{0, 0}}, {"2", []int64{-1, 0, 1, 0}}, {"1/2", []int64{3, 2}}, {"3/2", []int64{0, 3, 1}},
	} {
		c, err := NewChoice(ratio(tc.scale))
		if err != nil {
			t.Fatal(err)
		}
		law, open := enumerate(15, func(s *Stream) (int64, error) {
			i, err := c.Index(s, tc.s)
			return int64(i), err
		})
		scale, _ := ratio(tc.scale).Float64()
		follows := func(scale float64) bool {
			sum := 0.0
			for _, x := range tc.s {
				sum += math.Exp(float64(x) / scale)
			}
			for i, x := range tc.s {
				if p := math.Exp(float64(x)/scale) / sum; p < law[int64(i)]-1e-12 || p > law[int64(i)]+open+1e-12 {
					return false
				}
			}
			return true
		}
		if !follows(scale) {
			t.Errorf("scale %s, %v: %v, %v open", tc.scale, tc.s, law, open)
		}
		if tc.scale == "1/2" && follows(2*scale) {
			t.Errorf("scale %s, %v: twice the scale passes", tc.scale, tc.s)
		}
	}
}

func TestChoiceExtremes(t *testing.T) {
	c, _ := NewChoice(ratio("1"))
	s := NewStream(entropy.New())
	for range 100 {
		if i, err := c.Index(s, []int64{math.MinInt64, math.MaxInt64, 0}); i != 1 || err != nil {
			t.Fatal(i, err)
		}
	}
	if _, err := c.Index(s, nil); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
	if i, err := c.Index(NewStream(&script{}), []int64{1, 2}); i != 0 || !errors.Is(err, errExhausted) {
		t.Error(i, err)
	}
	for _, r := range []*big.Rat{nil, ratio("0"), ratio("-1")} {
		if c, err := NewChoice(r); c != nil || !errors.Is(err, ErrParameter) {
			t.Errorf("scale %v: %v, %v", r, c, err)
		}
	}
	c.Scale().SetInt64(7)
	if c.Scale().Cmp(ratio("1")) != 0 {
		t.Error("a caller can change the scale")
	}
}
