// Package sqltype holds the SQL types and values that catalog, plan, engines
// and answers share.
//
// It guarantees one canonical form: two values of a type that compare equal
// are identical (no −0, no NaN, no infinities, no unnormalised decimals), so
// a value may serve as a grouping key.
//
// It does not guarantee that a Value that was not made here is canonical. It knows no SQL
// text beyond literals, and no engine.
package sqltype

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A Kind is a family of SQL types.
type Kind uint8

// The kinds, in the order of the catalog's documentation. Null is the type of
// a bare NULL literal before a context gives it another.
const (
	Null Kind = iota
	Boolean
	Smallint
	Integer
	Bigint
	Real
	Double
	DecimalKind
	Text
	DateKind
	TimeKind
	TimestampKind
	IntervalKind
)

// A Type is a kind, and for decimals a precision (1 to 38 digits) and scale.
// Types are comparable with ==.
type Type struct {
	Kind             Kind
	Precision, Scale uint8
}

// Of returns the type of a kind that has no parameters.
func Of(k Kind) Type { return Type{Kind: k} }

// DecimalOf returns decimal(precision, scale).
func DecimalOf(precision, scale uint8) Type {
	return Type{Kind: DecimalKind, Precision: precision, Scale: scale}
}

var names = [...]string{
	Null: "null", Boolean: "boolean", Smallint: "smallint", Integer: "integer", Bigint: "bigint",
	Real: "real", Double: "double", DecimalKind: "decimal", Text: "text",
	DateKind: "date", TimeKind: "time", TimestampKind: "timestamp", IntervalKind: "interval",
}

// String returns the catalog's name of the type: "bigint", "decimal(10,2)".
func (t Type) String() string {
	if t.Kind == DecimalKind {
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	}
	return names[t.Kind]
}

// IsInteger reports whether t is smallint, integer or bigint.
func (t Type) IsInteger() bool { return t.Kind == Smallint || t.Kind == Integer || t.Kind == Bigint }

// IsFloat reports whether t is real or double.
func (t Type) IsFloat() bool { return t.Kind == Real || t.Kind == Double }

// IsNumeric reports whether t is an integer, decimal or floating type.
func (t Type) IsNumeric() bool { return t.IsInteger() || t.IsFloat() || t.Kind == DecimalKind }

// IsTemporal reports whether t is a date, time or timestamp.
func (t Type) IsTemporal() bool {
	return t.Kind == DateKind || t.Kind == TimeKind || t.Kind == TimestampKind
}

// Digits returns how many decimal digits left of the point an integer type
// needs, as PostgreSQL and DuckDB widen integers to decimals.
func (t Type) Digits() uint8 {
	switch t.Kind {
	case Smallint:
		return 5
	case Integer:
		return 10
	case Bigint:
		return 19
	case DecimalKind:
		return t.Precision - t.Scale
	}
	return 0
}

var decimalName = regexp.MustCompile(`^(?:decimal|numeric)\s*\(\s*(\d{1,2})\s*(?:,\s*(\d{1,2})\s*)?\)$`)

// synonyms maps other spellings of PostgreSQL and DuckDB to the names above.
var synonyms = map[string]Kind{
	"bool": Boolean, "int2": Smallint, "int": Integer, "int4": Integer, "int8": Bigint, "long": Bigint,
	"float4": Real, "float8": Double, "double precision": Double, "float": Double,
	"varchar": Text, "string": Text, "timestamp without time zone": TimestampKind, "time without time zone": TimeKind,
}

// Parse reads a type's name, in any case. A decimal must state its precision.
func Parse(name string) (Type, error) {
	s := strings.ToLower(strings.Join(strings.Fields(name), " "))
	for k, n := range names {
		if s == n && Kind(k) != Null && Kind(k) != DecimalKind {
			return Of(Kind(k)), nil
		}
	}
	if k, ok := synonyms[s]; ok {
		return Of(k), nil
	}
	if m := decimalName.FindStringSubmatch(s); m != nil {
		p, _ := strconv.Atoi(m[1])
		sc, _ := strconv.Atoi("0" + m[2])
		if p < 1 || p > 38 || sc > p {
			return Type{}, fmt.Errorf("type %q: precision must be 1 to 38 and scale at most the precision", name)
		}
		return DecimalOf(uint8(p), uint8(sc)), nil
	}
	if s == "decimal" || s == "numeric" {
		return Type{}, fmt.Errorf("type %q needs a precision and scale, as in decimal(18,2)", name)
	}
	return Type{}, fmt.Errorf("unknown type %q", name)
}

// Names lists the names Parse accepts, for completion and suggestions.
func Names() []string {
	return []string{"boolean", "smallint", "integer", "bigint", "real", "double", "decimal(18,2)",
		"text", "date", "time", "timestamp", "interval"}
}
