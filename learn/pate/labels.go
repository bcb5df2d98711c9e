package pate

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Labels of public examples are written as CSV with the header "row,label": a row is
// the number of an example, from 0, and comes once. Rows that have no label were not
// answered, or not asked. So a label can never be taken for a row.
const labelsHeader = "row,label"

// A LabelsWriter writes labels as they are released.
type LabelsWriter struct {
	w     io.Writer
	begun bool
}

// NewLabelsWriter returns a writer.
func NewLabelsWriter(w io.Writer) *LabelsWriter { return &LabelsWriter{w: w} }

// Write writes the label of a row, nothing for NoLabel, and the header before the
// first.
func (l *LabelsWriter) Write(row int, label int32) error {
	text := ""
	if !l.begun {
		text, l.begun = labelsHeader+"\n", true
	}
	if label != NoLabel {
		text += fmt.Sprintf("%d,%d\n", row, label)
	}
	if _, err := io.WriteString(l.w, text); err != nil {
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

// ReadLabels reads labels of so many examples: NoLabel where there is none. What is
// wrong with the text is a *LabelsError.
func ReadLabels(r io.Reader, n int) ([]int32, error) {
	labels := make([]int32, n)
	for i := range labels {
		labels[i] = NoLabel
	}
	s := bufio.NewScanner(r)
	line := 0
	bad := func(format string, args ...any) ([]int32, error) {
		return nil, &LabelsError{max(line, 1), fmt.Sprintf(format, args...)}
	}
	for s.Scan() {
		line++
		text := strings.TrimSpace(s.Text())
		if line == 1 {
			if strings.TrimPrefix(text, "\ufeff") != labelsHeader {
				return bad("want the header %s: without it nobody knows which is which", labelsHeader)
			}
			continue
		}
		first, second, ok := strings.Cut(text, ",")
		row, err := strconv.Atoi(first)
		label, err2 := strconv.ParseInt(second, 10, 32)
		switch {
		case !ok || err != nil || err2 != nil || row < 0 || label < 0:
			return bad("want a row and a label, as 17,3")
		case row >= n:
			return bad("there is no row %d of %d", row, n)
		case labels[row] != NoLabel:
			return bad("row %d has a label already", row)
		}
		labels[row] = int32(label)
	}
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		return bad("a line too long for a row and a label")
	}
	if s.Err() != nil {
		return nil, fmt.Errorf("read labels: %w", s.Err())
	}
	if line == 0 {
		return bad("there are no labels: want the header %s", labelsHeader)
	}
	return labels, nil
}
