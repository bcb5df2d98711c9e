package pgcatalog

import (
	"encoding/json"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// binary returns what an operator does with two values that are not NULL.
func binary(name string, left, right oid) func(q *query, a, b any) any {
	switch name {
	case "=", "<>", "<", "<=", ">", ">=":
		return func(_ *query, a, b any) any { return holds(name, compare(a, b)) }
	case "~", "~*", "!~", "!~*":
		if integer(left) {
			break
		}
		fold, not := strings.HasSuffix(name, "*"), strings.HasPrefix(name, "!")
		return func(q *query, a, b any) any {
			s, _ := a.(string)
			p, _ := b.(string)
			if len(s) > 64 { // a pattern takes longer than a comparison
				q.tick(len(s) >> 2)
			}
			return q.pattern(p, fold).MatchString(s) != not
		}
	case "~~", "~~*", "!~~", "!~~*":
		fold, not := strings.HasSuffix(name, "*"), strings.HasPrefix(name, "!")
		return func(q *query, a, b any) any {
			s, _ := a.(string)
			p, _ := b.(string)
			if fold {
				s, p = strings.ToLower(s), strings.ToLower(p)
			}
			return q.like(s, p) != not
		}
	case "||":
		if left == oidJSONB {
			return func(*query, any, any) any { return nil }
		}
		return func(q *query, a, b any) any {
			x, y := q.write(left, a), q.write(right, b)
			q.room(len(x) + len(y))
			return x + y
		}
	case "^@":
		return func(_ *query, a, b any) any { return strings.HasPrefix(a.(string), b.(string)) }
	case "+", "-", "*", "/", "%", "&", "|", "#", "<<", ">>", "^":
		return func(q *query, a, b any) any { return arithmetic(q, name, left, right, a, b) }
	case "@>", "<@", "&&":
		return func(q *query, a, b any) any {
			x, ok := a.(*array)
			y, fine := b.(*array)
			if !ok || !fine {
				return nil
			}
			if name == "<@" {
				x, y = y, x
			}
			q.tick(len(x.items) * max(1, len(y.items)))
			in := func(v any) bool {
				return v != nil && slices.ContainsFunc(x.items, func(w any) bool { return w != nil && compare(v, w) == 0 })
			}
			if name == "&&" {
				return slices.ContainsFunc(y.items, in)
			}
			return !slices.ContainsFunc(y.items, func(v any) bool { return !in(v) })
		}
	case "->", "->>", "#>", "#>>":
		return func(q *query, a, b any) any { return q.jsonAt(name, a, b) }
	}
	return func(*query, any, any) any { return nil }
}

func arithmetic(q *query, name string, left, right oid, a, b any) any {
	zero := func() { fail("22012", "division by zero") }
	switch x := a.(type) {
	case int64:
		y, ok := b.(int64)
		if !ok {
			break
		}
		t := left
		if right == oidInt8 || right == oidInt4 && left == oidInt2 {
			t = right
		}
		over := func(v int64, wrong bool) any {
			if wrong {
				fail(outOfRange, "%s out of range", q.typeName(t, -1))
			}
			return q.fit(t, v)
		}
		switch name {
		case "+":
			return over(x+y, (x+y > x) != (y > 0) && y != 0)
		case "-":
			return over(x-y, (x-y < x) != (y > 0) && y != 0)
		case "*":
			return over(x*y, x != 0 && (x*y/x != y || x == -1 && y == math.MinInt64))
		case "/":
			if y == 0 {
				zero()
			}
			return over(x/y, x == math.MinInt64 && y == -1)
		case "%":
			if y == 0 {
				zero()
			}
			if y == -1 {
				return int64(0)
			}
			return x % y
		case "&":
			return x & y
		case "|":
			return x | y
		case "#":
			return x ^ y
		case "<<", ">>":
			bits := int64(64)
			switch left {
			case oidInt4:
				bits = 32
			case oidInt2:
				bits = 16
			}
			y &= bits - 1
			if left == oidInt2 {
				y = b.(int64) & 31
			}
			if name == ">>" {
				return x >> y
			}
			switch left {
			case oidInt2:
				return int64(int16(x << y))
			case oidInt4:
				return int64(int32(x << y))
			}
			return x << y
		}
	case float64:
		y, ok := b.(float64)
		if !ok {
			break
		}
		switch name {
		case "+":
			return x + y
		case "-":
			return x - y
		case "*":
			return x * y
		case "/":
			if y == 0 {
				zero()
			}
			return x / y
		case "^":
			return math.Pow(x, y)
		}
	case *big.Rat:
		y, ok := b.(*big.Rat)
		if !ok {
			break
		}
		q.tick(1 + (x.Num().BitLen()+y.Num().BitLen())/64)
		if x.Num().BitLen()+y.Num().BitLen()+x.Denom().BitLen()+y.Denom().BitLen() > 20_000 {
			fail(outOfRange, "value overflows numeric format")
		}
		switch name {
		case "+":
			return new(big.Rat).Add(x, y)
		case "-":
			return new(big.Rat).Sub(x, y)
		case "*":
			return new(big.Rat).Mul(x, y)
		case "/", "%":
			if y.Sign() == 0 {
				zero()
			}
			z := new(big.Rat).Quo(x, y)
			if name == "/" {
				return z
			}
			whole := new(big.Int).Quo(z.Num(), z.Denom())
			return z.Sub(x, z.Mul(y, new(big.Rat).SetInt(whole)))
		}
	}
	return nil
}

// concatArrays joins an array with another, or with an item.
func concatArrays(q *query, left, right oid, a, b any) any {
	x, y := q.elem(left) != 0, q.elem(right) != 0
	out := &array{lower: 1}
	add := func(isArray bool, t oid, v any) {
		if !isArray {
			out.items = append(out.items, v)
			return
		}
		out.elem = q.elem(t)
		if list, ok := v.(*array); ok {
			q.hold(len(list.items))
			out.items = append(out.items, list.items...)
		}
	}
	if x && y && (a == nil || b == nil) {
		if a == nil {
			return b
		}
		return a
	}
	add(x, left, a)
	add(y, right, b)
	return out
}

// pattern compiles a regular expression of PostgreSQL's kind.
func (q *query) pattern(p string, fold bool) *regexp.Regexp {
	k := patternKey{p, fold}
	if re := q.patterns[k]; re != nil {
		return re
	}
	if len(p) > 10_000 {
		fail(tooMuch, "the pattern is too long")
	}
	q.tick(100 + len(p))
	text := strings.TrimPrefix(p, "***:")
	if rest, ok := strings.CutPrefix(text, "***="); ok {
		text = regexp.QuoteMeta(rest)
	}
	text = strings.NewReplacer(`\\`, `\\`, `\y`, `\b`, `\m`, `\b`, `\M`, `\b`, `[[:<:]]`, `\b`, `[[:>:]]`, `\b`, `\Z`, `\z`).Replace(text)
	flags := "(?s)"
	if fold {
		flags = "(?si)"
	}
	re, err := regexp.Compile(flags + text)
	if err != nil {
		fail("2201B", "invalid regular expression: %q", p)
	}
	q.patterns[k] = re
	return re
}

// patterns are regular expressions that were compiled.
type patterns map[patternKey]*regexp.Regexp

type patternKey struct {
	text string
	fold bool
}

// like matches a text with a pattern of % and _, in time of their product.
func (q *query) like(s, p string) bool {
	text, pattern := []rune(s), []rune(p)
	q.tick(1 + len(text)*len(pattern)/64)
	i, j, star, mark := 0, 0, -1, 0
	for i < len(text) {
		switch {
		case j < len(pattern) && pattern[j] == '%':
			star, mark = j, i
			j++
		case j < len(pattern) && pattern[j] == '_':
			i, j = i+1, j+1
		case j+1 < len(pattern) && pattern[j] == '\\' && pattern[j+1] == text[i]:
			i, j = i+1, j+2
		case j < len(pattern) && pattern[j] != '\\' && pattern[j] == text[i]:
			i, j = i+1, j+1
		case star >= 0:
			mark++
			i, j = mark, star+1
		default:
			return false
		}
	}
	for j < len(pattern) && pattern[j] == '%' {
		j++
	}
	return j == len(pattern)
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

func jsonText(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

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
