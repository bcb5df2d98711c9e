package render_test

import (
	"math"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/sqltype"
)

// PostgreSQL 14 reads each field of an interval into 32 bits, and fails at a greater number: then a
// statement with any constant timestamp failed there. Each constant has small fields, which add up
// to its value.
func TestFieldsOfIntervalsAreSmall(t *testing.T) {
	field := regexp.MustCompile(`(-?)(\d+)(?:\.(\d{6}))? (months|days|hours|seconds)`)
	unit := map[string]int64{"days": 86_400_000_000, "hours": 3_600_000_000, "seconds": 1_000_000}
	check := func(v sqltype.Value, typ sqltype.Type, want *big.Int) {
		t.Helper()
		sql, err := render.Postgres.Relation(&plan.Values{Names: []string{"a"}, Types: []sqltype.Type{typ}, Rows: [][]plan.Expr{{&plan.Literal{Value: v, T: typ}}}})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(sql, "micro") {
			t.Errorf("%v: a field of microseconds: %s", v, sql)
		}
		sum := new(big.Int)
		for _, m := range field.FindAllStringSubmatch(sql, -1) {
			n, ok := new(big.Int).SetString(m[1]+m[2], 10)
			if !ok || n.CmpAbs(big.NewInt(math.MaxInt32)) > 0 {
				t.Errorf("%v: the field %q is beyond 32 bits", v, m[0])
			}
			n.Mul(n, big.NewInt(unit[m[4]]))
			if m[3] != "" {
				fraction, _ := new(big.Int).SetString(m[1]+m[3], 10)
				n.Add(n, fraction)
			}
			sum.Add(sum, n)
		}
		if sum.Cmp(want) != 0 {
			t.Errorf("%v is printed as %v microseconds, want %v: %s", v, sum, want, sql)
		}
	}
	for _, n := range []int64{0, 1, -1, 999_999, -999_999, 3_599_999_999, -3_600_000_001, 86_399_999_999, -86_400_000_001, 1_706_702_400_000_000, math.MaxInt32, math.MaxInt64, math.MinInt64 + 1, math.MaxInt64 / 2, -1_000_000_000_000_001} {
		check(sqltype.Interval{Micros: n}, sqltype.Of(sqltype.IntervalKind), big.NewInt(n))
		if n > math.MinInt64/2 && n <= math.MaxInt64-1 {
			check(sqltype.Timestamp(n), sqltype.Of(sqltype.TimestampKind), big.NewInt(n))
		}
	}
}
