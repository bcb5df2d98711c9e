package main

import (
	"math/big"
	"strconv"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// rounded prints an amount in at most six digits, for people: what was spent is
// rounded up and what is left down. JSON has it exactly.
func rounded(a privacy.Quantity, round func(*big.Rat, int) *big.Rat) string {
	r := round(a.Rat(), 6)
	if s := numeric.FormatRat(r); len(s) <= 9 {
		return s
	}
	f, _ := r.Float64() // six digits survive
	return strconv.FormatFloat(f, 'g', 6, 64)
}

func up(r *big.Rat, digits int) *big.Rat   { return numeric.CeilDigits(r, digits) }
func down(r *big.Rat, digits int) *big.Rat { return numeric.FloorDigits(r, digits) }
