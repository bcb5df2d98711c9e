// Package dataset transforms private records by ordinary Go functions and releases only noisy
// aggregates of them (PINQ in Go: McSherry 2009, "Privacy Integrated Queries"). The cost of an
// aggregate follows from how far each transformation spreads a change.
//
// A Dataset is a multiset of records, with what a change of one privacy unit can do to it: its
// stability, for each budget that its sources belong to. Transformations (Where, GroupBy, Join,
// ...) multiply stabilities by a factor, which each states with its proof; aggregations
// (NoisyCount, NoisySum, ...) calibrate their noise to the stability, charge the budgets and only
// then compute. Transformations compute at once, and reveal nothing.
//
// It guarantees what the budgets promise, for every program that reaches private records through
// the functions of this package alone, provided that its functions are pure: what they return is a
// function of their argument and of public values. Whatever the records are, no call fails, and
// costs, shapes and errors are the same: a function that panics on a record, or ends its goroutine,
// gives that record the default that each operator states, and NaN counts as the declared number.
//
// It does not guarantee anything about functions that are not pure, that leave records in
// variables, that modify their arguments, that never end, or that end the process (os.Exit, a fatal
// error of the runtime such as a stack overflow, a race on a map, or want of memory), nor about how
// long they take: the authors of these programs are trusted. Code that is not trusted belongs in
// package sandbox, where it can do none of this.
//
// # Stability
//
// The distance of two multisets is the size of their symmetric difference: how many
// records must be added and removed to make one of the other. A transformation has
// stability s if records at distance c become records at distance s·c at most; by
// the triangle inequality it is enough to show that for c = 1. Of a transformation
// of two arguments each has a stability while the other is fixed, and both changes
// together are bounded by the sum.
//
// Some transformations choose at random (which records of a unit are kept, the
// order of the records of a group). Stability then means that the random choices
// over two neighbours can be coupled, each with its right distribution, so that the
// distance holds for every outcome. That is enough: what is released is a mixture
// over the outcomes, and the divergences by which privacy is measured (hockey-stick
// and Rényi) of two mixtures are at most the largest between their coupled
// components, by joint quasi-convexity. No result depends on an order in which
// records come, which neighbours need not share.
package dataset

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/discreet-dp/discreet/noise"
)

// ErrParameter is wrapped by the refusal of parameters, of keys that are not exact,
// and of combinations that no theorem covers. Nothing is charged then.
var ErrParameter = errors.New("bad dataset parameter")

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrParameter, fmt.Sprintf(format, args...))
}

// A Dataset is private records. It prints, logs and marshals as a redaction, and
// nothing returns its records. A transformation that was refused gives a dataset
// whose aggregations return the refusal, and charge nothing.
//
// Datasets are immutable and safe for concurrent use, with any bits that nothing else
// draws from at the time; releases take bits of their own, for one call. The zero Dataset belongs to
// nobody and is refused.
type Dataset[T any] struct {
	private func() []T // of a function fmt prints the address, even around Format
	source
}

func (d Dataset[T]) records() []T {
	if d.private == nil {
		return nil
	}
	return d.private()
}

// A source is what a dataset knows beside its records.
type source struct {
	bits   noise.Bits // for random choices
	stakes stakes
	err    error // why it must not be used
}

// with returns a dataset with other records from the same source.
func with[T any](s source, records []T) Dataset[T] {
	if s.err != nil {
		return Dataset[T]{source: s}
	}
	return Dataset[T]{func() []T { return records }, s}
}

// failed returns the source of a dataset that was refused.
func (s source) failed(err error) source {
	if s.err == nil && err != nil {
		s.err = err
	}
	return s
}

// usable refuses the source of the zero Dataset.
func (s source) usable() source {
	if s.bits == nil {
		return s.failed(refuse("a dataset without a source"))
	}
	return s
}

// times returns the source behind an operator of stability k.
func (s source) times(k int64) source {
	if s = s.usable(); s.err != nil {
		return s
	}
	stakes, err := s.stakes.times(k)
	s.stakes = stakes
	return s.failed(err)
}

// and returns the source behind an operator of two datasets.
func (s source) and(t source) source {
	s, t = s.usable(), t.usable()
	if s.err != nil || t.err != nil {
		return s.failed(t.err)
	}
	stakes, err := s.stakes.and(t.stakes)
	s.stakes = stakes
	return s.failed(err)
}

const redacted = "[private records]"

// String returns a redaction.
func (Dataset[T]) String() string { return redacted }

// GoString returns a redaction.
func (Dataset[T]) GoString() string { return redacted }

// Format prints a redaction for every verb.
func (Dataset[T]) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, redacted) }

// LogValue returns a redaction.
func (Dataset[T]) LogValue() slog.Value { return slog.StringValue(redacted) }

var errRedacted = errors.New("private records are not marshalled")

// MarshalJSON refuses.
func (Dataset[T]) MarshalJSON() ([]byte, error) { return nil, errRedacted }

// MarshalText refuses.
func (Dataset[T]) MarshalText() ([]byte, error) { return nil, errRedacted }

// MarshalBinary refuses; encoding/gob honours it.
func (Dataset[T]) MarshalBinary() ([]byte, error) { return nil, errRedacted }
