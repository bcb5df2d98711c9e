package records

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/notation"
	"github.com/discreet-dp/discreet/sqltype"
)

// ErrNoHeader is returned for a CSV file without a first record that names its
// columns.
var ErrNoHeader = errors.New("it has no first record that names the columns")

// A CSV reads delimited values in a declared form, by default as RFC 4180 has them:
// commas, double quotes, doubled quotes within quotes, lines ended by LF or CRLF; the
// first record names the columns. Beyond the RFC:
//
//   - an empty field is NULL (or what the form declares to be), a quoted empty one is
//     empty text;
//   - an empty line is no record; a byte order mark is dropped;
//   - fields that are missing are NULL, fields too many are ignored;
//   - a field that is not UTF-8, has a quote within unquoted text or text after
//     its closing quote is NULL;
//   - a record ends with its line: a quote that is not closed by then makes its
//     field and those after it NULL;
//   - a line that is longer than MaxRecord is skipped.
type CSV struct {
	*window
	form      notation.Form
	delimiter byte
	quote     byte   // 0 is none
	ends      string // of a field
	header    []string
	want      int            // fields of a record; 0 where nothing says how many
	types     []sqltype.Type // of the fields whose notation is not SQL's; see Typed
	again     []int          // the fields that stand behind a record's own; see Typed
	text      []byte
	fields    [][]byte
	scratch   []byte
	skipped   int64
	open      int64 // records that left a quote open
}

// OpenCSV opens a file, decompresses it if it is named .gz or .zst, and reads its header.
func OpenCSV(ctx context.Context, path string, o notation.Form) (*CSV, error) {
	w, err := open(ctx, path, o.Encoding)
	if err != nil {
		return nil, err
	}
	return newCSV(w, o)
}

func newCSV(w *window, o notation.Form) (*CSV, error) {
	r := &CSV{window: w, form: o}
	r.delimiter, r.quote = o.Marks()
	if r.ends = string([]byte{r.delimiter, '\n'}); o.NoHeader {
		return r, nil
	}
	first, err := r.record()
	if err != nil || r.skipped > 0 || first.Malformed {
		w.Close()
		if w.err != nil {
			return nil, w.err
		}
		return nil, ErrNoHeader
	}
	for _, name := range first.Fields {
		r.header = append(r.header, string(name))
	}
	r.want = len(r.header)
	return r, nil
}

// Header returns the columns' names as the file has them; nil of a file without them.
func (r *CSV) Header() []string { return r.header }

var mark = []byte("\ufeff")

// maxColumns bounds the columns of a file that does not name them.
const maxColumns = 10_000

// Find returns the places of columns, −1 of those that the file has not. Names that
// differ in case alone are one, and the first counts. The columns of a file without a
// header are c1, c2, ..., as many as are asked for: how many fields its records have
// decides nothing.
func (r *CSV) Find(names []string, fold func(string) string) []int {
	at := make([]int, len(names))
	for i, name := range names {
		if !r.form.NoHeader {
			at[i] = slices.IndexFunc(r.header, func(h string) bool { return fold(h) == fold(name) })
			continue
		}
		n, err := strconv.Atoi(strings.TrimPrefix(fold(name), "c"))
		if at[i] = n - 1; err != nil || n < 1 || n > maxColumns || fold(name) != "c"+strconv.Itoa(n) {
			at[i] = -1
		}
		r.want = max(r.want, at[i]+1)
	}
	return at
}

// Typed says which types the fields of columns have, so that Next returns their values
// in SQL's notation: see notation.Form. It returns the columns' places among the fields:
// of one that is read in several notations, a copy for each stands behind the record's own.
func (r *CSV) Typed(at []int, types []sqltype.Type) []int {
	r.types, r.again = make([]sqltype.Type, r.want), nil
	taken := make([]bool, r.want)
	places := slices.Clone(at)
	for i, n := range at {
		if n < 0 {
			continue
		}
		var t sqltype.Type // as it is written
		if r.form.Reads(types[i]) {
			t = types[i]
		}
		switch {
		case !taken[n]:
			r.types[n], taken[n] = t, true
		case r.types[n] != t:
			places[i] = r.want + len(r.again)
			r.types, r.again = append(r.types, t), append(r.again, n)
		}
	}
	return places
}

// Skipped counts the malformed records that were skipped.
func (r *CSV) Skipped() int64 { return r.skipped }

// OpenQuotes counts the records that left a quote open.
func (r *CSV) OpenQuotes() int64 { return r.open }

// Next returns the next record, with one field for each column of the header, and what
// Typed adds.
func (r *CSV) Next() (Record, error) {
	rec, err := r.record()
	if err != nil {
		return rec, err
	}
	rec.Malformed = rec.Malformed || len(rec.Fields) < r.want || len(rec.Fields) > r.want && !r.form.NoHeader
	for len(r.fields) < r.want {
		r.fields = append(r.fields, nil)
	}
	rec.Fields = r.fields[:r.want]
	for _, n := range r.again {
		rec.Fields = append(rec.Fields, rec.Fields[n])
	}
	r.fields = rec.Fields
	r.text = r.text[:0]
	for i, t := range r.types {
		if t.Kind != sqltype.Null && rec.Fields[i] != nil {
			from := len(r.text)
			r.text = r.form.Canonical(r.text, rec.Fields[i], t)
			rec.Fields[i] = r.text[from:len(r.text):len(r.text)]
		}
	}
	return rec, nil
}

// Record returns the next record with as many fields as it has.
func (r *CSV) Record() (Record, error) { return r.record() }

func (r *CSV) record() (Record, error) {
	for {
		// Where the first line is a record, it reads as it would elsewhere: a byte order
		// mark is dropped before each line.
		for r.form.NoHeader && bytes.HasPrefix(r.atLeast(len(mark)), mark) {
			r.start += len(mark)
		}
		line, length := r.line()
		switch {
		case length < 0:
			r.skipLine()
			r.skipped++
		case length == 0:
			return Record{}, r.ended()
		case r.quote != 0 && bytes.IndexByte(line, r.quote) >= 0 && !r.form.Multiline:
			whole := r.unread()[:length]
			if length == len(line) { // the file ends without a line end
				whole = append(whole[:length:length], '\n')
			}
			rec, _ := r.scan(whole)
			r.start += length
			return rec, nil
		case r.quote != 0 && bytes.IndexByte(line, r.quote) >= 0:
			if rec, ok := r.quoted(); ok {
				return rec, nil
			}
			r.skipLine()
			r.skipped++
			r.open++
		default:
			r.start += length
			if line = bytes.TrimSuffix(line, []byte("\r")); len(line) > 0 {
				return r.unquoted(line), nil
			}
		}
	}
}

// unquoted splits a line without quotes.
func (r *CSV) unquoted(line []byte) (rec Record) {
	bad := !utf8.Valid(line)
	r.fields = r.fields[:0]
	for {
		field, rest, more := line, []byte(nil), false
		if i := bytes.IndexByte(line, r.delimiter); i >= 0 {
			field, rest, more = line[:i], line[i+1:], true
		}
		if r.form.IsNull(field) {
			field = nil
		} else if len(field) == 0 {
			field = []byte{}
		} else if bad && !utf8.Valid(field) {
			field, rec.Malformed = nil, true
		}
		r.fields = append(r.fields, field)
		if line = rest; !more {
			rec.Fields = r.fields
			return rec
		}
	}
}

// quoted reads a record that may go on over several lines. It is false if the
// record does not end within the window's limit.
func (r *CSV) quoted() (Record, bool) {
	for {
		rec, length := r.scan(r.unread())
		if length >= 0 {
			r.start += length
			return rec, true
		}
		if !r.more() {
			if !r.eof {
				return Record{}, false
			}
			if rec, length = r.scan(append(r.unread(), '\n')); length < 0 {
				return Record{}, false
			}
			r.start = min(r.start+length, r.end)
			return rec, true
		}
	}
}

// scan reads one record from b, which is a line unless records may go on over several,
// and returns its length, or -1 if b ends first.
func (r *CSV) scan(b []byte) (rec Record, length int) {
	r.fields, r.scratch = r.fields[:0], r.scratch[:0]
	for p := 0; ; {
		var field []byte
		good := true
		if p < len(b) && b[p] == r.quote {
			from := len(r.scratch)
			for p++; ; p++ {
				i := bytes.IndexByte(b[p:], r.quote)
				if i < 0 && !r.form.Multiline {
					r.fields, r.open = append(r.fields, nil), r.open+1
					return Record{Fields: r.fields, Malformed: true}, len(b)
				}
				if i < 0 || p+i+1 == len(b) {
					return Record{}, -1
				}
				r.scratch = append(r.scratch, b[p:p+i]...)
				if p += i + 1; b[p] != r.quote {
					break
				}
				r.scratch = append(r.scratch, r.quote)
			}
			field = r.scratch[from:len(r.scratch):len(r.scratch)]
			if field == nil {
				field = []byte{}
			}
			good = b[p] == r.delimiter || b[p] == '\n' || bytes.HasPrefix(b[p:], []byte("\r\n"))
		}
		i := bytes.IndexAny(b[p:], r.ends)
		if i < 0 {
			return Record{}, -1
		}
		rest, end := b[p:p+i], b[p+i] == '\n'
		if end {
			rest = bytes.TrimSuffix(rest, []byte("\r"))
		}
		p += i + 1
		if field == nil && !r.form.IsNull(rest) {
			field, good = rest[:len(rest):len(rest)], bytes.IndexByte(rest, r.quote) < 0
		}
		if !good || !utf8.Valid(field) {
			field, rec.Malformed = nil, true
		}
		r.fields = append(r.fields, field)
		if end {
			rec.Fields = r.fields
			return rec, p
		}
	}
}
