package local

import "fmt"

// tallies count votes for each value.
type tallies struct {
	counts []uint64
	vote   func(r Report, counts []uint64)
}

func (t *tallies) add(r Report) { t.vote(r, t.counts) }

func (t *tallies) scores() []float64 {
	out := make([]float64, len(t.counts))
	for i, c := range t.counts {
		out[i] = float64(c)
	}
	return out
}

func (t *tallies) merge(other counter) {
	for i, c := range other.(*tallies).counts {
		t.counts[i] += c
	}
}

// A Tally adds up the reports of one protocol. Its size does not depend on their number, but
// for FastLH, where it grows to that of the hash functions. It is not safe for concurrent
// use; tallies of parts are merged.
type Tally struct {
	of      *Frequency
	counter counter
	reports int64
}

// NewTally returns an empty tally.
func (f *Frequency) NewTally() *Tally { return &Tally{of: f, counter: f.kernel.counter()} }

// Add counts a report. It refuses one that the protocol does not make, and then counts nothing.
func (t *Tally) Add(r Report) error {
	if err := t.of.form.check(r); err != nil {
		return err
	}
	t.counter.add(r)
	t.reports++
	return nil
}

// Merge adds what another tally of the same protocol has counted.
func (t *Tally) Merge(other *Tally) error {
	if t.of != other.of {
		return fmt.Errorf("%w: the tallies are of two protocols", ErrParameter)
	}
	t.counter.merge(other.counter)
	t.reports += other.reports
	return nil
}

// Reports is how many reports were counted.
func (t *Tally) Reports() int64 { return t.reports }
