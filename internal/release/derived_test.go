//go:build cgo

package release_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/derive"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

// derivedCatalog is the catalog of extremes with derived columns of random expressions,
// some of them over one another, and those expressions.
func derivedCatalog(t *testing.T, n int) (*catalog.Catalog, map[string]string) {
	t.Helper()
	c := *extremeCatalog(t)
	table := *c.Tables[0]
	table.Columns = slices.Clone(table.Columns)
	inlined := map[string]string{}
	for i := 0; len(inlined) < n; i++ {
		w := writer{rand.New(rand.NewPCG(23, uint64(i)))}
		kind := w.pick("q", "n", "x", "y", "z")
		text := w.expr(kind, "t", 1+w.IntN(3))
		whole := text
		if earlier := fmt.Sprintf("e%d", w.IntN(len(inlined)+1)); inlined[earlier] != "" {
			text = fmt.Sprintf("CASE WHEN %s IS NULL THEN %s END", earlier, text)
			whole = fmt.Sprintf("CASE WHEN (%s) IS NULL THEN %s END", inlined[earlier], whole)
		}
		tree, err := sqlparse.Parse("SELECT " + whole + " FROM t")
		if err != nil {
			t.Fatal(err)
		}
		bound, err := bind.Bind(tree, &c)
		if err != nil || plan.TooLarge(bound, 500) != nil {
			continue
		}
		typ := bound.Columns()[0].Type
		if typ.Kind == sqltype.IntervalKind {
			continue
		}
		name := fmt.Sprintf("e%d", len(inlined))
		inlined[name] = whole
		table.Columns = append(table.Columns, &catalog.Column{Name: name, Type: typ, Is: &catalog.SQL{Text: text}})
	}
	c.Tables = slices.Clone(c.Tables)
	c.Tables[0] = &table
	return &c, inlined
}

// A derived column is its expression: a statement over it has the sensitivities of the
// one with the expression in its place, and exactly its true answer, over tables of
// nothing but extremes.
func TestDerivedIsInlined(t *testing.T) {
	n := soak(20, 400)
	c, inlined := derivedCatalog(t, n)
	if err := derive.Check(c); err != nil {
		t.Fatal(err)
	}
	e, err := duckdb.Open(t.Context(), c, duckdb.Options{Threads: 2, Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	seen := map[string]bool{}
	for name, expr := range inlined {
		const form = "SELECT count(*), count(X), count(DISTINCT X), sum(CASE WHEN X IS NULL THEN 0 ELSE 1 END) FROM t WHERE X IS NOT NULL OR t.q"
		of, in := answersOf(t, e, c, strings.ReplaceAll(form, "X", name)), answersOf(t, e, c, strings.ReplaceAll(form, "X", "("+expr+")"))
		if !slices.Equal(of, in) {
			t.Errorf("%s is %s: %v, inlined %v", name, expr, of, in)
		}
		seen[of[len(of)-1]] = true
	}
	if len(seen) < n/10 {
		t.Errorf("only %d different answers: the test sees nothing", len(seen))
	}
}

// answersOf are a statement's sensitivities and its exact answers.
func answersOf(t *testing.T, e *duckdb.Engine, c *catalog.Catalog, sql string) (out []string) {
	t.Helper()
	certificate, err := certified(sql, c)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	for _, r := range certificate.Releases {
		out = append(out, distances(r))
		q, err := render.Release(rewrite.Release(r, nil))
		if err != nil {
			t.Fatal(err)
		}
		q.Salt = 7
		exact, err := e.Exact(t.Context(), q)
		if err != nil {
			t.Fatalf("%s: %v", sql, err.(*engine.Failure).Cause())
		}
		out = append(out, fmt.Sprint(exact.RevealExact()))
	}
	return out
}

// distances are what a release's cost follows from.
func distances(r *stability.Release) string {
	s := fmt.Sprintf("L0 %d R %d one row %t private %t:", r.MaxGroups, r.MaxRows, r.OneRow, r.Private)
	for _, c := range r.Components {
		s += fmt.Sprintf(" %d %s of %s", c.Kind, c.PerGroup, c.Grid.RatString())
	}
	return s
}

// A view is its text: a statement that names it has the certificate of the one with the
// text in its place.
func TestViewIsInlined(t *testing.T) {
	c := *extremeCatalog(t)
	views := map[string]string{
		"v1": "SELECT * FROM t WHERE n_i > 0 OR q",
		"v2": "SELECT a.*, b.x AS y FROM t AS a LEFT JOIN p AS b ON a.x = b.x",
		"v3": "SELECT u, q, x, least(greatest(n_f, 0), 5) AS n_f FROM v1 WHERE n_i < 7",
		"v4": "SELECT q, count(*) AS n_f, count(DISTINCT u) AS n_i FROM v1 GROUP BY q",
		"v5": "SELECT u, count(*) AS n_f, true AS q, 'a' AS x FROM t GROUP BY u",
		"v6": "SELECT n_i, n_f, q, x FROM p ORDER BY n_i LIMIT 3",
	}
	text := map[string]string{"v3": strings.Replace(views["v3"], "v1", "("+views["v1"]+") AS v1", 1), "v4": strings.Replace(views["v4"], "v1", "("+views["v1"]+") AS v1", 1)}
	for name, sql := range views {
		c.Views = append(c.Views, &catalog.View{Name: name, Query: &catalog.SQL{Text: sql}})
		if text[name] == "" {
			text[name] = sql
		}
	}
	accepted := 0
	for name := range views {
		for _, form := range []string{
			"SELECT count(*), sum(least(n_f, 10)) FROM V", "SELECT q, count(*) FROM V GROUP BY q", "SELECT x, count(*) FROM V WHERE q GROUP BY x HAVING count(*) > 3",
			"SELECT count(*) FROM V AS a JOIN t AS b ON a.u = b.u", "SELECT count(DISTINCT u) FROM V", "SELECT max(n_f) FROM V", "SELECT * FROM V",
			"SELECT count(*) FROM t WHERE u IN (SELECT u FROM V)", "WITH w AS (SELECT * FROM V) SELECT count(*) FROM w AS a, w AS b WHERE a.u = b.u", "SELECT count(*) FROM V LIMIT 1",
			"SELECT count(*) FROM (SELECT q FROM V UNION ALL SELECT q FROM V) AS s",
		} {
			of, refused := certified(strings.ReplaceAll(form, "V", name), &c)
			in, inRefused := certified(strings.NewReplacer("V AS", "("+text[name]+") AS", "V", "("+text[name]+") AS "+name).Replace(form), &c)
			if (refused == nil) != (inRefused == nil) || refused == nil && !reflect.DeepEqual(forms(of), forms(in)) {
				t.Errorf("%s of %s: %v %v\n%v\n%v", form, name, refused, inRefused, forms(of), forms(in))
			}
			if refused == nil {
				accepted++
			}
		}
	}
	if accepted < 30 {
		t.Errorf("only %d statements were accepted", accepted)
	}
}

// forms is all of a certificate but its places.
func forms(c *stability.Certificate) (out []string) {
	if c == nil {
		return nil
	}
	for _, r := range c.Releases {
		out = append(out, plan.Format(r.Input), distances(r))
	}
	return append(out, plan.Format(c.Post))
}

// What a view declares of its columns bounds as what a table declares: a statement over the
// view has the sensitivities, and exactly the true answers, of one over a table with these
// declarations, over tables of nothing but extremes.
func TestViewDeclares(t *testing.T) {
	withTable := extremeCatalog(t)
	c := *withTable
	bare := *c.Tables[0]
	bare.Columns = nil
	v := &catalog.View{Name: "v", Query: &catalog.SQL{Text: "SELECT * FROM t"}}
	for _, of := range c.Tables[0].Columns {
		switch of.Name {
		case "n_i":
			of.Domain = &catalog.PublicDomain{Values: []sqltype.Value{int64(-1), int64(0)}}
		case "x":
			of.Domain = &catalog.PublicDomain{Values: []sqltype.Value{"", "-"}}
		}
		column := *of
		column.Lower, column.Upper, column.Domain = nil, nil, nil
		if bare.Columns = append(bare.Columns, &column); of.Lower != nil || of.Domain != nil {
			v.Columns = append(v.Columns, of)
		}
	}
	if bare.Unit.Column != nil {
		bare.Unit.Column, _ = bare.Column(bare.Unit.Column.Name)
	}
	c.Tables = slices.Clone(c.Tables)
	c.Tables[0], c.Views = &bare, []*catalog.View{v}
	if err := derive.Check(&c); err != nil {
		t.Fatal(err)
	}
	engines := map[*catalog.Catalog]*duckdb.Engine{}
	for _, c := range []*catalog.Catalog{withTable, &c} {
		e, err := duckdb.Open(t.Context(), c, duckdb.Options{Threads: 2, Temp: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		engines[c] = e
	}
	seen := map[string]bool{}
	for _, column := range v.Columns {
		forms := []string{"SELECT q, count(X) FROM t WHERE q IS NOT NULL GROUP BY q"}
		if column.Lower != nil && column.Type.IsNumeric() {
			forms = append(forms, "SELECT sum(X), avg(X) FROM t", "SELECT sum(X + 1) FROM t")
			if _, err := certified(fmt.Sprintf("SELECT sum(%s) FROM t", column.Name), &c); err == nil {
				t.Errorf("%s is added up without bounds", column.Name)
			}
		}
		if column.Domain != nil {
			forms = append(forms, "SELECT X, count(*) FROM t GROUP BY X")
		}
		for _, form := range forms {
			sql := strings.ReplaceAll(form, "X", column.Name)
			of, in := answersOf(t, engines[withTable], withTable, sql), answersOf(t, engines[&c], &c, strings.ReplaceAll(sql, "FROM t", "FROM v"))
			if !slices.Equal(of, in) {
				t.Errorf("%s: %v of the table, %v of the view", sql, of, in)
			}
			seen[of[len(of)-1]] = true
		}
	}
	if len(seen) < 6 {
		t.Errorf("only %d different answers: the test sees nothing", len(seen))
	}
}
