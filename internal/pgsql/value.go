package pgsql

import (
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// closing is how long a session may take to end.
const closing = 5 * time.Second

// The types that results have, by their numbers in pg_type.
const (
	typeBool, typeBytea, typeName, typeInt8, typeInt2, typeInt4 = 16, 17, 19, 20, 21, 23
	typeText, typeUnknown, typeVarchar, typeTimestamptz         = 25, 705, 1043, 1184
)

// encode writes parameters: bytes as they are, all else as text.
func encode(args []driver.NamedValue) (values [][]byte, formats []int16, err error) {
	for _, a := range args {
		format, value := int16(0), []byte(nil)
		switch v := a.Value.(type) {
		case nil:
		case []byte:
			format = 1
			if value = v; v != nil && len(v) == 0 {
				value = []byte{}
			}
		case string:
			if strings.ContainsRune(v, 0) {
				return nil, nil, errors.New("a text for the database holds a zero byte")
			}
			value = []byte(v)
		case int64:
			value = strconv.AppendInt(nil, v, 10)
		case bool:
			value = strconv.AppendBool(nil, v)
		default:
			return nil, nil, fmt.Errorf("a parameter of type %T", v)
		}
		values, formats = append(values, value), append(formats, format)
	}
	return values, formats, nil
}

// epoch is where PostgreSQL's timestamps begin, the year 2000, in seconds.
const epoch = 946684800

// decode reads one value in its binary form. What it returns does not share memory.
func decode(of uint32, b []byte) (driver.Value, error) {
	if b == nil {
		return nil, nil
	}
	sized := func(n int) error {
		if len(b) != n {
			return fmt.Errorf("a value of type %d has %d bytes", of, len(b))
		}
		return nil
	}
	switch of {
	case typeBytea:
		return append([]byte{}, b...), nil
	case typeText, typeVarchar, typeName, typeUnknown:
		return string(b), nil
	case typeInt2:
		if err := sized(2); err != nil {
			return nil, err
		}
		return int64(int16(binary.BigEndian.Uint16(b))), nil
	case typeInt4:
		if err := sized(4); err != nil {
			return nil, err
		}
		return int64(int32(binary.BigEndian.Uint32(b))), nil
	case typeInt8, typeTimestamptz:
		if err := sized(8); err != nil {
			return nil, err
		}
		n := int64(binary.BigEndian.Uint64(b))
		if of == typeTimestamptz {
			return time.UnixMicro(epoch*1e6 + n).UTC(), nil
		}
		return n, nil
	case typeBool:
		if err := sized(1); err != nil {
			return nil, err
		}
		return b[0] != 0, nil
	}
	return nil, fmt.Errorf("a result of type %d", of)
}
