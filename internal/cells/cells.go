// Package cells says how many columns of a terminal a text takes: an ideograph two, an
// accent that follows its letter none.
package cells

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Width returns how many columns of a terminal a text takes.
func Width(s string) (n int) {
	for _, r := range s {
		n += of(r)
	}
	return n
}

func of(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Cut shortens a text to so many columns, and shows that it did.
func Cut(s string, room int) string {
	if Width(s) <= room {
		return s
	}
	at := 0
	for i, r := range s {
		if at += of(r); at > room-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// Wrap breaks a text between words into lines of at most so many columns. A word that is
// wider has a line of its own.
func Wrap(s string, room int) (lines []string) {
	for _, word := range strings.Fields(s) {
		if n := len(lines); n > 0 && Width(lines[n-1])+1+Width(word) <= room {
			lines[n-1] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}
