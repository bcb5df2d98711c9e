//go:build cgo

package duckdb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/sqltype"
)

// From opening a CSV file of 30 MB and six columns to the first answer, and to
// each that follows it.
func BenchmarkRecords(b *testing.B) {
	dir := b.TempDir()
	var text strings.Builder
	text.WriteString("unit,g,v,w,day,name\n")
	for i := range 480_000 {
		fmt.Fprintf(&text, "%d,group %d,%d.%02d,%d,2025-%02d-%02d,\"a name, %d\"\n", i*7919%50000, i%100, i%1000, i%100, i%97, 1+i%12, 1+i%28, i)
	}
	csv := filepath.Join(dir, "t.csv")
	if err := os.WriteFile(csv, []byte(text.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	toml := "[tables.t]\nsource = \"t.csv\"\npublic = true\n[tables.t.columns]\nunit = { type = \"bigint\" }\ng = { type = \"text\" }\n" +
		"v = { type = \"double\" }\nw = { type = \"integer\" }\nday = { type = \"date\" }\nname = { type = \"text\" }\n"
	if err := os.WriteFile(filepath.Join(dir, "discreet.toml"), []byte(toml), 0o600); err != nil {
		b.Fatal(err)
	}
	c, err := catalog.Load(filepath.Join(dir, "discreet.toml"))
	if err != nil {
		b.Fatal(err)
	}
	ask := func(b *testing.B, e *duckdb.Engine) {
		x, err := e.Exact(b.Context(), engine.Query{SQL: "SELECT g, count(*), CAST(sum(n) AS HUGEINT) FROM (SELECT g, unit, count(*) AS n FROM t GROUP BY g, unit) GROUP BY g", Tables: []string{"t"},
			Keys: []sqltype.Type{sqltype.Of(sqltype.Text)}, Values: 2})
		if err != nil {
			b.Fatal(err.(*engine.Failure).Cause())
		}
		if rows := x.RevealExact(); len(rows) != 100 {
			b.Fatalf("%d groups", len(rows))
		}
	}
	for _, memory := range []string{"1GiB", "40MiB"} {
		b.Run("first/"+memory, func(b *testing.B) {
			for b.Loop() {
				e := open(b, c, duckdb.Options{Threads: 2, Memory: memory})
				ask(b, e)
				if err := e.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("next/"+memory, func(b *testing.B) {
			e := open(b, c, duckdb.Options{Threads: 2, Memory: memory})
			ask(b, e)
			for b.Loop() {
				ask(b, e)
			}
		})
	}
}
