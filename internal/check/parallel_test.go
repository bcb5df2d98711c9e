package check_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/check"
)

const parallelCatalog = `
[domains.patient]
measure = "pure"
epsilon = 1
[domains.doctor]
measure = "pure"
epsilon = 1
[tables.visits]
source = "visits.csv"
domain = "patient"
unit = "patient"
[tables.visits.columns]
id = { type = "integer" }
patient = { type = "text" }
cost = { type = "double" }
place = { type = "text" }
[tables.drugs]
source = "drugs.csv"
domain = "patient"
unit = { column = "visit", references = "visits.id" }
[tables.drugs.columns]
visit = { type = "integer" }
grams = { type = "decimal(10,2)" }
[tables.rows]
source = "rows.csv"
domain = "doctor"
unit = "row"
[tables.rows.columns]
grams = { type = "decimal(10,2)" }
[tables.places]
source = "places.csv"
public = true
[tables.places.columns]
name = { type = "text" }
`

// openParallel copies tables of the catalog above, over small files.
func openParallel(t *testing.T, names ...string) *check.Parallel {
	t.Helper()
	p, err := newParallel(t, names...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func newParallel(t *testing.T, names ...string) (*check.Parallel, error) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "visits.csv", "id,patient,cost,place,secret\n1,ann,10,x,s\n2,ann,5,y,s\n3,bob,40,x,s\n4,,1000,x,s\n5,O'Hara,x,y,s\n")
	write(t, dir, "drugs.csv", "visit,grams\n1,0.5\n3,2.5\n9,100\n3,1\n")
	write(t, dir, "rows.csv", "grams\n0.5\n2.5\n100\n1\n")
	write(t, dir, "places.csv", "name\nx\ny\nz\n")
	c, err := catalog.Parse(filepath.Join(dir, "discreet.toml"), parallelCatalog)
	if err != nil {
		t.Fatal(err)
	}
	var tables []*catalog.Table
	for _, table := range c.Tables {
		if slices.Contains(names, table.Name) {
			tables = append(tables, table)
		}
	}
	return check.NewParallel(t.Context(), open(t), tables)
}

// A statement is answered over the rows that statements see, all of them or without
// one unit, whose rows go from every table.
func TestParallelValues(t *testing.T) {
	p := openParallel(t, "visits", "drugs", "places")
	for _, tc := range []struct {
		statement, without string
		want               []float64
	}{
		{"SELECT sum(cost) FROM visits", "", []float64{55}},
		{"SELECT sum(cost) FROM visits", "ann", []float64{40}},
		{"SELECT sum(cost) FROM visits", "bob", []float64{15}},
		{"SELECT sum(cost), count(*), count(cost) FROM visits;", "O'Hara", []float64{55, 3, 3}},
		{"SELECT sum(grams) FROM drugs -- in all", "", []float64{4}},
		{"SELECT sum(grams) FROM drugs", "bob", []float64{0.5}},
		{"SELECT sum(cost) FROM visits WHERE place = 'y' AND cost IS NOT NULL", "ann", []float64{0}}, // NULL
		{"SELECT count(*) FROM places LEFT JOIN visits ON name = place", "ann", []float64{3}},
		{"WITH v AS (SELECT * FROM visits) SELECT count(*) > 2 FROM v", "ann", []float64{0}},
		{"SELECT sum(cost) FROM visits", "", []float64{55}},
	} {
		got, err := p.Values(t.Context(), tc.statement, tc.without)
		if err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("%s without %q: %v, %v, want %v", tc.statement, tc.without, got, err, tc.want)
		}
	}
	units, all, err := p.Units(t.Context(), 10)
	if err != nil || all != 3 || len(units) != 3 || !slices.Contains(units, "O'Hara") {
		t.Errorf("units %q of %d, %v", units, all, err)
	}
	if units, all, err := p.Units(t.Context(), 2); err != nil || all != 3 || len(units) != 2 {
		t.Errorf("two units: %q of %d, %v", units, all, err)
	}
}

// A unit counts once, however many rows and tables it is in.
func TestParallelUnits(t *testing.T) {
	for _, names := range [][]string{{"visits"}, {"visits", "drugs"}} {
		p := openParallel(t, names...)
		if units, all, err := p.Units(t.Context(), 10); err != nil || all != 3 || len(units) != 3 {
			t.Errorf("%v: %q of %d, %v", names, units, all, err)
		}
	}
}

// What is not one row of numbers, and what the catalog does not declare, is an error.
func TestParallelRefuses(t *testing.T) {
	p := openParallel(t, "visits")
	for statement, want := range map[string]string{
		"SELECT cost FROM visits":           check.ErrShape.Error(),
		"SELECT cost FROM visits LIMIT 0":   check.ErrShape.Error(),
		"SELECT max(place) FROM visits":     "Conversion",
		"SELECT max(secret) FROM visits":    "secret",
		"SELECT count(*) FROM drugs":        "drugs",
		"SELECT count(*) FROM visits; DROP": "syntax",
		"":                                  "syntax",
	} {
		if v, err := p.Values(t.Context(), statement, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", statement, v, err)
		}
	}
	if _, err := p.Values(t.Context(), "SELECT 1 FROM visits", ""); !errors.Is(err, check.ErrShape) {
		t.Errorf("rows: %v", err)
	}
}

// Tables of two domains have no unit in common; rows are units of their own.
func TestParallelDomains(t *testing.T) {
	p := openParallel(t, "rows")
	units, all, err := p.Units(t.Context(), 10)
	if err != nil || all != 4 {
		t.Fatalf("%q of %d, %v", units, all, err)
	}
	sums := map[float64]int{}
	for _, u := range units {
		v, err := p.Values(t.Context(), "SELECT sum(grams) FROM rows", u)
		if err != nil {
			t.Fatal(err)
		}
		sums[v[0]]++
	}
	if len(sums) != 4 || sums[4] != 1 { // without the 100
		t.Errorf("sums without one row each: %v", sums)
	}
	if _, err := newParallel(t, "visits", "rows"); err == nil || !strings.Contains(err.Error(), "unit of the other") {
		t.Errorf("two domains: %v", err)
	}
}

// A unit's bit is whether any of its rows meets a condition; NULL does not.
func TestParallelBits(t *testing.T) {
	p := openParallel(t, "visits")
	for condition, want := range map[string]int{"cost > 8": 2, "place = 'y'": 2, "cost > 20 -- much": 1, "true": 3, "NULL": 0} {
		bits, err := p.Bits(t.Context(), "visits", condition, 10)
		n := 0
		for _, b := range bits {
			if b {
				n++
			}
		}
		if err != nil || len(bits) != 3 || n != want {
			t.Errorf("%s: %v, %v, want %d", condition, bits, err, want)
		}
	}
	if bits, err := p.Bits(t.Context(), "visits", "true", 2); err != nil || len(bits) != 2 {
		t.Errorf("two units: %v, %v", bits, err)
	}
	if bits, err := p.Bits(t.Context(), "visits", "nothing", 2); err == nil {
		t.Errorf("an unknown column: %v", bits)
	}
}
