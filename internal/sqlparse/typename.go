package sqlparse

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	pg "github.com/sqlc-dev/oliphant"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// cast converts CAST(x AS t), x::t and the typed constant t 'x'.
func (c *converter) cast(t *pg.TypeCast) Expr {
	x := &Cast{}
	if t.Location < 0 && t.TypeName.Location >= 0 {
		return c.typedConstant(t)
	}
	x.Arg = c.expr(t.Arg)
	if t.TypeName.Location < 0 { // the length in SUBSTRING(x FOR n), an integer
		x.Span, x.TypeSpan = x.Arg.Place(), x.Arg.Place()
		x.Type, _ = c.typeName(t.TypeName, x.Span)
		return x
	}
	at := c.start(t.Location)
	i := c.index(at.Start)
	x.TypeSpan = c.typeSpan(c.index(int(t.TypeName.Location)))
	if c.at(i).kind == pg.Token_CAST {
		end := c.closing(i + 1)
		x.TypeSpan.End = c.at(end - 1).end
		x.Span = at.Join(c.at(end).span())
	} else {
		x.Span = c.spanOf(at.Join(x.TypeSpan), x.Arg)
	}
	var fields int32
	if x.Type, fields = c.typeName(t.TypeName, x.TypeSpan); fields != 0 {
		c.refuse(c.intervalFields(x.TypeSpan))
	}
	return x
}

// typedConstant converts DATE '2025-01-01', and INTERVAL '3' DAY to the
// constant '3 day'.
func (c *converter) typedConstant(t *pg.TypeCast) Expr {
	text, ok := c.expr(t.Arg).(*String) // a parameter is refused here
	at := c.start(t.TypeName.Location)
	if !ok {
		c.refuse(c.expression(at, "this constant is not supported").Try("write the value in single quotes, and CAST it"))
	}
	if len(t.TypeName.Names) == 1 {
		c.refuseColumnWord(c.index(at.Start))
	}
	x := &Cast{Arg: text, TypeSpan: diagnostic.Span{Start: at.Start, End: c.at(c.index(text.Span.Start) - 1).end}}
	x.Span = x.TypeSpan.Join(text.Span)
	var fields int32
	if x.Type, fields = c.typeName(t.TypeName, x.TypeSpan); fields != 0 {
		x.Span.End = c.at(c.intervalFieldsEnd(c.index(x.Span.End)) - 1).end
		unit, ok := intervalUnits[fields]
		if !ok || !wholeNumber.MatchString(text.Value) {
			c.refuse(c.intervalFields(x.Span))
		}
		text.Value = strings.TrimSpace(text.Value) + " " + unit
	}
	return x
}

var wholeNumber = regexp.MustCompile(`^\s*[+-]?[0-9]{1,9}\s*$`)

// intervalUnits are PostgreSQL's masks of single fields (utils/datetime.h).
var intervalUnits = map[int32]string{
	1 << 1: "month", 1 << 2: "year", 1 << 3: "day", 1 << 10: "hour", 1 << 11: "minute", 1 << 12: "second",
}

func (c *converter) intervalFields(at diagnostic.Span) *diagnostic.Diagnostic {
	return c.expression(at, "this form of interval is not supported").Try("write the units in the text: INTERVAL '1 day 2 hours'")
}

// systemTypes gives the SQL names of the types that the grammar's keywords
// stand for, and of their PostgreSQL synonyms.
var systemTypes = map[string]string{
	"int2": "smallint", "int4": "integer", "int": "integer", "int8": "bigint",
	"float4": "real", "float8": "double precision", "decimal": "numeric",
	"bool": "boolean", "bpchar": "char",
}

var plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// typeName returns a type's name with its modifiers, and for INTERVAL DAY and
// the like the mask of fields.
func (c *converter) typeName(t *pg.TypeName, at diagnostic.Span) (name string, fields int32) {
	name = t.Names[len(t.Names)-1].GetString_().GetSval()
	keyword := len(t.Names) == 2 && t.Names[0].GetString_().GetSval() == "pg_catalog"
	switch {
	case len(t.Names) > 1 && !keyword:
		c.refuse(qualified(at))
	case t.PctType || t.Setof:
		c.refuse(c.expression(at, "this form of type is not supported").Try("name the type itself, such as integer, text or date"))
	case name == "char" && !keyword || !plainName.MatchString(name):
		name = strconv.Quote(name) // a type of its own in PostgreSQL, not char
	default:
		if s, ok := systemTypes[name]; ok {
			name = s
		}
	}
	var modifiers []string
	for _, n := range t.Typmods {
		m, ok := n.GetAConst().GetVal().(*pg.A_Const_Ival)
		if !ok {
			c.refuse(c.expression(at, "a type's modifiers must be whole numbers").Try("write numeric(10, 2) or varchar(20)"))
		}
		modifiers = append(modifiers, strconv.Itoa(int(m.Ival.Ival)))
		if fields == 0 {
			fields = m.Ival.Ival
		}
	}
	switch {
	case name == "interval" && len(modifiers) == 1:
		return name, fields
	case name == "interval" && len(modifiers) > 1:
		c.refuse(c.expression(at, "an interval's precision is not supported").Try("write INTERVAL '...' alone"))
	case name == "char" && len(modifiers) == 1 && modifiers[0] == "1" && t.Typmods[0].GetAConst().Location < 0:
	case len(modifiers) > 0:
		name += "(" + strings.Join(modifiers, ",") + ")"
	}
	for _, b := range t.ArrayBounds {
		if n := b.GetInteger().GetIval(); n >= 0 {
			name += fmt.Sprintf("[%d]", n)
		} else {
			name += "[]"
		}
	}
	return name, 0
}

// typeSpan returns the span of the type name at token i.
func (c *converter) typeSpan(i int) diagnostic.Span {
	first := i
	next := func(kinds ...pg.Token) bool {
		if ok := c.has(i, kinds...); ok {
			i += len(kinds)
			return true
		}
		return false
	}
	kind := c.at(i).kind
	i = c.after(i)
	for next('.') {
		i = c.after(i)
	}
	switch kind {
	case pg.Token_DOUBLE_P:
		next(pg.Token_PRECISION)
	case pg.Token_NATIONAL, pg.Token_CHARACTER, pg.Token_CHAR_P, pg.Token_NCHAR, pg.Token_BIT:
		_ = next(pg.Token_CHARACTER) || next(pg.Token_CHAR_P)
		next(pg.Token_VARYING)
	}
	if c.at(i).kind == '(' {
		i = c.closing(i) + 1
	}
	switch kind {
	case pg.Token_TIME, pg.Token_TIMESTAMP:
		_ = next(pg.Token_WITH, pg.Token_TIME, pg.Token_ZONE) || next(pg.Token_WITHOUT, pg.Token_TIME, pg.Token_ZONE)
	case pg.Token_INTERVAL:
		i = c.intervalFieldsEnd(i)
	}
	for c.at(i).kind == '[' {
		i = c.closing(i) + 1
	}
	return c.between(first, i-1)
}

// intervalFieldsEnd returns the token after the DAY, DAY TO HOUR or SECOND(3)
// at token i.
func (c *converter) intervalFieldsEnd(i int) int {
	for {
		switch c.at(i).kind {
		case pg.Token_YEAR_P, pg.Token_MONTH_P, pg.Token_DAY_P, pg.Token_HOUR_P, pg.Token_MINUTE_P, pg.Token_SECOND_P, pg.Token_TO:
			i++
		case '(':
			i = c.closing(i) + 1
		default:
			return i
		}
	}
}
