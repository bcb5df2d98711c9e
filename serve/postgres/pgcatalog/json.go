package pgcatalog

import (
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// json writes a value as JSON.
func (q *query) json(t oid, v any, binary bool) string {
	between := ","
	if binary {
		between = ", "
	}
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case int64:
		if b := q.base(t); b == oidInt2 || b == oidInt4 || b == oidInt8 {
			return strconv.FormatInt(v, 10)
		}
		return jsonText(q.write(t, v))
	case float64, *big.Rat:
		return q.write(t, v)
	case *array:
		var items []string
		for _, i := range v.items {
			items = append(items, q.json(v.elem, i, binary))
		}
		return q.made("[" + strings.Join(items, between) + "]")
	case *record:
		var items []string
		for i, x := range v.values {
			items = append(items, jsonText(v.columns[i].name)+":"+q.json(v.columns[i].typ, x, binary))
		}
		return q.made("{" + strings.Join(items, ",") + "}")
	}
	if b := q.base(t); b == oidJSON || b == oidJSONB {
		return v.(string)
	}
	return q.made(jsonText(q.write(t, v)))
}

// jsonAt takes a part of a JSON value.
func (q *query) jsonAt(name string, a, b any) any {
	s, _ := a.(string)
	q.room(len(s))
	var v any
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	path := []any{b}
	if list, ok := b.(*array); ok {
		path = list.items
	}
	for _, step := range path {
		switch x := v.(type) {
		case map[string]any:
			k, _ := step.(string)
			next, ok := x[k]
			if !ok {
				return nil
			}
			v = next
		case []any:
			n, ok := step.(int64)
			if s, text := step.(string); text {
				i, err := strconv.Atoi(s)
				n, ok = int64(i), err == nil
			}
			if n < 0 {
				n += int64(len(x))
			}
			if !ok || n < 0 || n >= int64(len(x)) {
				return nil
			}
			v = x[n]
		default:
			return nil
		}
	}
	if strings.HasSuffix(name, ">>") {
		switch v := v.(type) {
		case nil:
			return nil
		case string:
			return v
		}
	}
	out, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return string(out)
}

func jsonText(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// A member is a key of a JSON object with its value's text.
type member struct{ key, value string }

// object1 writes a JSON object as json functions do.
func object1(pairs []member, open, between, end string) string {
	var b strings.Builder
	b.WriteString(open)
	for i, p := range pairs {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(jsonText(p.key) + between + p.value)
	}
	b.WriteString(end)
	return b.String()
}

// objectB writes a JSON object as jsonb does: keys sorted by length, the last of each.
func objectB(pairs []member) string {
	last := map[string]string{}
	var keys []string
	for _, p := range pairs {
		if _, ok := last[p.key]; !ok {
			keys = append(keys, p.key)
		}
		last[p.key] = p.value
	}
	slices.SortFunc(keys, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	var out []member
	for _, k := range keys {
		out = append(out, member{k, last[k]})
	}
	return object1(out, "{", ": ", "}")
}

func buildObject(binary bool) function {
	return func(q *query, v *invocation, a []any) any {
		var pairs []member
		for i := 0; i+1 < len(a); i += 2 {
			if a[i] == nil {
				fail("22023", "argument %d: key must not be null", i+1)
			}
			pairs = append(pairs, member{q.write(v.types[i], a[i]), q.json(v.types[i+1], a[i+1], binary)})
		}
		if binary {
			return q.made(objectB(pairs))
		}
		return q.made(object1(pairs, "{", " : ", "}"))
	}
}

func buildArray(bool) function {
	return func(q *query, v *invocation, a []any) any {
		var items []string
		for i, x := range a {
			items = append(items, q.json(v.types[i], x, false))
		}
		return q.made("[" + strings.Join(items, ", ") + "]")
	}
}
