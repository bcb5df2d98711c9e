package render

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// postgres is the dialect of PostgreSQL 14 and later. It has no TRY: every operation that
// could raise stands behind a CASE which leaves out the values that it raises on. Nothing is
// computed before its CASE decides: PostgreSQL evaluates constants when it plans, but no
// branch of a constant condition that is false, and no aggregate stands behind a CASE that
// guards its argument.
//
// Texts are compared by their bytes, which is what COLLATE "C" says, so that equal texts
// are identical whatever the database's collation; case is mapped as the database does.
// The adapter sets what the session must say: ISO dates, texts without escapes, the shortest
// texts of doubles, no search path.
type postgres struct{}

func (postgres) name() string { return "PostgreSQL" }

func (postgres) typeName(t sqltype.Type) string {
	switch t.Kind {
	case sqltype.Real:
		return "REAL"
	case sqltype.Double:
		return "DOUBLE PRECISION"
	case sqltype.DecimalKind:
		return fmt.Sprintf("NUMERIC(%d,%d)", t.Precision, t.Scale)
	case sqltype.Text, sqltype.Null:
		return "TEXT"
	}
	return strings.ToUpper(t.String())
}

// bytewise is how texts are compared.
const bytewise = ` COLLATE "C"`

// local is how the database itself compares texts, and maps their case.
const local = ` COLLATE "default"`

var errNUL = errors.New("a text with the character NUL equals none in PostgreSQL")

func (d postgres) literal(v sqltype.Value, t sqltype.Type) (string, error) {
	switch v := v.(type) {
	case nil:
		null := "CAST(NULL AS " + d.typeName(t) + ")"
		if t.Kind == sqltype.Text {
			null = "(" + null + bytewise + ")"
		}
		return null, nil
	case bool:
		return strings.ToUpper(strconv.FormatBool(v)), nil
	case int64:
		if t.Kind == sqltype.Integer && v >= 0 {
			return strconv.FormatInt(v, 10), nil
		}
		return fmt.Sprintf("CAST(%d AS %s)", v, d.typeName(t)), nil
	case float64:
		return fmt.Sprintf("CAST('%s' AS %s)", strconv.FormatFloat(v, 'g', -1, 64), d.typeName(t)), nil
	case sqltype.Decimal:
		return fmt.Sprintf("CAST('%s' AS %s)", v, d.typeName(t)), nil
	case string:
		if strings.Contains(v, "\x00") {
			return "", errNUL
		}
		return "(CAST('" + strings.ReplaceAll(v, "'", "''") + "' AS TEXT)" + bytewise + ")", nil
	case sqltype.Date:
		return fmt.Sprintf("(DATE '1970-01-01' + %d)", int32(v)), nil
	case sqltype.Timestamp:
		const day = 86_400_000_000
		days, rest := int64(v)/day, int64(v)%day
		if rest < 0 {
			days, rest = days-1, rest+day
		}
		return fmt.Sprintf("(TIMESTAMP '1970-01-01' + INTERVAL '%d days %s seconds')", days, seconds(rest)), nil
	case sqltype.Time:
		return fmt.Sprintf("TIME '%s'", v), nil
	case sqltype.Interval:
		const hour = 3_600_000_000
		hours, more := v.Micros/hour, ""
		if hours != int64(int32(hours)) {
			more = fmt.Sprintf(" + INTERVAL '%d hours'", hours/2)
			hours -= hours / 2
		}
		return fmt.Sprintf("(INTERVAL '%d months %d days %d hours %s seconds'%s)", v.Months, v.Days, hours, seconds(v.Micros%hour), more), nil
	}
	return "", fmt.Errorf("a %T is no value", v)
}

// seconds prints microseconds as seconds. PostgreSQL 14 reads each field of an interval into 32 bits,
// so that there must be no larger one.
func seconds(micros int64) string {
	sign := ""
	if micros < 0 {
		sign, micros = "-", -micros
	}
	return fmt.Sprintf("%s%d.%06d", sign, micros/1_000_000, micros%1_000_000)
}

// bind uses a subquery that PostgreSQL does not merge into the one around it.
func (postgres) bind(x, name, body string) string {
	return fmt.Sprintf("(SELECT %s FROM (SELECT %s AS %s OFFSET 0) AS %s)", body, x, name, name)
}

// finite makes 0 of −0: no operation gives NaN or an infinity here.
func (d postgres) finite(_ scope, x string, t sqltype.Type) string {
	return fmt.Sprintf("(%s + CAST(0 AS %s))", x, d.typeName(t))
}

// narrow casts a numeric, NULL for what does not fit. Rounding is half away from zero.
func (d postgres) narrow(s scope, x string, t sqltype.Type) string {
	return s.once(x, func(x string) string {
		if t.Kind == sqltype.DecimalKind {
			return fmt.Sprintf("CASE WHEN %[1]s > -%[2]s AND %[1]s < %[2]s THEN CAST(%[1]s AS %[3]s) END", x, beyond(t), d.typeName(t))
		}
		least, greatest := integerRange(t)
		return fmt.Sprintf("CASE WHEN %s > %d.5 AND %s < %d.5 THEN CAST(%s AS %s) END", x, least, x, greatest, x, d.typeName(t))
	})
}

// beyond is the least number that rounds to one with too many digits: 10^(p−s) − 10^−s/2.
func beyond(t sqltype.Type) string {
	n := new(big.Int).Sub(new(big.Int).Mul(pow10(int(t.Precision)), big.NewInt(10)), big.NewInt(5))
	return fmt.Sprintf("CAST('%s' AS NUMERIC)", sqltype.Decimal{Unscaled: n, Scale: t.Scale + 1})
}

// integers casts an integer, NULL for what does not fit.
func (d postgres) integer(s scope, x string, t sqltype.Type) string {
	least, greatest := integerRange(t)
	return s.once(x, func(x string) string {
		return fmt.Sprintf("CASE WHEN %s BETWEEN %d AND %d THEN CAST(%s AS %s) END", x, least, greatest, x, d.typeName(t))
	})
}

func integerRange(t sqltype.Type) (least, greatest int64) {
	bits := map[sqltype.Kind]int{sqltype.Smallint: 15, sqltype.Integer: 31, sqltype.Bigint: 63}[t.Kind]
	return -1 << bits, 1<<bits - 1
}

func (d postgres) fit(s scope, x string, t sqltype.Type) string { return d.narrow(s, x, t) }

func (postgres) comparable(_ scope, x string, _ sqltype.Type) string { return x }

func (postgres) squared(x string, shift int64) string {
	divisor := new(big.Int).Lsh(big.NewInt(1), uint(shift))
	return fmt.Sprintf("CAST(div(CAST(%s AS NUMERIC) * CAST(%s AS NUMERIC), %s) AS BIGINT)", x, x, divisor)
}

// rowKey joins by ||: a function has at most 100 arguments.
func (d postgres) rowKey(table string, fields []string) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = d.counted("CAST(" + f + " AS TEXT)")
	}
	row := "encode(" + sha256Of(strings.Join(parts, " || ")) + ", 'hex')"
	return fmt.Sprintf("(concat(%s, ':', %s, ':', row_number() OVER (PARTITION BY %s))%s)", table, row, row, bytewise)
}

// quantifier: PostgreSQL plans EXISTS as the joins that it has no word for.
func (postgres) quantifier(k plan.JoinKind) string {
	return map[plan.JoinKind]string{plan.Semi: "EXISTS", plan.Anti: "NOT EXISTS"}[k]
}

func sha256Of(text string) string { return "sha256(convert_to(" + text + ", 'UTF8'))" }

// exactSum adds as numeric, which has room for all. Of decimals beyond 28 digits the sum is
// NULL, as in every engine.
func (d postgres) exactSum(x, over string, t sqltype.Type) string {
	switch {
	case t.IsInteger():
		return fmt.Sprintf("sum(CAST(%s AS BIGINT))%s", x, over)
	case t.Precision <= 28:
		return fmt.Sprintf("sum(%s)%s", x, over)
	}
	limit := fmt.Sprintf("CAST('%s' AS NUMERIC)", sqltype.Decimal{Unscaled: pow10(28), Scale: t.Scale})
	return fmt.Sprintf("CASE WHEN max(abs(%s))%s < %s THEN sum(CASE WHEN abs(%s) < %s THEN %s END)%s END", x, over, limit, x, limit, x, over)
}

// fixedSum sums doubles as every engine does: the whole ones, and the rest in units of 2^-90.
func (d postgres) fixedSum(s scope, x, over string) string {
	limit := double(1 << 90)
	in := fmt.Sprintf("abs(%s) <= %s", x, limit)
	whole := fmt.Sprintf("sum(CASE WHEN %s THEN %s END)%s", in, s.whole(awayFromZero(x)), over)
	rest := fmt.Sprintf("sum(CASE WHEN %s THEN %s END)%s", in, s.whole(fmt.Sprintf("round((%s - %s) * %s)", x, awayFromZero(x), limit)), over)
	return fmt.Sprintf("(CASE WHEN max(abs(%s))%s <= %s THEN CAST(%s AS DOUBLE PRECISION) + CAST(%s AS DOUBLE PRECISION) / %s END)", x, over, limit, whole, rest, limit)
}

// whole prints a whole double up to 2^90 as a numeric, with all its digits: a cast keeps 15.
func (s scope) whole(x string) string {
	half := double(1 << 45)
	return s.once(x, func(x string) string {
		high := fmt.Sprintf("trunc(%s / %s)", x, half)
		return fmt.Sprintf("CAST(CAST(%s AS BIGINT) AS NUMERIC) * %d + CAST(CAST(%s - %s * %s AS BIGINT) AS NUMERIC)", high, 1<<45, x, high, half)
	})
}

// awayFromZero rounds a double half away from zero; round goes to even. With f = x − trunc(x),
// which is exact, x + f is trunc(x) + 2f: it passes the next whole number where |f| ≥ 1/2. That
// sum is exact, too. If |x| < 1 it is 2x. Else, if f is not 0, one unit in x's last place is at
// most 1/2; x + f is below 4 times x's power of two, so that its own last place is at most
// twice that unit; and trunc(x) and 2f are multiples of twice the unit.
func awayFromZero(x string) string { return fmt.Sprintf("trunc(%[1]s + (%[1]s - trunc(%[1]s)))", x) }

// squares: the squares of differences could overflow.
func (postgres) squares() bool { return false }

func (postgres) percentiles() bool { return true }

// summand: the sum of bigints is a numeric.
func (postgres) summand(x string) string { return x }

func (postgres) extremum(f plan.Function, args []string) string { return call(f, args) }

func (postgres) sum(x string) string { return fmt.Sprintf("CAST(%s AS NUMERIC)", x) }

// slice: PostgreSQL spills by itself.
func (postgres) slice(string) string { return "" }

func (postgres) listed(s scope, value, texts string) string {
	return s.once(value, func(x string) string { return fmt.Sprintf("CASE WHEN %s IN (%s) THEN %s END", x, texts, x) })
}

func (postgres) unlisted(key string) string { return key }

func (postgres) number(string) string { return "" }

// hash hashes twice. The hash of a record is 31 times that of its first field and that of
// the second: under one salt the groups of all units were in one order, each unit beginning
// at another. Hashing the hash makes every order equally likely.
func (d postgres) hash(names []string) string {
	return fmt.Sprintf("hashint8extended(hash_record_extended(ROW(%s), %s), %s)", strings.Join(names, ", "), pgSalt, pgSalt)
}

// pgSalt is the statement's one parameter.
const pgSalt = "CAST($1 AS BIGINT)"

func (postgres) seed() string { return pgSalt }

// rehash hashes by the type: a record takes ten times as long.
func (postgres) rehash(hash, x string, t sqltype.Type) string {
	switch {
	case t.IsInteger():
		return fmt.Sprintf("hashint8extended(%s, %s)", x, hash)
	case t.Kind == sqltype.Text:
		return fmt.Sprintf("hashtextextended(%s, %s)", x, hash)
	}
	return fmt.Sprintf("hash_record_extended(ROW(%s), %s)", x, hash)
}

func (postgres) mask(place string) string {
	return fmt.Sprintf("bit_or(CAST(1 AS BIGINT) << CAST(%s AS INTEGER))", place)
}

func (postgres) odd(place string) string {
	return fmt.Sprintf("bit_xor(CAST(1 AS BIGINT) << CAST(%s AS INTEGER))", place)
}

func (postgres) ones(mask string) string {
	return fmt.Sprintf("coalesce(bit_count(CAST(%s AS BIT(64))), 0)", mask)
}

func (postgres) mixed(keys []string) string {
	return fmt.Sprintf("(hash_record_extended(ROW(%s), 0) & 31)", strings.Join(keys, ", "))
}

func (postgres) gathered(x string) string { return fmt.Sprintf("array_agg(%s)", x) }

func (postgres) spread(array string) string { return fmt.Sprintf("unnest(%s)", array) }

func (postgres) element(texts, i string) string { return fmt.Sprintf("(ARRAY[%s])[%s + 1]", texts, i) }

func (postgres) fence() string { return " OFFSET 0" }

func (postgres) salt() string { return "CAST(" + pgSalt + " AS TEXT)" }

func (postgres) counted(text string) string {
	return fmt.Sprintf("CASE WHEN %s IS NULL THEN '-' ELSE octet_length(%s) || ':' || %s END", text, text, text)
}

func (postgres) digest(texts []string) string {
	return fmt.Sprintf("(left(encode(%s, 'hex'), 16)%s)", sha256Of(strings.Join(texts, " || ':' || ")), bytewise)
}
