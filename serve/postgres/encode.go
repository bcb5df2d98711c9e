package postgres

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/sqltype"
)

// A column is what a RowDescription says of one.
type column struct {
	name     string
	oid      uint32
	modifier int32
}

const noModifier = -1

// oidOf returns PostgreSQL's number of a type. A bare NULL is a text, as there.
func oidOf(t sqltype.Type) uint32 {
	switch t.Kind {
	case sqltype.Boolean:
		return pgtype.BoolOID
	case sqltype.Smallint:
		return pgtype.Int2OID
	case sqltype.Integer:
		return pgtype.Int4OID
	case sqltype.Bigint:
		return pgtype.Int8OID
	case sqltype.Real:
		return pgtype.Float4OID
	case sqltype.Double:
		return pgtype.Float8OID
	case sqltype.DecimalKind:
		return pgtype.NumericOID
	case sqltype.DateKind:
		return pgtype.DateOID
	case sqltype.TimeKind:
		return pgtype.TimeOID
	case sqltype.TimestampKind:
		return pgtype.TimestampOID
	case sqltype.IntervalKind:
		return pgtype.IntervalOID
	}
	return pgtype.TextOID
}

// parameterOID returns PostgreSQL's number of a parameter's type.
func parameterOID(types *pgtype.Map, t discreet.ParameterType) uint32 {
	oid := oidOf(t.Type)
	if !t.Array {
		return oid
	}
	element, ok := types.TypeForOID(oid)
	if !ok {
		return pgtype.TextArrayOID
	}
	array, ok := types.TypeForName("_" + element.Name)
	if !ok {
		return pgtype.TextArrayOID
	}
	return array.OID
}

// modifierOf is PostgreSQL's encoding of a decimal's precision and scale.
func modifierOf(t sqltype.Type) int32 {
	if t.Kind != sqltype.DecimalKind {
		return noModifier
	}
	return int32(t.Precision)<<16 | int32(t.Scale) + 4
}

func columnOf(name string, t sqltype.Type) column { return column{name, oidOf(t), modifierOf(t)} }

// sizeOf is the width of a type in bytes, -1 where values differ.
func sizeOf(oid uint32) int16 {
	switch oid {
	case pgtype.BoolOID, pgtype.QCharOID:
		return 1
	case pgtype.Int2OID:
		return 2
	case pgtype.Int4OID, pgtype.Float4OID, pgtype.DateOID, pgtype.OIDOID, pgtype.XIDOID, pgtype.CIDOID:
		return 4
	case pgtype.Int8OID, pgtype.Float8OID, pgtype.TimeOID, pgtype.TimestampOID, pgtype.TimestamptzOID:
		return 8
	case pgtype.IntervalOID:
		return 16
	case pgtype.NameOID:
		return 64
	}
	return -1
}

// textOf writes a value as PostgreSQL's text output does.
func textOf(v sqltype.Value, oid uint32) string {
	switch v := v.(type) {
	case bool:
		if v {
			return "t"
		}
		return "f"
	case float64:
		if oid == pgtype.Float4OID {
			return floatText(v, 32, 6)
		}
		return floatText(v, 64, 15)
	}
	return sqltype.Format(v)
}

// floatText writes the shortest decimal that reads back as the same number, with an exponent
// where PostgreSQL has one: below 1e-4 and from 1e+limit.
func floatText(f float64, bits, limit int) string {
	e := strconv.FormatFloat(f, 'e', -1, bits)
	for i := len(e) - 1; i >= 0; i-- {
		if e[i] != 'e' {
			continue
		}
		if n, err := strconv.Atoi(e[i+1:]); err == nil && n >= -4 && n < limit {
			return strconv.FormatFloat(f, 'f', -1, bits)
		}
		break
	}
	return e
}

// binaryOf writes a value in PostgreSQL's binary format of a type.
func binaryOf(types *pgtype.Map, v sqltype.Value, oid uint32) ([]byte, error) {
	var native any
	switch v := v.(type) {
	case bool, int64, float64:
		native = v
	case string:
		return binaryOfText(types, v, oid)
	case sqltype.Decimal:
		native = pgtype.Numeric{Int: v.Unscaled, Exp: -int32(v.Scale), Valid: true}
	case sqltype.Date:
		native = pgtype.Date{Time: time.Unix(int64(v)*86400, 0).UTC(), Valid: true}
	case sqltype.Time:
		native = pgtype.Time{Microseconds: int64(v), Valid: true}
	case sqltype.Timestamp:
		native = pgtype.Timestamp{Time: time.UnixMicro(int64(v)).UTC(), Valid: true}
	case sqltype.Interval:
		native = pgtype.Interval{Months: v.Months, Days: v.Days, Microseconds: v.Micros, Valid: true}
	default:
		return nil, fmt.Errorf("%T has no binary form", v)
	}
	return types.Encode(oid, pgtype.BinaryFormatCode, native, nil)
}

// binaryOfText turns a value's text into its binary format. Types whose binary format is
// their text, and those that nobody knows, stay as they are.
func binaryOfText(types *pgtype.Map, text string, oid uint32) ([]byte, error) {
	switch oid {
	case pgtype.TextOID, pgtype.VarcharOID, pgtype.BPCharOID, pgtype.NameOID, pgtype.UnknownOID, pgtype.JSONOID:
		return []byte(text), nil
	}
	t, ok := types.TypeForOID(oid)
	if !ok {
		return []byte(text), nil
	}
	v, err := t.Codec.DecodeValue(types, oid, pgtype.TextFormatCode, []byte(text))
	if err != nil {
		return nil, err
	}
	return types.Encode(oid, pgtype.BinaryFormatCode, v, nil)
}

var errFormat = errors.New("a format is text (0) or binary (1)")

// formatOf returns the format of item i of n: none given means text, one holds for all.
func formatOf(codes []int16, i int) int16 {
	switch {
	case len(codes) == 0:
		return pgtype.TextFormatCode
	case len(codes) == 1:
		return codes[0]
	}
	return codes[i]
}

// checkFormats refuses formats that nobody knows, and a list of another length.
func checkFormats(codes []int16, n int) error {
	if len(codes) > 1 && len(codes) != n {
		return fmt.Errorf("there are %d formats for %d values", len(codes), n)
	}
	for _, c := range codes {
		if c != pgtype.TextFormatCode && c != pgtype.BinaryFormatCode {
			return errFormat
		}
	}
	return nil
}
