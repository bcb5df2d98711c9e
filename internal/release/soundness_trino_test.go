//go:build cgo && unix

package release_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/trino"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/trinotest"
)

// TestTrinoAgrees holds Trino against DuckDB and against the certificate: see rival. The tables are
// of its connector "memory". Planted is a bound on groups that is not applied.
func TestTrinoAgrees(t *testing.T) {
	t.Parallel()
	cluster := trinotest.Start(t)
	s := &rival{machines: newMachines(t), name: "Trino", dialect: render.Trino, canonical: inTrino, adjust: withoutIntervals}
	schema, made := fmt.Sprintf("memory.r%d", os.Getpid()), 0
	cluster.Exec(t, "CREATE SCHEMA "+schema)
	// Tables stay where they are: the cluster is thrown away.
	same := map[string]string{} // tables of D, by what they hold
	s.open = func(ctx context.Context, x *example, of string) (engine.Engine, error) {
		if of == "d" {
			clear(same)
		}
		text := x.text
		for _, t := range x.tables {
			rows, err := s.texts(ctx, t.asTexts(of), len(t.columns))
			if err != nil {
				return nil, err
			}
			key := t.name + fmt.Sprint(rows)
			if same[key] == "" { // most tables of D' are as they are in D
				made++
				same[key] = fmt.Sprintf("%s.t%d", schema, made)
				if _, err := cluster.Query("CREATE TABLE " + same[key] + " AS " + t.inTrino(rows)); err != nil {
					return nil, fmt.Errorf("copy to trino: %w", err)
				}
			}
			text = strings.Replace(text, `source = "`+t.name+`.parquet"`, `source = "`+same[key]+`"`, 1)
		}
		c, err := catalog.Parse("catalog.toml", "[engine]\nkind = \"trino\"\nurl = { env = \"DISCREET_ENGINE\" }\naccept_role = true\n"+text)
		if err != nil {
			return nil, err
		}
		return trino.Open(ctx, c, trino.Options{URL: strings.Replace(cluster.URL, "http://", "http://owner@", 1)})
	}
	if *agreeingFrom == 0 { // else it is a later part of a run
		s.special(t)
		s.narrows(t, 20)
	}
	s.agree(t, 100)
	if *agreeing > 0 {
		return
	}
	s.finds(t, "a bound that is not applied", 37, func(sql string) string {
		return strings.NewReplacer("d <= 1", "d <= 9", "d <= 2", "d <= 9", "WHEN d > 1 THEN", "WHEN d > 9 THEN", "WHEN d > 2 THEN", "WHEN d > 9 THEN").Replace(sql)
	})
}

// inTrino selects rows of literals as a table's.
func (t *table) inTrino(rows [][]string) string {
	var columns []string
	for i, c := range t.columns {
		columns = append(columns, fmt.Sprintf("CAST(c%d AS %s) AS %q", i, trinoType(c.typ), c.name))
	}
	var names, all []string
	for i := range t.columns {
		names = append(names, fmt.Sprintf("c%d", i))
	}
	filler := slices.Repeat([]string{"CAST(NULL AS VARCHAR)"}, len(names)) // an empty list is no list
	for _, row := range append(slices.Clone(rows), filler) {
		all = append(all, "("+strings.Join(append(row, fmt.Sprint(len(all))), ", ")+")")
	}
	return fmt.Sprintf("SELECT %s FROM (VALUES %s) AS t(%s, n) WHERE n < %d", strings.Join(columns, ", "), strings.Join(all, ", "), strings.Join(names, ", "), len(rows))
}

func trinoType(typ string) string {
	switch typ {
	case "text":
		return "VARCHAR"
	case "time", "timestamp":
		return typ + "(6)"
	}
	return typ
}

// withoutIntervals makes texts of intervals, which Trino has no type for.
func withoutIntervals(x *example) {
	x.text = strings.ReplaceAll(x.text, `type = "interval"`, `type = "text"`)
	for _, t := range x.tables {
		for i, c := range t.columns {
			if c.typ == "interval" {
				t.columns[i].typ = "text"
			}
		}
	}
}

// inTrino prints the canonical value of a field that both engines can hold: Trino's adapter has the
// years from 1 to 9999.
func inTrino(typ, value string) string {
	value = canon(typ, value)
	switch typ {
	case "date", "timestamp":
		return fmt.Sprintf("CASE WHEN %[1]s >= '0001-01-01'::%[2]s AND %[1]s < '10000-01-01'::%[2]s THEN %[1]s END", value, typ)
	}
	return value
}
