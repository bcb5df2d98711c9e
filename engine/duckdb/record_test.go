//go:build cgo

package duckdb_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/sqltype"
)

// records reads a table as what trains does, in order.
func recordsOf(t *testing.T, c *catalog.Catalog, table string, columns ...string) (all []string) {
	t.Helper()
	e, err := duckdb.Open(t.Context(), c, duckdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	err = e.EachRecord(t.Context(), table, columns, func(unit string, values []sqltype.Value) error {
		text := []string{unit}
		for _, v := range values {
			text = append(text, sqltype.Format(v))
		}
		all = append(all, strings.Join(text, "|"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// Records carry the key of their unit; those without one are left out.
func TestEachRecord(t *testing.T) {
	c, _ := visits(t, "who", someVisits)
	want := []string{"1:1|10.50|ER", "1:1|2.00|ICU", "1:2|4.00|ICU", "1:2||ER", "1:3|1.00|a \"b\""}
	if got := recordsOf(t, c, "visits", "cost", "place"); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	c, _ = visits(t, "row", someVisits)
	if got := recordsOf(t, c, "visits", "place"); !slices.Equal(got, []string{"|ER", "|ER", "|ER", "|ICU", "|ICU", "|a \"b\""}) {
		t.Errorf("got %q", got)
	}
}

// A reference leads to the unit; one that does not resolve leads to nobody, and of a
// key that is not unique each copy carries its own.
func TestEachRecordByReference(t *testing.T) {
	dir := t.TempDir()
	rewrite(t, filepath.Join(dir, "people.csv"), "id,name\n1,ann\n2,bob\n2,eve\n3,\n")
	rewrite(t, filepath.Join(dir, "labs.csv"), "of,value\n1,5\n1,6\n2,7\n3,8\n9,9\n,1\n")
	c, err := catalog.Parse(filepath.Join(dir, "discreet.toml"), `
[domains.p]
measure = "pure"
epsilon = 1
[tables.people]
source = "people.csv"
domain = "p"
unit = "name"
max_groups_per_unit = 1
max_rows_per_group = 1
columns = { id = { type = "integer" }, name = { type = "text" } }
[tables.labs]
source = "labs.csv"
domain = "p"
unit = { column = "of", references = "people.id" }
max_groups_per_unit = 1
max_rows_per_group = 1
columns = { of = { type = "integer" }, value = { type = "integer" } }
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"3:ann|5", "3:ann|6", "3:bob|7", "3:eve|7"}
	if got := recordsOf(t, c, "labs", "value"); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestEachRecordRefusals(t *testing.T) {
	c, _ := visits(t, "who", someVisits)
	e, err := duckdb.Open(t.Context(), c, duckdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	nothing := func(string, []sqltype.Value) error { return nil }
	if e.EachRecord(t.Context(), "nowhere", nil, nothing) == nil || e.EachRecord(t.Context(), "visits", []string{"email"}, nothing) == nil {
		t.Error("what is not declared is read")
	}
	stop := errors.New("enough")
	if err := e.EachRecord(t.Context(), "visits", []string{"place"}, func(string, []sqltype.Value) error { return stop }); err != stop {
		t.Errorf("what f refuses is returned as %v", err)
	}
}
