package render

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/sqltype"
)

// Literal prints a constant of exactly the type t.
func Literal(v sqltype.Value, t sqltype.Type) string {
	switch v := v.(type) {
	case nil:
		return "CAST(NULL AS " + typeName(t) + ")"
	case bool:
		return strings.ToUpper(strconv.FormatBool(v))
	case int64:
		if t.Kind == sqltype.Integer && v >= 0 {
			return strconv.FormatInt(v, 10) // DuckDB's own type of it
		}
		return fmt.Sprintf("CAST(%d AS %s)", v, typeName(t))
	case float64:
		s := strconv.FormatFloat(v, 'e', -1, 64) // an exponent makes it a DOUBLE
		if t.Kind == sqltype.Real {
			return "CAST(" + s + " AS FLOAT)"
		}
		if v < 0 {
			return "(" + s + ")"
		}
		return s
	case sqltype.Decimal:
		return fmt.Sprintf("CAST('%s' AS %s)", v, typeName(t))
	case string:
		return text(v)
	case sqltype.Date:
		return fmt.Sprintf("(DATE '1970-01-01' + %d)", int32(v))
	case sqltype.Timestamp:
		return fmt.Sprintf("make_timestamp(%d)", int64(v))
	case sqltype.Time:
		return fmt.Sprintf("TIME '%s'", v)
	case sqltype.Interval:
		return fmt.Sprintf("(to_months(%d) + to_days(%d) + to_microseconds(%d))", v.Months, v.Days, v.Micros)
	}
	panic(fmt.Sprintf("render: %T is not a Value", v))
}

// text quotes a text. Only the quote is special in it; a NUL, which a C
// interface would take for the end of the statement, is spelled out.
func text(s string) string {
	parts := strings.Split(s, "\x00")
	for i, p := range parts {
		parts[i] = "'" + strings.ReplaceAll(p, "'", "''") + "'"
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return "(" + strings.Join(parts, " || chr(0) || ") + ")"
}

// typeName returns DuckDB's name of a type.
func typeName(t sqltype.Type) string {
	switch t.Kind {
	case sqltype.Real:
		return "FLOAT"
	case sqltype.DecimalKind:
		return fmt.Sprintf("DECIMAL(%d,%d)", t.Precision, t.Scale)
	case sqltype.Text, sqltype.Null:
		return "VARCHAR"
	}
	return strings.ToUpper(t.String())
}

// decimal prints unscaled·10^−scale as a constant of type decimal(38,scale).
func decimal(unscaled *big.Int, scale uint8) string {
	return Literal(sqltype.Decimal{Unscaled: unscaled, Scale: scale}, sqltype.DecimalOf(38, scale))
}

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
