package terminal

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// Rounded prints an amount in at most six digits, for people: spent amounts are rounded up,
// amounts that are left are rounded down. JSON has them exactly.
func Rounded(a privacy.Quantity, round func(*big.Rat, int) *big.Rat) string {
	r := round(a.Rat(), 6)
	if s := numeric.FormatRat(r); len(s) <= 9 {
		return s
	}
	f, _ := r.Float64() // exact enough for six digits
	return strconv.FormatFloat(f, 'g', 6, 64)
}

// Up rounds what was spent.
func Up(r *big.Rat, digits int) *big.Rat { return numeric.CeilDigits(r, digits) }

// Down rounds what is left.
func Down(r *big.Rat, digits int) *big.Rat { return numeric.FloorDigits(r, digits) }

// JSONNumber is a float64 in JSON, and for people. JSON has no infinities: a number that
// noise has lifted beyond float64 becomes the largest.
func JSONNumber(f float64) json.Number {
	text, err := json.Marshal(min(max(f, -math.MaxFloat64), math.MaxFloat64))
	if err != nil { // only NaN fails, and no amount is NaN
		return "null"
	}
	return json.Number(text)
}

// Short prints a number for people; whole numbers stay whole.
func Short(n json.Number) string {
	f, err := n.Float64()
	if err != nil || IntegerText.MatchString(n.String()) {
		return n.String()
	}
	return fmt.Sprintf("%.6g", f)
}

// Shortest is the decimal that a float64 was written as.
func Shortest(f float64) *big.Rat {
	r, err := numeric.FromFloat(f)
	if err != nil {
		return new(big.Rat)
	}
	return r
}

// InMeasure is what is left of a budget in a measure.
func InMeasure(m filter.Measure, a filter.Amounts) discreet.Remaining {
	return discreet.Remaining{Measure: m, Amounts: a}
}

// OneLine puts a statement on one line.
func OneLine(statement string) string {
	return Printable(strings.Join(strings.Fields(statement), " "))
}

// Shorten puts a statement on one line of at most n characters.
func Shorten(statement string, n int) string {
	line := []rune(OneLine(statement))
	if len(line) > n {
		return string(line[:n-3]) + "..."
	}
	return string(line)
}

// AmountsText names all amounts of a measure.
func AmountsText(r discreet.Remaining, round func(*big.Rat, int) *big.Rat) string {
	return PartsText(r.In(r.Measure), round)
}

// ChargeText names the amounts of a charge that are not zero.
func ChargeText(c filter.Amounts) string {
	if parts := c.Positive(); len(parts) > 0 {
		return PartsText(parts, Up)
	}
	return "nothing"
}

// RemainingText says what is left of a budget, in its measure.
func RemainingText(r discreet.Remaining) string { return AmountsText(r, Down) }

// PartsText names amounts.
func PartsText(parts []filter.Part, round func(*big.Rat, int) *big.Rat) string {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.Name + " " + Rounded(p.Amount, round)
	}
	return strings.Join(texts, ", ")
}

// IntegerText is a whole number as it is written.
var IntegerText = regexp.MustCompile(`^[+-]?[0-9]{1,100}$`)
