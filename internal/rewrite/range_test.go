//go:build cgo

package rewrite

import (
	"database/sql"
	"fmt"
	"math/big"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/sqltype"
)

// A number is in its range where exact arithmetic says so: beyond zero on both sides, and where its distance from the range's first number is
// no number of its type.
func TestRangesAreExact(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	for _, x := range []struct {
		of                 sqltype.Type
		lower, upper, step string
		values             []string
	}{
		{sqltype.Of(sqltype.Smallint), "-32768", "32767", "13107", []string{"-32768", "-32767", "-19661", "-6554", "-6553", "-1", "0", "6553", "6554", "19660", "32767"}},
		{sqltype.Of(sqltype.Integer), "-5", "7", "4", []string{"-9", "-5", "-4", "-3", "-1", "0", "1", "3", "5", "7", "11", "-2147483648", "2147483647"}},
		{sqltype.Of(sqltype.Bigint), "-9000000000000000000", "9000000000000000000", "4500000000000000000", []string{"-9223372036854775808", "-9000000000000000000", "-4500000000000000000", "-1", "0", "4500000000000000000", "9000000000000000000", "9000000000000000001", "9223372036854775807"}},
		{sqltype.DecimalOf(3, 1), "-99.9", "99.6", "0.7", []string{"-99.9", "-99.8", "-99.2", "-0.5", "0.0", "0.2", "0.7", "0.9", "98.9", "99.5", "99.6", "99.9"}},
	} {
		number := func(text string) *big.Rat {
			r, ok := new(big.Rat).SetString(text)
			if !ok {
				t.Fatal(text)
			}
			return r
		}
		d := &catalog.PublicDomain{Lower: number(x.lower), Upper: number(x.upper), Step: number(x.step)}
		texts, err := render.Exprs([]plan.Expr{inRange(&plan.Ref{T: x.of}, d)})
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range x.values {
			v := number(value)
			steps := new(big.Rat).Sub(v, d.Lower)
			want := v.Cmp(d.Lower) >= 0 && v.Cmp(d.Upper) <= 0 && steps.Quo(steps, d.Step).IsInt()
			var got sql.NullBool
			if err := db.QueryRow(fmt.Sprintf("SELECT %s FROM (SELECT CAST('%s' AS %s) AS c0) AS t", texts[0], value, x.of)).Scan(&got); err != nil {
				t.Fatal(err)
			}
			if !got.Valid || got.Bool != want {
				t.Errorf("%s among %s, %s more, ... %s: %v", value, x.lower, x.step, x.upper, got)
			}
		}
	}
}
