package analysis

import (
	"errors"
	"fmt"
	"math"
)

// Votes are a table: a row is a query, a column a class, a number how many teachers
// named that class.
type Votes struct {
	Classes int
	Counts  []int32 // row by row
}

// Len returns the number of queries.
func (v *Votes) Len() int {
	if v.Classes == 0 {
		return 0
	}
	return len(v.Counts) / v.Classes
}

// Row returns the votes of a query.
func (v *Votes) Row(i int) []int32 { return v.Counts[i*v.Classes : (i+1)*v.Classes] }

// Rows returns a table of the rows with these numbers, in their order; one may come
// several times.
func (v *Votes) Rows(numbers []int) *Votes {
	w := &Votes{Classes: v.Classes, Counts: make([]int32, 0, len(numbers)*v.Classes)}
	for _, i := range numbers {
		w.Counts = append(w.Counts, v.Row(i)...)
	}
	return w
}

// Validate refuses a table that does not fit together.
func (v *Votes) Validate() error {
	switch {
	case v.Classes < 2:
		return errors.New("votes need two classes or more")
	case len(v.Counts)%v.Classes != 0:
		return fmt.Errorf("%d numbers do not make rows of %d", len(v.Counts), v.Classes)
	case len(v.Counts) == 0:
		return errors.New("there are no votes")
	}
	for i, n := range v.Counts {
		if n < 0 {
			return fmt.Errorf("query %d has %d votes for class %d", i/v.Classes, n, i%v.Classes)
		}
	}
	return nil
}

// Teachers returns the number of votes of the first query, and the first query with
// another number, or -1.
func (v *Votes) Teachers() (n int, odd int) {
	for i := range v.Len() {
		sum := 0
		for _, x := range v.Row(i) {
			sum += int(x)
		}
		if i == 0 {
			n = sum
		} else if sum != n {
			return n, i
		}
	}
	return n, -1
}

// DefaultMoments are the moments of LNMax: tenths below 1, and 1 to 20 as in the published analysis, so
// that figures compare. Every moment is a bound, and more of them only find a lower one:
// where teachers all but agree the least ε is far beyond (of 50 queries with 250 votes to
// none, γ = 0.05 and δ = 1e-5 it is 0.232, at moment 60, in place of 0.578), and for any
// votes where few queries are asked and basic composition wins. Options.Orders asks for
// them.
func DefaultMoments() []float64 { return append(tenths(0), steps(nil, 1, 20, 1)...) }

// tenths are those between n and n+1. Many queries, or little noise, have their least ε at
// an order below 2.
func tenths(n float64) (all []float64) {
	for i := 1.0; i < 10; i++ {
		all = append(all, n+i/10)
	}
	return all
}

// DefaultOrders are the orders of the others: 2 to 100 by halves, then 99 up to
// 500 at equal ratios, as in the published analysis, and before them tenths from 1.1 on.
func DefaultOrders() []float64 {
	orders := steps(tenths(1), 2, 100.5, 0.5)
	for i := 1; i < 100; i++ {
		orders = append(orders, math.Pow(10, 2+float64(i)/99*math.Log10(5)))
	}
	return orders
}

func steps(to []float64, from, last, step float64) []float64 {
	for x := from; x <= last; x += step {
		to = append(to, x)
	}
	return to
}
