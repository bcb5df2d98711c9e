package bind

import (
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
)

// view binds a view's query where a statement names it, as the subquery that its text
// would be. Names in it are the catalog's alone: no WITH query of the statement is. All of
// the plan has the place of the name, since the text is none of the statement's.
func (b *binder) view(v *catalog.View, at diagnostic.Span) (n plan.Node) {
	b.count(at)
	if i := slices.Index(b.views, v); i >= 0 {
		var round []string
		for _, open := range append(b.views[i:len(b.views):len(b.views)], v) {
			round = append(round, open.Name)
		}
		refuse(diagnostic.New("D105", at, "view %s selects from itself", v.Name).Because("%s", strings.Join(round, " selects from ")))
	}
	b.views = append(b.views, v)
	var err error
	func() {
		defer recovered(&err)
		n = declared(v, b.query(b.parsed(v), nil))
	}()
	b.views = b.views[:len(b.views)-1]
	if err != nil {
		d := err.(*diagnostic.Diagnostic)
		if d.Code != "D105" {
			d = diagnostic.New("D105", at, "view %s: %s", v.Name, d.Message).Because("%s", d.Why).Try("%s", d.Hint).By(d.Way)
		}
		d.Span = at
		refuse(d.In("", ""))
	}
	plan.Move(n, at)
	return n
}

// parsed reads a view's text, once a statement.
func (b *binder) parsed(v *catalog.View) *sqlparse.Query {
	if q, ok := b.parsedViews[v]; ok {
		return q
	}
	q, err := sqlparse.Parse(v.Query.Text)
	if err != nil {
		refuse(err.(*diagnostic.Diagnostic))
	}
	if b.parsedViews == nil {
		b.parsedViews = map[*catalog.View]*sqlparse.Query{}
	}
	b.parsedViews[v] = q
	return q
}

// View returns the plan of a view's own text, for what is said of the view itself: its
// places are in that text. The error is a *diagnostic.Diagnostic without it.
func View(v *catalog.View, cat *catalog.Catalog) (n plan.Node, err error) {
	defer recovered(&err)
	b := &binder{catalog: cat, views: []*catalog.View{v}}
	return declared(v, b.query(b.parsed(v), nil)), nil
}

// declared puts what a view declares of its columns above the query's plan.
func declared(v *catalog.View, n plan.Node) plan.Node {
	if len(v.Columns) == 0 {
		return n
	}
	out := &plan.Project{Input: n, Exprs: refsTo(n), Span: n.Place(), Declared: make([]*catalog.Column, width(n))}
	for _, c := range n.Columns() {
		out.Names = append(out.Names, c.Name)
	}
	for _, c := range v.Columns {
		i := slices.Index(out.Names, c.Name)
		switch {
		case i < 0:
			refuse(v.Place(c, diagnostic.New("D105", diagnostic.Span{}, "view %s selects no column %s", v.Name, c.Name)).
				Try("its columns are %s", strings.Join(out.Names, ", ")))
		case slices.Contains(out.Names[i+1:], c.Name):
			refuse(v.Place(c, diagnostic.New("D105", diagnostic.Span{}, "view %s selects two columns %s", v.Name, c.Name)).
				Try("give one another name with AS"))
		case n.Columns()[i].Type != c.Type:
			refuse(v.Place(c, diagnostic.New("D105", diagnostic.Span{}, "column %s of view %s has type %s, not %s", c.Name, v.Name, n.Columns()[i].Type, c.Type)).
				Because("bounds and domains are values of the column's type").
				Try("declare type = %q, or cast it in the query: %s::%s", n.Columns()[i].Type.String(), quoted(c.Name), c.Type))
		}
		merged := *c // what it does not declare is what the query's column has
		if of := plan.Source(n, i); of != nil {
			if c.Lower == nil {
				merged.Lower, merged.Upper = of.Lower, of.Upper
			}
			if c.Domain == nil {
				merged.Domain = of.Domain
			}
		}
		out.Declared[i] = &merged
	}
	return out
}
