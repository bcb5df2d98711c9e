//go:build cgo

package release_test

import (
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

// Releases over the constants of releases before them, and releases of the groups that public rows name.
var stageStatements = []string{
	"SELECT count(*) FROM t0 AS a JOIN p0 ON a.i = p0.i JOIN (SELECT j, k, avg(i) AS m FROM t0 GROUP BY j, k) AS b ON b.j IS NOT DISTINCT FROM p0.j AND b.k = p0.k WHERE a.i < 2 * b.m",
	"SELECT count(*) FROM t0 WHERE i > (SELECT avg(i) FROM t0)",
	"SELECT sum(a.i + CASE WHEN a.i < b.m THEN 1 ELSE 0 END) FROM t0 AS a, (SELECT avg(i) AS m FROM t0) AS b",
	"SELECT k, sum(i), count(*) FROM t0 WHERE k IN (SELECT k FROM t0 GROUP BY k HAVING count(*) > 2) GROUP BY k",
	"SELECT count(*), sum(a.i) FROM t0 AS a JOIN (SELECT k, count(*) AS n FROM t0 GROUP BY k) AS b ON a.i <> b.n",
	"SELECT k, count(*) FROM (SELECT a.u, a.k, count(*) AS n FROM t0 AS a LEFT JOIN (SELECT k, avg(i) AS m FROM t0 GROUP BY k) AS b ON a.k <> b.m GROUP BY a.u, a.k) AS t WHERE n > 1 GROUP BY k",
	"SELECT count(*) FROM r0 WHERE i >= (SELECT avg(i) FROM r0)",
	"SELECT count(*), sum(a.i) FROM r0 AS a JOIN (SELECT k, count(*) AS n FROM t0 GROUP BY k) AS b ON a.i <> b.n",
	"SELECT count(*) FROM t0 AS a WHERE NOT EXISTS (SELECT 1 FROM (SELECT k, count(*) AS n FROM t0 GROUP BY k) AS b WHERE b.n = a.i)",
	"SELECT count(*) FROM t0 AS a, p0 WHERE a.i = p0.i AND a.i < (SELECT 2 * avg(i) FROM t0 AS b WHERE b.j = p0.j)",
	"SELECT sum(s.n) FROM p0 LEFT JOIN (SELECT j, k, count(*) AS n, sum(i) AS x FROM t0 GROUP BY j, k) AS s ON s.j = p0.j AND s.k = p0.k",
}

// stageExample has a unit, the first, that D' lacks: in more groups than it may be, with more rows in each, and with the
// largest values, so that what its rows decide of others shows.
func stageExample(statement string) *example {
	number := func(name, declared string) column {
		return column{template: template{name: name, typ: "integer", kind: whole}, declared: declared, bounded: true}
	}
	id, i := number("u", ""), number("i", ", lower = 0, upper = 9")
	j, k := number("j", ", domain = { from = \"p0.j\" }"), number("k", ", domain = { from = \"p0.k\" }")
	x := &example{changed: "one", statements: []string{statement}, tables: []*table{
		{name: "p0", public: true, columns: []column{number("i", ""), number("j", ""), number("k", "")}},
		{name: "t0", domain: "one", bounds: "max_groups_per_unit = 2\nmax_rows_per_group = 2\n", columns: []column{id, i, j, k}},
		{name: "r0", domain: "one", unit: unitRow, columns: []column{id, i}},
	}}
	var gone, rest, public []row
	for n := range 6 {
		at := fmt.Sprint(n)
		public = append(public, row{at, at, at}, row{at, at, fmt.Sprint((n + 1) % 6)})
		for range 3 {
			gone = append(gone, row{"1", "9", at, at})
		}
		for u := 2; u < 6; u++ {
			rest = append(rest, row{fmt.Sprint(u), fmt.Sprint((n + u) % 8), at, at})
		}
	}
	records := []row{{"2", "1"}, {"2", "3"}, {"3", "5"}, {"4", "5"}}
	x.d = database{"p0": public, "t0": append(gone, rest...), "r0": append([]row{{"1", "9"}}, records...)}
	x.e = database{"p0": public, "t0": rest, "r0": append([]row{{"1", "9"}}, records...)}
	x.text = x.catalog()
	return x
}

// stageRows are what could have been released: nothing, NULL, and values of which each row of a unit meets many.
func stageRows(s *stability.Stage, which int) (rows [][]sqltype.Value) {
	of := func(n int64) (row []sqltype.Value) {
		for _, c := range s.Plan.Columns() {
			v, err := sqltype.ParseValue(c.Type, fmt.Sprint(n))
			if err != nil {
				panic(err)
			}
			row = append(row, v)
		}
		return row
	}
	switch {
	case which == 0 && !s.One:
		return nil
	case which == 1 || which == 0:
		return [][]sqltype.Value{nil}
	case s.One:
		return [][]sqltype.Value{of(int64(which))}
	}
	for n := range int64(which * 2) {
		rows = append(rows, of(n%4), of(n%4+1))
	}
	return rows
}

// TestStagesAreSound holds the theorem of stages (internal/stability/stage.go): for any constants, the same in D and D', what a
// release over them is made of differs by no more than its certificate says. Each planted fault breaks that.
func TestStagesAreSound(t *testing.T) {
	t.Parallel()
	m := newMachines(t)
	holds := func(p pipeline) (broken string) {
		for _, statement := range stageStatements {
			x := stageExample(statement)
			cat, err := catalog.Parse("catalog.toml", x.text)
			if err != nil {
				t.Fatal(err)
			}
			certificate, err := certify(statement, cat)
			if err != nil {
				t.Fatalf("%s\n%v", statement, err)
			}
			if len(certificate.Stages) == 0 {
				t.Fatalf("%s has no stage", statement)
			}
			for which := range 5 {
				if which > 0 && certificate.Dependent() == nil {
					break
				}
				p.over = render.Stages{}
				for i, s := range certificate.Stages {
					if s.Public() {
						continue
					}
					rows := stageRows(s, which)
					for j, row := range rows {
						if row == nil { // NULLs
							rows[j] = make([]sqltype.Value, len(s.Plan.Columns()))
						}
					}
					p.over[i] = rows
				}
				if broken, _ = m.breaks(t, x, p); broken != "" {
					return broken
				}
			}
		}
		return ""
	}
	if why := holds(pipeline{}); why != "" {
		t.Fatal(why)
	}
	scan := func(n plan.Node, public bool) *plan.Scan {
		var found *plan.Scan
		contains(n, func(n plan.Node) bool {
			if s, ok := n.(*plan.Scan); ok && s.Table.Public == public && found == nil {
				found = s
			}
			return false
		})
		return found
	}
	for name, p := range map[string]pipeline{
		"a stage is computed from the data, in place of what was released": {plan: func(_ *stability.Release, b *plan.Bounded) {
			s := scan(b.Input, false)
			b.Input = transform(b.Input, func(n plan.Node) plan.Node {
				stage, ok := n.(*plan.Stage)
				if !ok || len(stage.Cols) != 1 || !stage.Cols[0].Type.IsNumeric() {
					return n
				}
				var i plan.Expr
				for at, c := range s.Columns() {
					if c.Name == "i" {
						i = &plan.Ref{Index: at, Name: "i", T: c.Type}
					}
				}
				most := &plan.Aggregate{Input: s, Aggregations: []plan.Aggregation{{Function: plan.Max, Arg: i, Name: "m", Type: i.Type()}}}
				less := &plan.Call{Function: plan.Subtract, T: i.Type(), Args: []plan.Expr{&plan.Ref{T: i.Type()}, &plan.Literal{Value: int64(2), T: i.Type()}}}
				return &plan.Project{Input: most, Names: []string{"m"}, Exprs: []plan.Expr{&plan.Cast{Arg: less, T: stage.Cols[0].Type}}}
			})
		}},
		"rows that a stage copies are not bounded": {plan: func(_ *stability.Release, b *plan.Bounded) {
			if contains(b.Input, func(n plan.Node) bool { _, ok := n.(*plan.Stage); return ok }) {
				b.MaxRows = max(b.MaxRows, b.MaxRows*unlimited)
			}
		}},
		"a stage of many rows is taken for one": {plan: func(_ *stability.Release, b *plan.Bounded) {
			if contains(b.Input, func(n plan.Node) bool { _, ok := n.(*plan.Stage); return ok }) {
				b.Whole = true
			}
		}},
		"numbered groups are taken for all that a unit may be in": {plan: func(r *stability.Release, b *plan.Bounded) {
			if len(r.Keys) == 1 && r.Keys[0].Numbered != nil {
				b.EveryGroup = true
			}
		}},
		"groups are numbered by what private rows have": {plan: func(r *stability.Release, b *plan.Bounded) {
			if len(r.Keys) != 1 || r.Keys[0].Numbered == nil {
				return
			}
			s := scan(b.Input, false)
			b.Input = transform(b.Input, func(n plan.Node) plan.Node {
				public, ok := n.(*plan.Stage)
				if !ok {
					return n
				}
				var keys []plan.Expr
				var names []string
				for at, c := range s.Columns() {
					if c.Name == "j" || c.Name == "i" {
						keys, names = append(keys, &plan.Ref{Index: at, Name: c.Name, T: c.Type}), append(names, c.Name)
					}
				}
				keys = keys[len(keys)-(len(public.Cols)-1):]
				out := &plan.Window{Functions: []plan.WindowFunction{{Function: plan.RowNumber, Name: "number", Type: sqltype.Of(sqltype.Bigint)}}}
				for i, k := range keys {
					out.Functions[0].Order = append(out.Functions[0].Order, plan.SortKey{Expr: &plan.Ref{Index: i, T: k.Type()}})
				}
				out.Input = &plan.Aggregate{Input: &plan.Filter{Input: s, Condition: &plan.Call{Function: plan.Greater, T: sqltype.Of(sqltype.Boolean),
					Args: []plan.Expr{&plan.Ref{Index: 1, Name: "i", T: s.Columns()[1].Type}, &plan.Literal{Value: int64(7), T: s.Columns()[1].Type}}}}, Keys: keys, Names: names[len(names)-len(keys):]}
				return out
			})
		}},
	} {
		p.planted = true
		if why := holds(p); why == "" {
			t.Errorf("planted: %s: it is not caught", name)
		} else {
			t.Logf("planted: %s: %s", name, why)
		}
	}
}
