package terminal

import (
	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/display"
)

// AnswerGrid lays out an answer: beside each noisy value its interval.
func AnswerGrid(a *discreet.Answer) Grid {
	var g Grid
	for _, c := range display.Columns(a) {
		g = append(g, Column{Title: c.Title, Right: c.Right, Beside: c.Beside, Cells: c.Cells})
	}
	return g
}

// Printable writes out characters that would move a terminal's cursor.
func Printable(s string) string { return display.Printable(s) }
