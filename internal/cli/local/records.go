package local

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
)

// errRecord is of a line that is no record, or has no such column. It says nothing of what is in
// it.
var errRecord = errors.New("a line is not a record of this form")

// eachRecord calls f with the field of each record and the number of its line, and returns the
// line at which f, or reading, fails. Text that begins with { is JSON lines; other text is CSV,
// whose first record is a header if it holds the column's name.
func eachRecord(ctx context.Context, in io.Reader, column string, f func(value string) error) (line int, err error) {
	r := bufio.NewReaderSize(in, 1<<16)
	for {
		b, err := r.Peek(1)
		if err == io.EOF {
			return 0, nil
		} else if err != nil {
			return 1, err
		}
		if !bytes.ContainsAny(b, " \t\r\n") {
			break
		}
		r.ReadByte() //nolint:errcheck // peeked
	}
	if b, _ := r.Peek(1); b[0] == '{' {
		return eachLine(ctx, r, column, f)
	}
	return eachRow(ctx, r, column, f)
}

func eachLine(ctx context.Context, in io.Reader, column string, f func(string) error) (line int, err error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<24)
	for line = 1; lines.Scan(); line++ {
		if line%4096 == 0 && ctx.Err() != nil {
			return line, ctx.Err()
		}
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var record map[string]json.RawMessage
		if json.Unmarshal(lines.Bytes(), &record) != nil || record[column] == nil {
			return line, errRecord
		}
		text, err := plain(record[column])
		if err == nil {
			err = f(text)
		}
		if err != nil {
			return line, err
		}
	}
	return line, lines.Err()
}

// plain is a JSON value as text: a string's characters, an array's items with blanks between
// them.
func plain(raw json.RawMessage) (string, error) {
	var text string
	var items []json.RawMessage
	switch {
	case json.Unmarshal(raw, &text) == nil && raw[0] == '"':
		return text, nil
	case raw[0] == '[' && json.Unmarshal(raw, &items) == nil:
		parts := make([]string, len(items))
		for i, item := range items {
			if item[0] == '[' {
				return "", errRecord
			}
			var err error
			if parts[i], err = plain(item); err != nil {
				return "", err
			}
		}
		return strings.Join(parts, " "), nil
	case raw[0] == '{':
		return "", errRecord
	}
	return string(raw), nil
}

func eachRow(ctx context.Context, in io.Reader, column string, f func(string) error) (line int, err error) {
	r := csv.NewReader(in)
	r.ReuseRecord = true
	r.TrimLeadingSpace = true
	at := -1
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return line, ctx.Err()
		}
		record, err := r.Read()
		if err == io.EOF {
			return line, nil
		}
		line, _ = r.FieldPos(0)
		var syntax *csv.ParseError
		switch {
		case errors.As(err, &syntax):
			return syntax.Line, errRecord
		case err != nil:
			return line, err
		}
		if at < 0 {
			if at = slices.Index(record, column); at >= 0 {
				continue
			}
			if at = 0; len(record) != 1 {
				return line, errRecord
			}
		}
		if err := f(record[at]); err != nil {
			return line, err
		}
	}
}
