package catalog_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
)

const clinic = `
[domains.patient]
measure = "pure"
epsilon = 1
[tables.visits]
source = "visits.csv"
domain = "patient"
unit = "patient_id"
max_groups_per_unit = 4
max_rows_per_group = 3
[tables.visits.columns]
visit_id = { type = "bigint" }
patient_id = { type = "bigint" }
note = { type = "text" }
stay = { type = "interval" }
[tables.lines]
source = "lines.csv"
domain = "patient"
unit = { column = "visit_id", references = "visits.visit_id" }
[tables.lines.columns]
visit_id = { type = "bigint" }
key = { type = "text" }
[tables.people]
source = "people.csv"
domain = "patient"
unit = "row"
[tables.people.columns]
age = { type = "integer" }
[tables.odd]
source = "odd.csv"
domain = "patient"
unit = "value"
[tables.odd.columns]
value = { type = "bigint" }
[tables.departments]
source = "departments.csv"
public = true
[tables.departments.columns]
name = { type = "text" }
`

func TestMapRefuses(t *testing.T) {
	c, err := catalog.Parse("discreet.toml", clinic)
	if err != nil {
		t.Fatal(err)
	}
	good := catalog.MapOptions{Name: "mapped", Of: "visits", Columns: []string{"note"}, Keys: []string{"a", "b"}, Upper: 1}
	if _, err := c.Map(good); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		change func(*catalog.MapOptions)
		want   string
	}{
		{func(o *catalog.MapOptions) { o.Of = "visit" }, `no private table "visit"; there is visits, lines, people, odd`},
		{func(o *catalog.MapOptions) { o.Of = "departments" }, `no private table "departments"`},
		{func(o *catalog.MapOptions) { o.Name = "visits" }, "cannot be the name"},
		{func(o *catalog.MapOptions) { o.Name = "" }, "cannot be the name"},
		{func(o *catalog.MapOptions) { o.Columns = nil }, "no columns"},
		{func(o *catalog.MapOptions) { o.Columns = []string{"nose"} }, `no column "nose"`},
		{func(o *catalog.MapOptions) { o.Columns = []string{"note", "note"} }, "named twice"},
		{func(o *catalog.MapOptions) { o.Columns = []string{"stay"} }, "no total order"},
		{func(o *catalog.MapOptions) { o.Keys = []string{} }, "between 1 and"},
		{func(o *catalog.MapOptions) { o.Keys = []string{"a", "a"} }, "given twice"},
		{func(o *catalog.MapOptions) { o.Keys = []string{""} }, "it is empty"},
		{func(o *catalog.MapOptions) { o.Keys = []string{"\x00"} }, "control character"},
		{func(o *catalog.MapOptions) { o.Lower = 1 }, "not in order"},
		{func(o *catalog.MapOptions) { o.Lower = math.NaN() }, "not in order"},
		{func(o *catalog.MapOptions) { o.Upper = math.Inf(1) }, "not finite"},
		{func(o *catalog.MapOptions) { o.Lower, o.Upper = -math.MaxFloat64, math.MaxFloat64 }, "not finite"},
		{func(o *catalog.MapOptions) { o.Outputs = -1 }, "between 1 and"},
		{func(o *catalog.MapOptions) { o.MaxRows = 1 << 40 }, "between 1 and"},
		{func(o *catalog.MapOptions) { o.Of, o.Columns, o.ByUnit = "people", []string{"age"}, true }, "no column with its units"},
		{func(o *catalog.MapOptions) { o.Of, o.Columns, o.ByUnit = "lines", []string{"key"}, true }, "no column with its units"},
		{func(o *catalog.MapOptions) { o.Of, o.Columns = "odd", []string{"value"} }, "has already"},
	} {
		o := good
		test.change(&o)
		if _, err := c.Map(o); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %q", o, err, test.want)
		}
	}
	again, err := c.Map(good)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Map(catalog.MapOptions{Name: "again", Of: "mapped", Columns: []string{"value"}, Upper: 1}); err == nil {
		t.Error("a mapped table can be mapped")
	}
	if _, ok := c.Table("mapped"); ok {
		t.Error("the catalog itself was changed")
	}
}

// What a unit may contribute follows the owner's bounds and the number of rows
// that code makes.
func TestMapBounds(t *testing.T) {
	c, err := catalog.Parse("discreet.toml", clinic)
	if err != nil {
		t.Fatal(err)
	}
	keys := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
	for _, test := range []struct {
		o            catalog.MapOptions
		groups, rows int64
		columns      string
	}{
		{catalog.MapOptions{Of: "visits", Columns: []string{"note"}, Keys: keys}, 4, 3, "patient_id key value"},
		{catalog.MapOptions{Of: "visits", Columns: []string{"note"}, Keys: keys, Outputs: 2}, 8, 6, "patient_id key value"},
		{catalog.MapOptions{Of: "visits", Columns: []string{"note"}, Keys: keys[:5], Outputs: 2}, 5, 6, "patient_id key value"},
		{catalog.MapOptions{Of: "visits", Columns: []string{"note"}, Outputs: 2}, 1, 6, "patient_id value"},
		{catalog.MapOptions{Of: "visits", Columns: []string{"note"}, Keys: keys, ByUnit: true, Outputs: 2}, 2, 2, "patient_id key value"},
		{catalog.MapOptions{Of: "visits", Columns: []string{"note"}, Keys: keys, MaxGroups: 9, MaxRows: 7}, 9, 7, "patient_id key value"},
		{catalog.MapOptions{Of: "lines", Columns: []string{"key"}, Keys: keys}, 0, 0, "visit_id key value"}, // the owner declared none
		{catalog.MapOptions{Of: "people", Columns: []string{"age"}, Keys: keys}, 1, 1, "key value"},
		{catalog.MapOptions{Of: "people", Columns: []string{"age"}, Keys: keys, Outputs: 3}, 3, 3, "unit key value"},
	} {
		test.o.Name, test.o.Upper = "mapped", 1
		mapped, err := c.Map(test.o)
		if err != nil {
			t.Errorf("%+v: %v", test.o, err)
			continue
		}
		m, _ := mapped.Table("mapped")
		var names []string
		for _, column := range m.Columns {
			names = append(names, column.Name)
		}
		if got := strings.Join(names, " "); m.MaxGroups != test.groups || m.MaxRows != test.rows || got != test.columns {
			t.Errorf("%+v: bounds %d and %d, columns %s; want %d, %d, %s", test.o, m.MaxGroups, m.MaxRows, got, test.groups, test.rows, test.columns)
		}
	}
}

// A column that the owner seals is shown to no code, nor is what reads the same field under another
// name or in another table, nor what is computed in its table, unless the owner says so of it.
func TestMapSealed(t *testing.T) {
	const text = `
[domains.patient]
measure = "pure"
epsilon = 1
[tables.visits]
source = "visits.csv"
domain = "patient"
unit = "row"
[tables.visits.columns]
name  = { type = "text", mapped = false }
alias = { type = "text", from = "NAME" }
first = { type = "text", is = "left(name, 1)" }
bold  = { type = "text", is = "left(name, 1)", mapped = true }
age   = { type = "integer" }
other = { type = "text", from = "name", mapped = true }
[tables.again]
source = "visits.csv"
domain = "patient"
unit = "row"
[tables.again.columns]
name  = { type = "text" }
age   = { type = "integer" }
older = { type = "integer", is = "age + 1" }
[tables.people]
source = "people.csv"
domain = "patient"
unit = "row"
[tables.people.columns]
name  = { type = "text" }
older = { type = "text", is = "name" }
`
	c, err := catalog.Parse("discreet.toml", text)
	if err != nil {
		t.Fatal(err)
	}
	for column, sealed := range map[string]bool{
		"visits.name": true, "visits.alias": true, "visits.first": true, "visits.bold": false, "visits.age": false, "visits.other": false,
		"again.name": true, "again.age": false, "again.older": true, "people.name": false, "people.older": false,
	} {
		table, name, _ := strings.Cut(column, ".")
		_, err := c.Map(catalog.MapOptions{Name: "mapped", Of: table, Columns: []string{name}, Upper: 1})
		var s *catalog.Sealed
		if errors.As(err, &s) != sealed || !sealed && err != nil {
			t.Errorf("%s: %v", column, err)
		}
		if sealed && slices.Contains(s.Others, name) {
			t.Errorf("%s: it is among %v", column, s.Others)
		}
	}
}
