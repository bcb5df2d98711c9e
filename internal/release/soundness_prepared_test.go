//go:build cgo

package release_test

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/internal/stability"
)

// TestSoundnessThroughCopies is TestSoundness over files of which the owner has made all copies that there can be: each form that reads
// copies is asked alone, and its results on D and D' must be those over the files, and differ by no more than the certificate says. The examples are
// those whose statements have such forms: over copies that hold units, and of rows that are kept once.
func TestSoundnessThroughCopies(t *testing.T) {
	t.Parallel()
	m := newMachines(t)
	var all []*copiedExample
	for kept, forms := range map[bool][]string{false: {"held", "held, least", "held, totals", "totals"}, true: {"whole"}} {
		wanted := map[string]int{}
		for _, form := range forms {
			wanted[form] = soak(2, 12)
		}
		for i := 2_000_000; slices.Max(slices.Collect(maps.Values(wanted))) > 0; i++ {
			x := examples.Example(i)
			if slices.ContainsFunc(x.tables, func(of *table) bool {
				return slices.ContainsFunc(of.columns, func(c column) bool { return c.kind == span })
			}) {
				continue // such a table can be in no Parquet file
			}
			if kept {
				x.text = strings.ReplaceAll(x.text, "\nunit = \"u\"\n", "\nunit = \"u\"\nmax_rows_per_unit = 2\n")
			}
			c, err := catalog.Parse("catalog.toml", x.text)
			if err != nil {
				t.Fatalf("example %d: %v\n%s", i, err, x)
			}
			some := false
			for _, r := range releases(t, x, c) {
				for form := range r.over(nil) {
					some = some || wanted[form] > 0
					wanted[form]--
				}
			}
			if some {
				all = append(all, m.copied(t, i, x))
			}
		}
	}
	asked, moved := map[string]int{}, 0
	for _, x := range all { // the files of all were left alone for long enough when those of the first were
		moved += x.ask(t, asked)
	}
	t.Logf("%d examples, %v, %d releases differ between neighbours", len(all), asked, moved)
	for _, form := range []string{"held", "held, least", "held, totals", "totals", "whole"} {
		if asked[form] == 0 {
			t.Errorf("the form %q is asked over no copy", form)
		}
	}
	if moved == 0 {
		t.Error("nothing differs between neighbours")
	}
}

// A released is one release of a statement.
type released struct {
	statement string
	of        *stability.Release
	domain    string
	query     engine.Query
}

// releases are those of an example's statements.
func releases(t *testing.T, x *example, c *catalog.Catalog) (all []released) {
	t.Helper()
	for _, statement := range x.statements {
		certificate, err := certify(statement, c)
		if err != nil || certificate.Domain == nil {
			continue
		}
		for _, r := range certificate.Releases {
			if !rewrite.Summed(r) { // TestTreesAreSound looks at it
				continue
			}
			q, err := render.Release(rewrite.Release(r, nil))
			if err != nil {
				t.Fatal(err)
			}
			q.Salt = 7919
			all = append(all, released{statement, r, certificate.Domain.ID, q})
		}
	}
	return all
}

// over are the forms of a release's query that read copies, each alone: where a copy is not read, it fails. Without an engine they are all that there can be.
func (r released) over(e *duckdb.Engine) map[string]engine.Query {
	copied := func(table string) bool {
		if e == nil {
			return true
		}
		all, err := e.CopiesOf(table)
		return err == nil && slices.ContainsFunc(all, func(c engine.Copy) bool { return c.State == engine.Copied && !c.WithoutUnits })
	}
	out := map[string]engine.Query{}
	alone := func(form string, change func(q *engine.Query)) {
		q := r.query
		q.SQL, q.Groups, q.Least, q.Totals, q.Whole, q.Held = "SELECT", "", nil, nil, nil, nil
		change(&q)
		out[form] = q
	}
	if h := r.query.Held; h != nil && !slices.ContainsFunc(h.Copies, func(table string) bool { return !copied(table) }) {
		held := func(form, sql string, l *engine.Least, to *engine.Totals) {
			alone(form, func(q *engine.Query) {
				one := *h
				one.SQL, one.Groups, one.Least, one.Totals = sql, "", l, to
				q.Held = &one
			})
		}
		held("held", h.SQL, nil, nil)
		if h.Least != nil {
			held("held, least", "SELECT", h.Least, nil)
		}
		if h.Totals != nil {
			held("held, totals", "SELECT", nil, h.Totals)
		}
	}
	if len(r.query.Tables) == 1 && copied(r.query.Tables[0]) {
		if r.query.Whole != nil {
			alone("whole", func(q *engine.Query) { q.Whole = r.query.Whole })
		}
		if r.query.Totals != nil {
			alone("totals", func(q *engine.Query) { q.Totals = r.query.Totals })
		}
	}
	return out
}

// A copiedExample is one whose databases are files.
type copiedExample struct {
	*example
	number   int
	folder   string
	catalogs map[string]*catalog.Catalog
}

func (m *machines) copied(t *testing.T, number int, x *example) *copiedExample {
	c := &copiedExample{x, number, t.TempDir(), map[string]*catalog.Catalog{}}
	for schema, d := range map[string]database{"d": x.d, "e": x.e} {
		c.catalogs[schema] = m.write(t, x, d, filepath.Join(c.folder, schema), true)
	}
	return c
}

// ask asks the statements over files and over their copies, and returns how many releases differ between neighbours.
func (x *copiedExample) ask(t *testing.T, asked map[string]int) (moved int) {
	t.Helper()
	results := map[string][]groups{}
	for schema, c := range x.catalogs {
		open := func(o duckdb.Options) *duckdb.Engine {
			o.Memory, o.Temp, o.Lazy = "512MiB", t.TempDir(), true
			e, err := duckdb.Open(t.Context(), c, o)
			if err != nil {
				t.Fatalf("example %d: %v\n%s", x.number, err, x)
			}
			return e
		}
		bare, copied := open(duckdb.Options{Threads: 1}), open(duckdb.Options{Threads: 4, Copies: filepath.Join(x.folder, schema, "copies")})
		prepare(t, copied, c)
		for _, r := range releases(t, x.example, c) {
			want, err := revealed(t.Context(), bare, r.query)
			if err != nil {
				t.Fatalf("example %d: %v\n%s\n%s", x.number, err, r.statement, x)
			}
			results[schema] = append(results[schema], want)
			for form, q := range r.over(copied) {
				asked[form]++
				got, err := revealed(t.Context(), copied, q)
				if err != nil {
					t.Fatalf("example %d: %s over copies: %v\n%s\n%s", x.number, form, err, r.statement, x)
				}
				if why := want.differs(got); why != "" {
					t.Fatalf("example %d: %s over copies, the result is another: %s\n%s\n%s", x.number, form, why, r.statement, x)
				}
			}
		}
		if err := errors.Join(bare.Close(), copied.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for i, r := range releases(t, x.example, x.catalogs["d"]) {
		allowed := int64(1)
		if x.replaced {
			allowed = 2
		}
		if r.domain != x.changed {
			allowed = 0
		}
		d := measure(summed(r.of), results["d"][i], results["e"][i], allowed)
		if d.broken != "" {
			t.Fatalf("example %d: %s\n%s\n%s", x.number, d.broken, r.statement, x)
		}
		if d.moved {
			moved++
		}
	}
	return moved
}
