package example

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/discreet-dp/discreet/internal/records"
	"github.com/discreet-dp/discreet/notation"
	"github.com/discreet-dp/discreet/sqltype"
)

// ErrColumn is returned for a file that lacks a column.
var ErrColumn = errors.New("the file has no such column")

// CSV reads a CSV file whose first record names its columns, among them those of the
// encoding. unit names the column whose text is the unit's key; if it is empty, each record
// is a unit, and PerUnit is ignored. Records without a unit are no examples.
//
// No record is an error (package records has the rule): a field that is missing or not a
// value of its column is NULL. Errors are about the file and its header alone.
func CSV(ctx context.Context, path string, e *Encoding, unit string, s Selection) (set *Set, err error) {
	b, err := NewBuilder(e, s, unit == "")
	if err != nil {
		return nil, err
	}
	t, err := openTable(ctx, path, b.reader, unit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	values := make([]sqltype.Value, len(t.coders))
	for {
		record, err := t.Next()
		if err == io.EOF {
			return b.Set(), nil
		}
		if err != nil {
			return nil, fmt.Errorf("read examples: %w", err)
		}
		for i := range t.coders {
			values[i] = t.coders[i].parse(record.Fields[t.at[i]])
		}
		name := ""
		if unit != "" {
			field := record.Fields[t.unit]
			if field == nil {
				continue
			}
			name = string(field)
		}
		b.Add(name, values)
	}
}

// CheckCSV returns the error that [CSV] has of the file's header: of records it reads
// none, so what it says can be known before anything is paid.
func CheckCSV(ctx context.Context, path string, e *Encoding, unit string) error {
	r, err := e.reader()
	if err != nil {
		return err
	}
	t, err := openTable(ctx, path, r, unit)
	if err != nil {
		return err
	}
	return t.Close()
}

// A table is a CSV file whose columns were found.
type table struct {
	*records.CSV
	coders []coder
	at     []int // the place of each coder's column
	unit   int   // that of the unit's, if it has one
}

func openTable(ctx context.Context, path string, r *reader, unit string) (*table, error) {
	csv, err := records.OpenCSV(ctx, path, notation.Form{})
	if err != nil {
		return nil, fmt.Errorf("read examples: %w", err)
	}
	t := &table{CSV: csv, coders: slices.Clip(r.columns)}
	if r.target != nil {
		t.coders = append(t.coders, *r.target)
	}
	if err := t.find(unit); err != nil {
		return nil, errors.Join(err, csv.Close())
	}
	return t, nil
}

// find finds the columns in the header.
func (t *table) find(unit string) error {
	place := func(name string) (int, error) {
		if i := slices.Index(t.Header(), name); i >= 0 {
			return i, nil
		}
		return 0, fmt.Errorf("read examples: %w: %q", ErrColumn, name)
	}
	for _, c := range t.coders {
		i, err := place(c.Name)
		if err != nil {
			return err
		}
		t.at = append(t.at, i)
	}
	if unit == "" {
		return nil
	}
	var err error
	t.unit, err = place(unit)
	return err
}
