package dataset

import (
	"fmt"
	"reflect"
)

// checkKeys refuses a type of keys unless values that are equal are the same, bit for
// bit, and always comparable. Of floats that is not so (NaN differs from itself, and
// which of 0 and -0 stands for both would depend on an order), nor of interfaces
// (comparing may panic) or pointers (which say where something lies, not what).
func checkKeys[K comparable]() error {
	if bad := inexact(reflect.TypeFor[K]()); bad != nil {
		return refuse("keys of type %v hold %v: only integers, strings and booleans, and arrays and structs of these, are compared exactly%s",
			reflect.TypeFor[K](), bad, hint(bad))
	}
	return nil
}

func inexact(t reflect.Type) reflect.Type {
	switch t.Kind() {
	case reflect.Bool, reflect.String,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return nil
	case reflect.Array:
		return inexact(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if bad := inexact(t.Field(i).Type); bad != nil {
				return bad
			}
			if t.Field(i).Name == "_" {
				return t.Field(i).Type // == ignores blank fields
			}
		}
		return nil
	}
	return t
}

func hint(bad reflect.Type) string {
	switch bad.Kind() {
	case reflect.Float32, reflect.Float64:
		return "; round to a whole number of steps"
	case reflect.Pointer:
		return fmt.Sprintf("; of a time use UnixNano, of another pointer %v", bad.Elem())
	}
	return ""
}
