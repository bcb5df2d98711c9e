package records

import (
	"bytes"
	"context"
	"encoding/json"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/notation"
)

// A JSONLines reads one JSON object a line. A column is the object's member of
// that very name, the last one if it stands twice: text as it is, numbers and
// booleans as they are written, objects and arrays as JSON, null and what is
// absent as NULL. A line that is not a JSON object in UTF-8, or longer than
// MaxRecord, is skipped; a blank line is no record.
type JSONLines struct {
	*window
	columns []string
	fields  [][]byte
	seen    []bool
	skipped int64
}

// OpenJSONLines opens a file, and gunzips it if it is named .gz.
func OpenJSONLines(ctx context.Context, path string, columns []string) (*JSONLines, error) {
	w, err := open(ctx, path, notation.UTF8)
	if err != nil {
		return nil, err
	}
	return &JSONLines{window: w, columns: columns, fields: make([][]byte, len(columns)), seen: make([]bool, len(columns))}, nil
}

// Skipped counts the malformed lines that were skipped.
func (r *JSONLines) Skipped() int64 { return r.skipped }

// Seen reports whether an object read so far has a member for the i-th column,
// null or not.
func (r *JSONLines) Seen(i int) bool { return r.seen[i] }

// Next returns the next record.
func (r *JSONLines) Next() (Record, error) {
	for {
		line, length := r.line()
		switch {
		case length < 0:
			r.skipLine()
			r.skipped++
			continue
		case length == 0:
			return Record{}, r.ended()
		}
		r.start += length
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var object map[string]json.RawMessage
		if !utf8.Valid(line) || json.Unmarshal(line, &object) != nil || object == nil {
			r.skipped++
			continue
		}
		for i, name := range r.columns {
			raw, ok := object[name]
			r.fields[i], r.seen[i] = text(raw), r.seen[i] || ok
		}
		return Record{Fields: r.fields}, nil
	}
}

// text returns a member's value; nil if it is null or absent.
func text(raw json.RawMessage) []byte {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil
	case raw[0] == '"':
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return nil
		}
		return []byte(s)
	}
	return raw
}
