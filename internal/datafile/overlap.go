package datafile

import (
	"strings"
	"unicode/utf8"
)

// Overlap reports whether some path could be named by both of two texts, each a path or a
// pattern, by the texts alone: it looks for no file. Where it errs, it says yes: a name
// that begins with a dot is one like others here.
func Overlap(a, b string) bool {
	return meet(levelsOf(a), levelsOf(b), func(x, y level) bool { return meet(x.tokens, y.tokens, token.meets) })
}

// A repeated stands for any sequence of what it is among, or for none.
type repeated interface{ repeats() bool }

// meet reports whether two sequences have a common instance: their elements, one by one,
// meet, and those that repeat stand for any.
func meet[E repeated](a, b []E, both func(x, y E) bool) bool {
	// reached[j] is whether what is before i of a and before j of b has one.
	reached := make([]bool, len(b)+1)
	for i := range len(a) + 1 {
		next := make([]bool, len(b)+1)
		for j := range len(b) + 1 {
			switch {
			case i == 0 && j == 0:
				next[j] = true
			case i > 0 && a[i-1].repeats() && (reached[j] || j > 0 && next[j-1]),
				j > 0 && b[j-1].repeats() && (next[j-1] || i > 0 && reached[j]),
				i > 0 && j > 0 && reached[j-1] && !a[i-1].repeats() && !b[j-1].repeats() && both(a[i-1], b[j-1]):
				next[j] = true
			}
		}
		reached = next
	}
	return reached[len(b)]
}

// A level is what stands between two slashes.
type level struct {
	any    bool // ** is any folders
	tokens []token
}

func (l level) repeats() bool { return l.any }

// A token of a level is *, or a character within, or outside of, some ranges.
type token struct {
	any     bool
	outside bool
	ranges  [][2]rune
}

func (t token) repeats() bool { return t.any }

func (t token) has(r rune) bool {
	for _, of := range t.ranges {
		if of[0] <= r && r <= of[1] {
			return !t.outside
		}
	}
	return t.outside
}

// meets looks where ranges begin, and behind their ends: if characters are in both, the first
// of some such is there.
func (t token) meets(u token) bool {
	for _, side := range []token{t, u, {ranges: [][2]rune{{0, 0}}}} {
		for _, of := range side.ranges {
			for _, r := range []rune{of[0], of[1] + 1} {
				if t.has(r) && u.has(r) {
					return true
				}
			}
		}
	}
	return false
}

// levelsOf reads a text as ParsePattern does, and path.Match what stands between slashes.
func levelsOf(text string) (all []level) {
	pattern := IsPattern(text)
	for part := range strings.SplitSeq(text, "/") {
		switch {
		case part == ".":
		case pattern && part == "**":
			all = append(all, level{any: true})
		default:
			all = append(all, level{tokens: tokensOf(part, pattern)})
		}
	}
	return all
}

func tokensOf(part string, pattern bool) (all []token) {
	for part != "" {
		r, size := utf8.DecodeRuneInString(part)
		part = part[size:]
		switch {
		case pattern && r == '*':
			all = append(all, token{any: true})
		case pattern && r == '?':
			all = append(all, token{outside: true})
		case pattern && r == '[':
			t := token{}
			part, t.outside = strings.CutPrefix(part, "^")
			for first := true; part != "" && (first || part[0] != ']'); first = false {
				var of [2]rune
				of[0], size = utf8.DecodeRuneInString(part)
				of[1], part = of[0], part[size:]
				if len(part) > 1 && part[0] == '-' {
					of[1], size = utf8.DecodeRuneInString(part[1:])
					part = part[1+size:]
				}
				t.ranges = append(t.ranges, of)
			}
			part = strings.TrimPrefix(part, "]")
			all = append(all, t)
		default:
			all = append(all, token{ranges: [][2]rune{{r, r}}})
		}
	}
	return all
}
