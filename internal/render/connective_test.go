package render_test

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/sqltype"
)

// AND and OR take any number of arguments, as the rewriter makes them.
func TestConnectivesOfManyArguments(t *testing.T) {
	boolean := sqltype.Of(sqltype.Boolean)
	var args []plan.Expr
	for _, name := range []string{"a", "b", "c"} {
		args = append(args, &plan.Call{Function: plan.Equal, T: boolean, Args: []plan.Expr{
			&plan.Literal{Value: name, T: sqltype.Of(sqltype.Text)}, &plan.Literal{Value: "x", T: sqltype.Of(sqltype.Text)}}})
	}
	for _, f := range []plan.Function{plan.And, plan.Or} {
		sql, err := render.Relation(&plan.Project{Input: &plan.Values{Rows: [][]plan.Expr{{}}}, Names: []string{"c"},
			Exprs: []plan.Expr{&plan.Call{Function: f, Args: args, T: boolean}}})
		word := " " + strings.ToUpper(string(f)) + " "
		if want := "(('a' = 'x')" + word + "('b' = 'x')" + word + "('c' = 'x'))"; err != nil || !strings.Contains(sql, want) {
			t.Errorf("%s: %s, %v; want %s in it", f, sql, err, want)
		}
	}
}
