package sqlparse

import (
	pg "github.com/sqlc-dev/oliphant"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// call converts a function or aggregate call. Which names exist is the
// binder's to know; here only those with a syntax or a reason of their own.
func (c *converter) call(f *pg.FuncCall) Expr {
	if f.Location < 0 { // x AT LOCAL has no place of its own
		c.refuse(c.atTimeZone(f))
	}
	at := c.start(f.Location)
	i := c.index(at.Start)
	name := f.Funcname[len(f.Funcname)-1].GetString_().GetSval()
	if f.Funcformat == pg.CoercionForm_COERCE_SQL_SYNTAX {
		name = c.sqlSyntax(f, name, i)
	} else if c.at(i).kind == pg.Token_TREAT {
		c.refuse(c.expression(at, "TREAT is not supported").Try("write CAST"))
	} else if len(f.Funcname) > 1 {
		c.refuse(qualified(c.between(i, i+2*len(f.Funcname)-2)))
	} else if f.Funcformat != pg.CoercionForm_COERCE_EXPLICIT_CALL {
		c.refuse(c.expression(at, "this form of call is not supported").Try("write name(arguments)"))
	}
	if k := c.at(i).kind; f.Funcformat == pg.CoercionForm_COERCE_EXPLICIT_CALL && k != pg.Token_SUBSTRING && k != pg.Token_OVERLAY {
		c.refuseColumnWord(i)
	}
	x := &Call{Star: f.AggStar, Distinct: f.AggDistinct}
	x.Name, i = c.ident(name, i)
	end := c.closing(i)
	x.Span = at.Join(c.at(end).span())
	if unstable(name) != "" {
		c.refuse(c.unstable(x.Span, name))
	}
	switch {
	case len(f.AggOrder) > 0 && !f.AggWithinGroup:
		c.refuse(c.expression(c.find(i, pg.Token_ORDER, pg.Token_BY), "ORDER BY inside a call is not supported").
			Because("no aggregate here depends on the order of rows").Try("leave it out; the order of the answer is set by ORDER BY at the end of the query"))
	case f.FuncVariadic:
		c.refuse(c.expression(c.find(i, pg.Token_VARIADIC), "VARIADIC is not supported").Try("give the arguments one by one"))
	}
	for _, n := range f.Args {
		if list := n.GetAArrayExpr(); list != nil && (f.AggWithinGroup || name == "width_bucket") {
			x.Args = append(x.Args, c.array(list))
			continue
		}
		x.Args = append(x.Args, c.expr(n))
	}
	if f.AggWithinGroup {
		end = c.within(x, f, end)
	}
	if f.AggFilter != nil {
		x.Filter = c.expr(f.AggFilter)
		end = c.closing(end + 2) // ) FILTER ( ... )
		x.Span = x.Span.Join(c.at(end).span())
	}
	if f.Over != nil {
		x.Over, end = c.over(f.Over, end+2) // ) OVER
		x.Span = x.Span.Join(c.at(end).span())
	}
	return x
}

// within converts WITHIN GROUP (ORDER BY x), which follows the token end, and returns its
// last token.
func (c *converter) within(x *Call, f *pg.FuncCall, end int) int {
	opened := end + 3
	list, _ := c.orderBy(f.AggOrder, opened+3)
	end = c.closing(opened)
	x.Span = x.Span.Join(c.at(end).span())
	if len(list) != 1 {
		c.refuse(c.expression(c.between(opened+1, end-1), "WITHIN GROUP takes one value to order by").
			Because("a quantile is of one column's values").Try("write WITHIN GROUP (ORDER BY x)"))
	}
	if list[0].Descending {
		c.refuse(c.expression(c.between(opened+1, end-1), "WITHIN GROUP orders upwards").
			Try("leave DESC out, and ask for the quantile 1 - p"))
	}
	x.Within = list[0].Expr
	return end
}

// array converts a list of numbers, which an ordered-set aggregate and width_bucket take.
func (c *converter) array(n *pg.A_ArrayExpr) Expr {
	i := c.index(int(n.Location))
	opened := i
	for ; c.at(opened).kind != '['; opened++ {
		if c.at(opened).kind == 0 {
			c.refuse(c.expression(c.start(n.Location), "this form of array is not supported").Try("write ARRAY[0.25, 0.5, 0.75]"))
		}
	}
	out := &Array{Span: c.between(i, c.closing(opened))}
	out.Items, _ = c.exprs(n.Elements, opened+1)
	if len(out.Items) == 0 {
		c.refuse(c.expression(out.Span, "the array is empty").Try("write ARRAY[0.25, 0.5, 0.75]"))
	}
	return out
}

// refuseColumnWord refuses at token i a keyword that PostgreSQL lets name a
// column but neither a function nor a type, as in values(1) or precision '1'.
// The parser takes them.
func (c *converter) refuseColumnWord(i int) {
	if c.at(i).keyword == pg.KeywordKind_COL_NAME_KEYWORD {
		c.refuse(diagnostic.New("D002", c.at(i).span(), "syntax error at or near %q", c.text[c.at(i).start:c.at(i).end]).
			Try("it is a keyword; to use it as a name, put it into double quotes"))
	}
}

// sqlSyntax returns the plain name of a function that is called with words
// between its arguments, such as EXTRACT(year FROM x).
func (c *converter) sqlSyntax(f *pg.FuncCall, name string, i int) string {
	switch name {
	case "extract", "btrim", "ltrim", "rtrim", "overlay":
		return name
	case "position":
		return "strpos"
	case "substring":
		for j := i + 2; j < c.closing(i+1); j++ {
			if c.at(j).kind == pg.Token_SIMILAR {
				c.refuse(c.expression(c.at(j).span(), "SUBSTRING ... SIMILAR is not supported").Try("write SUBSTRING(x FROM 'pattern') with a regular expression, or split_part"))
			}
			j = c.closing(j)
		}
		return name
	case "timezone":
		c.refuse(c.atTimeZone(f))
	case "is_normalized":
		c.refuse(c.expression(c.at(i).span(), "IS NORMALIZED is not supported").Try("leave it out, or ask the owner to normalize the text in the file"))
	case "system_user":
		c.refuse(c.unstable(c.at(i).span(), name))
	}
	c.refuse(c.expression(c.at(i).span(), "%s is not supported", upper(clip(c.word(i)))).Try("%s", otherFunctions).By(diagnostic.ListFunctions))
	return ""
}

func (c *converter) atTimeZone(f *pg.FuncCall) *diagnostic.Diagnostic {
	at := c.find(c.index(c.place.Start), pg.Token_AT)
	if f.Location >= 0 {
		at = c.start(f.Location)
	}
	return c.expression(at, "AT TIME ZONE is not supported").
		Because("the rules of time zones differ between engines and versions").
		Try("add a constant interval: x + INTERVAL '2 hours'")
}
