//go:build cgo

package render_test

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/sqltype"
)

// Division by a constant never fails. Of the least integer by -1 it is NULL, as by a column, and so is all division by 0.
func TestDivisionByConstantsIsTotal(t *testing.T) {
	t.Parallel()
	db := openDuck(t)
	for kind, least := range map[sqltype.Kind]string{sqltype.Smallint: "-32768", sqltype.Integer: "-2147483648", sqltype.Bigint: "-9223372036854775808"} {
		of := sqltype.Of(kind)
		for _, by := range []int64{-1, 0, 1, 2, -2} {
			for _, f := range []plan.Function{plan.Divide, plan.Modulo} {
				texts, err := render.Exprs([]plan.Expr{&plan.Call{Function: f, T: of, Args: []plan.Expr{&plan.Ref{T: of}, &plan.Literal{Value: by, T: of}}}})
				if err != nil {
					t.Fatal(err)
				}
				var got sql.NullString
				from := fmt.Sprintf("FROM (VALUES (CAST('%s' AS %s))) AS t(c0)", least, duckName(of))
				if err := db.QueryRow("SELECT CAST(" + texts[0] + " AS VARCHAR) " + from).Scan(&got); err != nil {
					t.Errorf("%s %s %d: %v", least, f, by, err)
				} else if null := by == 0 || by == -1 && f == plan.Divide; got.Valid == null {
					t.Errorf("%s %s %d: %v", least, f, by, got)
				}
			}
		}
	}
}
