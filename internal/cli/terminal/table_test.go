package terminal

import (
	"math/big"
	"strings"
	"testing"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/display"
	"github.com/discreet-dp/discreet/sqltype"
)

// sample has every kind of cell: exact, noisy with and without interval, NULL,
// empty, and texts that would harm a terminal or a CSV reader.
func sample() *discreet.Answer {
	between := func(lo, hi sqltype.Value) *discreet.Interval { return &discreet.Interval{Lower: lo, Upper: hi} }
	return &discreet.Answer{
		Columns: []discreet.Column{
			{Name: "department", Type: sqltype.Of(sqltype.Text)},
			{Name: "visits", Type: sqltype.Of(sqltype.Bigint), Noisy: true},
			{Name: "average", Type: sqltype.Of(sqltype.Double), Noisy: true},
			{Name: "ratio", Type: sqltype.Of(sqltype.Double), Noisy: true, Why: "a quotient"},
		},
		Rows: [][]sqltype.Value{
			{"ER", int64(12345), 412.8734571, 0.5},
			{"a,b\x1b[2J\n", int64(-7), nil, nil},
			{"", int64(0), 3.0, 1.25},
			{nil, int64(9), 70.1, 2.0},
		},
		Intervals: [][]*discreet.Interval{
			{nil, between(int64(12301), int64(12389)), between(411.20071, 414.54629), nil},
			{nil, between(int64(-51), int64(37)), nil, nil},
			{nil, between(int64(-44), int64(44)), between(-40.0, 46.0), nil},
			{nil, between(int64(-35), int64(53)), between(60.0, 80.0), nil},
		},
		Confidence: 0.95,
		Kept:       []string{"LIMIT"},
	}
}

// Values are aligned, ends of intervals rounded outward to what the narrowest is
// worth, control characters written out, columns that noise kept marked.
func TestTable(t *testing.T) {
	var b strings.Builder
	AnswerGrid(sample()).Write(&b)
	want := strings.TrimPrefix(`
department    visits*  95% interval    average*  95% interval    ratio*
------------  -------  --------------  --------  --------------  ------
ER              12345  [12301, 12389]     412.9  [411.2, 414.6]     0.5
a,b\x1b[2J\n       -7  [-51, 37]           NULL                    NULL
                    0  [-44, 44]            3.0  [-40.0, 46.0]     1.25
NULL                9  [-35, 53]           70.1  [60.0, 80.0]         2
`, "\n")
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// NULL is an empty field and the empty text is quoted: two groups stay two.
func TestCSV(t *testing.T) {
	var b strings.Builder
	display.WriteCSV(&b, sample())
	want := `department,visits,visits_low,visits_high,average,average_low,average_high,ratio,ratio_low,ratio_high
ER,12345,12301,12389,412.8734571,411.20071,414.54629,0.5,,
"a,b` + "\x1b[2J\n" + `",-7,-51,37,,,,,,
"",0,-44,44,3,-40,46,1.25,,
,9,-35,53,70.1,60,80,2,,
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// rational is an amount for tests.
type rational struct{ r *big.Rat }

func (r rational) Rat() *big.Rat  { return r.r }
func (r rational) Sign() int      { return r.r.Sign() }
func (r rational) String() string { return r.r.String() }

// People never read that less was spent, or more is left, than is so.
func TestRoundedAgainstTheSpender(t *testing.T) {
	for _, test := range []struct{ exact, up, down string }{
		{"0", "0", "0"},
		{"0.01", "0.01", "0.01"},
		{"1/3", "0.333334", "0.333333"},
		{"0.123456789012345678901", "0.123457", "0.123456"},
		{"1e-7", "1e-7", "1e-7"},
		{"123456789", "123457000", "123456000"},
	} {
		r, _ := new(big.Rat).SetString(test.exact)
		if got := Rounded(rational{r}, Up); got != test.up {
			t.Errorf("%s rounded up: %s, want %s", test.exact, got, test.up)
		}
		if got := Rounded(rational{r}, Down); got != test.down {
			t.Errorf("%s rounded down: %s, want %s", test.exact, got, test.down)
		}
	}
}
