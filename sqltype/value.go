package sqltype

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A Value is one SQL value: nil for NULL, or
//
//	bool       boolean
//	int64      smallint, integer, bigint
//	float64    real, double: finite, never −0
//	Decimal    decimal
//	string     text: valid UTF-8
//	Date       date
//	Time       time
//	Timestamp  timestamp
//	Interval   interval
type Value any

// A Decimal is Unscaled·10^−Scale. Within a column all values have its scale.
type Decimal struct {
	Unscaled *big.Int
	Scale    uint8
}

// A Date counts days since 1970-01-01 in the proleptic Gregorian calendar.
type Date int32

// A Time counts microseconds since midnight, 0 to 86,400,000,000.
type Time int64

// A Timestamp counts microseconds since 1970-01-01 00:00:00, without a zone.
type Timestamp int64

// An Interval has PostgreSQL's three independent parts.
type Interval struct {
	Months, Days int32
	Micros       int64
}

// Rat returns the decimal's exact value.
func (d Decimal) Rat() *big.Rat {
	return new(big.Rat).SetFrac(d.Unscaled, pow10(d.Scale))
}

// Rat returns the exact value of a number, and whether it is one.
func Rat(v Value) (*big.Rat, bool) {
	switch v := v.(type) {
	case int64:
		return new(big.Rat).SetInt64(v), true
	case float64:
		return new(big.Rat).SetFloat64(v), true
	case Decimal:
		return v.Rat(), true
	}
	return nil, false
}

func pow10(n uint8) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// String prints the decimal with exactly Scale digits after the point.
func (d Decimal) String() string { return d.Rat().FloatString(int(d.Scale)) }

const (
	dateLayout      = "2006-01-02"
	timestampLayout = "2006-01-02 15:04:05.999999"
	timeLayout      = "15:04:05.999999"
)

// String prints the date as YYYY-MM-DD.
func (d Date) String() string {
	return time.Unix(int64(d)*86400, 0).UTC().Format(dateLayout)
}

// String prints the time as HH:MM:SS with as many decimals as needed.
func (t Time) String() string {
	if t == 86_400_000_000 {
		return "24:00:00"
	}
	return time.UnixMicro(int64(t)).UTC().Format(timeLayout)
}

// String prints the timestamp as YYYY-MM-DD HH:MM:SS with decimals as needed.
func (t Timestamp) String() string {
	return time.UnixMicro(int64(t)).UTC().Format(timestampLayout)
}

// String prints the interval in PostgreSQL's default style.
func (i Interval) String() string {
	var parts []string
	unit := func(n int32, name string) {
		if n == 0 {
			return
		}
		if n != 1 {
			name += "s"
		}
		parts = append(parts, fmt.Sprintf("%d %s", n, name))
	}
	unit(i.Months/12, "year")
	unit(i.Months%12, "mon")
	unit(i.Days, "day")
	if i.Micros != 0 || len(parts) == 0 {
		sign, us := "", i.Micros
		mag := new(big.Int).Abs(big.NewInt(us)).Uint64()
		if us < 0 {
			sign = "-"
		}
		s := fmt.Sprintf("%s%02d:%02d:%02d", sign, mag/3_600_000_000, mag/60_000_000%60, mag/1_000_000%60)
		if f := mag % 1_000_000; f != 0 {
			s += strings.TrimRight(fmt.Sprintf(".%06d", f), "0")
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " ")
}

// Format prints a value as PostgreSQL's text output does; NULL prints as "".
func Format(v Value) string {
	switch v := v.(type) {
	case nil:
		return ""
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		return v
	case fmt.Stringer:
		return v.String()
	}
	panic(fmt.Sprintf("sqltype: %T is not a Value", v))
}

// ParseValue reads the text of a value of type t, as the catalog and SQL
// literals write it. It refuses what t cannot hold exactly or at all.
func ParseValue(t Type, s string) (Value, error) {
	bad := func(why string) (Value, error) { return nil, fmt.Errorf("%q is not a value of type %s: %s", s, t, why) }
	switch t.Kind {
	case Boolean:
		switch strings.ToLower(strings.TrimSpace(s)) {
		case "true", "t", "yes", "y", "on", "1":
			return true, nil
		case "false", "f", "no", "n", "off", "0":
			return false, nil
		}
		return bad("want true or false")
	case Smallint, Integer, Bigint:
		n, err := strconv.ParseInt(strings.TrimSpace(s), 10, map[Kind]int{Smallint: 16, Integer: 32, Bigint: 64}[t.Kind])
		if err != nil {
			return bad(reason(err))
		}
		return n, nil
	case Real, Double:
		bits := 64
		if t.Kind == Real {
			bits = 32
		}
		f, err := strconv.ParseFloat(strings.TrimSpace(s), bits)
		if err != nil {
			return bad(reason(err))
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return bad("it is not finite")
		}
		return f + 0, nil // −0 becomes 0
	case DecimalKind:
		r, ok := parseDecimal(strings.TrimSpace(s))
		if !ok {
			return bad("want a decimal number")
		}
		return decimalFromRat(t, r)
	case Text:
		if !utf8.ValidString(s) {
			return bad("it is not valid UTF-8")
		}
		return s, nil
	case DateKind:
		d, err := time.Parse(dateLayout, strings.TrimSpace(s))
		if err != nil {
			return bad("want YYYY-MM-DD")
		}
		return Date(d.Unix() / 86400), nil
	case TimeKind:
		for _, layout := range []string{timeLayout, "15:04"} {
			if d, err := time.Parse(layout, strings.TrimSpace(s)); err == nil {
				return Time(d.Sub(d.Truncate(24*time.Hour)) / time.Microsecond), nil
			}
		}
		return bad("want HH:MM:SS")
	case TimestampKind:
		for _, layout := range []string{timestampLayout, "2006-01-02T15:04:05.999999", "2006-01-02 15:04", dateLayout} {
			if d, err := time.Parse(layout, strings.TrimSpace(s)); err == nil {
				return Timestamp(d.UnixMicro()), nil
			}
		}
		return bad("want YYYY-MM-DD HH:MM:SS")
	}
	return bad("values of this type have no literal form here")
}

// parseDecimal reads digits with an optional point and a small exponent. The
// exponent is bounded so that no short text makes a huge number.
func parseDecimal(s string) (*big.Rat, bool) {
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		if e, err := strconv.Atoi(s[i+1:]); err != nil || e > 100 || e < -100 {
			return nil, false
		}
	}
	if s == "" || strings.ContainsAny(s, "/_xXpPiInN") {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}

func decimalFromRat(t Type, r *big.Rat) (Value, error) {
	n := new(big.Rat).Mul(r, new(big.Rat).SetInt(pow10(t.Scale)))
	if !n.IsInt() {
		return nil, fmt.Errorf("%s has more than %d digits after the point", r.RatString(), t.Scale)
	}
	if n.Num().CmpAbs(pow10(t.Precision)) >= 0 {
		return nil, fmt.Errorf("%s does not fit %s", r.RatString(), t)
	}
	return Decimal{Unscaled: new(big.Int).Set(n.Num()), Scale: t.Scale}, nil
}

func reason(err error) string {
	var n *strconv.NumError
	if errors.As(err, &n) {
		if errors.Is(n.Err, strconv.ErrRange) {
			return "it is out of range"
		}
		return "it is not a number"
	}
	return err.Error()
}

// Compare orders two values of one type, NULL last, as PostgreSQL's ascending
// order does (text by bytes, the C collation). Intervals order by their parts,
// which agrees with no SQL order: they are never sort keys.
func Compare(a, b Value) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	switch a := a.(type) {
	case bool:
		switch b := b.(bool); {
		case a == b:
			return 0
		case b:
			return -1
		}
		return 1
	case int64:
		return cmp.Compare(a, b.(int64))
	case float64:
		return cmp.Compare(a, b.(float64))
	case Decimal:
		return a.Rat().Cmp(b.(Decimal).Rat())
	case string:
		return strings.Compare(a, b.(string))
	case Date:
		return cmp.Compare(a, b.(Date))
	case Time:
		return cmp.Compare(a, b.(Time))
	case Timestamp:
		return cmp.Compare(a, b.(Timestamp))
	case Interval:
		b := b.(Interval)
		return cmp.Or(cmp.Compare(a.Months, b.Months), cmp.Compare(a.Days, b.Days), cmp.Compare(a.Micros, b.Micros))
	}
	panic(fmt.Sprintf("sqltype: %T is not a Value", a))
}

// Key returns an encoding of a tuple of values that is equal exactly for equal
// tuples of the same types: NULL differs from every other value, and no
// concatenation of texts collides with another.
func Key(values ...Value) string {
	var b strings.Builder
	for _, v := range values {
		if v == nil {
			b.WriteString("n;")
			continue
		}
		s := Format(v)
		b.WriteString(strconv.Itoa(len(s)))
		b.WriteByte(':')
		b.WriteString(s)
	}
	return b.String()
}
