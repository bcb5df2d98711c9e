package bind

import (
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/sqltype"
)

// Row binds an expression over the values of one row, as one of type t: what CAST makes
// of it. No aggregate and no subquery can stand in it. What its names mean is resolve's
// to say; place is the text's for what speaks of the whole. The error is a
// *diagnostic.Diagnostic without its text.
func Row(e sqlparse.Expr, t sqltype.Type, place diagnostic.Span, resolve func(*sqlparse.Name) (plan.Expr, *diagnostic.Diagnostic)) (out plan.Expr, err error) {
	defer recovered(&err)
	names := func(n *sqlparse.Name) plan.Expr {
		e, d := resolve(n)
		if d != nil {
			refuse(d)
		}
		return e
	}
	c := &context{binder: &binder{}, scope: &scope{names: names}, clause: "a derived column"}
	return c.explicit(c.expr(e), t, place), nil
}
