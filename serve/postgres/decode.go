package postgres

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/sqltype"
)

// typeOf returns our type of PostgreSQL's number. Types that Discreet does not have are text,
// as far as their values can be sent as text.
func typeOf(oid uint32) sqltype.Type {
	switch oid {
	case pgtype.BoolOID:
		return sqltype.Of(sqltype.Boolean)
	case pgtype.Int2OID:
		return sqltype.Of(sqltype.Smallint)
	case pgtype.Int4OID:
		return sqltype.Of(sqltype.Integer)
	case pgtype.Int8OID, pgtype.OIDOID:
		return sqltype.Of(sqltype.Bigint)
	case pgtype.Float4OID:
		return sqltype.Of(sqltype.Real)
	case pgtype.Float8OID:
		return sqltype.Of(sqltype.Double)
	case pgtype.DateOID:
		return sqltype.Of(sqltype.DateKind)
	case pgtype.TimeOID:
		return sqltype.Of(sqltype.TimeKind)
	case pgtype.TimestampOID, pgtype.TimestamptzOID:
		return sqltype.Of(sqltype.TimestampKind)
	case pgtype.IntervalOID:
		return sqltype.Of(sqltype.IntervalKind)
	case pgtype.NumericOID: // any precision: decimalOf gives each value its own
		return sqltype.Type{Kind: sqltype.DecimalKind}
	case 0, pgtype.UnknownOID:
		return sqltype.Type{}
	}
	return sqltype.Of(sqltype.Text)
}

// parameterType is typeOf of a type's number that may be an array's. An array of texts of a kind
// that we do not have is an array whose elements the context decides.
func parameterType(types *pgtype.Map, oid uint32) discreet.ParameterType {
	if element := elementOf(types, oid); element != 0 {
		return discreet.ParameterType{Type: typeOf(element), Array: true}
	}
	return discreet.ParameterType{Type: typeOf(oid)}
}

// elementOf is the number of the type of an array's elements, 0 of what is no array.
func elementOf(types *pgtype.Map, oid uint32) uint32 {
	t, ok := types.TypeForOID(oid)
	if !ok {
		return 0
	}
	array, ok := t.Codec.(*pgtype.ArrayCodec)
	if !ok {
		return 0
	}
	return array.ElementType.OID
}

// A parameterValue is a parameter as it came: nil for NULL.
type parameterValue struct {
	oid    uint32
	format int16
	bytes  []byte
}

// read gives a parameter the form that the gateway takes: a text and its declared type, which
// the statement decides where the client left it open.
func (p parameterValue) read(types *pgtype.Map) (discreet.Parameter, error) {
	t := parameterType(types, p.oid)
	out := discreet.Parameter{Type: t.Type, Array: t.Array}
	if p.bytes == nil {
		out.Type = known(t)
		return out, nil
	}
	text := string(p.bytes)
	if p.format == pgtype.BinaryFormatCode {
		var err error
		if text, err = textOfBinary(types, p.bytes, p.oid); err != nil {
			return out, err
		}
	}
	if !out.Array {
		text, t, err := meant(text, out.Type, p.oid)
		out.Text, out.Type = &text, t
		return out, err
	}
	// An array's text is as its client wrote it, but for its elements.
	elements, err := sqltype.ParseArray(text)
	if err != nil {
		return out, fmt.Errorf("%q is no array: %w", clip(text), err)
	}
	widest := sqltype.Type{}
	for i, e := range elements {
		if e == nil {
			continue
		}
		text, t, err := meant(*e, out.Type, elementOf(types, p.oid))
		if err != nil {
			return out, err
		}
		elements[i] = &text
		if widest, err = wider(widest, t); err != nil {
			return out, err
		}
	}
	if out.Type.Kind == sqltype.DecimalKind {
		out.Type = widest
	}
	text = sqltype.FormatArray(elements)
	out.Text = &text
	return out, nil
}

// meant is the text and the type of a value of a type that was declared.
func meant(text string, t sqltype.Type, oid uint32) (string, sqltype.Type, error) {
	switch t.Kind {
	case sqltype.DecimalKind:
		t, err := decimalOf(text)
		return text, t, err
	case sqltype.TimestampKind:
		if oid == pgtype.TimestamptzOID {
			text, _ = sqltype.InUTC(text) // the zone of all sessions; what has none is in UTC
		}
	}
	return text, t, nil
}

// wider is the decimal that holds both; any other type is that of all.
func wider(a, b sqltype.Type) (sqltype.Type, error) {
	if a.Kind != sqltype.DecimalKind || b.Kind != sqltype.DecimalKind {
		return b, nil
	}
	scale := max(a.Scale, b.Scale)
	whole := max(a.Precision-a.Scale, b.Precision-b.Scale)
	if whole+scale > 38 {
		return b, fmt.Errorf("the elements together need a decimal number of %d digits, more than 38", whole+scale)
	}
	return sqltype.DecimalOf(whole+scale, scale), nil
}

// someDecimal stands for the type of a decimal that has no value, or none yet: each value has its own precision, and all are numbers of one type to
// a client.
var someDecimal = sqltype.DecimalOf(3, 1)

// known is the type of a parameter without a value: of the elements of an array of decimals, the context decides.
func known(t discreet.ParameterType) sqltype.Type {
	switch {
	case t.Type.Kind != sqltype.DecimalKind:
		return t.Type
	case t.Array:
		return sqltype.Type{}
	}
	return someDecimal
}

// decimalOf is the narrowest decimal that holds a number.
func decimalOf(text string) (sqltype.Type, error) {
	digits := strings.TrimLeft(strings.TrimSpace(text), "+-")
	whole, fraction, _ := strings.Cut(digits, ".")
	if len(whole)+len(fraction) > 38 || strings.ContainsAny(digits, "eE") {
		return sqltype.Type{}, fmt.Errorf("%q is no decimal number of at most 38 digits", clip(text))
	}
	return sqltype.DecimalOf(uint8(max(1, len(whole)+len(fraction))), uint8(len(fraction))), nil
}

// textOfBinary turns PostgreSQL's binary format of a type into its text. What has no declared
// type is read by its length, as an integer, which is how drivers send those.
func textOfBinary(types *pgtype.Map, b []byte, oid uint32) (string, error) {
	if oid == 0 {
		switch len(b) {
		case 2:
			return fmt.Sprint(int16(binary.BigEndian.Uint16(b))), nil
		case 4:
			return fmt.Sprint(int32(binary.BigEndian.Uint32(b))), nil
		case 8:
			return fmt.Sprint(int64(binary.BigEndian.Uint64(b))), nil
		}
		oid = pgtype.TextOID
	}
	switch oid {
	case pgtype.TextOID, pgtype.VarcharOID, pgtype.BPCharOID, pgtype.NameOID, pgtype.UnknownOID, pgtype.JSONOID:
		if !utf8.Valid(b) {
			return "", fmt.Errorf("the text is not valid UTF-8")
		}
		return string(b), nil
	}
	t, ok := types.TypeForOID(oid)
	if !ok {
		return "", fmt.Errorf("the binary format of type %d is not known", oid)
	}
	v, err := t.Codec.DecodeValue(types, oid, pgtype.BinaryFormatCode, b)
	if err != nil {
		return "", err
	}
	if v, ok := v.(float64); ok {
		return floatText(v, 64, 15), nil
	}
	text, err := types.Encode(oid, pgtype.TextFormatCode, v, nil)
	return string(text), err
}
