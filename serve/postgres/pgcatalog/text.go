package pgcatalog

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// substring takes a part by places, or the part that a pattern matches.
func substring(q *query, v *invocation, a []any) any {
	s, ok := a[0].(string)
	if !ok {
		return nil
	}
	if p, ok := a[1].(string); ok {
		m := q.pattern(p, false).FindStringSubmatch(s)
		switch {
		case m == nil:
			return nil
		case len(m) > 1:
			return m[1]
		}
		return m[0]
	}
	r := []rune(s)
	from, _ := a[1].(int64)
	to := int64(len(r)) + 1
	if len(a) > 2 {
		n, ok := a[2].(int64)
		if !ok {
			return nil
		}
		if n < 0 {
			fail("22011", "negative substring length not allowed")
		}
		if from < math.MaxInt32 {
			to = min(to, from+n)
		}
	}
	from = max(from, 1)
	if from >= to {
		return ""
	}
	return string(r[from-1 : to-1])
}

func left(_ *query, _ *invocation, a []any) any {
	r, n := []rune(a[0].(string)), a[1].(int64)
	if n < 0 {
		n = max(0, int64(len(r))+n)
	}
	return string(r[:min(n, int64(len(r)))])
}

func right(_ *query, _ *invocation, a []any) any {
	r, n := []rune(a[0].(string)), a[1].(int64)
	if n < 0 {
		n = max(0, int64(len(r))+n)
	}
	return string(r[int64(len(r))-min(n, int64(len(r))):])
}

func replace(q *query, _ *invocation, a []any) any {
	s, from, to := a[0].(string), a[1].(string), a[2].(string)
	if from == "" {
		return s
	}
	q.room(len(s) + strings.Count(s, from)*len(to))
	return strings.ReplaceAll(s, from, to)
}

func translate(_ *query, _ *invocation, a []any) any {
	from, to := []rune(a[1].(string)), []rune(a[2].(string))
	return strings.Map(func(r rune) rune {
		i := slices.Index(from, r)
		switch {
		case i < 0:
			return r
		case i < len(to):
			return to[i]
		}
		return -1
	}, a[0].(string))
}

func splitPart(_ *query, _ *invocation, a []any) any {
	parts := []string{a[0].(string)}
	if a[1] != "" {
		parts = strings.Split(a[0].(string), a[1].(string))
	}
	n := a[2].(int64)
	if n == 0 {
		fail("22023", "field position must not be zero")
	}
	if n < 0 {
		n += int64(len(parts)) + 1
	}
	if n < 1 || n > int64(len(parts)) {
		return ""
	}
	return parts[n-1]
}

func position(s, part string) int64 {
	i := strings.Index(s, part)
	if i < 0 {
		return 0
	}
	return int64(utf8.RuneCountInString(s[:i])) + 1
}

func cutset(a []any) string {
	if len(a) > 1 {
		return a[1].(string)
	}
	return " "
}

func initcap(s string) string {
	before := ' '
	return strings.Map(func(r rune) rune {
		inWord := unicode.IsLetter(before) || unicode.IsDigit(before)
		before = r
		if inWord {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, s)
}

// concat joins values as texts; NULL is left out.
func concat(q *query, v *invocation, a []any) any {
	var b strings.Builder
	for i, x := range a {
		s := q.write(v.types[i], x)
		q.room(len(s))
		b.WriteString(s)
	}
	return q.made(b.String())
}

func concatWith(q *query, v *invocation, a []any) any {
	between, ok := a[0].(string)
	if !ok {
		return nil
	}
	var parts []string
	for i, x := range a[1:] {
		if x != nil {
			s := q.write(v.types[i+1], x)
			q.room(len(s) + len(between))
			parts = append(parts, s)
		}
	}
	return q.made(strings.Join(parts, between))
}

func repeat(q *query, _ *invocation, a []any) any {
	s, n := a[0].(string), max(0, a[1].(int64))
	if n > maxValue || int64(len(s))*n > maxValue {
		fail(tooMuch, "the text is too long")
	}
	q.room(len(s) * int(n))
	return strings.Repeat(s, int(n))
}

func pad(before bool) function {
	return func(q *query, _ *invocation, a []any) any {
		r, n, fill := []rune(a[0].(string)), a[1].(int64), " "
		if len(a) > 2 {
			fill = a[2].(string)
		}
		if n = max(n, 0); n > maxValue/4 {
			fail(tooMuch, "the text is too long")
		}
		if int64(len(r)) >= n || fill == "" {
			return string(r[:min(int64(len(r)), n)])
		}
		q.room(int(n) * utf8.UTFMax)
		padding := []rune(fill)
		var more []rune
		for i := range int(n) - len(r) {
			more = append(more, padding[i%len(padding)])
		}
		if before {
			return string(more) + string(r)
		}
		return string(r) + string(more)
	}
}

func reverse(_ *query, _ *invocation, a []any) any {
	r := []rune(a[0].(string))
	slices.Reverse(r)
	return string(r)
}

func literal(s string) string {
	prefix := ""
	if strings.Contains(s, `\`) {
		prefix, s = " E", strings.ReplaceAll(s, `\`, `\\`)
	}
	return strings.TrimLeft(prefix, " ") + "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

func stringToArray(q *query, _ *invocation, a []any) any {
	s, ok := a[0].(string)
	if !ok {
		return nil
	}
	var parts []string
	switch between, ok := a[1].(string); {
	case s == "":
	case !ok:
		parts = strings.Split(s, "")
	case between == "":
		parts = []string{s}
	default:
		parts = strings.Split(s, between)
	}
	q.hold(len(parts))
	out := texts(parts)
	if len(a) > 2 && a[2] != nil {
		for i, x := range out.items {
			if x == a[2] {
				out.items[i] = nil
			}
		}
	}
	return out
}

func arrayToString(q *query, _ *invocation, a []any) any {
	x, ok := a[0].(*array)
	between, fine := a[1].(string)
	if !ok || !fine {
		return nil
	}
	var parts []string
	for _, i := range x.items {
		switch {
		case i != nil:
			s := q.write(x.elem, i)
			q.room(len(s) + len(between))
			parts = append(parts, s)
		case len(a) > 2 && a[2] != nil:
			parts = append(parts, a[2].(string))
		}
	}
	return q.made(strings.Join(parts, between))
}

func texts(list []string) *array {
	a := &array{elem: oidText, lower: 1}
	for _, s := range list {
		a.items = append(a.items, s)
	}
	return a
}

func format(q *query, v *invocation, a []any) any {
	text, ok := a[0].(string)
	if !ok {
		return nil
	}
	var b strings.Builder
	next := 1
	for i := 0; i < len(text); i++ {
		if text[i] != '%' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		n := next
		if end := strings.IndexByte(text[i:], '$'); end > 0 && strings.Trim(text[i:i+end], "0123456789") == "" {
			n, _ = strconv.Atoi(text[i : i+end])
			i += end + 1
		}
		if i >= len(text) {
			fail("22023", "unterminated format() type specifier")
		}
		if text[i] == '%' {
			b.WriteByte('%')
			continue
		}
		if n < 1 || n >= len(a) {
			fail("22023", "too few arguments for format()")
		}
		next = n + 1
		s := q.write(v.types[n], a[n])
		switch text[i] {
		case 's':
			b.WriteString(s)
		case 'I':
			if a[n] == nil {
				fail("22004", "null values cannot be formatted as an SQL identifier")
			}
			b.WriteString(quote(s))
		case 'L':
			if a[n] == nil {
				b.WriteString("NULL")
			} else {
				b.WriteString(literal(s))
			}
		default:
			fail("22023", "unrecognized format() type specifier %q", text[i:i+1])
		}
		q.room(len(s))
	}
	return q.made(b.String())
}
