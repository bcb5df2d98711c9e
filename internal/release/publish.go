package release

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/sqltype"
)

// MaxCells bounds the size of a complete public domain: the number of groups
// that a release publishes, empty ones included.
const MaxCells = 1_000_000

// MaxValues bounds the noisy values that a statement publishes over complete
// public domains, all releases together: cells times components. Each takes some
// hundred bytes, so that a statement stays within about a gigabyte.
const MaxValues = 4_000_000

// A Table is a released table: public from here on.
type Table struct {
	release *Release
	keys    [][]sqltype.Value // one a group, sorted
	noisy   [][]*big.Int      // one a component, then by group
}

// errShape is returned when the engine's result is not of the shape asked for;
// it says nothing of the values.
var errShape = errors.New("the engine returned a result of another shape")

// Publish draws the noise of a release.
//
// For a release with complete domains, domains holds each key's values, sorted:
// every combination is published, with noise on zero where there are no rows.
// Otherwise the groups are chosen by private selection on their number of
// distinct units. The groups come out sorted by key, whatever the engine's order.
func (r *Release) Publish(exact *engine.Exact, domains [][]sqltype.Value, bits noise.Bits) (*Table, error) {
	width := len(r.Keys) + len(r.Components)
	if r.Private {
		width++
	}
	rows := exact.RevealExact()
	for _, row := range rows {
		if len(row) != width {
			return nil, errShape
		}
	}
	t := &Table{release: r, noisy: make([][]*big.Int, len(r.Components))}
	var chosen [][]sqltype.Value
	if r.Private {
		slices.SortFunc(rows, func(a, b []sqltype.Value) int { return compareKeys(a, b, len(r.Keys)) })
		units := make([]*big.Int, len(rows))
		for i, row := range rows {
			n, err := integer(row[width-1])
			if err != nil {
				return nil, err
			}
			units[i] = n
		}
		keep, err := r.Selection.Select(bits, units)
		if err != nil {
			return nil, fmt.Errorf("select groups: %w", err)
		}
		for i, row := range rows {
			if keep[i] {
				chosen = append(chosen, row)
			}
		}
	} else {
		chosen = r.complete(rows, domains)
	}
	for i := range r.Components {
		values := make([]*big.Int, len(chosen))
		for g, row := range chosen {
			n, err := integer(row[len(r.Keys)+i])
			if err != nil {
				return nil, err
			}
			values[g] = n
		}
		if err := r.Noise[i].AddTo(bits, values); err != nil {
			return nil, fmt.Errorf("draw noise: %w", err)
		}
		t.noisy[i] = values
	}
	for _, row := range chosen {
		t.keys = append(t.keys, row[:len(r.Keys):len(r.Keys)])
	}
	return t, nil
}

// complete returns one row for every combination of the keys' domains: the
// engine's, or zeros. Rows of other groups, of which there are none, would be
// dropped.
func (r *Release) complete(rows [][]sqltype.Value, domains [][]sqltype.Value) [][]sqltype.Value {
	found := make(map[string][]sqltype.Value, len(rows))
	for _, row := range rows {
		found[sqltype.Key(row[:len(r.Keys)]...)] = row
	}
	var out [][]sqltype.Value
	key := make([]sqltype.Value, len(domains))
	var fill func(i int)
	fill = func(i int) {
		if i < len(domains) {
			for _, v := range domains[i] {
				key[i] = v
				fill(i + 1)
			}
			return
		}
		row, ok := found[sqltype.Key(key...)]
		if !ok {
			row = slices.Concat(key, make([]sqltype.Value, len(r.Components)))
		}
		out = append(out, row)
	}
	fill(0)
	return out
}

func compareKeys(a, b []sqltype.Value, n int) int {
	for i := range n {
		if c := sqltype.Compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return 0
}

// integer copies an exact integer; a group without contributions has NULL for 0.
func integer(v sqltype.Value) (*big.Int, error) {
	switch v := v.(type) {
	case nil:
		return new(big.Int), nil
	case sqltype.Decimal:
		if v.Scale == 0 {
			return new(big.Int).Set(v.Unscaled), nil
		}
	}
	return nil, errShape
}
