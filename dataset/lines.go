package dataset

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A LineDecoder makes a record of a line, which has no end of line and is not kept.
// Like every function over private records it is pure; an error or a panic means that
// the line is malformed.
type LineDecoder[T any] func(line []byte) (T, error)

// LineOptions say how the lines of a file become records.
type LineOptions[T any] struct {
	// Skip is the number of lines before the first record: a header.
	Skip int
	// Malformed is the record that a malformed line counts as; if nil, it is left out.
	Malformed *T
	// MaxLength is that of a line in bytes; a longer one is malformed. Default 1 MiB.
	MaxLength int
}

// ReadLines reads the records of a file, one a line, for New or NewOfUnits. Nothing in
// a line makes it fail, and no line has an influence on what becomes of another: so a
// record that is one line is one change, whatever stands in it. It fails only where
// reading does.
func ReadLines[T any](r io.Reader, decode LineDecoder[T], o LineOptions[T]) ([]T, error) {
	if o.MaxLength == 0 {
		o.MaxLength = 1 << 20
	}
	if r == nil || decode == nil || o.Skip < 0 || o.MaxLength < 0 {
		return nil, refuse("reader or decoder is missing, or a count is negative")
	}
	var records []T
	var lines [][]byte // nil for a malformed line
	flush := func() {
		malformed := func(int) {
			if o.Malformed != nil {
				records = append(records, *o.Malformed)
			}
		}
		each(len(lines), func(i int) {
			if lines[i] != nil {
				if record, err := decode(lines[i]); err == nil {
					records = append(records, record)
					return
				}
			}
			malformed(i)
		}, malformed)
		lines = lines[:0]
	}
	in := bufio.NewReaderSize(r, 64<<10)
	for n := 0; ; n++ {
		line, err := readLine(in, o.MaxLength)
		if errors.Is(err, io.EOF) {
			flush()
			return records, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read records: %w", err)
		}
		if n >= o.Skip {
			lines = append(lines, line)
		}
		if len(lines) == linesAtOnce {
			flush()
		}
	}
}

// linesAtOnce saves most of what it costs to guard against decoders.
const linesAtOnce = 256

// readLine returns a line without its end, or nil if it does not fit. After the last
// line it returns io.EOF.
func readLine(in *bufio.Reader, limit int) ([]byte, error) {
	line := []byte{}
	for whole, begun := true, false; ; begun = true {
		piece, err := in.ReadSlice('\n')
		if whole = whole && len(line)+len(piece) <= limit+len("\r\n"); whole {
			line = append(line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(piece) == 0 && !begun:
			return nil, io.EOF
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if !whole || len(line) > limit {
			return nil, nil
		}
		return line, nil
	}
}

// CSV decodes a line of so many fields, of any number if that is 0, that are separated
// by comma. A field may be in quotes but not hold an end of line: an odd quote would else take the lines that
// follow, which are other records.
func CSV[T any](comma rune, fields int, decode func(fields []string) (T, error)) LineDecoder[T] {
	return func(line []byte) (record T, err error) {
		r := csv.NewReader(bytes.NewReader(line))
		r.Comma, r.FieldsPerRecord = comma, fields
		found, err := r.Read()
		if err != nil {
			return record, err
		}
		return decode(found)
	}
}

// JSON decodes a line as encoding/json does.
func JSON[T any]() LineDecoder[T] {
	return func(line []byte) (record T, err error) {
		err = json.Unmarshal(line, &record)
		return record, err
	}
}
