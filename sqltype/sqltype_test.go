package sqltype

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTypeNames(t *testing.T) {
	for name, want := range map[string]Type{
		"boolean": Of(Boolean), "BIGINT": Of(Bigint), "int": Of(Integer), "double precision": Of(Double),
		"decimal(10,2)": DecimalOf(10, 2), "NUMERIC( 5 )": DecimalOf(5, 0), "varchar": Of(Text), "timestamp": Of(TimestampKind),
	} {
		got, err := Parse(name)
		if err != nil || got != want {
			t.Errorf("Parse(%q) = %v, %v; want %v", name, got, err, want)
		}
	}
	for _, name := range []string{"", "null", "decimal", "numeric", "decimal(0,0)", "decimal(39,0)", "decimal(5,6)", "intt", "integer[]", "timestamptz"} {
		if got, err := Parse(name); err == nil {
			t.Errorf("Parse(%q) = %v", name, got)
		}
	}
	for _, typ := range []Type{Of(Boolean), Of(Smallint), Of(Real), DecimalOf(38, 38), Of(IntervalKind)} {
		if got, err := Parse(typ.String()); err != nil || got != typ {
			t.Errorf("Parse(%q) = %v, %v", typ, got, err)
		}
	}
}

// What is read is canonical, and what the type cannot hold exactly is refused.
func TestParseValue(t *testing.T) {
	for _, test := range []struct {
		t        Type
		in, want string
	}{
		{Of(Boolean), "T", "true"}, {Of(Smallint), "-32768", "-32768"}, {Of(Bigint), " 42 ", "42"},
		{Of(Double), "-0", "0"}, {Of(Double), "1e3", "1000"}, {DecimalOf(6, 2), "1.5", "1.50"}, {DecimalOf(6, 2), "-2e1", "-20.00"},
		{Of(Text), "ü ' \n", "ü ' \n"}, {Of(DateKind), "2025-02-28", "2025-02-28"}, {Of(TimeKind), "9:27:00", "09:27:00"},
		{Of(TimestampKind), "2025-01-01", "2025-01-01 00:00:00"}, {Of(TimestampKind), "1969-12-31 23:59:59.5", "1969-12-31 23:59:59.5"},
	} {
		v, err := ParseValue(test.t, test.in)
		if err != nil || Format(v) != test.want {
			t.Errorf("%s %q: %v, %v; want %s", test.t, test.in, v, err, test.want)
		}
	}
	for _, test := range []struct {
		t  Type
		in string
	}{
		{Of(Boolean), "maybe"}, {Of(Smallint), "32768"}, {Of(Integer), "1.5"}, {Of(Double), "NaN"}, {Of(Double), "inf"}, {Of(Double), "1e999"},
		{Of(Real), "1e39"}, {DecimalOf(6, 2), "1.005"}, {DecimalOf(6, 2), "10000"}, {DecimalOf(6, 2), "1e999999999"}, {DecimalOf(6, 2), "1/3"},
		{DecimalOf(6, 2), "0x1p3"}, {DecimalOf(6, 2), ""}, {Of(Text), "\xff"}, {Of(DateKind), "2025-02-29"}, {Of(DateKind), "infinity"}, {Of(IntervalKind), "1 day"},
	} {
		if v, err := ParseValue(test.t, test.in); err == nil {
			t.Errorf("%s %q is read as %v", test.t, test.in, v)
		} else if strings.Contains(err.Error(), "%!") {
			t.Errorf("%s %q: %v", test.t, test.in, err)
		}
	}
	if f, _ := ParseValue(Of(Double), "-0"); math.Signbit(f.(float64)) {
		t.Error("−0 stays −0")
	}
}

func TestFormat(t *testing.T) {
	for _, test := range []struct {
		v    Value
		want string
	}{
		{nil, ""}, {true, "true"}, {int64(-7), "-7"}, {0.1, "0.1"}, {1e21, "1e+21"},
		{Decimal{big.NewInt(-5), 2}, "-0.05"}, {Decimal{big.NewInt(5), 0}, "5"}, {Time(86_400_000_000), "24:00:00"},
		{Interval{}, "00:00:00"}, {Interval{14, -1, 90_061_500_000}, "1 year 2 mons -1 days 25:01:01.5"},
		{Interval{0, 1, math.MinInt64}, "1 day -2562047788:00:54.775808"},
	} {
		if got := Format(test.v); got != test.want {
			t.Errorf("Format(%#v) = %q, want %q", test.v, got, test.want)
		}
	}
}

func value(t *rapid.T, name string) Value {
	return rapid.OneOf(
		rapid.Just(Value(nil)),
		rapid.Map(rapid.SampledFrom([]string{"", "n;", "1:", "a", "1:a", "0:", "ü"}), func(s string) Value { return s }),
	).Draw(t, name)
}

// Keys of tuples are equal exactly when the tuples are: no text can imitate
// NULL or the border between two values.
func TestKeyIsInjective(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := []Value{value(t, "a0"), value(t, "a1"), value(t, "a2")}
		b := []Value{value(t, "b0"), value(t, "b1"), value(t, "b2")}
		equal := a[0] == b[0] && a[1] == b[1] && a[2] == b[2]
		if (Key(a...) == Key(b...)) != equal {
			t.Fatalf("%v and %v: keys %q and %q", a, b, Key(a...), Key(b...))
		}
	})
}

// Compare is a total order with NULL last, in which equal values are identical.
func TestCompareIsATotalOrder(t *testing.T) {
	number := func(t *rapid.T, name string) Value {
		return rapid.OneOf(rapid.Just(Value(nil)), rapid.Map(rapid.Float64Range(-3, 3), func(f float64) Value { return math.Round(f) + 0 })).Draw(t, name)
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := number(t, "a"), number(t, "b"), number(t, "c")
		if Compare(a, b) != -Compare(b, a) || (Compare(a, b) == 0) != (a == b) {
			t.Fatalf("%v and %v", a, b)
		}
		if Compare(a, b) <= 0 && Compare(b, c) <= 0 && Compare(a, c) > 0 {
			t.Fatalf("%v ≤ %v ≤ %v", a, b, c)
		}
		if a != nil && Compare(a, nil) >= 0 {
			t.Fatal("NULL is not last")
		}
	})
}
