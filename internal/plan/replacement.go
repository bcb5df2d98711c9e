package plan

import "strings"

// A Piece of a replacement is a text, or the match's group of a number above 0, or of 0 the whole match.
type Piece struct {
	Text  string
	Group int // -1 of a text
}

// Replacement reads the text that replaces a match, as PostgreSQL writes it: \1 to \9 are groups, \& is the match and
// \\ a backslash. Its second result is false of another escape, which engines read otherwise.
func Replacement(text string) (pieces []Piece, ok bool) {
	for text != "" {
		plain, rest, escaped := strings.Cut(text, `\`)
		if plain != "" {
			pieces = append(pieces, Piece{plain, -1})
		}
		if !escaped {
			break
		}
		switch {
		case rest == "":
			return nil, false
		case rest[0] == '&':
			pieces = append(pieces, Piece{"", 0})
		case '1' <= rest[0] && rest[0] <= '9':
			pieces = append(pieces, Piece{"", int(rest[0] - '0')})
		case rest[0] == '\\':
			pieces = append(pieces, Piece{`\`, -1})
		default:
			return nil, false
		}
		text = rest[1:]
	}
	return pieces, true
}
