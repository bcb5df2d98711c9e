package derive

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

// A deriver reads the columns of one table.
type deriver struct {
	*Reading
	open    []*catalog.Column            // whose expressions are being read
	texts   map[*catalog.Column][]string // the undeclared columns in an expression, in words
	refused map[*catalog.Column]*diagnostic.Diagnostic
}

// field adds a field and refers to it.
func (d *deriver) field(f Field) plan.Expr {
	i := slices.Index(d.Fields, f)
	if i < 0 {
		i, d.Fields = len(d.Fields), append(d.Fields, f)
	}
	return &plan.Ref{Index: i, Name: f.Name, T: f.Type}
}

// column returns the expression of a column over the fields, or why it has none.
func (d *deriver) column(c *catalog.Column) (plan.Expr, *diagnostic.Diagnostic) {
	if e, ok := d.exprs[c]; ok {
		return e, nil
	}
	if refused, ok := d.refused[c]; ok {
		return nil, refused
	}
	d.open = append(d.open, c)
	defer func() { d.open = d.open[:len(d.open)-1] }()
	e, refused := d.expression(c)
	if refused != nil {
		if refused.Text == "" { // else it is another column's, on which this one depends
			refused = c.Is.Place(refused)
		}
		d.refused[c] = refused
		return nil, refused
	}
	d.exprs[c] = e
	return e, nil
}

// before makes a statement of an expression: the parser reads no others.
const before = "SELECT "

// expression reads a derived column's expression. Spans of refusals are of its text.
func (d *deriver) expression(c *catalog.Column) (plan.Expr, *diagnostic.Diagnostic) {
	text := c.Is.Text
	tree, refused := parse(text)
	if refused != nil {
		return nil, refused
	}
	resolve := func(n *sqlparse.Name) (plan.Expr, *diagnostic.Diagnostic) { return d.name(c, n) }
	e, err := bind.Row(tree, c.Type, diagnostic.Span{Start: len(before), End: len(before) + len(text)}, resolve)
	if refused = ofText(text, err); refused != nil {
		if refused.Code == "D018" || refused.Code == "D022" {
			refused.Because("a derived column is computed from one record alone").Try("ask for it in a statement")
		} else if refused.Why == "" && refused.Text == "" {
			refused.Why = strings.Join(d.texts[c], ", ") // a text, where the owner may think of a number
		}
		return nil, refused
	}
	size := 0
	plan.Walk(e, func(plan.Expr) bool { size++; return size <= maxSize })
	if size > maxSize {
		return nil, diagnostic.New("D104", diagnostic.Span{End: len(text)}, "column %q is too large", c.Name).
			Because("with every derived column replaced by its expression, it has more than %d parts", maxSize)
	}
	return e, nil
}

// parse reads the text of an expression.
func parse(text string) (sqlparse.Expr, *diagnostic.Diagnostic) {
	q, err := sqlparse.Parse(before + text)
	if refused := ofText(text, err); refused != nil {
		return nil, refused
	}
	s, ok := q.Body.(*sqlparse.Select)
	if !ok || s.Distinct || len(s.Items) != 1 || s.Items[0].Star || s.Items[0].Alias.Name != "" ||
		len(s.From)+len(s.GroupBy)+len(s.Sets)+len(q.With)+len(q.OrderBy) > 0 || s.Where != nil || s.Having != nil || q.Limit != nil || q.Offset != nil {
		return nil, diagnostic.New("D104", diagnostic.Span{End: len(text)}, "this is not one expression").
			Because("a derived column is computed from the columns of its row").Try("write it as it would stand between SELECT and FROM, without a name")
	}
	return s.Items[0].Expr, nil
}

// ofText is a refusal of the statement that parse makes of text, as one of the text.
func ofText(text string, err error) *diagnostic.Diagnostic {
	var d *diagnostic.Diagnostic
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &d):
		return diagnostic.New("D104", diagnostic.Span{}, "%v", err)
	case d.Text != "" && d.Text != before+text: // it is placed: another column's
		return d
	}
	d.Span.Start, d.Span.End = max(0, d.Span.Start-len(before)), max(0, d.Span.End-len(before))
	return d.In("", "")
}

// name says what a name means in the expression of a column.
func (d *deriver) name(of *catalog.Column, n *sqlparse.Name) (plan.Expr, *diagnostic.Diagnostic) {
	name := n.Column.Name
	if q := n.Qualifier; q.Name != "" && q.Name != d.Table.Name {
		return nil, diagnostic.New("D010", q.Span, "unknown table %s", q.Name).
			Because("a derived column is computed from the columns of its own row").Try("join the tables in a statement or a view")
	}
	if catalog.Fold(name) != catalog.Fold(of.Name) {
		for _, c := range d.Table.Columns {
			switch {
			case c.Name == name:
				return d.declared(of, c, n)
			case catalog.Fold(c.Name) == catalog.Fold(name):
				return nil, diagnostic.New("D011", n.Span, "unknown column %s", name).Try("write %q in double quotes, as it is declared", c.Name)
			}
		}
	}
	if why := catalog.BadName(name); why != "" {
		return nil, diagnostic.New("D011", n.Span, "no column can be named %q", name).Because("the name %s", why)
	}
	what := fmt.Sprintf("%s is the source's %q as text", name, name)
	if d.say(of, what); !slices.Contains(d.texts[of], what) {
		d.texts[of] = append(d.texts[of], what)
	}
	return d.field(Field{Name: name, Type: sqltype.Of(sqltype.Text)}), nil
}

// declared refers to a column that is declared.
func (d *deriver) declared(of, c *catalog.Column, n *sqlparse.Name) (plan.Expr, *diagnostic.Diagnostic) {
	if i := slices.Index(d.open, c); i >= 0 {
		var round []string
		for _, open := range append(d.open[i:len(d.open):len(d.open)], c) {
			round = append(round, open.Name)
		}
		return nil, diagnostic.New("D104", n.Span, "column %q is derived from itself", c.Name).
			Because("%s", strings.Join(round, " is computed from "))
	}
	e, refused := d.column(c)
	if refused == nil {
		d.say(of, fmt.Sprintf("%s is (%s)", c.Name, d.Definition(c)))
	}
	return e, refused
}

// say notes what a name in a column's expression means, once.
func (d *deriver) say(of *catalog.Column, what string) {
	if !slices.Contains(d.says[of], what) {
		d.says[of] = append(d.says[of], what)
	}
}
