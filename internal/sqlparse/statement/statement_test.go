package statement

import (
	"errors"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

func TestStatementsOfAText(t *testing.T) {
	const text = "select 1; set x = 2 ;\n-- nothing\nvalues (1)"
	list, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range list {
		kind := "other"
		if s.Select != nil {
			kind = "query"
		}
		got = append(got, kind+": "+strings.TrimSpace(text[s.Start:s.End]))
	}
	if want := "query: select 1|other: set x = 2|query: values (1)"; strings.Join(got, "|") != want {
		t.Errorf("%q", got)
	}
}

// What is read stands where PostgreSQL's grammar puts it.
func TestTree(t *testing.T) {
	one := func(sql string) *Select {
		list, err := Parse(sql)
		if err != nil || len(list) != 1 || list[0].Select == nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return list[0].Select
	}
	q := one("select a.b as c from pg_catalog.pg_class a left join t using (x) where a.n operator(pg_catalog.~) '^v' collate \"C\" order by 1 desc limit 3")
	if c, ok := q.Targets[0].Expr.(*Column); !ok || strings.Join(c.Parts, ".") != "a.b" || q.Targets[0].Name != "c" {
		t.Errorf("%+v", q.Targets[0])
	}
	if j, ok := q.From[0].(*Join); !ok || j.Kind != "left" || j.Using[0] != "x" || j.Left.(*Relation).Schema != "pg_catalog" || j.Left.(*Relation).Alias.Name != "a" {
		t.Errorf("%+v", q.From[0])
	}
	if o, ok := q.Where.(*Op); !ok || o.Name != "~" || *o.Right.(*Const) != (Const{Value: "^v", At: o.Right.(*Const).At}) {
		t.Errorf("%+v", q.Where)
	}
	if !q.Order[0].Desc || !q.Order[0].NullsFirst || q.Limit.(*Const).Value != int64(3) {
		t.Errorf("%+v %+v", q.Order, q.Limit)
	}
	q = one("with recursive r(n) as (select 1 union all select 2) select distinct array(select n from r), (x).y[1:2], f(variadic z) over (w) from g(1) with ordinality as g(a, b) window w as (order by 1)")
	if !q.Recursive || q.With[0].Columns[0] != "n" || q.With[0].Query.Op != "UNION" || !q.With[0].Query.All || !q.Distinct {
		t.Errorf("%+v", q)
	}
	if s, ok := q.Targets[0].Expr.(*Sublink); !ok || s.Kind != "array" {
		t.Errorf("%+v", q.Targets[0].Expr)
	}
	if x, ok := q.Targets[1].Expr.(*Index); !ok || !x.Slice || x.X.(*Field).Name != "y" {
		t.Errorf("%+v", q.Targets[1].Expr)
	}
	if f, ok := q.Targets[2].Expr.(*Call); !ok || !f.Variadic || f.Over.Refers != "w" || f.Over.Framed {
		t.Errorf("%+v", q.Targets[2].Expr)
	}
	if f, ok := q.From[0].(*Functions); !ok || !f.Ordinality || len(f.Alias.Columns) != 2 {
		t.Errorf("%+v", q.From[0])
	}
	q = one("select x::int8[], not a and b or c is not true, 1 in (1, 2), d not between 1 and 2, nullif(1, 2) where sum(v) over (rows 1 preceding) = 1")
	if c, ok := q.Targets[0].Expr.(*Cast); !ok || !c.Type.Array || c.Type.Name != "int8" {
		t.Errorf("%+v", q.Targets[0].Expr)
	}
	if l, ok := q.Targets[1].Expr.(*Logic); !ok || l.Op != "OR" || !l.Args[1].(*Test).Not || l.Args[1].(*Test).What != "true" {
		t.Errorf("%+v", q.Targets[1].Expr)
	}
	if x, ok := q.Targets[2].Expr.(*Quantified); !ok || len(x.List) != 2 || x.All {
		t.Errorf("%+v", q.Targets[2].Expr)
	}
	if x, ok := q.Targets[3].Expr.(*Between); !ok || !x.Not {
		t.Errorf("%+v", q.Targets[3].Expr)
	}
	if w := q.Where.(*Op).Left.(*Call).Over; !w.Framed {
		t.Errorf("%+v", w)
	}
}

func TestRefusals(t *testing.T) {
	var d *diagnostic.Diagnostic
	for sql, at := range map[string]int{"selec 1": 0, "select 'ü' frm t x": 16, "select (1": 9} {
		if _, err := Parse(sql); !errors.As(err, &d) || d.Code != "D002" || d.Span.Start != at {
			t.Errorf("%s: %v at %+v, want %d", sql, err, d, at)
		}
	}
	for _, sql := range []string{"select 1 into t", "select 1 group by grouping sets (1)", "select xmlelement(name a)", "select 1 order by 1 fetch first 1 row with ties"} {
		var u *Unmodelled
		if _, err := Parse(sql); !errors.As(err, &u) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// A text that would overflow the parser, or the recursion of who reads the tree, is refused.
func TestBounds(t *testing.T) {
	rep := strings.Repeat
	for name, sql := range map[string]string{
		"parentheses":   "select " + rep("(", 10_000),
		"NOT":           "select " + rep("not ", 20_000) + "true",
		"sum":           "select 1" + rep("+1", 20_000),
		"union":         "select 1" + rep(" union select 1", 3_000),
		"subqueries":    "select " + rep("(select ", 5_000),
		"joins":         "select * from a" + rep(" cross join b", 4_000),
		"substring":     "select " + rep("substring(", 60) + "a" + rep(",1,2)", 60),
		"megabytes":     "select '" + rep("a", 1<<20) + "'",
		"casts":         "select a" + rep("::int", 10_000),
		"NUL":           "select '\x00'",
		"not of UTF-8":  "select '\xff'",
		"never closed":  "select /*" + rep("/*", 10_000),
		"many brackets": "select a" + rep("[1]", 10_000),
	} {
		if list, err := Parse(sql); err == nil {
			t.Errorf("%s: %d statements", name, len(list))
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("select a from b where c = any($1) union values (1, 'x') order by 1")
	f.Add("with recursive x as (select 1) select (x).*, array(select 1), count(*) filter (where true) over (partition by 1) from x, lateral f(1) as g(a int)")
	f.Fuzz(func(t *testing.T, sql string) {
		list, err := Parse(sql)
		for _, s := range list {
			if err != nil || s.Start < 0 || s.End < s.Start || s.End > len(sql) {
				t.Errorf("%q: %+v %v", sql, s, err)
			}
		}
	})
}
