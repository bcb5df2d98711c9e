//go:build cgo

package release_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/sqltype"
)

// TestSoundnessThroughFiles is TestSoundness with the engine's adapter instead
// of a bare database: D and D' are files, with NaN, infinities and −0 as they
// come, and the adapter reads them on one thread and on several, and of some the copies
// that the owner has made, in the order of their units. Its results must be those of the bare database too.
func TestSoundnessThroughFiles(t *testing.T) {
	t.Parallel()
	most := soak(5, 200)
	m := newMachines(t)
	releases, moved, copied := 0, 0, 0
	for i := range most {
		// Other examples than those of the planted faults.
		x := examples.Example(1_000_000 + i)
		folder := t.TempDir()
		cats := map[string]*catalog.Catalog{}
		engines := map[string][]engine.Engine{}
		for schema, d := range map[string]database{"d": x.d, "e": x.e} {
			cats[schema] = m.write(t, x, d, filepath.Join(folder, schema), false)
			for _, threads := range []int{1, 4} {
				o := duckdb.Options{Memory: "1GiB", Threads: threads, Temp: t.TempDir()}
				if prepared := threads > 1 && i%4 == 0; prepared { // waits until files were left alone
					o.Copies = filepath.Join(folder, schema, "copies")
				}
				e, err := duckdb.Open(t.Context(), cats[schema], o)
				if err != nil {
					t.Fatalf("example %d: %v\n%s", i, err, x)
				}
				if o.Copies != "" {
					copied += prepare(t, e, cats[schema])
				}
				engines[schema] = append(engines[schema], e)
			}
		}
		if err := m.load(t.Context(), x, pipeline{}); err != nil {
			t.Fatal(err)
		}
		for _, statement := range x.statements {
			certificate, err := certify(statement, cats["d"])
			if err != nil || certificate.Domain == nil {
				continue
			}
			for _, r := range certificate.Releases {
				if !rewrite.Summed(r) { // TestTreesAreSound looks at it
					continue
				}
				releases++
				b, q, _, err := pipeline{}.query(r, nil)
				if err != nil {
					t.Fatal(err)
				}
				through, err := render.DuckDB.Release(b) // of copies by their names
				if err != nil {
					t.Fatal(err)
				}
				q.Salt, through.Salt = 7919, 7919
				r = summed(r)
				results := map[string]groups{}
				for schema, es := range engines {
					bare, err := exactGroups(t.Context(), m.plain, schema, q, q.Salt, 0, 1)
					if err != nil {
						t.Fatal(err)
					}
					bare = bare.values(q.Keys)
					for _, e := range es {
						results[schema], err = revealed(t.Context(), e, through)
						if err != nil {
							t.Fatalf("example %d: %v\n%s\n%s\n%s", i, err, statement, q.SQL, x)
						}
						if why := bare.differs(results[schema]); why != "" {
							t.Fatalf("example %d: through files, the result is another: %s\n%s\n%s\n%s", i, why, statement, q.SQL, x)
						}
					}
				}
				allowed := int64(1)
				if x.replaced {
					allowed = 2
				}
				if certificate.Domain.ID != x.changed {
					allowed = 0
				}
				d := measure(r, results["d"], results["e"], allowed)
				if d.broken != "" {
					t.Fatalf("example %d: %s\n%s\n%s\n%s", i, d.broken, statement, q.SQL, x)
				}
				if d.moved {
					moved++
				}
			}
		}
		for _, e := range slices.Concat(engines["d"], engines["e"]) {
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if copied == 0 {
		t.Error("no table was copied")
	}
	t.Logf("%d releases, %d differ between neighbours, %d tables copied", releases, moved, copied)
}

// prepare copies the tables that can be.
func prepare(t *testing.T, e *duckdb.Engine, c *catalog.Catalog) (n int) {
	t.Helper()
	for _, table := range c.Tables {
		made, err := e.MakeCopy(t.Context(), table.Name)
		var not *engine.Uncopied
		switch {
		case errors.As(err, &not) && not.Elsewhere:
			continue
		case err != nil || made.State != engine.Copied:
			t.Fatalf("%+v, %v", made, err)
		}
		n++
	}
	return n
}

// write puts a database into files, half of them Parquet, or all that can be, and the others in one of
// DuckDB's, and returns its catalog.
func (m *machines) write(t *testing.T, x *example, d database, folder string, parquet bool) *catalog.Catalog {
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	text := x.text
	script := fmt.Sprintf("ATTACH '%s/all.duckdb' AS file;\n", folder)
	for i, table := range x.tables {
		var fields []string
		for j, c := range table.columns {
			fields = append(fields, fmt.Sprintf("TRY_CAST(v%d AS %s) AS %s", j, engineType(c.typ), c.name))
		}
		rows := fmt.Sprintf("SELECT %s FROM %s", strings.Join(fields, ", "), table.values(d[table.name]))
		if (parquet || i%2 == 0) && !slices.ContainsFunc(table.columns, func(c column) bool { return c.kind == span }) { // Parquet has no negative ones
			script += fmt.Sprintf("COPY (%s) TO '%s/%s.parquet' (FORMAT parquet);\n", rows, folder, table.name)
			continue
		}
		script += fmt.Sprintf("CREATE TABLE file.%s AS %s;\n", table.name, rows)
		text = strings.Replace(text, `source = "`+table.name+`.parquet"`, `source = "all.duckdb#`+table.name+`"`, 1)
	}
	if _, err := m.plain.ExecContext(t.Context(), script+"DETACH file;"); err != nil {
		t.Fatal(err)
	}
	cat, err := catalog.Parse(filepath.Join(folder, "catalog.toml"), text)
	if err != nil {
		t.Fatal(err)
	}
	return cat
}

// revealed runs a query in an engine and looks at what comes back, which
// package release alone may.
func revealed(ctx context.Context, e engine.Engine, q engine.Query) (groups, error) {
	exact, err := e.Exact(ctx, q)
	if err != nil {
		return nil, err
	}
	out := groups{}
	for _, row := range exact.RevealExact() {
		g := group{}
		for _, v := range row[len(q.Keys):] {
			if v == nil {
				g.values = append(g.values, new(big.Int))
				continue
			}
			g.values = append(g.values, v.(sqltype.Decimal).Unscaled)
		}
		key := sqltype.Key(row[:len(q.Keys)]...)
		if _, twice := out[key]; twice {
			return nil, fmt.Errorf("group %s stands twice", key)
		}
		out[key] = g
	}
	return out, nil
}

// values returns the groups under the keys of revealed.
func (g groups) values(types []sqltype.Type) groups {
	out := groups{}
	for _, row := range maps.All(g) {
		var key []sqltype.Value
		for i, v := range row.key {
			key = append(key, valueOf(v, types[i]))
		}
		out[sqltype.Key(key...)] = row
	}
	return out
}
