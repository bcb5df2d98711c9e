package display

import (
	"encoding/csv"
	"strings"
	"testing"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/sqltype"
	"pgregory.net/rapid"
)

// TestInert: no text is a formula, wherever a spreadsheet ends a cell, and what is no formula is
// as it was.
func TestInert(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "ward 7": "ward 7", "a=b": "a=b", "a - b": "a - b", "3;4": "3;4", "x@example.org": "x@example.org", "1": "1", "-5": "-5", "+2.50": "+2.50", "-1e-3": "-1e-3",
		"=1+1": "'=1+1", "+1+1": "'+1+1", "-1-1": "'-1-1", "-": "'-", "@SUM(A1)": "'@SUM(A1)", "\tx": "'\tx", "\r=x": "'\r'=x", "\t\t=x": "'\t'\t'=x",
		"a;=1": "a;'=1", "a\n=1": "a\n'=1", "a\t+1": "a\t'+1", "＝1": "'＝1", "'=1": "'=1", "-5;=1": "'-5;'=1", "-0x1": "'-0x1", "-5\n": "'-5\n",
	} {
		if got := Inert(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("=+-@\t\r\n;,'\"a1＝ "))).Draw(t, "text")
		safe := Inert(text)
		if strings.ReplaceAll(safe, "'", "") != strings.ReplaceAll(text, "'", "") {
			t.Fatalf("%q became %q", text, safe)
		}
		if numeral.MatchString(safe) {
			return
		}
		for _, part := range strings.FieldsFunc(safe, func(r rune) bool { return strings.ContainsRune(";\t\r\n", r) }) {
			if strings.ContainsAny(part[:1], "=+-@") || strings.HasPrefix(part, "＝") {
				t.Fatalf("%q has the formula %q", safe, part)
			}
		}
		if Inert(safe) != safe {
			t.Fatalf("%q is not stable", safe)
		}
	})
}

// TestSheets: in what is for spreadsheets names and texts are inert and numbers are numbers; what
// is for programs has each value as it is.
func TestSheets(t *testing.T) {
	a := &discreet.Answer{Columns: []discreet.Column{{Name: "=k"}, {Name: "n", Noisy: true}},
		Rows:      [][]sqltype.Value{{"=HYPERLINK(1)", int64(-3)}, {"-4", nil}},
		Intervals: [][]*discreet.Interval{{nil, {Lower: int64(-5), Upper: int64(-1)}}, {nil, nil}}}
	var sheet, plain strings.Builder
	WriteSheet(&sheet, a)
	WriteCSV(&plain, a)
	for text, want := range map[string]string{
		sheet.String(): "'=k,n,n_low,n_high|'=HYPERLINK(1),-3,-5,-1|-4,,,", plain.String(): "=k,n,n_low,n_high|=HYPERLINK(1),-3,-5,-1|-4,,,"} {
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, r := range rows {
			lines = append(lines, strings.Join(r, ","))
		}
		if got := strings.Join(lines, "|"); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
