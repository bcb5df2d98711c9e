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
		n = b.query(b.parsed(v), nil)
	}()
	b.views = b.views[:len(b.views)-1]
	if err != nil {
		d := err.(*diagnostic.Diagnostic)
		if d.Code != "D105" {
			d = diagnostic.New("D105", at, "view %s: %s", v.Name, d.Message).Because("%s", d.Why).Try("%s", d.Hint).By(d.Way)
		}
		d.Span = at
		refuse(d)
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
	return b.query(b.parsed(v), nil), nil
}
