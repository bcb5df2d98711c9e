package pgcatalog

// What information_schema says of types. The first argument is a row of pg_attribute, the
// second one of pg_type.

func fieldOf(v any, name string) any {
	r, ok := v.(*record)
	if !ok {
		return nil
	}
	for i, c := range r.columns {
		if c.name == name && i < len(r.values) {
			return r.values[i]
		}
	}
	return nil
}

func trueType(_ *query, _ *invocation, a []any) any {
	if fieldOf(a[1], "typtype") == "d" {
		return fieldOf(a[1], "typbasetype")
	}
	return fieldOf(a[0], "atttypid")
}

func trueModifier(_ *query, _ *invocation, a []any) any {
	if fieldOf(a[1], "typtype") == "d" {
		return fieldOf(a[1], "typtypmod")
	}
	return fieldOf(a[0], "atttypmod")
}

func charLength(_ *query, _ *invocation, a []any) any {
	t, mod := a[0].(int64), a[1].(int64)
	switch {
	case mod == -1:
		return nil
	case t == oidBpchar || t == oidVarchar:
		return mod - 4
	case t == oidBit || t == oidVarbit:
		return mod
	}
	return nil
}

func charOctets(_ *query, _ *invocation, a []any) any {
	t, mod := a[0].(int64), a[1].(int64)
	switch t {
	case oidText, oidBpchar, oidVarchar:
		if mod == -1 {
			return int64(1 << 30)
		}
		return (mod - 4) * 4
	}
	return nil
}

func numericPrecision(_ *query, _ *invocation, a []any) any {
	mod := a[1].(int64)
	switch a[0] {
	case oidInt2:
		return int64(16)
	case oidInt4:
		return int64(32)
	case oidInt8:
		return int64(64)
	case oidFloat4:
		return int64(24)
	case oidFloat8:
		return int64(53)
	case oidNumeric:
		if mod == -1 {
			return nil
		}
		return (mod - 4) >> 16 & 0xffff
	}
	return nil
}

func numericRadix(_ *query, _ *invocation, a []any) any {
	switch a[0] {
	case oidInt2, oidInt4, oidInt8, oidFloat4, oidFloat8:
		return int64(2)
	case oidNumeric:
		return int64(10)
	}
	return nil
}

func numericScale(_ *query, _ *invocation, a []any) any {
	switch a[0] {
	case oidInt2, oidInt4, oidInt8:
		return int64(0)
	case oidNumeric:
		if mod := a[1].(int64); mod != -1 {
			return (mod - 4) & 0x7ff
		}
	}
	return nil
}

func datetimePrecision(_ *query, _ *invocation, a []any) any {
	mod := a[1].(int64)
	switch a[0] {
	case oidDate:
		return int64(0)
	case oidTime, oidTimetz, oidTimestamp, oidTimestamptz, oidInterval:
		if mod < 0 || a[0] == oidInterval && mod&0xffff == 0xffff {
			return int64(6)
		}
		return mod & 0xffff
	}
	return nil
}

func indexPosition(q *query, _ *invocation, a []any) any {
	get, ok := q.rowWhere("pg_index", "indexrelid", a[0])
	if !ok {
		return nil
	}
	if list, ok := get("indkey").(*array); ok {
		for i, n := range list.items {
			if n == a[1] {
				return int64(i + 1)
			}
		}
	}
	return nil
}
