//go:build cgo

package duckdb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
)

// TestSmallParquetIsKept: what fits is held in memory, as long as the file is as it was; what
// does not is read where it is.
func TestSmallParquetIsKept(t *testing.T) {
	const few, room = "SELECT unnest([1, 2, 3]) AS u, 'a' AS v", 1000
	for name, test := range map[string]struct {
		text string
		kept int
		left int64
	}{
		"few":        {few, 1, room - 3*2*17 - 3},
		"many":       {"SELECT 1 AS u, 'a' AS v FROM range(1000)", 0, room},
		"long":       {"SELECT unnest([1, 2, 3]) AS u, repeat('a', 400) AS v", 0, room},
		"long twice": {"SELECT 1 AS u, repeat('a', 4) AS v FROM range(25)", 1, room - 25*2*17 - 25*4},
		"none":       {"SELECT 1 AS u, NULL AS v WHERE false", 1, room},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			lay(t, dir, map[string]string{"t.parquet": test.text})
			e := open(t, severalOf(t, dir, "t.parquet", "u = { type = \"bigint\" }\nv = { type = \"text\" }"),
				duckdb.Held(duckdb.Restless(duckdb.Options{Threads: 1, Lazy: true}, restless), room))
			time.Sleep(2 * restless)
			before, _ := counted(t, e, 1)
			if files, left := duckdb.Kept(e); files != test.kept || left != test.left {
				t.Errorf("%d files are kept, %d bytes are left; want %d, %d", files, left, test.kept, test.left)
			}
			if again, _ := counted(t, e, 1); again != before {
				t.Errorf("%d rows, then %d", before, again)
			}
			for i := range 3 { // rewritten again and again, nothing is lost of the room
				lay(t, dir, map[string]string{"t.parquet": fmt.Sprintf("SELECT unnest(range(%d)) AS u, 'b' AS v", i+1)})
				time.Sleep(2 * restless)
				if rows, _ := counted(t, e, 1); rows != int64(i+1) {
					t.Errorf("%d rows of %d", rows, i+1)
				}
				if files, left := duckdb.Kept(e); files != 1 || left != room-int64(i+1)*(2*17+1) {
					t.Errorf("written anew, %d files are kept, %d bytes are left", files, left)
				}
			}
			if err := os.Remove(filepath.Join(dir, "t.parquet")); err != nil {
				t.Fatal(err)
			}
			if _, err := e.Exact(t.Context(), engine.Query{SQL: "SELECT count(*) AS x0 FROM t", Tables: []string{"t"}, Values: 1}); err == nil {
				t.Error("a file that is gone is answered from memory")
			}
		})
	}
}

// TestSubstitute: parameters are those beyond constants and quoted names.
func TestSubstitute(t *testing.T) {
	values := map[string]string{"salt": "7", "slice": "0", "slices": "1"}
	for text, want := range map[string]string{
		"$salt":                              "7",
		"$slices>$slice":                     "1>0",
		"CAST($salt AS BIGINT)+$salt":        "CAST(7 AS BIGINT)+7",
		"'$salt' || $salt || '''$salt'":      "'$salt' || 7 || '''$salt'",
		`"$salt" = $salt AND "a""$salt" = 1`: `"$salt" = 7 AND "a""$salt" = 1`,
		"'it''s' || '$slice'":                "'it''s' || '$slice'",
		"$other $":                           "$other $",
		"'$salt":                             "'$salt",
	} {
		if got := duckdb.Substitute(text, values); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
