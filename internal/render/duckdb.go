package render

import (
	"fmt"
	"math"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// duckDB is the dialect of DuckDB. Its expressions are in arithmetic.go, cast.go, text.go and
// time.go.
type duckDB struct{}

func (duckDB) name() string { return "DuckDB" }

func (duckDB) typeName(t sqltype.Type) string { return typeName(t) }

func (duckDB) literal(v sqltype.Value, t sqltype.Type) (string, error) { return Literal(v, t), nil }

// bind uses a lambda over a list of one.
func (duckDB) bind(x, name, body string) string {
	return fmt.Sprintf("list_transform([%s], lambda %s: %s)[1]", x, name, body)
}

func (duckDB) finite(s scope, x string, t sqltype.Type) string {
	zero := "0e0"
	if t.Kind == sqltype.Real {
		zero = "CAST(0 AS FLOAT)"
	}
	return s.once(x, func(x string) string { return fmt.Sprintf("CASE WHEN isfinite(%s) THEN %s + %s END", x, x, zero) })
}

func (duckDB) narrow(_ scope, x string, t sqltype.Type) string { return narrow(x, t) }

func (duckDB) fit(_ scope, x string, t sqltype.Type) string {
	return fmt.Sprintf("TRY_CAST(%s AS %s)", x, typeName(t))
}

func (duckDB) squared(x string, shift int64) string {
	return fmt.Sprintf("CAST((CAST(%s AS HUGEINT) * CAST(%s AS HUGEINT)) >> %d AS BIGINT)", x, x, shift)
}

func (duckDB) squares() bool { return true }

func (duckDB) percentiles() bool { return true }

// summand: the sum of bigints is a hugeint.
func (duckDB) summand(x string) string { return x }

func (duckDB) extremum(f plan.Function, args []string) string { return call(f, args) }

func (duckDB) sum(x string) string { return fmt.Sprintf("CAST(%s AS HUGEINT)", x) }

// slice is no condition where there is but one.
func (duckDB) slice(unit string) string {
	return fmt.Sprintf("(CAST($slices AS UBIGINT) = 1 OR hash(%s) %% CAST($slices AS UBIGINT) = CAST($slice AS UBIGINT))", unit)
}

func (duckDB) high(hash string, low int) string {
	return fmt.Sprintf("(CAST(%s >> 1 AS BIGINT) & %d)", hash, int64(math.MaxInt64)&^(int64(1)<<low-1))
}

// leastOf takes a bigint, of which DuckDB keeps the least as they are; of other types it
// keeps sort keys, which are texts.
func (duckDB) leastOf(x string, n int64, groups string) string {
	return fmt.Sprintf("SELECT unnest(least) AS h FROM (SELECT min(%s, %d) AS least FROM (%s) AS t GROUP BY u) AS t", x, n, groups)
}

func (duckDB) nthLeast(x string, n int64) string { return fmt.Sprintf("(min(%s, %d))[%d]", x, n, n) }

func (duckDB) nth(list, i string) string { return fmt.Sprintf("([%s])[%s + 1]", list, i) }

func (duckDB) listed(_ scope, value, texts string) string {
	return fmt.Sprintf("TRY_CAST(%s AS ENUM(%s))", value, texts)
}

// sifted asks for a group's rows, so that DuckDB asks nothing of each row before it groups them.
func (duckDB) sifted(key, texts string) string {
	return fmt.Sprintf("CASE WHEN count(*) > 0 THEN %s IN (%s) END", key, texts)
}

func (duckDB) unlisted(key string) string { return "CAST(" + key + " AS VARCHAR)" }

func (duckDB) number(key string) string { return fmt.Sprintf("CAST(enum_code(%s) AS UBIGINT)", key) }

// place is a function, which DuckDB computes once for each text of a column's dictionary. A cast
// to a type of the list is computed for each row, and twice if rows are filtered by it.
func (duckDB) place(value, texts string) string {
	return fmt.Sprintf("list_position([%s], %s)", texts, value)
}

func (duckDB) placed(place string) string {
	return fmt.Sprintf("CAST(greatest(%s - 1, 0) AS UBIGINT)", place)
}

// hash hashes twice. DuckDB ends the hash of several columns with an exclusive or of the
// last one's own hash, which would rank some values before others under most salts; hashing
// the hash once more makes every order equally likely.
func (duckDB) hash(names []string) string {
	return fmt.Sprintf("hash(hash(%s))", strings.Join(append([]string{"CAST($salt AS BIGINT)"}, names...), ", "))
}

func (duckDB) salt() string { return "CAST($salt AS VARCHAR)" }

func (duckDB) counted(text string) string {
	return fmt.Sprintf("CASE WHEN %s IS NULL THEN '-' ELSE concat(strlen(%s), ':', %s) END", text, text, text)
}

func (duckDB) digest(texts []string) string {
	return fmt.Sprintf("left(sha256(concat(%s)), 16)", strings.Join(texts, ", ':', "))
}

func (duckDB) quantifier(plan.JoinKind) string { return "" }

func (duckDB) least(groups, values int, code string, v []string, rows string) string {
	return fmt.Sprintf("SELECT u, unnest(kept, recursive := true) FROM (SELECT u, discreet_least_%d_%d(%s) AS kept FROM (%s) AS t GROUP BY u) AS t",
		groups, values, strings.Join(append([]string{code}, v...), ", "), rows)
}

// position is a function, as place is.
func (duckDB) position(value, texts string) string {
	return fmt.Sprintf("list_position([%s], %s) - 1", texts, value)
}

func (duckDB) totals(values, sums int, asked string, arguments []string, rows string) string {
	return fmt.Sprintf("SELECT unnest(totals, recursive := true) FROM (SELECT discreet_totals_%d_%d('%s', %s) AS totals FROM (%s) AS t) AS t",
		values, sums, asked, strings.Join(arguments, ", "), rows)
}
