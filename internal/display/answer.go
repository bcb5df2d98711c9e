// Package display lays out an answer for people: as a table whose cells have their
// intervals beside them, as a drawing, and as CSV. The terminal and the server's pages show
// the same. It decides nothing: what it is given was released.
package display

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/sqltype"
)

// A Column is one of a table.
type Column struct {
	Title  string
	Right  bool // aligned, as numbers are
	Beside bool // the intervals of the column before it
	Cells  []string
}

// Columns lays out an answer: beside each noisy value its interval. The titles mark columns
// whose values a noisy number chose to keep.
func Columns(a *discreet.Answer) []Column {
	var all []Column
	for j, col := range a.Columns {
		decimals := decimals(a, j)
		value := Column{Title: Printable(col.Name), Right: col.Type.IsNumeric()}
		interval := Column{Title: Percent(a.Confidence) + " interval", Beside: true}
		for i, row := range a.Rows {
			value.Cells = append(value.Cells, cell(row[j], decimals))
			text := ""
			if iv := a.Intervals[i][j]; iv != nil {
				text = "[" + bound(iv.Lower, decimals, numeric.Floor) + ", " + bound(iv.Upper, decimals, numeric.Ceil) + "]"
			}
			interval.Cells = append(interval.Cells, text)
		}
		if col.Noisy && len(a.Kept) > 0 {
			value.Title += KeptMark
		}
		all = append(all, value)
		if col.Noisy && col.Why == "" {
			all = append(all, interval)
		}
	}
	return all
}

// KeptMark marks columns whose values a noisy number chose to show.
const KeptMark = "*"

// KeptWords explain the marks of values that noisy numbers chose to show.
func KeptWords(kept []string) []string {
	if len(kept) == 0 {
		return nil
	}
	return []string{strings.Join(kept, ", ") + ": chosen by noisy values, so shown values lean to the side that was kept"}
}

// Percent is a share of 1 for people.
func Percent(confidence float64) string {
	return strconv.FormatFloat(100*confidence, 'g', 6, 64) + "%"
}

// decimals returns how many digits after the point column j of fractions is
// worth: two digits of its narrowest interval's half width. -1 prints values
// as they are.
func decimals(a *discreet.Answer, j int) int {
	if t := a.Columns[j].Type; !t.IsFloat() && t.Kind != sqltype.DecimalKind {
		return -1
	}
	narrowest := math.Inf(1)
	for i := range a.Rows {
		iv := a.Intervals[i][j]
		if iv == nil {
			continue
		}
		lo, hi := exact(iv.Lower), exact(iv.Upper)
		if lo == nil || hi == nil {
			return -1
		}
		if width, _ := new(big.Rat).Sub(hi, lo).Float64(); width > 0 {
			narrowest = min(narrowest, width/2)
		}
	}
	if math.IsInf(narrowest, 1) {
		return -1
	}
	return min(max(0, 1-int(math.Floor(math.Log10(narrowest)))), 15)
}

// exact returns the number that v is, or nil.
func exact(v sqltype.Value) *big.Rat {
	switch v := v.(type) {
	case int64:
		return new(big.Rat).SetInt64(v)
	case float64:
		return new(big.Rat).SetFloat64(v)
	case sqltype.Decimal:
		return v.Rat()
	}
	return nil
}

// cell prints a value.
func cell(v sqltype.Value, decimals int) string {
	if v == nil {
		return "NULL"
	}
	if r := exact(v); r != nil && decimals >= 0 {
		return r.FloatString(decimals)
	}
	return Printable(sqltype.Format(v))
}

// bound prints an interval's end, rounded outward.
func bound(v sqltype.Value, decimals int, round func(*big.Rat) *big.Int) string {
	r := exact(v)
	if r == nil || decimals < 0 {
		return cell(v, decimals)
	}
	unit := new(big.Rat).SetInt(numeric.Pow10(decimals))
	n := new(big.Rat).SetInt(round(r.Mul(r, unit)))
	return n.Quo(n, unit).FloatString(decimals)
}

// Printable writes out characters that do not show, or that would move a cursor: a group key
// can be any text in the data.
func Printable(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return s
	}
	quoted := strconv.Quote(s)
	return quoted[1 : len(quoted)-1] // no Trim: the text may end in a quote
}

// WriteCSV prints an answer as CSV (RFC 4180, lines end in \n): beside each
// noisy column its interval's ends. NULL is an empty field, an empty text "".
// Texts are as they are: it is for programs.
func WriteCSV(w io.Writer, a *discreet.Answer) { writeCSV(w, a, field) }

// WriteSheet prints an answer as CSV for spreadsheets: what WriteCSV prints, but that no text
// is a formula (see Inert).
func WriteSheet(w io.Writer, a *discreet.Answer) {
	writeCSV(w, a, func(v sqltype.Value) string { return field(inert(v)) })
}

func writeCSV(w io.Writer, a *discreet.Answer, field func(sqltype.Value) string) {
	var header []string
	for _, c := range a.Columns {
		header = append(header, field(c.Name))
		if c.Noisy {
			header = append(header, field(c.Name+"_low"), field(c.Name+"_high"))
		}
	}
	fmt.Fprintln(w, strings.Join(header, ","))
	for i, row := range a.Rows {
		var fields []string
		for j, v := range row {
			fields = append(fields, field(v))
			if !a.Columns[j].Noisy {
				continue
			}
			iv := a.Intervals[i][j]
			if iv == nil {
				iv = &discreet.Interval{}
			}
			fields = append(fields, field(iv.Lower), field(iv.Upper))
		}
		fmt.Fprintln(w, strings.Join(fields, ","))
	}
}

func field(v sqltype.Value) string {
	if v == nil {
		return ""
	}
	s := sqltype.Format(v)
	if s == "" || strings.ContainsAny(s, "\",\r\n") || strings.TrimSpace(s) != s {
		return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}
