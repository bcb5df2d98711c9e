package example

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/discreet-dp/discreet/internal/records"
	"github.com/discreet-dp/discreet/sqltype"
)

// ErrColumn is returned for a file that lacks a column.
var ErrColumn = errors.New("the file has no such column")

// CSV reads a CSV file whose first record names its columns, among them those of the
// encoding. unit names the column whose text is the unit's key; if it is empty each
// record is a unit, and PerUnit means nothing. Records without a unit are no
// examples.
//
// A record is never an error (package records has the rule): a field that is missing
// or no value of its column is NULL. Errors are of the file and its header alone.
func CSV(path string, e *Encoding, unit string, s Selection) (set *Set, err error) {
	b, err := NewBuilder(e, s, unit == "")
	if err != nil {
		return nil, err
	}
	coders := slices.Clip(b.reader.columns)
	if b.reader.target != nil {
		coders = append(coders, *b.reader.target)
	}
	r, err := records.OpenCSV(path)
	if err != nil {
		return nil, fmt.Errorf("read examples: %w", err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	place := func(name string) (int, error) {
		if i := slices.Index(r.Header(), name); i >= 0 {
			return i, nil
		}
		return 0, fmt.Errorf("read examples: %w: %q", ErrColumn, name)
	}
	at, whose := make([]int, len(coders)), 0
	for i := range coders {
		if at[i], err = place(coders[i].Name); err != nil {
			return nil, err
		}
	}
	if unit != "" {
		if whose, err = place(unit); err != nil {
			return nil, err
		}
	}
	values := make([]sqltype.Value, len(coders))
	for {
		record, err := r.Next()
		if err == io.EOF {
			return b.Set(), nil
		}
		if err != nil {
			return nil, fmt.Errorf("read examples: %w", err)
		}
		for i := range coders {
			values[i] = coders[i].parse(record.Fields[at[i]])
		}
		name := ""
		if unit != "" {
			field := record.Fields[whose]
			if field == nil {
				continue
			}
			name = string(field)
		}
		b.Add(name, values)
	}
}
