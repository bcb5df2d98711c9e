package bind

import (
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

// Parameters are what $1, $2 ... stand for: constants, as if they stood in the text.
// A statement is bound anew for each choice of them, since what it costs, and whether it
// is refused, may depend on them.
type Parameters struct {
	// Types are the declared types. Where one is missing or Null, the context decides,
	// as it does for a constant in quotes; Describe enters what it decides.
	Types []sqltype.Type
	// Values are the values in PostgreSQL's text form, nil for NULL.
	Values []*string

	describing bool
}

// Statement binds as Bind does a statement with parameters, of somebody to whom only
// those tables and views exist that visible names; nil names all.
func Statement(q *sqlparse.Query, cat *catalog.Catalog, p Parameters, visible func(string) bool) (n plan.Node, err error) {
	defer recovered(&err)
	b := &binder{catalog: cat, parameters: &p, visible: visible, priced: true}
	return b.query(q, nil), nil
}

// Describe binds a statement whose parameters have no values yet. Each stands for some
// constant of its type, so that the plan tells the types of columns and nothing else.
// It returns the types of the parameters up to the highest that the statement names.
func Describe(q *sqlparse.Query, cat *catalog.Catalog, declared []sqltype.Type, visible func(string) bool) (n plan.Node, types []sqltype.Type, err error) {
	defer recovered(&err)
	p := &Parameters{Types: append([]sqltype.Type{}, declared...), describing: true}
	b := &binder{catalog: cat, parameters: p, visible: visible, priced: true}
	n = b.query(q, nil)
	for i, t := range p.Types {
		if t.Kind == sqltype.Null {
			p.Types[i] = typeOf(sqltype.Text) // what nothing decides is text, as in PostgreSQL
		}
	}
	return n, p.Types, nil
}

// parameter binds $1 or another.
func (c *context) parameter(e *sqlparse.Parameter) plan.Expr {
	p, i := c.binder.parameters, e.Number-1
	if p == nil || !p.describing && i >= len(p.Values) {
		given := 0
		if p != nil {
			given = len(p.Values)
		}
		refuse(diagnostic.New("D030", e.Span, "there is no value for parameter $%d", e.Number).
			Because("the statement came with %d", given).Try("send one value for each parameter, or write the constant itself"))
	}
	u := &unknown{at: e.Span, parameter: true}
	if p.describing {
		for len(p.Types) <= i {
			p.Types = append(p.Types, typeOf(sqltype.Null))
		}
		u.decided = func(t sqltype.Type) { p.Types[i] = t }
	} else {
		u.text = p.Values[i]
	}
	if i < len(p.Types) && p.Types[i].Kind != sqltype.Null {
		return u.as(p.Types[i])
	}
	return u
}

// sample is some constant of a type: what stands for a parameter that has no value yet.
func sample(t sqltype.Type) sqltype.Value {
	for _, text := range []string{"1", "0", "true", "2000-01-01", "12:00:00", "1 day", "x"} {
		if v, err := parseConstant(t, text); err == "" {
			return v
		}
	}
	return nil
}
