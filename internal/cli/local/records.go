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

// between stands between the fields of several columns.
const between = "\x00"

// eachRecord calls f with the fields of each record, and returns the line at which f, or reading,
// fails. Text that begins with { is JSON lines; other text is CSV, whose first record is a header
// if it holds the columns' names: of several columns it must.
func eachRecord(ctx context.Context, in io.Reader, columns []string, f func(value string) error) (line int, err error) {
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
		return eachLine(ctx, r, columns, f)
	}
	return eachRow(ctx, r, columns, f)
}

func eachLine(ctx context.Context, in io.Reader, columns []string, f func(string) error) (line int, err error) {
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
		if json.Unmarshal(lines.Bytes(), &record) != nil {
			return line, errRecord
		}
		fields := make([]string, len(columns))
		for i, column := range columns {
			if record[column] == nil {
				return line, errRecord
			}
			if fields[i], err = plain(record[column]); err != nil {
				return line, err
			}
		}
		if err := f(strings.Join(fields, between)); err != nil {
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

func eachRow(ctx context.Context, in io.Reader, columns []string, f func(string) error) (line int, err error) {
	r := csv.NewReader(in)
	r.ReuseRecord = true
	r.TrimLeadingSpace = true
	var at []int
	fields := make([]string, len(columns))
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
		if at == nil {
			header := true
			for _, column := range columns {
				i := slices.Index(record, column)
				at, header = append(at, i), header && i >= 0
			}
			if header {
				continue
			}
			if len(columns) > 1 || len(record) != 1 { // which field is which attribute is said, never guessed
				return line, errRecord
			}
			for i := range at {
				at[i] = i
			}
		}
		for i, from := range at {
			fields[i] = record[from]
		}
		if err := f(strings.Join(fields, between)); err != nil {
			return line, err
		}
	}
}
