// Package example holds sets of examples, and reads them: from IDX and CSV files,
// and from rows of a catalog's tables.
//
// It guarantees that an example is a function of its own record and of what was
// declared (domains, bounds, classes); that sets of neighbouring data differ by the
// examples of one unit and by nothing else, because nothing is fitted to the data; and
// that a unit keeps at most the declared number of its examples, chosen by a keyed
// hash of their values. No record causes an error, and no error quotes one.
//
// It does not guarantee privacy: a Set is private data in the clear, though it prints as a
// redaction. Whoever trains on it pays.
package example

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
)

// A Set is n examples.
type Set struct {
	Width    int       // features an example
	Features []float32 // n×Width, row by row; a token is its number
	Classes  int       // 0: regression
	Outputs  int       // labels, or targets, an example; 1 but for sequences
	Labels   []int32   // n×Outputs where Classes > 0; see Label
	Targets  []float32 // n×Outputs where Classes is 0; not finite: it is missing
	Units    []int32   // the privacy unit of each example, dense from 0; nil: each example is its own
	Names    []string  // the name of each unit, by its number; nil: they have none
}

// Len returns n.
func (s *Set) Len() int {
	if s.Width <= 0 {
		return 0
	}
	return len(s.Features) / s.Width
}

// Label returns number at of Labels, or -1 where it is none of the classes: below 0, or
// Classes or more. Such a label is missing, to every learner; it is no error, which would
// be one that depends on the data.
func (s *Set) Label(at int) int32 {
	if l := s.Labels[at]; l >= 0 && int(l) < s.Classes {
		return l
	}
	return -1
}

// Labelled reports whether an example has a label, or a finite target, in any output.
func (s *Set) Labelled(row int) bool {
	for at := row * s.Outputs; at < (row+1)*s.Outputs; at++ {
		if s.Classes > 0 && s.Label(at) >= 0 {
			return true
		}
		if s.Classes == 0 && s.Targets[at]-s.Targets[at] == 0 {
			return true
		}
	}
	return false
}

// UnitCount returns how many units the examples are of.
func (s *Set) UnitCount() int {
	if s.Units == nil {
		return s.Len()
	}
	n := int32(0)
	for _, u := range s.Units {
		n = max(n, u+1)
	}
	return int(n)
}

// ErrSet is returned for a set whose parts do not fit together.
var ErrSet = errors.New("the set of examples does not fit together")

// Validate refuses a set whose parts do not fit together. What it says is of shapes, never
// of values: features and targets that are not finite and labels that are none of the
// classes are no errors, since those would depend on the data.
func (s *Set) Validate() error {
	n := s.Len()
	switch {
	case s.Width < 1 || s.Outputs < 1 || s.Classes < 0:
		return fmt.Errorf("%w: width %d, outputs %d, classes %d", ErrSet, s.Width, s.Outputs, s.Classes)
	case len(s.Features) != n*s.Width:
		return fmt.Errorf("%w: the features are no whole number of examples", ErrSet)
	case s.Classes > 0 && (len(s.Labels) != n*s.Outputs || s.Targets != nil):
		return fmt.Errorf("%w: not %d labels an example, or targets beside them", ErrSet, s.Outputs)
	case s.Classes == 0 && (len(s.Targets) != n*s.Outputs || s.Labels != nil):
		return fmt.Errorf("%w: not %d targets an example, or labels beside them", ErrSet, s.Outputs)
	case s.Units != nil && len(s.Units) != n:
		return fmt.Errorf("%w: not one unit an example", ErrSet)
	case s.Names != nil && (s.Units == nil || len(s.Names) != s.UnitCount()):
		return fmt.Errorf("%w: not one name a unit", ErrSet)
	}
	return s.dense()
}

// dense refuses units that are not numbered from 0 without a gap: a gap would be a
// unit without examples, whose number somebody could count.
func (s *Set) dense() error {
	seen := make([]bool, len(s.Units))
	most := int32(-1)
	for _, u := range s.Units {
		if u < 0 || int(u) >= len(s.Units) {
			return fmt.Errorf("%w: units are not dense from 0", ErrSet)
		}
		seen[u], most = true, max(most, u)
	}
	for u := range most {
		if !seen[u] {
			return fmt.Errorf("%w: units are not dense from 0", ErrSet)
		}
	}
	return nil
}

// Pick returns the examples of the given rows, in this order, with their units
// numbered anew and named as before.
func (s *Set) Pick(rows []int) *Set {
	out := &Set{Width: s.Width, Classes: s.Classes, Outputs: s.Outputs, Features: make([]float32, 0, len(rows)*s.Width)}
	for _, r := range rows {
		out.Features = append(out.Features, s.Features[r*s.Width:(r+1)*s.Width]...)
		if s.Classes > 0 {
			out.Labels = append(out.Labels, s.Labels[r*s.Outputs:(r+1)*s.Outputs]...)
		} else {
			out.Targets = append(out.Targets, s.Targets[r*s.Outputs:(r+1)*s.Outputs]...)
		}
	}
	if s.Units != nil {
		number := map[int32]int32{}
		out.Units = make([]int32, len(rows))
		for i, r := range rows {
			u, ok := number[s.Units[r]]
			if !ok {
				u = int32(len(number))
				number[s.Units[r]] = u
				if s.Names != nil {
					out.Names = append(out.Names, s.Names[s.Units[r]])
				}
			}
			out.Units[i] = u
		}
	}
	return out
}

const redacted = "[examples withheld]"

// String returns a redaction.
func (Set) String() string { return redacted }

// GoString returns a redaction.
func (Set) GoString() string { return redacted }

// Format prints a redaction for every verb.
func (Set) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

// LogValue returns a redaction.
func (Set) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON refuses.
func (Set) MarshalJSON() ([]byte, error) { return nil, errors.New("examples are not marshalled") }
