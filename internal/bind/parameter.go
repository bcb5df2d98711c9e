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
	Types []ParameterType
	// Values are the values in PostgreSQL's text form, nil for NULL.
	Values []*string

	describing bool
	samples    map[plan.Expr]bool // while describing: what stands for parameters whose types are declared
}

// A ParameterType is that of a value, or of an array of values.
type ParameterType struct {
	Type  sqltype.Type // of the elements of an array
	Array bool
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
func Describe(q *sqlparse.Query, cat *catalog.Catalog, declared []ParameterType, visible func(string) bool) (n plan.Node, types []ParameterType, err error) {
	defer recovered(&err)
	p := &Parameters{Types: append([]ParameterType{}, declared...), describing: true, samples: map[plan.Expr]bool{}}
	b := &binder{catalog: cat, parameters: p, visible: visible, priced: true}
	n = b.query(q, nil)
	for i, t := range p.Types {
		if t.Type.Kind == sqltype.Null {
			p.Types[i].Type = typeOf(sqltype.Text) // what nothing decides is text, as in PostgreSQL
		}
	}
	return n, p.Types, nil
}

// parameter binds $1 or another where one value stands.
func (c *context) parameter(e *sqlparse.Parameter) plan.Expr {
	u, declared := c.given(e)
	if declared.Array {
		refuse(diagnostic.New("D015", e.Span, "$%d is an array, and one value stands here", e.Number).
			Try("for a list of values write x = ANY ($%d)", e.Number))
	}
	if u.decided != nil {
		u.decided = func(t sqltype.Type) { c.decide(e, ParameterType{Type: t}) }
	}
	if declared.Type.Kind == sqltype.Null {
		return u
	}
	out := u.as(declared.Type)
	if p := c.binder.parameters; p.describing {
		p.samples[out] = true
	}
	return out
}

// given returns what stands for a parameter, and its type as far as it is declared.
func (c *context) given(e *sqlparse.Parameter) (*unknown, ParameterType) {
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
			p.Types = append(p.Types, ParameterType{})
		}
		u.decided = func(sqltype.Type) {}
	} else {
		u.text = p.Values[i]
	}
	if i < len(p.Types) {
		return u, p.Types[i]
	}
	return u, ParameterType{}
}

// decide enters the type of a parameter that has no value yet.
func (c *context) decide(e *sqlparse.Parameter, t ParameterType) {
	c.binder.parameters.Types[e.Number-1] = t
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
