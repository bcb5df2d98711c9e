package sandbox

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/sqltype"
)

// cellSize is the size of a value in the module's buffer:
//
//	0  8 bytes  the value, or for text its offset in the buffer and its length, 4 bytes each
//	8  4 bytes  1, or 0 for NULL
//	12 4 bytes  0
//
// Numbers are little-endian. The texts follow the cells.
const cellSize = 16

// A cell is how a column's values are written.
type cell uint8

const (
	cellInteger cell = iota // int64: also booleans, days, microseconds
	cellFloat               // float64: also decimals, the nearest one
	cellText
)

func cellOf(t sqltype.Type) (cell, error) {
	switch t.Kind {
	case sqltype.Boolean, sqltype.Smallint, sqltype.Integer, sqltype.Bigint, sqltype.DateKind, sqltype.TimeKind, sqltype.TimestampKind:
		return cellInteger, nil
	case sqltype.Real, sqltype.Double, sqltype.DecimalKind:
		return cellFloat, nil
	case sqltype.Text:
		return cellText, nil
	}
	return 0, fmt.Errorf("a mapper sees no values of type %s", t)
}

// conform refuses records that are not of the columns that were declared: a mistake
// of the caller, not of the data.
func conform(columns []Column, records [][]sqltype.Value) error {
	for _, r := range records {
		if len(r) != len(columns) {
			return fmt.Errorf("%w: a record has %d values for %d columns", ErrOptions, len(r), len(columns))
		}
		for i, v := range r {
			if c := columns[i]; !c.holds(v) {
				return fmt.Errorf("%w: column %s of type %s has a value of type %T", ErrOptions, c.Name, c.Type, v)
			}
		}
	}
	return nil
}

func (c Column) holds(v sqltype.Value) bool {
	switch v.(type) {
	case nil:
		return true
	case bool:
		return c.Type.Kind == sqltype.Boolean
	case int64:
		return c.Type.IsInteger()
	case float64:
		return c.Type.IsFloat()
	case sqltype.Decimal:
		return c.Type.Kind == sqltype.DecimalKind
	case sqltype.Date:
		return c.Type.Kind == sqltype.DateKind
	case sqltype.Time:
		return c.Type.Kind == sqltype.TimeKind
	case sqltype.Timestamp:
		return c.Type.Kind == sqltype.TimestampKind
	case string:
		return c.Type.Kind == sqltype.Text
	}
	return false
}

// encode writes records into a buffer. It returns how many bytes it touched, and
// whether the records fit.
func encode(buffer []byte, columns []Column, records [][]sqltype.Value) (n int, fits bool) {
	if len(records) > len(buffer)/(cellSize*len(columns)) {
		return 0, false
	}
	at := 0
	n = len(records) * len(columns) * cellSize
	for _, r := range records {
		for _, v := range r {
			c := buffer[at : at+cellSize]
			at += cellSize
			value, present := uint64(0), uint64(1)
			switch v := v.(type) {
			case nil:
				present = 0
			case bool:
				if v {
					value = 1
				}
			case int64:
				value = uint64(v)
			case float64:
				value = math.Float64bits(v + 0)
			case sqltype.Decimal:
				f, _ := v.Rat().Float64()
				value = math.Float64bits(f)
			case sqltype.Date:
				value = uint64(v)
			case sqltype.Time:
				value = uint64(v)
			case sqltype.Timestamp:
				value = uint64(v)
			case string:
				if len(v) > len(buffer)-n {
					return n, false
				}
				value = uint64(n) | uint64(len(v))<<32
				n += copy(buffer[n:], v)
			}
			binary.LittleEndian.PutUint64(c, value)
			binary.LittleEndian.PutUint64(c[8:], present)
		}
	}
	return n, true
}

// compareRecords is the total order in which a unit's records arrive: of equal ones
// it does not matter which is first.
func compareRecords(a, b []sqltype.Value) int {
	for i := range min(len(a), len(b)) {
		if c := sqltype.Compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// ordered returns the records in their order; the slice given stays as it is.
func ordered(records [][]sqltype.Value) [][]sqltype.Value {
	if slices.IsSortedFunc(records, compareRecords) {
		return records
	}
	records = slices.Clone(records)
	slices.SortFunc(records, compareRecords)
	return records
}

// outputSize is the size of an output: a float64, the key's index in 4 bytes, and
// 4 bytes that mean nothing.
const outputSize = 16

// decode reads the outputs that a module answered. It says false of what is no answer.
func (o *Options) decode(raw []byte) ([]Output, bool) {
	out := make([]Output, 0, len(raw)/outputSize)
	for ; len(raw) > 0; raw = raw[outputSize:] {
		v := math.Float64frombits(binary.LittleEndian.Uint64(raw))
		if math.IsNaN(v) {
			return nil, false
		}
		x := Output{Value: min(max(v, o.Lower), o.Upper) + 0}
		if o.Keys != nil {
			k := binary.LittleEndian.Uint32(raw[8:])
			if uint64(k) >= uint64(len(o.Keys)) {
				continue
			}
			x.Key = o.Keys[k]
		}
		out = append(out, x)
	}
	return out, true
}
