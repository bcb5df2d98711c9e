// Package diagnostic is the one form in which Discreet refuses: a code, a
// place in the text, what is wrong, why, and the way out.
//
// A diagnostic is made from the statement, the catalog and public parameters
// alone. It never wraps an error of an engine: engines quote cell values.
package diagnostic

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A Span is a range of bytes of a text. The zero Span means "no place".
type Span struct{ Start, End int }

// Join returns the smallest span that covers both; a zero span adds nothing.
func (s Span) Join(t Span) Span {
	if s == (Span{}) {
		return t
	}
	if t == (Span{}) {
		return s
	}
	return Span{min(s.Start, t.Start), max(s.End, t.End)}
}

// A Diagnostic is a refusal.
type Diagnostic struct {
	Code    string // "D014": stable, explained by Explain
	Span    Span   // where in the text
	Message string // what is wrong: one line, lower case, no full stop
	Why     string // the reason, in a sentence; may be empty
	Hint    string // the way out; may be empty
	Way     Way    // what the hint tells to do, where its words are the command's

	// Source names the text ("query", "discreet.toml") and Text holds it, for
	// the snippet. The stage that knows them fills them in with In.
	Source, Text string
}

// New makes a diagnostic with a formatted message.
func New(code string, span Span, format string, args ...any) *Diagnostic {
	return &Diagnostic{Code: code, Span: span, Message: fmt.Sprintf(format, args...)}
}

// Because sets the reason and returns d.
func (d *Diagnostic) Because(format string, args ...any) *Diagnostic {
	d.Why = fmt.Sprintf(format, args...)
	return d
}

// Try sets the hint and returns d.
func (d *Diagnostic) Try(format string, args ...any) *Diagnostic {
	d.Hint = fmt.Sprintf(format, args...)
	return d
}

// In names the text that the span refers to and returns d.
func (d *Diagnostic) In(source, text string) *Diagnostic {
	d.Source, d.Text = source, text
	return d
}

// Error returns one line: place, code and message.
func (d *Diagnostic) Error() string {
	place := ""
	if line, column := d.LineColumn(); line > 0 {
		place = fmt.Sprintf("%s:%d:%d: ", cmp.Or(d.Source, "query"), line, column)
	} else if d.Source != "" {
		place = d.Source + ": "
	}
	return fmt.Sprintf("%serror[%s]: %s", place, d.Code, d.Message)
}

// LineColumn returns the 1-based line and column (in characters) of the span's
// start, or zeros when there is no place.
func (d *Diagnostic) LineColumn() (line, column int) {
	if d.Text == "" || d.Span == (Span{}) || d.Span.Start > len(d.Text) {
		return 0, 0
	}
	before := d.Text[:d.Span.Start]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}

// Length returns the number of characters that the span covers on its first
// line, at least 1 where there is a place.
func (d *Diagnostic) Length() int {
	if line, _ := d.LineColumn(); line == 0 {
		return 0
	}
	text := d.Text[d.Span.Start:max(d.Span.Start, min(d.Span.End, len(d.Text)))]
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		text = text[:i]
	}
	return max(1, utf8.RuneCountInString(text))
}

// Write prints the full form with the snippet and a caret under the place.
func (d *Diagnostic) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "error[%s]: %s\n", d.Code, d.Message)
	if line, column := d.LineColumn(); line > 0 {
		fmt.Fprintf(&b, "  %s:%d:%d\n", cmp.Or(d.Source, "query"), line, column)
		text := strings.Split(d.Text, "\n")[line-1]
		number := fmt.Sprint(line)
		pad := padding(text, column-1)
		fmt.Fprintf(&b, "  %s | %s\n", number, strings.TrimRight(text, "\r"))
		fmt.Fprintf(&b, "  %s | %s%s\n", strings.Repeat(" ", len(number)), pad, strings.Repeat("^", d.Length()))
	} else if d.Source != "" {
		fmt.Fprintf(&b, "  %s\n", d.Source)
	}
	for _, part := range []struct{ label, text string }{{"why: ", d.Why}, {"hint:", d.Hint}, {"more:", "discreet help " + d.Code}} {
		if part.text != "" {
			fmt.Fprintf(&b, "  %s %s\n", part.label, part.text)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// padding blanks the first n characters of line but keeps tabs, so that the
// caret lands under its character whatever the tab width.
func padding(line string, n int) string {
	var b strings.Builder
	for _, r := range line {
		if n--; n < 0 {
			break
		}
		if r == '\t' {
			b.WriteByte('\t')
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// Nearest returns the candidate closest to name, or "" when none is close
// enough to be a likely misspelling: one letter in three to five is wrong, two
// in up to ten, or its end is missing. More is another word: median is not a misspelt min.
func Nearest(name string, candidates []string) string {
	best, at := "", 1+utf8.RuneCountInString(name)/5
	for _, c := range candidates {
		d := distance(strings.ToLower(name), strings.ToLower(c))
		if strings.HasPrefix(strings.ToLower(c), strings.ToLower(name)) && 2*len(name) >= len(c) {
			d = min(d, 1) // an abbreviation
		}
		if 2*d >= max(utf8.RuneCountInString(name), utf8.RuneCountInString(c)) {
			continue
		}
		if d <= at && (best == "" || d < at) {
			best, at = c, d
		}
	}
	return best
}

// distance is the Levenshtein distance with adjacent transpositions.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, row := make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(x); i++ {
		next := make([]int, len(y)+1)
		next[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row = row, next
	}
	return row[len(y)]
}
