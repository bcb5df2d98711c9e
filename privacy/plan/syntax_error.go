package plan

import "fmt"

// A SyntaxError says what is wrong with the text of a plan, and where: at Length
// bytes from byte Offset on.
type SyntaxError struct {
	Offset, Length int
	Message        string
	Hint           string // what to write instead, or empty
}

func (e *SyntaxError) Error() string {
	s := fmt.Sprintf("at byte %d: %s", e.Offset+1, e.Message)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

func (s span) fail(message, hint string) *SyntaxError {
	return &SyntaxError{s.start, s.end - s.start, message, hint}
}
