package bind

import (
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

// maxElements bounds an array that comes beside the statement; a list in its text is bounded by
// the text's length.
const maxElements = 10_000

// inArray binds x = ANY (array) and x <> ALL (array): x IN and NOT IN its elements. Of an array
// without elements the one is false and the other true, whatever x; of NULL in the array's place
// both are NULL.
func (c *context) inArray(e *sqlparse.InArray) plan.Expr {
	arg := c.expr(e.Arg)
	elements, null := c.elements(e)
	args := []plan.Expr{arg}
	for _, element := range elements {
		if e.Type != "" {
			place := element.Place()
			element = c.to(&sqlparse.Cast{Type: e.Type, TypeSpan: place, Span: place}, element)
		}
		args = append(args, element)
	}
	out := in(args, e.Not, e.Span)
	l := &plan.Literal{T: typeOf(sqltype.Boolean), Span: e.Span}
	switch {
	case null:
		return l
	case len(elements) == 0:
		l.Value = e.Not
		return l
	}
	return out
}

// elements are those of an array that is a constant of the statement, or comes beside it.
func (c *context) elements(e *sqlparse.InArray) (elements []plan.Expr, null bool) {
	var u *unknown
	var declared ParameterType
	switch array := e.Array.(type) {
	case *sqlparse.Parameter:
		u, declared = c.given(array)
		if !declared.Array && declared.Type.Kind != sqltype.Null {
			refuse(diagnostic.New("D015", array.Span, "ANY and ALL want an array, and $%d is %s", array.Number, article(declared.Type)).
				Try("send it as an array, or write x = $%d", array.Number))
		}
		if u.decided != nil { // one element stands for all
			u.decided = func(t sqltype.Type) { c.decide(array, ParameterType{t, true}) }
			return c.typed([]*unknown{u}, declared.Type), false
		}
	case *sqlparse.String:
		u = &unknown{text: &array.Value, at: array.Span}
	default:
		u = &unknown{at: array.Place()}
	}
	if u.text == nil {
		return nil, true
	}
	texts, err := sqltype.ParseArray(*u.text)
	if err != nil {
		refuse(diagnostic.New("D017", u.at, "'%s' is no array: %s", clip(*u.text), err).Try("write it as in '{1,2,3}', or ARRAY[1, 2, 3]"))
	}
	if len(texts) > maxElements {
		refuse(diagnostic.New("D028", u.at, "the array has %d elements, more than %d", len(texts), maxElements).
			Try("keep long lists of values in a public table and join it"))
	}
	var all []*unknown
	for _, text := range texts {
		all = append(all, &unknown{text: text, at: u.at, parameter: u.parameter})
	}
	return c.typed(all, declared.Type), false
}

// typed gives elements a declared type, if there is one.
func (c *context) typed(all []*unknown, t sqltype.Type) []plan.Expr {
	out := make([]plan.Expr, len(all))
	for i, u := range all {
		if out[i] = u; t.Kind != sqltype.Null {
			out[i] = u.as(t)
		}
	}
	return out
}
