package plot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/cells"
)

func wards() Estimates {
	at := func(value, within float64) []Estimate {
		return []Estimate{{Value: value, Range: Range{value - within, value + within}, Text: fmt.Sprint(value)}}
	}
	return Estimates{
		Title: "visits by ward", Groups: []string{"Emergency", "急救", "closed", "guess"}, About: "the visits of a year",
		Quantities: []Quantity{{Label: "visits", Marks: [][]Estimate{at(80, 15), at(-10, 5), {{Value: math.NaN(), Range: Unknown(), Text: "NULL"}}, {{Value: 40, Range: Unknown(), Text: "40"}}}}},
		Notes:      []string{"Whiskers are 95% intervals."},
	}
}

func TestEstimatesText(t *testing.T) {
	var b strings.Builder
	if err := wards().WriteText(&b, 44, 0); err != nil {
		t.Fatal(err)
	}
	want := strings.TrimPrefix(`
visits by ward
Emergency │    ┊                 ├───●────┤
     急救 │├●─┤┊
   closed │ NULL
    guess │    ┊          ●
          └────┬───────────────────────────┬
               0                         100
Whiskers are 95% intervals.
`, "\n")
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// Who cannot see a drawing is told its title, what it is about, and every value; who points
// at a dot its value. What is no value is written where it is missing.
func TestEstimatesAreTold(t *testing.T) {
	var b bytes.Buffer
	if err := wards().WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	doc, _, err := boxes(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if want := "the visits of a year\nEmergency: visits 80\n急救: visits -10\nclosed: visits NULL\nguess: visits 40"; doc.Title != "visits by ward" || doc.Desc != want {
		t.Errorf("title %q, description %q", doc.Title, doc.Desc)
	}
	for text, times := range map[string]int{"<g><title>80</title>": 1, ">NULL</text>": 1, `class="hollow`: 1, `class="whisker`: 2, `class="zero"`: 1, "prefers-color-scheme:dark": 2, `role="img"`: 1} {
		if got := strings.Count(b.String(), text); got != times {
			t.Errorf("%s stands %d times, want %d", text, got, times)
		}
	}
}

// Whiskers are never drawn shorter than the range that they stand for.
func TestWhiskersReachTheirEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	drawn := func(r rune) bool { return r != ' ' && r != '┊' }
	for range 2000 {
		value, below, above := r.NormFloat64()*1000, r.ExpFloat64()*100, r.ExpFloat64()*100
		e := Estimate{Value: value, Range: Range{value - below, value + above}}
		s, ok := Quantity{Marks: [][]Estimate{{e}, {{Value: 1000, Range: Unknown()}}}}.scale(5)
		if !ok || s.lo > e.Range.Low || s.hi < e.Range.High {
			t.Fatalf("%+v does not fit %+v", e, s)
		}
		g := newGrid(30+r.IntN(100), 1)
		line := []rune(e.line(g, s, '●'))
		column := func(x float64) float64 { return s.at(x) * float64(len(line)-1) }
		low, high := slices.IndexFunc(line, drawn), len(line)-1
		for !drawn(line[high]) {
			high--
		}
		if !slices.ContainsFunc(line, func(r rune) bool { return r == '├' || r == '┤' }) {
			if column(e.Range.High)-column(e.Range.Low) > 2 {
				t.Fatalf("no whisker of %+v: %s", e, string(line))
			}
			continue
		}
		if float64(low) > column(e.Range.Low) || float64(high) < column(e.Range.High) || column(e.Range.Low)-float64(low) > 1 || float64(high)-column(e.Range.High) > 1 {
			t.Fatalf("%+v from %d to %d: %s", e, low, high, string(line))
		}
	}
}

// Any estimates are drawn so that no text covers another or is cut off, in a terminal on no
// more columns than it has; and each drawing is the same each time.
func TestEstimatesLayout(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	names := []string{"", "a", "Wahrscheinlichkeitsverteilung der Wahrscheinlichkeiten", "漢字漢字漢字漢字漢字漢字漢字漢字", "<&>\"'\x01", "two words", "−1,000,000"}
	name := func() string { return names[r.IntN(len(names))] }
	value := func(size float64) float64 {
		switch r.IntN(12) {
		case 0:
			return math.NaN()
		case 1:
			return math.Inf(1)
		case 2:
			return 0
		}
		return r.NormFloat64() * size
	}
	for i := range 80 {
		e := Estimates{Title: name() + " " + name(), Notes: []string{name() + " " + name()}}
		for range r.IntN(12) {
			e.Groups = append(e.Groups, name())
		}
		for range r.IntN(4) {
			e.Series = append(e.Series, name())
		}
		for range 1 + r.IntN(6) {
			q, size := Quantity{Label: name()}, math.Exp(4*r.NormFloat64())
			for range e.Groups {
				marks := make([]Estimate, e.series())
				for k := range marks {
					marks[k] = Estimate{Value: value(size), Range: Range{value(size), value(size)}, Text: "NULL"}
				}
				q.Marks = append(q.Marks, marks)
			}
			e.Quantities = append(e.Quantities, q)
		}
		check(t, i, e, r)
		s := Sheet{Title: e.Title, Notes: e.Notes}
		for range 1 + r.IntN(4) {
			p := random(r)
			for k := range p.Lines {
				for _, at := range p.Lines[k].Points {
					p.Lines[k].Ranges = append(p.Lines[k].Ranges, Range{at.Y - r.Float64(), at.Y + r.Float64()})
				}
				p.Lines[k].Loose = r.IntN(2) == 0
			}
			s.Plots = append(s.Plots, p)
		}
		check(t, i, s, r)
	}
}

func check(t *testing.T, i int, d Drawing, r *rand.Rand) {
	t.Helper()
	var first, second, text bytes.Buffer
	columns := 40 + r.IntN(160)
	if err := errors.Join(d.WriteSVG(&first), d.WriteSVG(&second), d.WriteText(&text, columns, 24)); err != nil {
		t.Fatalf("drawing %d: %v", i, err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Fatalf("drawing %d: two drawings differ", i)
	}
	if s := first.String(); strings.Contains(s, "NaN") || strings.Contains(s, "Inf") {
		t.Fatalf("drawing %d: no number: %s", i, regexp.MustCompile(".*(NaN|Inf).*").FindString(s))
	}
	if _, _, err := boxes(first.Bytes()); err != nil {
		t.Fatalf("drawing %d: %v\n%+v", i, err, d)
	}
	for line := range strings.SplitSeq(text.String(), "\n") {
		if cells.Width(line) > columns {
			t.Fatalf("drawing %d: wider than %d: %q", i, columns, line)
		}
	}
}

// What is not of the shape of its groups is refused, and so is nothing.
func TestEstimatesOfAnotherShape(t *testing.T) {
	short, many := wards(), wards()
	short.Groups = short.Groups[:2]
	many.Series = []string{"a", "b"}
	for _, d := range []Drawing{short, many, Estimates{}, Sheet{}} {
		if d.WriteSVG(io.Discard) == nil || d.WriteText(io.Discard, 80, 24) == nil {
			t.Errorf("drawn: %+v", d)
		}
	}
}

// Ticks of time are round in the calendar, and neither few nor many.
func TestMoments(t *testing.T) {
	at := func(text string) float64 {
		v, err := time.Parse("2006-01-02 15:04:05", text)
		if err != nil {
			t.Fatal(err)
		}
		return float64(v.Unix())
	}
	for _, test := range []struct {
		kind   Kind
		lo, hi float64
		want   string
	}{
		{Moments, at("2025-03-01 00:00:00"), at("2025-03-30 00:00:00"), "2025-03-03 2025-03-10 2025-03-17 2025-03-24"},
		{Moments, at("2024-11-15 00:00:00"), at("2025-04-02 00:00:00"), "2024-12 2025-01 2025-02 2025-03 2025-04"},
		{Moments, at("1850-01-01 00:00:00"), at("2020-01-01 00:00:00"), "1850 1900 1950 2000"},
		{Moments, at("2025-01-01 22:00:00"), at("2025-01-02 04:00:00"), "01-01 22:00|01-01 23:00|01-02 00:00|01-02 01:00|01-02 02:00|01-02 03:00|01-02 04:00"},
		{Moments, at("2025-01-01 10:00:00"), at("2025-01-01 10:01:00"), "10:00:00 10:00:15 10:00:30 10:00:45 10:01:00"},
		{Clock, 0, 86400, "00:00 03:00 06:00 09:00 12:00 15:00 18:00 21:00 24:00"},
		{Keys, 2019, 2024, "2019 2020 2021 2022 2023 2024"},
		{Keys, 0, 1, "0 1"},
		{Keys, 1000, 25000, "5000 10000 15000 20000 25000"},
	} {
		r := Axis{Kind: test.kind}.reach()
		r.include(test.lo)
		r.include(test.hi)
		var got []string
		for _, tick := range r.scale(8, 0).ticks {
			got = append(got, tick.label)
		}
		between := " "
		if strings.Contains(test.want, "|") {
			between = "|"
		}
		if strings.Join(got, between) != test.want {
			t.Errorf("%v to %v: %q, want %s", test.lo, test.hi, got, test.want)
		}
	}
	r := rand.New(rand.NewPCG(11, 12))
	for range 5000 {
		lo := r.NormFloat64() * math.Pow(10, float64(r.IntN(11)))
		span := (1 + 9*r.Float64()) * math.Pow(10, float64(r.IntN(10)))
		for _, kind := range []Kind{Moments, Clock} {
			if kind == Clock {
				lo, span = math.Mod(math.Abs(lo), 40000), min(span, 46000)
			}
			s := reach{Axis{Kind: kind}, lo, lo + span}.scale(8, loose)
			if len(s.ticks) < 2 || len(s.ticks) > 12 || s.lo > lo+1e-6*span || s.hi < lo+span*(1-1e-6) {
				t.Fatalf("%d ticks from %v over %v: %+v", len(s.ticks), lo, span, s)
			}
		}
	}
}
