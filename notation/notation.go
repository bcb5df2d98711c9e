// Package notation says how a text file and the values in it are written, and reads
// such values.
//
// It guarantees that reading is total: a text that is no value as declared becomes
// one that no cast reads, so that it is NULL, or its record malformed, by the rule of
// the table; and that what a text reads as depends on that text and the declaration
// alone. Nothing is guessed from the data.
//
// It does not guarantee that a file is written as declared: what is not is read as NULL.
package notation

import (
	"bytes"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/sqltype"
)

// A Form is how a delimited text file is written. The zero Form is that of RFC 4180:
// commas, double quotes, a header line, UTF-8, numbers and dates as SQL has them.
type Form struct {
	Delimiter byte // between fields; 0 is a comma
	Quote     byte // around fields; 0 is a double quote
	Unquoted  bool // quotes are characters like others

	Decimal   byte    // before the fraction of a number; 0 is a point
	Thousands string  // between groups of three digits; "" is none
	Date      Pattern // of dates; the zero Pattern is ISO 8601
	Timestamp Pattern

	Null     []string // unquoted fields that are NULL; nil is the empty one alone
	Encoding Encoding
	NoHeader bool // the first line is a record; the columns are c1, c2, ...

	// Multiline says that quoted fields may hold line ends, and that whoever writes
	// the file closes each quote. A record whose quote is left open then takes the
	// lines after it with it, up to the next quote: records no longer read alone, and
	// those who can write one line of the file as they like can change others'. Where a
	// quote is not closed within a record's limit and the file, or a record is longer
	// than that, its first line is skipped and reading goes on after it.
	Multiline bool
}

// An Encoding is how a file's characters are written.
type Encoding string

const (
	UTF8   Encoding = ""       // with or without a byte order mark
	Latin1 Encoding = "latin1" // with Windows' characters in 0x80 to 0x9f, where ISO 8859-1 has controls
	UTF16  Encoding = "utf16"  // by its byte order mark; little-endian without one
)

// unreadable begins the text of a field that cannot be read as declared. No cast reads it as a
// number or a time.
const unreadable = "?"

// Reads reports whether values of a type are written otherwise than SQL casts them.
func (f *Form) Reads(t sqltype.Type) bool {
	switch {
	case t.IsNumeric():
		return f.Thousands != "" || f.Decimal != 0 && f.Decimal != '.'
	case t.Kind == sqltype.DateKind:
		return !f.Date.IsZero()
	case t.Kind == sqltype.TimestampKind:
		return !f.Timestamp.IsZero()
	}
	return false
}

// Canonical appends to dst what a field of a type is in SQL's notation; what it cannot
// read becomes a text that no cast reads either. Of types that Reads is false for, and
// of texts that it reads, the field is appended as it is.
func (f *Form) Canonical(dst, field []byte, t sqltype.Type) []byte {
	if !f.Reads(t) {
		return append(dst, field...)
	}
	from := len(dst)
	trimmed, ok := bytes.TrimSpace(field), false
	switch {
	case t.IsNumeric():
		dst, ok = f.number(dst, trimmed)
	case t.Kind == sqltype.DateKind:
		dst, ok = f.Date.iso(dst, trimmed, false)
	default:
		dst, ok = f.Timestamp.iso(dst, trimmed, true)
	}
	if !ok {
		return append(append(dst[:from], unreadable...), field...)
	}
	return dst
}

// number reads [sign] digits [decimal digits] [e [sign] digits], the whole digits all
// together or in groups of three after a first of one to three.
func (f *Form) number(dst, s []byte) ([]byte, bool) {
	decimal := f.Decimal
	if decimal == 0 {
		decimal = '.'
	}
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		if s[0] == '-' {
			dst = append(dst, '-')
		}
		s = s[1:]
	}
	n := digits(s)
	dst, s = append(dst, s[:n]...), s[n:]
	whole := n
	if f.Thousands != "" && n >= 1 && n <= 3 {
		for bytes.HasPrefix(s, []byte(f.Thousands)) {
			group := s[len(f.Thousands):]
			if digits(group) != 3 {
				return dst, false
			}
			dst, s = append(dst, group[:3]...), group[3:]
		}
	}
	if len(s) > 0 && s[0] == decimal {
		fraction := digits(s[1:])
		if whole+fraction == 0 {
			return dst, false
		}
		dst, s = append(append(dst, '.'), s[1:1+fraction]...), s[1+fraction:]
	} else if whole == 0 {
		return dst, false
	}
	if len(s) > 0 && (s[0] == 'e' || s[0] == 'E') {
		rest := s[1:]
		if len(rest) > 0 && (rest[0] == '-' || rest[0] == '+') {
			rest = rest[1:]
		}
		if n := digits(rest); n == 0 || n < len(rest) {
			return dst, false
		}
		return append(dst, s...), true
	}
	return dst, len(s) == 0
}

// digits counts the digits that s begins with.
func digits(s []byte) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// IsNull reports whether an unquoted field is NULL.
func (f *Form) IsNull(field []byte) bool {
	if f.Null == nil {
		return len(field) == 0
	}
	return slices.ContainsFunc(f.Null, func(s string) bool { return string(field) == s })
}

// Marks returns the delimiter and the quote; a quote of 0 is none.
func (f *Form) Marks() (delimiter, quote byte) {
	delimiter, quote = f.Delimiter, f.Quote
	if delimiter == 0 {
		delimiter = ','
	}
	if quote == 0 {
		quote = '"'
	}
	if f.Unquoted {
		quote = 0
	}
	return delimiter, quote
}

// Equal reports whether two files of these forms are read alike.
func (f *Form) Equal(g *Form) bool {
	a, b := *f, *g
	a.Null, b.Null, a.Date, b.Date, a.Timestamp, b.Timestamp = nil, nil, Pattern{}, Pattern{}, Pattern{}, Pattern{}
	return a.key() == b.key() && (f.Null == nil) == (g.Null == nil) && slices.Equal(f.Null, g.Null) && f.Date.text == g.Date.text && f.Timestamp.text == g.Timestamp.text
}

func (f *Form) key() string {
	d, q := f.Marks()
	decimal := f.Decimal
	if decimal == 0 {
		decimal = '.'
	}
	flags := []byte{d, q, decimal, 0, 0}
	if f.NoHeader {
		flags[3] = 1
	}
	if f.Multiline {
		flags[4] = 1
	}
	return strings.Join([]string{string(flags), f.Thousands, string(f.Encoding)}, "\x00")
}
