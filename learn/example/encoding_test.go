package example

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/sqltype"
)

func clinic() *Encoding {
	return &Encoding{
		Columns: []Column{
			{Name: "age", Type: "integer", Lower: 0, Upper: 100, Bins: 4},
			{Name: "cost", Type: "decimal(8,2)", Lower: -10, Upper: 10},
			{Name: "ward", Type: "text", Values: []string{"ER", "ICU"}},
			{Name: "smoker", Type: "boolean"},
			{Name: "seen", Type: "date", Lower: 0, Upper: 10},
		},
		Target: &Column{Name: "ill", Type: "text", Values: []string{"no", "yes"}},
	}
}

// encoded is one record's features, by their names, without those that are 0.
func encoded(t testing.TB, e *Encoding, fields ...string) string {
	t.Helper()
	r, err := e.reader()
	if err != nil {
		t.Fatal(err)
	}
	values := make([]sqltype.Value, len(r.columns))
	for i := range values {
		if fields[i] != "~" {
			values[i] = r.columns[i].parse([]byte(fields[i]))
		}
	}
	row := make([]float32, r.width)
	r.features(values, row)
	var out []string
	for i, name := range e.Names() {
		if row[i] != 0 {
			out = append(out, fmt.Sprintf("%s: %g", name, row[i]))
		}
	}
	return strings.Join(out, ", ")
}

func TestEncoding(t *testing.T) {
	e := clinic()
	if w := e.Width(); w != (2+8)+2+3+2+2 || len(e.Names()) != w {
		t.Fatalf("width %d, %d names", w, len(e.Names()))
	}
	for _, c := range []struct{ name, fields, want string }{
		{"as declared", "75|5.00|ICU|yes|1970-01-11", "age: 0.5, age part 4 of 4: 1, age log part 4 of 4: 1, cost: 0.5, ward = ICU: 1, smoker: 1, seen: 1"},
		{"at the bounds", "0|-10|ER|no|1970-01-01", "age: -1, age part 1 of 4: 1, age log part 1 of 4: 1, cost: -1, ward = ER: 1, smoker: -1, seen: -1"},
		{"beyond them", "-7|99|ER|0|2030-01-01", "age: -1, age part 1 of 4: 1, age log part 1 of 4: 1, cost: 1, ward = ER: 1, smoker: -1, seen: 1"},
		{"the logarithm is finer below", "2|0|ER|1|1970-01-06", "age: -0.96, age part 1 of 4: 1, age log part 2 of 4: 1, ward = ER: 1, smoker: 1"},
		{"NULL", "~|~|~|~|~", "age null: 1, cost null: 1, ward null: 1, smoker null: 1, seen null: 1"},
		{"no values of their types", "old|1e999|er|maybe|soon", "age null: 1, cost null: 1, ward null: 1, smoker null: 1, seen null: 1"},
	} {
		if got := encoded(t, e, strings.Split(c.fields, "|")...); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
	e.Unit = true
	if got := encoded(t, e, "75", "0", "ER", "no", "~"); got != "age: 0.75, age part 4 of 4: 1, age log part 4 of 4: 1, cost: 0.5, ward = ER: 1, seen null: 1" {
		t.Errorf("in [0, 1]: %s", got)
	}
}

func TestTargetOf(t *testing.T) {
	e := &Encoding{Target: &Column{Name: "y", Type: "double", Lower: -2, Upper: 6}}
	for output, want := range map[float64]float64{-1: -2, 0: 2, 1: 6, 7: 6, math.Inf(-1): -2} {
		if got := e.TargetOf(output); got != want {
			t.Errorf("%v means %v, want %v", output, got, want)
		}
	}
	e.Unit = true
	if got := e.TargetOf(0.25); got != 0 {
		t.Error(got)
	}
}

func TestEncodingRefusals(t *testing.T) {
	if err := clinic().Validate(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Encoding){
		"no columns":          func(e *Encoding) { e.Columns = nil },
		"no name":             func(e *Encoding) { e.Columns[0].Name = "" },
		"twice":               func(e *Encoding) { e.Columns[1].Name = "age" },
		"the target as well":  func(e *Encoding) { e.Target.Name = "age" },
		"no such type":        func(e *Encoding) { e.Columns[0].Type = "number" },
		"an interval":         func(e *Encoding) { e.Columns[0].Type = "interval" },
		"no bounds":           func(e *Encoding) { e.Columns[0].Upper = 0 },
		"bounds out of order": func(e *Encoding) { e.Columns[0].Lower = 101 },
		"not a number":        func(e *Encoding) { e.Columns[0].Lower = math.NaN() },
		"endless":             func(e *Encoding) { e.Columns[0].Upper = math.Inf(1) },
		"as good as endless":  func(e *Encoding) { e.Columns[0].Lower, e.Columns[0].Upper = -1e308, 1e308 },
		"a text with bounds":  func(e *Encoding) { e.Columns[2].Values = nil },
		"a value twice":       func(e *Encoding) { e.Columns[2].Values = []string{"a", "a"} },
		"one bin":             func(e *Encoding) { e.Columns[0].Bins = 1 },
		"bins below 0":        func(e *Encoding) { e.Columns[0].Bins = -1 },
		"bins without end":    func(e *Encoding) { e.Columns[0].Bins = MaxBins + 1 },
		"one class":           func(e *Encoding) { e.Target.Values = []string{"no"} },
		"a target in bins":    func(e *Encoding) { *e.Target = Column{Name: "y", Type: "real", Upper: 1, Bins: 2} },
		"too wide":            func(e *Encoding) { e.Columns[2].Values = make([]string, MaxWidth) },
	} {
		e := clinic()
		spoil(e)
		if err := e.Validate(); !errors.Is(err, ErrEncoding) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func randomEncoding(t *rapid.T) *Encoding {
	e := &Encoding{Unit: rapid.Bool().Draw(t, "unit")}
	for i := range rapid.IntRange(1, 4).Draw(t, "columns") {
		c := Column{Name: fmt.Sprint("c", i)}
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			c.Type, c.Values = "text", []string{"a", "b", ""}
		case 1:
			c.Type = "boolean"
		case 2:
			c.Type, c.Values = "integer", []string{"-1", "7"}
		default:
			c.Type = rapid.SampledFrom([]string{"integer", "double", "real", "decimal(6,2)", "date", "timestamp"}).Draw(t, "type")
			c.Lower = rapid.Float64Range(-1e300, 1e300).Draw(t, "lower")
			c.Upper = math.Max(math.Nextafter(c.Lower, math.Inf(1)), c.Lower+rapid.Float64Range(0, 1e300).Draw(t, "range"))
			c.Bins = rapid.SampledFrom([]int{0, 2, 9}).Draw(t, "bins")
		}
		e.Columns = append(e.Columns, c)
	}
	e.Target = &Column{Name: "y", Type: "boolean"}
	return e
}

func randomField(t *rapid.T) []byte {
	return rapid.OneOf(
		rapid.Just([]byte(nil)),
		rapid.SliceOf(rapid.Byte()),
		rapid.Map(rapid.SampledFrom([]string{"a", "b", "", "-1", "7", "1e308", "-0", "NaN", "inf", "true", "1970-01-01", "2262-04-11"}), func(s string) []byte { return []byte(s) }),
		rapid.Map(rapid.Float64(), func(x float64) []byte { return fmt.Append(nil, x) }),
	).Draw(t, "field")
}

// Whatever stands in a record, each feature lies in [-1, 1], at most four of a column
// are not 0, and a column that is not understood says so.
func TestFeaturesAreBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := randomEncoding(t)
		r, err := e.reader()
		if err != nil {
			t.Fatal(err)
		}
		values := make([]sqltype.Value, len(r.columns))
		for i := range values {
			values[i] = r.columns[i].parse(randomField(t))
		}
		row := slices.Repeat([]float32{float32(math.NaN())}, r.width)
		r.features(values, row)
		for i := range r.columns {
			c := &r.columns[i]
			some := 0
			for _, x := range row[c.from : c.from+c.width()] {
				if !(x >= -1 && x <= 1) || e.Unit && x < 0 {
					t.Fatalf("%+v of %v: %v", c.Column, values[i], row)
				}
				if x != 0 {
					some++
				}
			}
			if some > 4 || c.Values != nil && some != 1 {
				t.Fatalf("%+v of %v: %d features", c.Column, values[i], some)
			}
		}
	})
}
