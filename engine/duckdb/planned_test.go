//go:build cgo

package duckdb_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/sqltype"
)

// counted asks for the number of rows of t below 1500, which of less the planner knows
// from the file, and of a half of them that the salt chooses.
func counted(t *testing.T, e engine.Engine, salt int64) (rows, chosen int64) {
	t.Helper()
	x, err := e.Exact(context.Background(), engine.Query{
		SQL:    `SELECT count(*) AS x0, count(*) FILTER (WHERE hash(hash(CAST($salt AS BIGINT), u)) % 2 = 0) AS x1 FROM t WHERE u < 1500 AND $slices > $slice`,
		Tables: []string{"t"}, Salt: salt, Values: 2})
	if err != nil {
		t.Fatal(err)
	}
	row := x.RevealExact()[0]
	return row[0].(sqltype.Decimal).Unscaled.Int64(), row[1].(sqltype.Decimal).Unscaled.Int64()
}

// TestPlannedOnce: a query is planned once, and reads its files as they are and the salt
// that it is given each time.
func TestPlannedOnce(t *testing.T) {
	for _, format := range []string{"parquet", "csv"} {
		t.Run(format, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "t."+format)
			write := func(rows int, age time.Duration) {
				text := fmt.Sprintf("SELECT CAST(i AS BIGINT) AS u FROM range(%d) AS t(i)", rows)
				if format == "csv" {
					text = "u\n"
					for i := range rows {
						text += fmt.Sprintln(i)
					}
				}
				lay(t, dir, map[string]string{"t." + format: text})
				then := time.Now().Add(-age)
				if err := os.Chtimes(path, then, then); err != nil {
					t.Fatal(err)
				}
			}
			write(1000, 2*time.Hour)
			c, err := catalog.Parse(filepath.Join(dir, "discreet.toml"), fmt.Sprintf(
				"[domains.p]\nmeasure = \"pure\"\nepsilon = 1.0\n[tables.t]\nsource = \"t.%s\"\ndomain = \"p\"\nunit = \"u\"\n[tables.t.columns]\nu = { type = \"bigint\" }\n", format))
			if err != nil {
				t.Fatal(err)
			}
			e, err := duckdb.Open(t.Context(), c, duckdb.Options{Temp: t.TempDir(), Threads: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			different := map[int64]bool{}
			for salt := range int64(10) {
				rows, chosen := counted(t, e, salt)
				if again, same := counted(t, e, salt); rows != 1000 || again != rows || same != chosen {
					t.Errorf("%d and %d rows, of which %d and %d", rows, again, chosen, same)
				}
				different[chosen] = true
			}
			if len(different) < 3 {
				t.Errorf("ten salts choose %v rows", different)
			}
			if n := duckdb.Plans(e); n != 1 {
				t.Errorf("%d plans wait", n)
			}
			var asked sync.WaitGroup
			for range 8 {
				asked.Go(func() {
					for range 5 {
						if rows, _ := counted(t, e, 1); rows != 1000 {
							t.Errorf("%d rows", rows)
						}
					}
				})
			}
			asked.Wait()
			if n := duckdb.Plans(e); n < 1 || n > 8 {
				t.Errorf("%d plans wait", n)
			}
			write(2000, time.Hour)
			if rows, _ := counted(t, e, 1); rows != 1500 {
				t.Errorf("of the file's rows 1500 are below 1500, the query sees %d", rows)
			}
			write(3000, 0) // a further change might not show in its time: that plan is not kept
			before := duckdb.Plans(e)
			if rows, _ := counted(t, e, 1); rows != 1500 || duckdb.Plans(e) > before {
				t.Errorf("the query sees %d rows of 1500, and %d plans wait after %d", rows, duckdb.Plans(e), before)
			}
		})
	}
}
