package catalog

import "github.com/discreet-dp/discreet/internal/diagnostic"

// A View is a query that statements may name as they name a table. It stands for its
// text: what it means, and whose rows it has, is known where statements are bound.
type View struct {
	Name  string
	Query *SQL
	// Columns are those of the query's columns that have bounds or a domain of their own, in
	// place of what follows from the query. Their types are the query's, where it is bound.
	Columns []*Column

	at map[*Column]diagnostic.Span
}

// Place moves a diagnostic to where the view declares one of its columns.
func (v *View) Place(c *Column, d *diagnostic.Diagnostic) *diagnostic.Diagnostic {
	d.Span = v.at[c]
	return d.In(v.Query.catalog, v.Query.in)
}

// View returns the view with the given name.
func (c *Catalog) View(name string) (*View, bool) {
	for _, v := range c.Views {
		if v.Name == name {
			return v, true
		}
	}
	return nil, false
}

func (l *loader) view(n *node) {
	if Reserved(n.name) {
		l.refuse("D085", n.key, "view cannot be named %q", n.name).Because("engines keep tables of their own under such names")
	}
	for _, t := range l.catalog.Tables {
		if Fold(t.Name) == Fold(n.name) {
			l.refuse("D085", n.key, "view %q is called as table %q is", n.name, t.Name).Because("a statement names both alike")
		}
	}
	if _, ok := l.table(n); !ok {
		return
	}
	l.keys(n, "sql", "columns")
	f := n.field("sql")
	if f == nil {
		l.missing(n, "sql", `write its query, as in sql = "SELECT * FROM visits WHERE seen_at >= '2025-07-01'"`)
		return
	}
	q, ok := l.sql("D105", f)
	if !ok {
		return
	}
	v := &View{Name: n.name, Query: q, at: map[*Column]diagnostic.Span{}}
	l.catalog.Views = append(l.catalog.Views, v)
	if columns := n.field("columns"); columns != nil {
		if _, ok := l.table(columns); ok {
			l.names(columns, "column", func(n *node) { l.viewColumn(v, n) })
		}
	}
}

// viewColumn reads what a view declares of a column: nothing of where it is read.
func (l *loader) viewColumn(v *View, n *node) {
	for _, key := range []string{"from", "is", "sum_lower", "sum_upper", "bounds", "mapped"} {
		if f := n.field(key); f != nil {
			l.refuse("D105", f.key, "a view's column has no %q", key).
				Because("the query computes it").Try("a view declares type, lower, upper, step and domain")
			return
		}
	}
	c := &Column{Name: n.name}
	l.columns[c], v.at[c] = n, n.key
	v.Columns = append(v.Columns, c)
	l.declareColumn(c, n, false)
}
