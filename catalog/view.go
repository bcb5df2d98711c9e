package catalog

// A View is a query that statements may name as they name a table. It stands for its
// text: what it means, and whose rows it has, is known where statements are bound.
type View struct {
	Name  string
	Query *SQL
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
	if f := n.field("columns"); f != nil {
		l.refuse("D105", f.key, "a view declares no columns").
			Because("bounds and domains are those of the columns that it selects").
			Try("derive the column in its table, with bounds and a domain, and select it in the view")
		return
	}
	l.keys(n, "sql")
	f := n.field("sql")
	if f == nil {
		l.missing(n, "sql", `write its query, as in sql = "SELECT * FROM visits WHERE seen_at >= '2025-07-01'"`)
		return
	}
	if q, ok := l.sql("D105", f); ok {
		l.catalog.Views = append(l.catalog.Views, &View{Name: n.name, Query: q})
	}
}
