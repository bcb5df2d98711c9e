package web

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// symbols are how people write amounts.
var symbols = map[string]string{"epsilon": "ε", "delta": "δ", "rho": "ρ"}

// rounded prints an amount in at most four digits: what was spent is rounded up, what is
// left down.
func rounded(a privacy.Quantity, round func(*big.Rat, int) *big.Rat) string {
	r := round(a.Rat(), 4)
	if s := numeric.FormatRat(r); len(s) <= 8 {
		return s
	}
	f, _ := r.Float64() // exact enough for four digits
	return strconv.FormatFloat(f, 'g', 4, 64)
}

// amounts names parts of a cost or a budget.
func amounts(parts []filter.Part, round func(*big.Rat, int) *big.Rat) string {
	if len(parts) == 0 {
		return "nothing"
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		name := p.Name
		if s := symbols[name]; s != "" {
			name = s
		}
		texts[i] = name + " " + rounded(p.Amount, round)
	}
	return strings.Join(texts, ", ")
}

// charged words what something cost.
func charged(a filter.Amounts) string { return amounts(a.Positive(), numeric.CeilDigits) }

// own is the amount that a measure counts in, such as rho.
func own(a filter.Amounts, m filter.Measure) float64 {
	f, _ := a.In(m)[0].Amount.Rat().Float64()
	return f
}
