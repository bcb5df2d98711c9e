package linear

import (
	"errors"
	"fmt"
	"strings"
)

var errLarge = fmt.Errorf("build formula: more than %d parts when written out", maxBuilt)

// Bounds on what is read, which comes from solvers and from certificates: deeper
// or larger input is refused.
const (
	maxDepth = 2000     // of nesting
	maxText  = 16 << 20 // bytes
	maxSize  = 1 << 18  // of a formula written out without sharing
	maxBuilt = 1 << 20  // the same, of what is built: what is written out must end
	maxBits  = 1 << 12  // of a numerator or denominator
	maxNodes = 1 << 20  // of S-expressions in a text
)

// A sexpr is an S-expression: a list, or a word.
type sexpr struct {
	list   []sexpr
	word   string
	isList bool
	quoted byte // '|' or '"' around the word
}

func (e sexpr) is(word string) bool { return !e.isList && e.quoted == 0 && e.word == word }

// isSymbol reports whether e may name something.
func (e sexpr) isSymbol() bool {
	return !e.isList && (e.quoted == '|' || e.quoted == 0 && e.word[0] != ':' && (e.word[0] < '0' || e.word[0] > '9'))
}

// String is e, shortened, for messages.
func (e sexpr) String() string {
	var b strings.Builder
	var write func(e sexpr)
	write = func(e sexpr) {
		switch {
		case b.Len() > 60:
		case e.isList:
			b.WriteByte('(')
			for i, a := range e.list {
				if i > 0 {
					b.WriteByte(' ')
				}
				write(a)
			}
			b.WriteByte(')')
		default:
			b.WriteString(e.word)
		}
	}
	write(e)
	if s := b.String(); len(s) > 80 {
		return s[:80] + "..."
	}
	return b.String()
}

// readAll reads a sequence of S-expressions.
func readAll(text string) ([]sexpr, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("read S-expression: %d bytes exceed %d", len(text), maxText)
	}
	stack := [][]sexpr{nil} // the lists that are open, outermost first
	nodes := 0
	push := func(e sexpr) { stack[len(stack)-1] = append(stack[len(stack)-1], e) }
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
			continue
		case c == ';':
			for i < len(text) && text[i] != '\n' {
				i++
			}
			continue
		case c == '(':
			if len(stack) > maxDepth {
				return nil, fmt.Errorf("read S-expression: nested deeper than %d", maxDepth)
			}
			stack = append(stack, nil)
			i++
		case c == ')':
			last := len(stack) - 1
			if last == 0 {
				return nil, errors.New("read S-expression: unexpected )")
			}
			e := sexpr{list: stack[last], isList: true}
			stack = stack[:last]
			push(e)
			i++
		case c == '|' || c == '"':
			end := strings.IndexByte(text[i+1:], c)
			if end < 0 {
				return nil, fmt.Errorf("read S-expression: %c is not closed", c)
			}
			push(sexpr{word: text[i+1 : i+1+end], quoted: c})
			i += end + 2
		default:
			start := i
			for i < len(text) && (isSymbolByte(text[i]) || text[i] == ':' || text[i] >= 0x80) {
				i++
			}
			if i == start {
				return nil, fmt.Errorf("read S-expression: unexpected %q", c)
			}
			push(sexpr{word: text[start:i]})
		}
		if nodes++; nodes > maxNodes {
			return nil, fmt.Errorf("read S-expression: more than %d parts", maxNodes)
		}
	}
	if len(stack) > 1 {
		return nil, errors.New("read S-expression: ( is not closed")
	}
	return stack[0], nil
}

func readOne(text string) (sexpr, error) {
	es, err := readAll(text)
	if err != nil {
		return sexpr{}, err
	}
	if len(es) != 1 {
		return sexpr{}, fmt.Errorf("read S-expression: %d of them, want 1", len(es))
	}
	return es[0], nil
}
