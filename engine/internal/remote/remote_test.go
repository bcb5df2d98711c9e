package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/sqltype"
)

const declared = `
[engine]
kind = "trino"
url = { env = "DISCREET_ENGINE" }
[domains.people]
measure = "pure"
neighbours = "add-remove"
epsilon = 1.0
[tables.visits]
source = "lake.clinic.visits"
domain = "people"
unit = "u"
max_groups_per_unit = 1
max_rows_per_group = 1
columns.u = { type = "bigint" }
[tables.wards]
source = "lake.clinic.wards"
public = true
columns.name = { type = "text" }
columns.beds = { type = "integer" }
`

// A private table has no rows for whoever asks for a public one, and what a database says of
// values stays with its owner.
func TestPublic(t *testing.T) {
	c, err := catalog.Parse("discreet.toml", declared)
	if err != nil {
		t.Fatal(err)
	}
	read := func(sql string, types []sqltype.Type) ([][]sqltype.Value, error) {
		if sql != `SELECT "name", "beds" FROM "wards"` || len(types) != 2 || types[1] != sqltype.Of(sqltype.Integer) {
			t.Errorf("%s as %v", sql, types)
		}
		return [][]sqltype.Value{{"a", int64(1)}}, nil
	}
	columns, rows, err := Public(t.Context(), c, "wards", read)
	if err != nil || len(columns) != 2 || len(rows) != 1 {
		t.Errorf("%v, %v, %v", columns, rows, err)
	}
	for _, name := range []string{"visits", "nothing"} {
		if _, _, err := Public(t.Context(), c, name, func(string, []sqltype.Type) ([][]sqltype.Value, error) {
			t.Errorf("rows of %s are asked for", name)
			return nil, nil
		}); err == nil {
			t.Errorf("%s is read as public", name)
		}
	}
	_, _, err = Public(t.Context(), c, "wards", func(string, []sqltype.Type) ([][]sqltype.Value, error) { return nil, errors.New("canary 5417") })
	if !errors.Is(err, engine.ErrResource) || strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, errors.Unwrap(err)), "canary") {
		t.Errorf("a failure says %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Failure(ctx, errors.New("canary")); !errors.Is(err, context.Canceled) {
		t.Errorf("who gave up is told %v", err)
	}
}

// A relation of a table's name with other columns is not that table.
func TestOwn(t *testing.T) {
	c, err := catalog.Parse("discreet.toml", declared)
	if err != nil {
		t.Fatal(err)
	}
	name, beds := engine.Column{Name: "name", Type: sqltype.Of(sqltype.Text)}, engine.Column{Name: "beds", Type: sqltype.Of(sqltype.Integer)}
	for want, tables := range map[bool][]engine.Table{
		true:  {{Name: "wards", Columns: []engine.Column{name, beds}}},
		false: {{Name: "wards", Columns: []engine.Column{beds, name}}, {Name: "wards", Columns: []engine.Column{name}}, {Name: "wards"}, {Name: "other", Columns: []engine.Column{name, beds}}, {Name: "wards", Columns: []engine.Column{name, {Name: "beds", Type: sqltype.Of(sqltype.Bigint)}}}},
	} {
		for _, table := range tables {
			if Own(c, table) != want {
				t.Errorf("%v is the catalog's: %v", table, !want)
			}
		}
	}
}
