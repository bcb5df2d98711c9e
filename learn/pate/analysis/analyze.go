package analysis

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Options say what votes were aggregated by.
type Options struct {
	// Exactly one of LNMax and GNMax is required. With GNMax, Threshold makes it
	// Confident-GNMax.
	LNMax     *LNMax
	GNMax     *GNMax
	Threshold *Threshold
	// Answered says which queries were answered, of a run with a threshold that has been.
	// Nil: the cost is that expected, each answer's with its probability.
	Answered []bool
	Delta    float64
	// Orders are Rényi orders above 1, or moments above 0 of LNMax; nil is
	// DefaultOrders or DefaultMoments.
	Orders []float64
	// Workers is the number of goroutines; 0 is GOMAXPROCS.
	Workers int
}

// A Result is the cost of votes at δ.
type Result struct {
	Independent Bound // of any votes: what is charged
	Dependent   Bound // private
	// Improved are the same by a tighter conversion than the papers'.
	Improved struct{ Independent, Dependent Bound }
	// Answered is the number of answered queries: the expected one, if they are not known.
	Answered float64
}

func (o *Options) validate(n int) error {
	positive := func(x float64) bool { return x > 0 && !math.IsInf(x, 1) }
	switch {
	case (o.LNMax == nil) == (o.GNMax == nil):
		return errors.New("want either LNMax or GNMax")
	case o.LNMax != nil && !positive(o.LNMax.Gamma):
		return errors.New("gamma must be above 0")
	case o.GNMax != nil && !positive(o.GNMax.Sigma):
		return errors.New("sigma must be above 0")
	case o.Threshold != nil && o.GNMax == nil:
		return errors.New("only GNMax has a threshold")
	case o.Threshold != nil && (!positive(o.Threshold.Sigma) || math.IsNaN(o.Threshold.At) || math.IsInf(o.Threshold.At, 0)):
		return errors.New("a threshold needs a sigma above 0")
	case o.Answered != nil && (o.Threshold == nil || len(o.Answered) != n):
		return errors.New("which queries were answered must be said of each, and only with a threshold")
	case !(o.Delta > 0 && o.Delta < 1):
		return errors.New("delta must lie between 0 and 1")
	}
	return nil
}

// orders returns the Rényi orders, and by how much the order that is reported is less.
func (o *Options) orders() (orders []float64, less float64, err error) {
	orders = slices.Clone(o.Orders)
	if o.LNMax != nil {
		less = 1
		if orders == nil {
			orders = DefaultMoments()
		}
	} else if orders == nil {
		orders = DefaultOrders()
	}
	if len(orders) == 0 {
		return nil, 0, errors.New("there are no orders")
	}
	for i := range orders {
		orders[i] += less
		if !(orders[i] > 1) || math.IsInf(orders[i], 1) {
			return nil, 0, fmt.Errorf("order %g: orders are finite and above %g", orders[i]-less, 1-less)
		}
	}
	slices.Sort(orders)
	return slices.Compact(orders), less, nil
}

// Analyze returns what the answers to all queries cost.
func Analyze(v *Votes, o Options) (*Result, error) {
	if err := v.Validate(); err != nil {
		return nil, err
	}
	if err := o.validate(v.Len()); err != nil {
		return nil, err
	}
	orders, less, err := o.orders()
	if err != nil {
		return nil, err
	}
	workers := cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	queries := o.gather(v, workers)
	r := &Result{}
	for _, q := range queries {
		r.Answered += q.weight * float64(q.n)
	}
	dependent := newCurve(orders, func(order float64) float64 { return o.total(queries, order, workers) })
	independent := newCurve(orders, func(order float64) float64 { return o.independent(float64(v.Len()), r.Answered, order) })
	report := func(b Bound) Bound { return Bound{b.Epsilon, b.Order - less} }
	r.Independent, r.Dependent = report(independent.least(classic(o.Delta))), report(dependent.least(classic(o.Delta)))
	r.Improved.Independent, r.Improved.Dependent = report(independent.least(improved(o.Delta))), report(dependent.least(improved(o.Delta)))
	return r, nil
}

// independent is the divergence for any votes.
func (o *Options) independent(asked, answered, order float64) float64 {
	switch {
	case o.LNMax != nil:
		return asked * o.LNMax.IndependentMoment(order-1) / (order - 1)
	case o.Threshold != nil:
		return asked*o.Threshold.IndependentRDP(order) + answered*o.GNMax.IndependentRDP(order)
	}
	return asked * o.GNMax.IndependentRDP(order)
}

// A query is n queries that cost the same: that of their test, and weight times that
// of their answer.
type query struct {
	n      int
	weight float64
	answer bound
	test   *bound // nil without a threshold
}

// total returns the divergence of all queries, added up in blocks of a fixed size.
func (o *Options) total(queries []query, order float64, workers int) float64 {
	const block = 4096
	sums := make([]float64, (len(queries)+block-1)/block)
	answer, test := 0.0, 0.0
	if o.Threshold != nil {
		test = o.Threshold.IndependentRDP(order)
	}
	if o.LNMax != nil {
		answer = pure{2 * o.LNMax.Gamma}.IndependentRDP(order)
	} else {
		answer = o.GNMax.IndependentRDP(order)
	}
	parallel(workers, len(sums), func(b int) {
		for i := b * block; i < min((b+1)*block, len(queries)); i++ {
			q, r := &queries[i], 0.0
			if q.test != nil {
				r = q.test.rdp(order, test)
			}
			if q.weight > 0 {
				r += q.weight * q.answer.rdp(order, answer)
			}
			sums[b] += float64(q.n) * r
		}
	})
	sum := 0.0
	for _, s := range sums {
		sum += s
	}
	return sum
}

// parallel calls f with 0 to n-1, by so many goroutines.
func parallel(workers, n int, f func(int)) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(workers, n) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	group.Wait()
}
