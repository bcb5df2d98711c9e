//go:build cgo

package duckdb

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/sqltype"
)

// slices of units that a query is tried in: for want of memory in one slice it
// runs again in more. One is the fastest: each slice reads the sources again,
// and the sort within spills by itself.
var sliceCounts = []int64{1, 8, 64}

// Exact runs a release's query. The rows come in the order of their keys.
func (e *Engine) Exact(ctx context.Context, q engine.Query) (*engine.Exact, error) {
	rows, asked, err := e.exact(ctx, q)
	for err != nil && ctx.Err() == nil { // another form may need less
		if asked.Whole == nil && asked.Totals == nil && asked.Least == nil && asked.Held == nil {
			break
		}
		q = weaker(q, asked)
		rows, asked, err = e.exact(ctx, q)
	}
	if err != nil {
		return nil, failure(ctx, err)
	}
	slices.SortFunc(rows, func(a, b []sqltype.Value) int {
		for i := range q.Keys {
			if c := sqltype.Compare(a[i], b[i]); c != 0 {
				return c
			}
		}
		return 0
	})
	return engine.NewExact(rows), nil
}

// weaker is a query without the form that was asked.
func weaker(q, asked engine.Query) engine.Query {
	least, totals := &q.Least, &q.Totals
	if asked.Held != nil {
		h := *q.Held
		q.Held, least, totals = &h, &h.Least, &h.Totals
	}
	switch {
	case asked.Whole != nil:
		q.Whole = nil
	case asked.Totals != nil:
		*totals = nil
	case asked.Least != nil:
		*totals, *least = nil, nil
	default:
		q.Held = nil
	}
	return q
}

// exact returns the rows in any order, and the form that was asked: which one can be, is known once the tables are fresh.
func (e *Engine) exact(ctx context.Context, q engine.Query) (rows [][]sqltype.Value, asked engine.Query, err error) {
	err = e.steady(ctx, q.Tables, func() (err error) {
		if err = e.catalog.Recheck(q.Tables...); err != nil { // of those that copies are read for, too
			return err
		}
		form, read := e.heldForm(ctx, q)
		if err = e.refresh(ctx, read); err != nil {
			return err
		}
		asked = e.byUnit(ctx, form)
		counts := sliceCounts
		if !q.Sliceable || asked.Least != nil || asked.Totals != nil { // whose own SQL may have several
			counts = counts[:1]
		}
		for _, n := range counts {
			if rows, err = e.sliced(ctx, asked, n); !outOfMemory(err) {
				break
			}
		}
		return err
	})
	return rows, asked, err
}

func outOfMemory(err error) bool {
	var e *duckdb.Error
	return errors.As(err, &e) && e.Type == duckdb.ErrorTypeOutOfMemory
}

// sliced runs q once for each slice of units and adds up the values of equal
// keys.
func (e *Engine) sliced(ctx context.Context, q engine.Query, n int64) ([][]sqltype.Value, error) {
	types := slices.Clone(q.Keys)
	for range q.Values {
		types = append(types, sums)
	}
	var out [][]sqltype.Value
	at := map[string][]sqltype.Value{}
	for i := range n {
		rows, err := e.run(ctx, q, types, n, i)
		if err != nil {
			return nil, err
		}
		if n == 1 {
			return rows, nil
		}
		for _, row := range rows {
			key := sqltype.Key(row[:len(q.Keys)]...)
			sum, ok := at[key]
			if !ok {
				at[key] = row
				out = append(out, row)
				continue
			}
			for j := len(q.Keys); j < len(row); j++ {
				if sum[j], err = add(sum[j], row[j]); err != nil {
					return nil, err
				}
			}
		}
	}
	return out, nil
}

// add adds two aggregates; a sum over no rows is NULL and adds nothing.
func add(a, b sqltype.Value) (sqltype.Value, error) {
	if a == nil {
		return b, nil
	}
	if b == nil {
		return a, nil
	}
	x, ok := a.(sqltype.Decimal)
	y, also := b.(sqltype.Decimal)
	if !ok || !also {
		return nil, fmt.Errorf("add %T and %T", a, b)
	}
	return sqltype.Decimal{Unscaled: new(big.Int).Add(x.Unscaled, y.Unscaled)}, nil
}
