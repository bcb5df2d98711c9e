package records

import (
	"bytes"
	"context"
	"errors"
	"unicode/utf8"
)

// ErrNoHeader is returned for a CSV file without a first record that names its
// columns.
var ErrNoHeader = errors.New("it has no first record that names the columns")

// A CSV reads comma-separated values as RFC 4180 has them: commas, double
// quotes, doubled quotes within quotes, lines ended by LF or CRLF; the first
// record names the columns. Beyond the RFC:
//
//   - an empty field is NULL, a quoted empty one is empty text;
//   - an empty line is no record; a byte order mark is dropped;
//   - fields that are missing are NULL, fields too many are ignored;
//   - a field that is not UTF-8, has a quote within unquoted text or text after
//     its closing quote is NULL;
//   - a record ends with its line: a quote that is not closed by then makes its
//     field and those after it NULL;
//   - a line that is longer than MaxRecord is skipped.
type CSV struct {
	*window
	options CSVOptions
	header  []string
	fields  [][]byte
	scratch []byte
	skipped int64
	open    int64 // records that left a quote open
}

// CSVOptions are what is declared of how a file is written.
type CSVOptions struct {
	// Multiline says that quoted fields may hold line ends, and that whoever writes
	// the file closes each quote. A record whose quote is left open then takes the
	// lines after it with it, up to the next quote: records no longer read alone, and
	// those who can write one line of the file as they like can change others'. Where a
	// quote is not closed within MaxRecord bytes and the file, or a record is longer than
	// that, its first line is skipped and reading goes on after it.
	Multiline bool
}

// OpenCSV opens a file, gunzips it if it is named .gz, and reads its header.
func OpenCSV(ctx context.Context, path string, o CSVOptions) (*CSV, error) {
	w, err := open(ctx, path)
	if err != nil {
		return nil, err
	}
	return newCSV(w, o)
}

func newCSV(w *window, o CSVOptions) (*CSV, error) {
	r := &CSV{window: w, options: o}
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
	return r, nil
}

// Header returns the columns' names as the file has them.
func (r *CSV) Header() []string { return r.header }

// Skipped counts the malformed records that were skipped.
func (r *CSV) Skipped() int64 { return r.skipped }

// OpenQuotes counts the records that left a quote open.
func (r *CSV) OpenQuotes() int64 { return r.open }

// Next returns the next record, with one field for each column of the header.
func (r *CSV) Next() (Record, error) {
	rec, err := r.record()
	if err != nil {
		return rec, err
	}
	want := len(r.header)
	rec.Malformed = rec.Malformed || len(rec.Fields) != want
	for len(r.fields) < want {
		r.fields = append(r.fields, nil)
	}
	rec.Fields = r.fields[:want]
	return rec, nil
}

func (r *CSV) record() (Record, error) {
	for {
		line, length := r.line()
		switch {
		case length < 0:
			r.skipLine()
			r.skipped++
		case length == 0:
			return Record{}, r.ended()
		case bytes.IndexByte(line, '"') >= 0 && !r.options.Multiline:
			whole := r.unread()[:length]
			if length == len(line) { // the file ends without a line end
				whole = append(whole[:length:length], '\n')
			}
			rec, _ := r.scan(whole)
			r.start += length
			return rec, nil
		case bytes.IndexByte(line, '"') >= 0:
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
		if i := bytes.IndexByte(line, ','); i >= 0 {
			field, rest, more = line[:i], line[i+1:], true
		}
		if len(field) == 0 {
			field = nil
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
		if p < len(b) && b[p] == '"' {
			from := len(r.scratch)
			for p++; ; p++ {
				i := bytes.IndexByte(b[p:], '"')
				if i < 0 && !r.options.Multiline {
					r.fields, r.open = append(r.fields, nil), r.open+1
					return Record{Fields: r.fields, Malformed: true}, len(b)
				}
				if i < 0 || p+i+1 == len(b) {
					return Record{}, -1
				}
				r.scratch = append(r.scratch, b[p:p+i]...)
				if p += i + 1; b[p] != '"' {
					break
				}
				r.scratch = append(r.scratch, '"')
			}
			field = r.scratch[from:len(r.scratch):len(r.scratch)]
			if field == nil {
				field = []byte{}
			}
			good = b[p] == ',' || b[p] == '\n' || bytes.HasPrefix(b[p:], []byte("\r\n"))
		}
		i := bytes.IndexAny(b[p:], ",\n")
		if i < 0 {
			return Record{}, -1
		}
		rest, end := b[p:p+i], b[p+i] == '\n'
		if end {
			rest = bytes.TrimSuffix(rest, []byte("\r"))
		}
		p += i + 1
		if field == nil && len(rest) > 0 {
			field, good = rest, bytes.IndexByte(rest, '"') < 0
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
