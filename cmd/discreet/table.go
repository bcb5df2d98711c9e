package main

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

// A grid is a table for people: a title and cells a column.
type grid []gridColumn

type gridColumn struct {
	title string
	right bool // aligned, as numbers are
	cells []string
}

// write prints the grid. Nothing follows the last cell of a line.
func (g grid) write(w io.Writer) {
	rows, widths, last := 0, make([]int, len(g)), len(g)-1
	for j, c := range g {
		rows = max(rows, len(c.cells))
		widths[j] = utf8.RuneCountInString(c.title)
		for _, cell := range c.cells {
			widths[j] = max(widths[j], utf8.RuneCountInString(cell))
		}
	}
	line := func(cell func(j int) string) {
		var b strings.Builder
		for j, c := range g {
			pad := strings.Repeat(" ", widths[j]-utf8.RuneCountInString(cell(j)))
			switch {
			case c.right:
				b.WriteString(pad + cell(j))
			case j == last:
				b.WriteString(cell(j))
			default:
				b.WriteString(cell(j) + pad)
			}
			if j < last {
				b.WriteString("  ")
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
	line(func(j int) string { return g[j].title })
	line(func(j int) string { return strings.Repeat("-", widths[j]) })
	for i := range rows {
		line(func(j int) string { return g[j].cells[i] })
	}
}

// answerGrid lays out an answer: beside each noisy value its interval. What a
// noisy number decided to keep is marked in the title.
func answerGrid(a *discreet.Answer) grid {
	var g grid
	for j, col := range a.Columns {
		decimals := decimals(a, j)
		value := gridColumn{title: printable(col.Name), right: col.Type.IsNumeric()}
		interval := gridColumn{title: percent(a.Confidence) + " interval"}
		for i, row := range a.Rows {
			value.cells = append(value.cells, cell(row[j], decimals))
			text := ""
			if iv := a.Intervals[i][j]; iv != nil {
				text = "[" + bound(iv.Lower, decimals, numeric.Floor) + ", " + bound(iv.Upper, decimals, numeric.Ceil) + "]"
			}
			interval.cells = append(interval.cells, text)
		}
		if col.Noisy && len(a.Kept) > 0 {
			value.title += keptMark
		}
		g = append(g, value)
		if col.Noisy && col.Why == "" {
			g = append(g, interval)
		}
	}
	return g
}

// keptMark stands at columns whose values a noisy number chose to show.
const keptMark = "*"

func percent(confidence float64) string {
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
	return printable(sqltype.Format(v))
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

// printable writes out what would move a terminal's cursor: group keys can be
// whatever the data holds.
func printable(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return s
	}
	return strings.Trim(strconv.Quote(s), `"`)
}

// writeCSV prints an answer as CSV (RFC 4180, lines end in \n): beside each
// noisy column its interval's ends. NULL is an empty field, an empty text "".
func writeCSV(w io.Writer, a *discreet.Answer) {
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
