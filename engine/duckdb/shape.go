//go:build cgo

package duckdb

import (
	"fmt"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/engine"
)

// shapes are statements that could be planned, but for the digits of their numbers: those that
// differ in these alone can be planned, too, and need not be planned over empty tables before
// they are charged. The zero value is ready.
type shapes struct {
	mu   sync.Mutex
	set  map[string]bool
	size int // bytes
}

// maxShapes bounds the bytes of what is remembered. What goes beyond is forgotten with the rest.
const maxShapes = 4 << 20

func (s *shapes) has(shape string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set[shape]
}

func (s *shapes) add(shape string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.set == nil || s.size+len(shape) > maxShapes {
		s.set, s.size = map[string]bool{}, 0
	}
	if !s.set[shape] {
		s.set[shape] = true
		s.size += len(shape)
	}
}

// shapeOf is a statement over tables with 0 for each digit of its numbers. Whether it can be
// planned may depend on types and on texts: patterns are compiled. What depends on numbers alone
// is what the planner computes of constants, and every expression that is rendered has a value for
// all numbers. Still the number of digits stays, exponents stay, and of ten digits or more, where
// an integer may be of one type or another, all do. Quoted texts and names stay as they are.
func shapeOf(text string, tables []engine.Table) string {
	var b strings.Builder
	for _, t := range tables {
		fmt.Fprintf(&b, "%q %v\n", t.Name, t.Columns)
	}
	for i := 0; i < len(text); {
		c := text[i]
		end := i + 1
		switch {
		case c == '\'' || c == '"':
			for end < len(text) && text[end] != c { // a doubled quote ends one text and begins another
				end++
			}
			end = min(end+1, len(text))
			b.WriteString(text[i:end])
		case isDigit(c):
			for end < len(text) && (isDigit(text[end]) || text[end] == '.') {
				end++
			}
			if number := text[i:end]; len(number) > 10 || strings.Count(number, ".") == 0 && len(number) > 9 {
				b.WriteString(number)
			} else {
				b.WriteString(strings.Map(func(r rune) rune {
					if r == '.' {
						return r
					}
					return '0'
				}, number))
			}
			if rest := text[end:]; len(rest) > 0 && (rest[0] == 'e' || rest[0] == 'E') { // of the number, with its sign
				after := end + 1
				for after < len(text) && (isDigit(text[after]) || text[after] == '+' || text[after] == '-') {
					after++
				}
				b.WriteString(text[end:after])
				end = after
			}
		case isWord(c):
			for end < len(text) && (isWord(text[end]) || isDigit(text[end])) {
				end++
			}
			b.WriteString(text[i:end])
		default:
			b.WriteByte(c)
		}
		i = end
	}
	return b.String()
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
