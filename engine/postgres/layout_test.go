//go:build cgo && unix

package postgres_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/engine"
)

// A table that is clustered by an index which begins with its unit is said to be laid out by it,
// whatever rows it has; others are not.
func (s *server) layout(t *testing.T) {
	schema, names := s.schema(t), []string{"clustered", "empty", "indexed", "behind", "narrow"}
	text, tables := "[domains.people]\nmeasure = \"pure\"\nneighbours = \"add-remove\"\nepsilon = 1.0\n", []string{}
	for _, name := range names {
		typ, index, cluster := "bigint", "(u, g)", true
		switch name {
		case "indexed":
			cluster = false
		case "behind":
			index = "(g, u)"
		case "narrow": // its unit is declared a bigint
			typ = "integer"
		}
		s.exec(t, "CREATE TABLE %[1]s.%[2]s (u %[3]s, g bigint); CREATE INDEX %[2]s_i ON %[1]s.%[2]s %[4]s", schema, name, typ, index)
		if name != "empty" {
			s.exec(t, "INSERT INTO %s.%s SELECT n %% 7, n FROM generate_series(1, 30) AS n", schema, name)
		}
		if cluster {
			s.exec(t, "CLUSTER %[1]s.%[2]s USING %[2]s_i", schema, name)
		}
		tables = append(tables, schema+"."+name)
		text += fmt.Sprintf("[tables.%[1]s]\nsource = \"%[2]s.%[1]s\"\nunit = \"u\"\ndomain = \"people\"\n[tables.%[1]s.columns]\nu = { type = \"bigint\" }\n", name, schema)
	}
	_, url := s.role(t, schema, tables...)
	e, err := openAs(t, parse(t, text), url)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		notes, err := e.Layout(t.Context(), []engine.Query{{Tables: []string{name}}, {Tables: []string{name}}})
		if err != nil {
			t.Fatal(err)
		}
		laid := name == "clustered" || name == "empty"
		if said := len(notes) == 1 && strings.HasPrefix(notes[0], name+": laid out by its unit"); said != laid || !laid && len(notes) > 0 {
			t.Errorf("of %s is said: %q", name, notes)
		}
	}
}
