package sandbox

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/big"
	"runtime"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// A Job is a mapper over private records, of which trusted reducers release noisy
// aggregates: Count, Sum, Mean, Histogram, Quantiles and Max.
//
// Theorem. Under AddRemove, whatever the module does, a unit adds or removes at most
// Outputs of the mapper's outputs, each with a declared key and a value in the declared
// range; under ReplaceOne it removes and adds as many.
//
// Proof. A unit's outputs are a function of what its own calls see (the package's
// guarantee): its records, or a choice of MaxRecords of them that depends on them and
// on randomness that no other unit shares, so that it can be coupled as equal for all
// others (mixtures are no farther apart than their coupled components). It has one
// call for each of these, or one in all, and a call has at most MaxOutputs. ∎
type Job struct {
	Mapper *Mapper
	// Units are the records of each privacy unit. Every unit comes once, with all its
	// records; one that has none can be left out.
	Units iter.Seq[[][]sqltype.Value]
	// Budget pays for the releases.
	Budget budget.Budget
	// ByUnit makes a call of all records of a unit, instead of each one.
	ByUnit bool
	// MaxRecords is how many records of a unit are mapped at most, chosen at random of
	// a unit's that has more. If it is 0 it is 1, or with ByUnit without limit.
	MaxRecords int64
}

// maxOutputsOfUnit bounds what a unit may add, far below where sums overflow.
const maxOutputsOfUnit = 1 << 40

// Outputs is how many outputs a unit has at most.
func (j *Job) Outputs() (int64, error) {
	if j.Mapper == nil || j.Units == nil || j.Budget == nil {
		return 0, fmt.Errorf("%w: a job has a mapper, units and a budget", ErrOptions)
	}
	n := int64(j.Mapper.options.MaxOutputs)
	switch {
	case j.MaxRecords < 0 || j.MaxRecords > maxOutputsOfUnit/n:
		return 0, fmt.Errorf("%w: a unit has %d records", ErrOptions, j.MaxRecords)
	case j.ByUnit:
		return n, nil
	}
	return n * max(j.MaxRecords, 1), nil
}

// distance is by how many outputs the data of neighbours differ at most.
func (j *Job) distance() (*big.Int, error) {
	n, err := j.Outputs()
	if err != nil {
		return nil, err
	}
	if j.Budget.Neighbours() == privacy.ReplaceOne {
		n *= 2
	}
	return big.NewInt(n), nil
}

// batchUnits are handed to a worker at once.
const batchUnits = 256

// run maps the units, in parallel, and gives every output to a collector, of which
// each worker has its own. What the collectors hold together must not depend on which
// of them got an output, or when.
func run[C collector](ctx context.Context, bits noise.Bits, j *Job, collect func() C) ([]C, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	batches := make(chan [][][]sqltype.Value)
	collectors := make([]C, runtime.GOMAXPROCS(0))
	var workers sync.WaitGroup
	for i := range collectors {
		collectors[i] = collect()
		workers.Go(func() {
			for batch := range batches {
				if err := j.batch(ctx, batch, collectors[i]); err != nil {
					stop(err)
				}
			}
		})
	}
	err := j.read(ctx, bits, batches)
	close(batches)
	workers.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause // the first: what stopped the others
	}
	return collectors, err
}

// A collector takes outputs in.
type collector interface {
	add(key int, value float64)
}

// read sends the units to the workers, each with no more records than it may have.
func (j *Job) read(ctx context.Context, bits noise.Bits, to chan<- [][][]sqltype.Value) error {
	var batch [][][]sqltype.Value
	send := func() error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case to <- batch:
			batch = make([][][]sqltype.Value, 0, batchUnits)
			return nil
		}
	}
	most := j.MaxRecords
	switch {
	case most > 0:
	case j.ByUnit:
		most = math.MaxInt64
	default:
		most = 1
	}
	for records := range j.Units {
		records, err := choose(bits, records, most)
		if err != nil {
			return fmt.Errorf("choose records: %w", err)
		}
		if batch = append(batch, records); len(batch) == batchUnits {
			if err := send(); err != nil {
				return err
			}
		}
	}
	return send()
}

// choose returns n of the records, or all if there are no more; each choice is
// equally likely.
func choose(bits noise.Bits, records [][]sqltype.Value, n int64) ([][]sqltype.Value, error) {
	if int64(len(records)) <= n {
		return records, nil
	}
	records = slices.Clone(records)
	for i := range int(n) {
		k, err := noise.Uniform(bits, big.NewInt(int64(len(records)-i)))
		if err != nil {
			return nil, err
		}
		other := i + int(k.Int64())
		records[i], records[other] = records[other], records[i]
	}
	return records[:n], nil
}

// batch maps some units.
func (j *Job) batch(ctx context.Context, units [][][]sqltype.Value, to collector) error {
	for _, records := range units {
		if j.ByUnit {
			out, err := j.Mapper.MapUnit(ctx, records)
			if err != nil {
				return err
			}
			j.collect(out, to)
			continue
		}
		for _, r := range records {
			out, err := j.Mapper.Map(ctx, r)
			if err != nil {
				return err
			}
			j.collect(out, to)
		}
	}
	return nil
}

func (j *Job) collect(out []Output, to collector) {
	for _, o := range out {
		to.add(j.Mapper.keys[o.Key], o.Value)
	}
}
