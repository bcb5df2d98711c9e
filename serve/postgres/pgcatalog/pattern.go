package pgcatalog

import (
	"fmt"
	"regexp"
	"strings"
)

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

// likeEscape rewrites a pattern with another escape to one with backslashes.
func likeEscape(_ *query, _ *invocation, a []any) any {
	p, escape := a[0].(string), a[1].(string)
	if escape == `\` {
		return p
	}
	var b strings.Builder
	skip := false
	for _, r := range p {
		switch {
		case skip:
			b.WriteByte('\\')
			b.WriteRune(r)
			skip = false
		case string(r) == escape:
			skip = true
		case r == '\\':
			b.WriteString(`\\`)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func regexpReplace(q *query, _ *invocation, a []any) any {
	if len(a) > 4 {
		return nil
	}
	flags := ""
	if len(a) == 4 {
		f, ok := a[3].(string)
		if !ok {
			return nil
		}
		flags = f
	}
	s := a[0].(string)
	re := q.pattern(a[1].(string), strings.Contains(flags, "i"))
	var with strings.Builder
	for text := a[2].(string); text != ""; {
		switch {
		case len(text) > 1 && text[0] == '\\' && text[1] >= '1' && text[1] <= '9':
			fmt.Fprintf(&with, "${%c}", text[1])
			text = text[2:]
		case len(text) > 1 && text[0] == '\\' && text[1] == '&':
			with.WriteString("${0}")
			text = text[2:]
		case len(text) > 1 && text[0] == '\\' && text[1] == '\\':
			with.WriteByte('\\')
			text = text[2:]
		case text[0] == '$':
			with.WriteString("$$")
			text = text[1:]
		default:
			with.WriteByte(text[0])
			text = text[1:]
		}
	}
	q.room((len(s) + 1) * (1 + with.Len()))
	if strings.Contains(flags, "g") {
		return re.ReplaceAllString(s, with.String())
	}
	at := re.FindStringSubmatchIndex(s)
	if at == nil {
		return s
	}
	return s[:at[0]] + string(re.ExpandString(nil, with.String(), s, at)) + s[at[1]:]
}

func regexpMatch(q *query, _ *invocation, a []any) any {
	fold := len(a) > 2 && strings.Contains(a[2].(string), "i")
	s := a[0].(string)
	at := q.pattern(a[1].(string), fold).FindStringSubmatchIndex(s)
	if at == nil {
		return nil
	}
	return submatches(s, at)
}

func submatches(s string, at []int) *array {
	out := &array{elem: oidText, lower: 1}
	if len(at) == 2 {
		out.items = []any{s[at[0]:at[1]]}
	}
	for i := 2; i < len(at); i += 2 {
		if at[i] < 0 {
			out.items = append(out.items, nil)
		} else {
			out.items = append(out.items, s[at[i]:at[i+1]])
		}
	}
	return out
}
