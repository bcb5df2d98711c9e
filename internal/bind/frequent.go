package bind

import (
	"strconv"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/sqlparse"
)

// The value that occurs most often, and the k that do, are read from the counts of all values:
//
//	SELECT k, mode() WITHIN GROUP (ORDER BY x) FROM t GROUP BY k
//
// is, of values that are not NULL,
//
//	SELECT k, mode FROM (
//	  SELECT k, x AS mode, row_number() OVER (PARTITION BY k ORDER BY count(*) DESC, x) AS place FROM t GROUP BY k, x) WHERE place <= 1
//
// and approx_top_count(x, n) the same of n places, with the counts. So it is a release of counts and
// post-processing of it, which Analyze proves as it stands: a value that one unit has shows no more than by GROUP BY x. Of values
// whose counts tie the least comes first.

// mostLikeliest bounds n of approx_top_count.
const mostLikeliest = 10_000

// mostFrequent returns what a SELECT of such a value means, or nil where it has none.
func mostFrequent(sel *sqlparse.Select, s *scope) *sqlparse.Select {
	at := -1
	var call *sqlparse.Call
	for i, item := range sel.Items {
		if c, ok := item.Expr.(*sqlparse.Call); ok && !item.Star && c.Over == nil {
			switch c.Name.Name {
			case "mode", "approx_top_k", "approx_top_count":
				if call != nil {
					refuse(onlyLikeliest(c))
				}
				at, call = i, c
			}
		}
	}
	if call == nil {
		return nil
	}
	value, places, counts := call.Within, int64(1), call.Name.Name != "mode"
	if counts {
		if len(call.Args) != 2 || call.Within != nil {
			refuse(wrongCount(call, 2, 2))
		}
		n, ok := call.Args[1].(*sqlparse.Number)
		if ok {
			var err error
			places, err = strconv.ParseInt(n.Text, 10, 64)
			ok = err == nil && places >= 1 && places <= mostLikeliest
		}
		if !ok {
			refuse(diagnostic.New("D017", call.Args[1].Place(), "how many values are wanted is not a number from 1 to %d", mostLikeliest).
				Try("write %s(x, 10)", call.Name.Name))
		}
		value = call.Args[0]
	} else if call.Within == nil || len(call.Args) > 0 {
		refuse(diagnostic.New("D018", call.Span, "mode takes its values by WITHIN GROUP").Try("write mode() WITHIN GROUP (ORDER BY x)"))
	}
	if sel.Having != nil || sel.Sets != nil || sel.Distinct || len(sel.Windows) > 0 || call.Distinct || call.Star || call.Filter != nil {
		refuse(onlyLikeliest(call))
	}
	place := call.Span
	name := func(n string) *sqlparse.Name {
		return &sqlparse.Name{Column: sqlparse.Ident{Name: n, Span: place}, Span: place}
	}
	inner := &sqlparse.Select{From: sel.From, Privacy: sel.Privacy, Span: sel.Span}
	outer := &sqlparse.Select{Span: sel.Span}
	own := func(i int) string { return "likeliest " + strconv.Itoa(i) } // a name that no statement has without quotes
	for i, item := range sel.Items {
		if i == at {
			continue
		}
		if item.Star || hasAggregate(item.Expr) {
			refuse(onlyLikeliest(call))
		}
		inner.Items = append(inner.Items, sqlparse.Item{Expr: item.Expr, Alias: sqlparse.Ident{Name: own(i), Span: item.Span}, Span: item.Span})
	}
	count := &sqlparse.Call{Name: sqlparse.Ident{Name: "count", Span: place}, Star: true, Span: place}
	window := &sqlparse.Window{Order: []sqlparse.OrderItem{{Expr: count, Descending: true, NullsFirst: true}, {Expr: value}}, Span: place}
	for _, g := range sel.GroupBy {
		g = keyMeant(g, sel, s)
		inner.GroupBy, window.Partition = append(inner.GroupBy, g), append(window.Partition, g)
	}
	inner.GroupBy = append(inner.GroupBy, value)
	inner.Where = &sqlparse.Is{Arg: value, What: "null", Not: true, Span: place}
	if sel.Where != nil {
		inner.Where = &sqlparse.Binary{Op: "and", Left: sel.Where, Right: inner.Where, OpSpan: place, Span: place}
	}
	number := &sqlparse.Call{Name: sqlparse.Ident{Name: "row_number", Span: place}, Over: window, Span: place}
	add := func(e sqlparse.Expr, n string) {
		inner.Items = append(inner.Items, sqlparse.Item{Expr: e, Alias: sqlparse.Ident{Name: n, Span: place}, Span: place})
	}
	add(value, "likeliest value")
	add(count, "likeliest count")
	add(number, "likeliest place")
	for i, item := range sel.Items {
		shown := sqlparse.Ident{Name: outputName(item), Span: item.Span}
		if i != at {
			outer.Items = append(outer.Items, sqlparse.Item{Expr: name(own(i)), Alias: shown, Span: item.Span})
			continue
		}
		if counts && item.Alias.Name == "" {
			shown.Name = "value"
		}
		outer.Items = append(outer.Items, sqlparse.Item{Expr: name("likeliest value"), Alias: shown, Span: item.Span})
		if counts {
			outer.Items = append(outer.Items, sqlparse.Item{Expr: name("likeliest count"), Alias: sqlparse.Ident{Name: "count", Span: item.Span}, Span: item.Span})
		}
	}
	outer.From = []sqlparse.TableExpr{&sqlparse.Subquery{Query: &sqlparse.Query{Body: inner, Span: sel.Span}, Alias: sqlparse.Ident{Name: "likeliest", Span: place}, Span: sel.Span}}
	outer.Where = &sqlparse.Binary{Op: "<=", Left: name("likeliest place"), Right: &sqlparse.Number{Text: strconv.FormatInt(places, 10), Span: place}, OpSpan: place, Span: place}
	return outer
}

// keyMeant is a key of GROUP BY, or the item that its number or its name means.
func keyMeant(g sqlparse.Expr, sel *sqlparse.Select, s *scope) sqlparse.Expr {
	switch e := g.(type) {
	case *sqlparse.Number:
		if i := ordinal(e, len(sel.Items), "GROUP BY"); !sel.Items[i].Star {
			return sel.Items[i].Expr
		}
	case *sqlparse.Name:
		if e.Qualifier.Name == "" && len(s.lookup(e)) == 0 {
			for _, item := range sel.Items {
				if !item.Star && item.Alias.Name == e.Column.Name {
					return item.Expr
				}
			}
		}
	}
	return g
}

func onlyLikeliest(c *sqlparse.Call) *diagnostic.Diagnostic {
	return diagnostic.New("D018", c.Span, "%s stands beside grouping keys alone", c.Name.Name).
		Because("it is read from the counts of all values, which are groups of their own").
		Try("ask for other aggregates in a SELECT of their own, and join the two by their keys; conditions go into WHERE")
}
