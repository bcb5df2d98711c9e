package web

import (
	"math"
	"math/big"
	"net/http"
	"strconv"
	"strings"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/serve/problem"
	"github.com/discreet-dp/discreet/serve/request"
)

// What an error costs is found by the law of the noise: its scale, and with it the error, is
// inversely proportional to epsilon for Laplace's noise, and to the square root of rho for
// Gaussian noise (Dwork and Roth 2014, theorem 3.6; Bun and Steinke 2016, proposition 1.6).
// The law only proposes an amount, which explain then confirms: where the noise is drawn on a
// grid, or where an aggregate has several parts, it holds nearly.

// tries bounds how often a proposal is corrected.
const tries = 4

// price adds to the rows of an explanation what the wanted error would cost.
func (s *site) price(v *visit, f *statement, r *request.Statement, data *explained) {
	refuse := func(message, hint string) {
		data.Problem = &stated{Problem: problem.Request(http.StatusBadRequest, message, hint)}
	}
	wanted, err := wantedError(f)
	if err != nil {
		refuse(err.Error(), `write an error as 150, or as 2% with the size of the values that it is a share of`)
		return
	}
	data.Wanted = "±" + short(wanted)
	for i, x := range data.ExpectedError {
		if i == 4 { // each column asks for several explanations
			break
		}
		data.Price = true
		data.Rows[i].Price, data.Rows[i].Priced = s.priceOf(v, f, r, x, wanted, data.Remaining)
	}
}

type wantedProblem string

func (w wantedProblem) Error() string { return string(w) }

// wantedError is the error that a form wants, in the unit of the values.
func wantedError(f *statement) (float64, error) {
	text, share := strings.CutSuffix(strings.TrimLeft(f.Wanted, "±+ "), "%")
	wanted, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(wanted > 0) || math.IsInf(wanted, 0) {
		return 0, wantedProblem("the wanted error is no positive number")
	}
	if !share {
		return wanted, nil
	}
	about, err := strconv.ParseFloat(strings.ReplaceAll(f.About, ",", ""), 64)
	if about = math.Abs(about); err != nil || !(about > 0) || math.IsInf(about, 0) {
		return 0, wantedProblem("a share needs the size of the values that it is of")
	}
	return wanted / 100 * about, nil
}

// priceOf returns what a column costs to be off by so much at most, and what explain says of
// its error then; or why there is no telling.
func (s *site) priceOf(v *visit, f *statement, r *request.Statement, x discreet.ExpectedError, wanted float64, left *discreet.Remaining) (price, says string) {
	power, amount := 1.0, r.Spend.Epsilon.Float64()
	if r.Spend.Rho.Sign() > 0 {
		power, amount = 2, r.Spend.Rho.Float64()
	}
	if amount == 0 { // the account's default was spent
		d := v.who.Account.Spend()
		if amount = d.Epsilon.Float64(); d.Rho.Sign() > 0 {
			power, amount = 2, d.Rho.Float64()
		}
	}
	off := x.Error
	for range tries {
		if !(off > 0) || !(amount > 0) {
			return "", "it has no noise"
		}
		amount *= math.Pow(off/wanted, power)
		rounded, ok := upward(amount)
		if !ok {
			return "", "no amount that can be written"
		}
		o := r.Options()
		if o.Spend.Epsilon, o.Spend.Rho = (privacy.Epsilon{}), (privacy.Rho{}); power == 2 {
			o.Spend.Rho, _ = privacy.NewRho(rounded)
		} else {
			o.Spend.Epsilon, _ = privacy.NewEpsilon(rounded)
		}
		e, err := s.Gateway.Explain(v.r.Context(), v.who, r.SQL, o)
		if err != nil {
			return "", problem.Of(err).Message
		}
		amount, _ = rounded.Float64()
		if off = errorOf(e, x.Column); off <= wanted {
			price = charged(e.Cost.Amounts)
			if left != nil && own(e.Cost.Amounts, left.Measure) > own(left.Amounts, left.Measure) {
				return price, "more than is left"
			}
			if x.Behind {
				return price, "then another value has at most " + short(off) + " rows more"
			}
			return price, "then at most ±" + short(off)
		}
	}
	return "", "no amount was found"
}

func errorOf(e *discreet.Explanation, column string) float64 {
	for _, x := range e.ExpectedError {
		if x.Column == column {
			return x.Error
		}
	}
	return math.Inf(1)
}

// upward is the next number of three digits.
func upward(x float64) (*big.Rat, bool) {
	if !(x > 1e-15) || x > 1e6 {
		return nil, false
	}
	r, err := numeric.FromFloat(x)
	if err != nil {
		return nil, false
	}
	return numeric.CeilDigits(r, 3), true
}

// short prints a number that nobody adds up.
func short(x float64) string {
	if x >= 1e4 && x < 1e15 {
		return grouped(math.Ceil(x))
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// grouped prints a whole number with its thousands apart.
func grouped(x float64) string {
	digits := strconv.FormatFloat(x, 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
