package render

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// trino is the dialect of Trino, as of 476. try makes NULL of what raises where it arises: a
// zero divisor, a number that is out of range, a text that is no value, an argument that a
// function does not take. It does not reach into aggregates, whose sums are of decimals that have
// room for all rows.
//
// Texts are compared by their bytes, doubles are IEEE's, and no operation has a −0 or a NaN
// beyond the check of finite. There is no type for PostgreSQL's intervals, and no time 24:00.
// The salt stands in the statement as $salt: see TrinoSalt.
type trino struct{}

func (trino) name() string { return "Trino" }

func (trino) typeName(t sqltype.Type) string {
	switch t.Kind {
	case sqltype.DecimalKind:
		return fmt.Sprintf("DECIMAL(%d,%d)", t.Precision, t.Scale)
	case sqltype.Text, sqltype.Null, sqltype.IntervalKind: // of an interval there is only NULL
		return "VARCHAR"
	case sqltype.TimeKind:
		return "TIME(6)"
	case sqltype.TimestampKind:
		return "TIMESTAMP(6)"
	}
	return strings.ToUpper(t.String())
}

func (d trino) literal(v sqltype.Value, t sqltype.Type) (string, error) {
	switch v := v.(type) {
	case nil:
		return "CAST(NULL AS " + d.typeName(t) + ")", nil
	case bool:
		return strings.ToUpper(strconv.FormatBool(v)), nil
	case int64:
		return fmt.Sprintf("%s '%d'", d.typeName(t), v), nil
	case float64:
		return fmt.Sprintf("%s '%s'", d.typeName(t), strconv.FormatFloat(v, 'E', -1, 64)), nil
	case sqltype.Decimal:
		return fmt.Sprintf("CAST('%s' AS %s)", v, d.typeName(t)), nil
	case string:
		return trinoText(v), nil
	case sqltype.Date:
		if v < firstDate || v > lastDate {
			return "", d.formless("a date outside of the years 1 to 9999")
		}
		return fmt.Sprintf("DATE '%s'", v), nil
	case sqltype.Timestamp:
		if v < firstDate*dayMicros || v >= (lastDate+1)*dayMicros {
			return "", d.formless("a timestamp outside of the years 1 to 9999")
		}
		return fmt.Sprintf("TIMESTAMP '%s'", sixDigits(v.String())), nil
	case sqltype.Time:
		if v >= dayMicros {
			return "", d.formless("the time 24:00")
		}
		return fmt.Sprintf("TIME '%s'", sixDigits(v.String())), nil
	case sqltype.Interval:
		return "", d.formless("an interval")
	}
	return "", fmt.Errorf("a %T is no value", v)
}

// formless refuses a constant.
func (d trino) formless(what string) error {
	return diagnostic.New("D106", nowhere, "%s cannot be computed in %s", what, d.name()).
		Because("it has no type there that holds it").
		Try("leave it out: days can be added to a date as whole numbers, and fields of a timestamp compared")
}

const (
	firstDate = -719162 // 0001-01-01
	lastDate  = 2932896 // 9999-12-31
	dayMicros = 86_400_000_000
)

// sixDigits prints a time with all digits of a microsecond: they say what type it is of.
func sixDigits(s string) string {
	whole, digits, _ := strings.Cut(s, ".")
	return whole + "." + (digits + "000000")[:6]
}

// trinoText prints a text. One with a character that a lexer, or the adapter that looks for the
// salt, could stumble over is printed as its bytes.
func trinoText(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r == '$' || !unicode.IsPrint(r) }) {
		return "from_utf8(X'" + strings.ToUpper(hex.EncodeToString([]byte(s))) + "')"
	}
	return "VARCHAR '" + strings.ReplaceAll(s, "'", "''") + "'"
}

// bind uses a lambda over a list of one.
func (trino) bind(x, name, body string) string {
	return fmt.Sprintf("element_at(transform(ARRAY[%s], %s -> %s), 1)", x, name, body)
}

func (d trino) finite(s scope, x string, t sqltype.Type) string {
	return s.once(x, func(x string) string {
		return fmt.Sprintf("CASE WHEN is_finite(%s) THEN %s + %s '0' END", x, x, d.typeName(t))
	})
}

// try makes NULL of what raises.
func try(x string) string { return "try(" + x + ")" }

// narrow casts an integer or a decimal; decimals are rounded half away from zero.
func (d trino) narrow(_ scope, x string, t sqltype.Type) string {
	return fmt.Sprintf("TRY_CAST(%s AS %s)", x, d.typeName(t))
}

func (d trino) fit(s scope, x string, t sqltype.Type) string { return d.narrow(s, x, t) }

func (trino) comparable(_ scope, x string, _ sqltype.Type) string { return x }

// squared drops the digits below the shift: division would round them.
func (trino) squared(x string, shift int64) string {
	divisor := fmt.Sprintf("CAST('%s' AS DECIMAL(38,0))", new(big.Int).Lsh(big.NewInt(1), uint(shift)))
	square := fmt.Sprintf("CAST(%s AS DECIMAL(19,0)) * CAST(%s AS DECIMAL(19,0))", x, x)
	return fmt.Sprintf("CAST((%[1]s - (%[1]s) %% %[2]s) / %[2]s AS BIGINT)", square, divisor)
}

func (d trino) rowKey(table string, fields []string) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = d.counted("CAST(" + f + " AS VARCHAR)")
	}
	row := "to_hex(sha256(to_utf8(" + strings.Join(parts, " || ") + ")))"
	return fmt.Sprintf("(CAST(%s AS VARCHAR) || ':' || %s || ':' || CAST(row_number() OVER (PARTITION BY %s) AS VARCHAR))", table, row, row)
}

func (trino) quantifier(k plan.JoinKind) string {
	return map[plan.JoinKind]string{plan.Semi: "EXISTS", plan.Anti: "NOT EXISTS"}[k]
}

// summand: sums are of decimals with 38 digits, which 2^64 numbers of 62 bits do not use up. A
// sum of bigints raises where it overflows.
func (trino) summand(x string) string { return "CAST(" + x + " AS DECIMAL(38,0))" }

// in never lists NULL: of x IN (1, NULL) Trino makes FALSE where x is 2, and TRUE where x is NULL; and
// what is computed can be NULL.
func (trino) in(s scope, e *plan.Call, a []string) string {
	var known []string
	null, computed := false, false
	for i, x := range e.Args[1:] {
		switch l, ok := x.(*plan.Literal); {
		case !ok:
			computed = true
		case l.Value == nil:
			null = true
		default:
			known = append(known, a[1+i])
		}
	}
	switch {
	case computed:
		return s.once(a[0], func(x string) string {
			var found, unknown strings.Builder
			for _, y := range a[1:] {
				fmt.Fprintf(&found, " WHEN %s = %s THEN TRUE", x, y)
				fmt.Fprintf(&unknown, " OR %s IS NULL", y)
			}
			return fmt.Sprintf("(CASE%s WHEN %s IS NULL%s THEN NULL ELSE FALSE END)", &found, x, &unknown)
		})
	case len(known) == 0:
		return "CAST(NULL AS BOOLEAN)"
	case null:
		return fmt.Sprintf("(CASE WHEN %s IN (%s) THEN TRUE END)", a[0], strings.Join(known, ", "))
	}
	return fmt.Sprintf("(%s IN (%s))", a[0], strings.Join(known, ", "))
}

// exactSum: of decimals beyond 28 digits the sum is NULL, as in every engine; 10^10 others
// cannot overflow it.
func (trino) exactSum(x, over string, t sqltype.Type) string {
	switch {
	case t.IsInteger():
		return fmt.Sprintf("sum(CAST(%s AS DECIMAL(38,0)))%s", x, over)
	case t.Precision <= 28:
		return fmt.Sprintf("sum(CAST(%s AS DECIMAL(38,%d)))%s", x, t.Scale, over)
	}
	limit := fmt.Sprintf("CAST('%s' AS DECIMAL(38,%d))", sqltype.Decimal{Unscaled: pow10(28), Scale: t.Scale}, t.Scale)
	return fmt.Sprintf("CASE WHEN max(abs(%s))%s < %s THEN sum(CASE WHEN abs(%s) < %s THEN CAST(%s AS DECIMAL(38,%d)) END)%s END", x, over, limit, x, limit, x, t.Scale, over)
}

// fixedSum sums doubles as every engine does: the whole ones, and the rest in units of 2^-90.
func (d trino) fixedSum(s scope, x, over string) string {
	limit := trinoDouble(1 << 90)
	in := fmt.Sprintf("abs(%s) <= %s", x, limit)
	whole := fmt.Sprintf("sum(CASE WHEN %s THEN %s END)%s", in, d.whole(s, truncatedAway(x)), over)
	rest := fmt.Sprintf("sum(CASE WHEN %s THEN %s END)%s", in, d.whole(s, truncatedAway(fmt.Sprintf("((%s - %s) * %s)", x, truncatedAway(x), limit))), over)
	return fmt.Sprintf("(CASE WHEN max(abs(%s))%s <= %s THEN %s + %s / %s END)", x, over, limit, asDouble(whole), asDouble(rest), limit)
}

// whole prints a whole double up to 2^90 as a decimal, with all its digits: a cast keeps those of
// its shortest text.
func (trino) whole(s scope, x string) string {
	half := trinoDouble(1 << 45)
	return s.once(x, func(x string) string {
		high := fmt.Sprintf("truncate(%s / %s)", x, half)
		return fmt.Sprintf("CAST(CAST(CAST(%s AS BIGINT) AS DECIMAL(19,0)) * CAST(%d AS DECIMAL(14,0)) + CAST(%s - %s * %s AS BIGINT) AS DECIMAL(38,0))", high, int64(1)<<45, x, high, half)
	})
}

// truncatedAway rounds half away from zero, as awayFromZero: Trino has no trunc.
func truncatedAway(x string) string {
	return fmt.Sprintf("truncate(%[1]s + (%[1]s - truncate(%[1]s)))", x)
}

// asDouble gives the double nearest to a decimal: by its text, since a cast rounds twice.
func asDouble(x string) string { return fmt.Sprintf("CAST(CAST(%s AS VARCHAR) AS DOUBLE)", x) }

func trinoDouble(f float64) string {
	return "DOUBLE '" + strconv.FormatFloat(f, 'E', -1, 64) + "'"
}

// squares: the squares of differences could overflow.
func (trino) squares() bool { return false }

func (trino) percentiles() bool { return false }

func (trino) sum(x string) string { return fmt.Sprintf("CAST(%s AS DECIMAL(38,0))", x) }

// slice: the cluster spreads a query by itself.
func (trino) slice(string) string { return "" }

func (trino) listed(s scope, value, texts string) string {
	return s.once(value, func(x string) string { return fmt.Sprintf("CASE WHEN %s IN (%s) THEN %s END", x, texts, x) })
}

func (trino) unlisted(key string) string { return key }

func (trino) number(string) string { return "" }

// extremum ignores NULL, which Trino's own greatest and least do not.
func (trino) extremum(f plan.Function, args []string) string {
	of := map[plan.Function]string{plan.Greatest: "array_max", plan.Least: "array_min"}[f]
	return fmt.Sprintf("%s(filter(ARRAY[%s], e -> e IS NOT NULL))", of, strings.Join(args, ", "))
}

// TrinoSalt is what stands in a rendered statement for the salt, as a bigint: no constant that
// is printed holds it.
const TrinoSalt = "$salt"

// hash is that of the columns' texts, each with its length: it is a function of their values.
func (d trino) hash(names []string) string {
	texts := []string{d.salt()}
	for _, n := range names {
		texts = append(texts, d.counted("CAST("+n+" AS VARCHAR)"))
	}
	return "from_big_endian_64(xxhash64(to_utf8(" + strings.Join(texts, " || ':' || ") + ")))"
}

// place is computed once for each text of a column's dictionary.
func (trino) place(value, texts string) string {
	return fmt.Sprintf("CAST(array_position(ARRAY[%s], %s) AS INTEGER)", texts, value)
}

func (trino) nth(texts, i string) string {
	return fmt.Sprintf("element_at(ARRAY[%s], %s + 1)", texts, i)
}

// rehash: XXH64 of eight bytes takes no two to one.
func (trino) rehash(hash, x string, t sqltype.Type) string {
	switch {
	case t.Kind == sqltype.Text:
		x = "from_big_endian_64(xxhash64(to_utf8(" + x + ")))"
	case !t.IsInteger():
		x = "from_big_endian_64(xxhash64(to_utf8(CAST(" + x + " AS VARCHAR))))"
	}
	return fmt.Sprintf("from_big_endian_64(xxhash64(to_big_endian_64(bitwise_xor(%s, coalesce(%s, 0)))))", hash, x)
}

func (trino) salt() string { return "CAST(" + TrinoSalt + " AS VARCHAR)" }

func (trino) counted(text string) string {
	return fmt.Sprintf("CASE WHEN %s IS NULL THEN '-' ELSE CAST(length(to_utf8(%s)) AS VARCHAR) || ':' || %s END", text, text, text)
}

func (trino) digest(texts []string) string {
	return fmt.Sprintf("lower(substr(to_hex(sha256(to_utf8(%s))), 1, 16))", strings.Join(texts, " || ':' || "))
}
