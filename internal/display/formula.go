package display

import (
	"regexp"
	"strings"
)

// Where a spreadsheet takes a text for a formula: at its beginning, and behind what some
// take for the end of a cell, whatever quotes stand around it. The wide signs are those of
// East Asian keyboards.
var (
	formula = regexp.MustCompile("(^|[;\t\r\n])([=+\\-@\t\r＝＋－＠])")
	numeral = regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
)

// Inert is a text as a cell that no spreadsheet runs: an apostrophe stands before what would
// begin a formula. A text that is a number stays one.
func Inert(text string) string {
	if numeral.MatchString(text) {
		return text
	}
	for { // one match can hide the next, which begins within it
		safe := formula.ReplaceAllString(text, "$1'$2")
		if safe == text {
			return safe
		}
		text = safe
	}
}

// inert makes a formula of no text that a field holds.
func inert(v any) any {
	if text, is := v.(string); is {
		return Inert(strings.ToValidUTF8(text, "\uFFFD"))
	}
	return v
}
