package pate

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Labels of public examples are written as CSV with the header "row,label": a row is
// the number of an example, from 0, and comes once. Rows that have no label were not
// answered, or not asked. So a label can never be taken for a row.
const labelsHeader = "row,label"

// A LabelsWriter writes labels as they are released.
type LabelsWriter struct {
	Classes []string // their names; nil: labels are written as numbers

	w     *csv.Writer
	begun bool
}

// NewLabelsWriter returns a writer.
func NewLabelsWriter(w io.Writer) *LabelsWriter { return &LabelsWriter{w: csv.NewWriter(w)} }

// Write writes the label of a row, nothing for NoLabel, and the header before the
// first.
func (l *LabelsWriter) Write(row int, label int32) error {
	if !l.begun {
		l.begun = true
		l.w.Write(strings.Split(labelsHeader, ",")) //nolint:errcheck // see Error
	}
	if label != NoLabel {
		name := strconv.Itoa(int(label))
		if l.Classes != nil {
			name = l.Classes[label]
		}
		l.w.Write([]string{strconv.Itoa(row), name}) //nolint:errcheck // see Error
	}
	l.w.Flush()
	if err := l.w.Error(); err != nil {
		return fmt.Errorf("write labels: %w", err)
	}
	return nil
}

// A LabelsError says what is wrong with a file of labels, and where.
type LabelsError struct {
	Line int // from 1
	Why  string
}

func (e *LabelsError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Why) }

// ReadLabels reads labels of so many examples: NoLabel where there is none. With names
// of classes a label is one of them, else a number. What is wrong with the text is a
// *LabelsError.
func ReadLabels(r io.Reader, n int, classes ...string) ([]int32, error) {
	labels := make([]int32, n)
	for i := range labels {
		labels[i] = NoLabel
	}
	err := eachLabel(r, n, func(row int, text string) string {
		label, err := strconv.ParseInt(text, 10, 32)
		if classes != nil {
			label = int64(slices.Index(classes, text))
		} else if err != nil {
			label = -1
		}
		switch {
		case label < 0 && classes != nil:
			return fmt.Sprintf("%q is none of the %d classes", text, len(classes))
		case label < 0:
			return "want a row and a label, as 17,3"
		}
		labels[row] = int32(label)
		return ""
	})
	if err != nil {
		return nil, err
	}
	return labels, nil
}

// ReadAnswered reads which of so many examples have a label, whatever it is.
func ReadAnswered(r io.Reader, n int) ([]bool, error) {
	answered := make([]bool, n)
	err := eachLabel(r, n, func(row int, _ string) string {
		answered[row] = true
		return ""
	})
	if err != nil {
		return nil, err
	}
	return answered, nil
}

// eachLabel calls f with each label, which says what is wrong with it, or nothing.
func eachLabel(r io.Reader, n int, f func(row int, label string) string) error {
	c := csv.NewReader(r)
	c.FieldsPerRecord = -1
	seen := make([]bool, n)
	for first := true; ; first = false {
		record, err := c.Read()
		var syntax *csv.ParseError
		switch {
		case err == io.EOF && first:
			return &LabelsError{1, "there are no labels: want the header " + labelsHeader}
		case err == io.EOF:
			return nil
		case errors.As(err, &syntax):
			return &LabelsError{syntax.Line, "not CSV"}
		case err != nil:
			return fmt.Errorf("read labels: %w", err)
		}
		line, _ := c.FieldPos(0)
		bad := func(format string, args ...any) error { return &LabelsError{line, fmt.Sprintf(format, args...)} }
		if first {
			if strings.TrimPrefix(strings.Join(record, ","), "\ufeff") != labelsHeader {
				return bad("want the header %s: without it nobody knows which is which", labelsHeader)
			}
			continue
		}
		row, err := strconv.Atoi(record[0])
		switch {
		case err != nil || len(record) != 2 || row < 0:
			return bad("want a row and a label, as 17,3")
		case row >= n:
			return bad("there is no row %d of %d", row, n)
		case seen[row]:
			return bad("row %d has a label already", row)
		}
		seen[row] = true
		if why := f(row, record[1]); why != "" {
			return bad("%s", why)
		}
	}
}
