//go:build cgo

package release_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// Groups and joins by a declared reference, and subqueries that refer to the rows around them.
var referenceStatements = []string{
	"SELECT sum(CASE WHEN n > 3 THEN 5 ELSE -5 END) FROM (SELECT ref, count(*) AS n FROM t1 GROUP BY ref) AS t",
	"SELECT sum(CASE WHEN n > 3 THEN 5 ELSE -5 END) FROM (SELECT t0.id, count(*) AS n FROM t0 JOIN t1 ON t1.ref = t0.id GROUP BY t0.id) AS t",
	"SELECT count(*) FROM t1 AS a JOIN t1 AS b ON a.ref = b.ref AND a.i < b.i",
	"SELECT count(*) FROM t0 AS a JOIN t1 AS c ON c.ref = a.id WHERE EXISTS (SELECT 1 FROM t0 AS b WHERE b.id = a.id AND b.i > a.i)",
	"SELECT count(*) FROM t1 AS a WHERE i > (SELECT avg(i) FROM t1 AS b WHERE b.ref = a.ref)",
	"SELECT count(*) FROM t0 AS a WHERE i < (SELECT max(i) FROM t0 AS b WHERE b.u = a.u) OR i = (SELECT count(*) FROM p0 WHERE p0.i = a.i)",
}

// referenceExample has a key that is referred to and not unique: rows of several units have it. The unit that D' lacks is
// one of them.
func referenceExample(statement string) *example {
	number := func(name string) column { return column{template: template{name: name, typ: "integer", kind: whole}} }
	key := func(name string) column { return column{template: template{name: name, typ: "bigint", kind: whole}} }
	parent := &table{name: "t0", domain: "one", bounds: "max_groups_per_unit = 1\nmax_rows_per_group = 2\n", columns: []column{key("id"), key("u"), number("i")}}
	child := &table{name: "t1", domain: "one", unit: unitReference, refers: parent, bounds: parent.bounds, columns: []column{key("id"), key("ref"), number("i")}}
	x := &example{changed: "one", statements: []string{statement}, tables: []*table{{name: "p0", public: true, columns: []column{number("i")}}, parent, child}}
	var gone, rest, children []row
	for id := 5; id < 9; id++ {
		gone = append(gone, row{fmt.Sprint(id), "1", "9"})
		for u := 2; u < 7; u++ {
			rest = append(rest, row{fmt.Sprint(id), fmt.Sprint(u), "1"})
		}
		for i := range 2 {
			children = append(children, row{fmt.Sprint(i), fmt.Sprint(id), fmt.Sprint(i)})
		}
	}
	// Keys of two units alone, whose groups are as large as one unit's alone or twice that.
	for id := 20; id < 26; id++ {
		gone, rest = append(gone, row{fmt.Sprint(id), "1", "2"}), append(rest, row{fmt.Sprint(id), "2", "2"})
		for i := range 2 {
			children = append(children, row{fmt.Sprint(i), fmt.Sprint(id), fmt.Sprint(3 + i)})
		}
	}
	x.d = database{"p0": {{"1"}, {"1"}}, "t0": append(slices.Clone(gone), rest...), "t1": children}
	x.e = database{"p0": {{"1"}, {"1"}}, "t0": rest, "t1": children}
	x.text = x.catalog()
	return x
}

// TestReferencesAreSound holds groups and joins by references against a key that is not unique; the rewriter's
// part, taken away, breaks them.
func TestReferencesAreSound(t *testing.T) {
	t.Parallel()
	m := newMachines(t)
	holds := func(p pipeline) (broken string) {
		for _, statement := range referenceStatements {
			if broken, _ = m.breaks(t, referenceExample(statement), p); broken != "" {
				break
			}
		}
		return broken
	}
	if why := holds(pipeline{}); why != "" {
		t.Fatal(why)
	}
	for name, p := range map[string]pipeline{
		"groups of a reference hold rows of several units": {plan: eachNode(func(n plan.Node) plan.Node {
			a, ok := n.(*plan.Aggregate)
			if !ok || len(a.Keys) < 2 || a.Names[len(a.Keys)-1] != "unit" {
				return n
			}
			out, last := *a, len(a.Keys)-1 // the least unit of the group's, in its place
			out.Keys, out.Names = a.Keys[:last], a.Names[:last]
			out.Aggregations = append([]plan.Aggregation{{Function: plan.Min, Arg: a.Keys[last], Name: "unit", Type: a.Keys[last].Type()}}, a.Aggregations...)
			return &out
		})},
		"rows of a reference meet whatever their unit": {plan: eachNode(func(n plan.Node) plan.Node {
			j, ok := n.(*plan.Join)
			if !ok || !readsPrivate(j.Left) || !readsPrivate(j.Right) || !isCall(j.On, plan.And) {
				return n
			}
			out := *j
			out.On = j.On.(*plan.Call).Args[0]
			if out.On == nil {
				out.On = &plan.Literal{Value: true, T: sqltype.Of(sqltype.Boolean)}
			}
			return &out
		})},
	} {
		p.planted = true
		if why := holds(p); why == "" {
			t.Errorf("planted: %s: it is not caught", name)
		} else {
			t.Logf("planted: %s: %s", name, why)
		}
	}
}
