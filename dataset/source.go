package dataset

import (
	"iter"
	"slices"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// New returns the dataset of which each record is a privacy unit. Its stability is 1,
// or 2 where the budget's relation is ReplaceOne: one record goes, another comes.
//
// The bits are for random choices between records; what is made of the dataset draws from
// them one call at a time. Where they are used elsewhere too, in another dataset or in
// releases, at the same time, they must be safe for that, as those of noise.System are.
// The records are not copied, and must not be changed any more.
func New[T any](bits noise.Bits, records []T, b budget.Budget) (Dataset[T], error) {
	return open(bits, records, b, 1)
}

// Collect is New over what an iterator yields.
func Collect[T any](bits noise.Bits, records iter.Seq[T], b budget.Budget) (Dataset[T], error) {
	return New(bits, slices.Collect(records), b)
}

// NewUnits returns the dataset of which each record is all records of a unit: a Group
// of those with the same key, in random order. Its stability is that of New, however
// many records a unit has; SelectMany takes some of them. A record whose key panics is
// nobody's and is left out.
func NewUnits[T any, K comparable](bits noise.Bits, records []T, b budget.Budget, unit func(T) K) (Dataset[Group[K, T]], error) {
	d, err := open(bits, records, b, 1)
	if err != nil {
		return Dataset[Group[K, T]]{}, err
	}
	grouped := GroupBy(d, unit)
	if grouped.err != nil {
		return Dataset[Group[K, T]]{}, grouped.err
	}
	return with(d.source, grouped.records()), nil
}

// NewOfUnits returns the dataset of which a unit has at most maxRecords records, those
// with the same key. Of a unit with more, a random choice is kept: so the stability is
// maxRecords, twice that where the budget's relation is ReplaceOne. A record whose
// key panics is nobody's and is left out. What is asked of units as wholes costs less
// with NewUnits.
//
// Proof. Which records of a unit are kept depends on that unit's own records and on
// randomness that no other unit shares. ∎
func NewOfUnits[T any, K comparable](bits noise.Bits, records []T, b budget.Budget, unit func(T) K, maxRecords int64) (Dataset[T], error) {
	if maxRecords < 1 || maxRecords > maxStability {
		return Dataset[T]{}, refuse("a unit has at most %d records", maxRecords)
	}
	d, err := open(bits, records, b, maxRecords)
	if err != nil {
		return Dataset[T]{}, err
	}
	kept, err := atMost(d.bits, records, unit, maxRecords)
	if err != nil {
		return Dataset[T]{}, err
	}
	return with(d.source, kept), nil
}

func open[T any](bits noise.Bits, records []T, b budget.Budget, stability int64) (Dataset[T], error) {
	if bits == nil || b == nil {
		return Dataset[T]{}, refuse("the source of randomness or the budget is missing")
	}
	s := source{bits: noise.Shared(bits), stakes: stakes{{budget: b, stability: stability, divided: 1}}}
	if b.Neighbours() == privacy.ReplaceOne {
		s = s.times(2)
	}
	if s.err != nil {
		return Dataset[T]{}, s.err
	}
	return with(s, records), nil
}
