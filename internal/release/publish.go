package release

import (
	"errors"
	"fmt"
	"math/big"
	"reflect"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/stability"
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

// A Table is a released table: public from here on, but for trees, which draw their noise as
// Rows looks at them, and show nothing else.
type Table struct {
	release *Release
	keys    [][]sqltype.Value // one a group, sorted
	noisy   [][]*big.Int      // one a component, then by group; nil of a tree
	trees   [][]*tree         // one a component, then by group; nil of all others

	consistent bool
	moved      [][]*big.Int // as noisy: values that Consistent moved; nil of others
}

// errShape is returned when the engine's result is not of the shape asked for;
// it says nothing of the values.
var errShape = errors.New("the engine returned a result of another shape")

// Publish draws the noise of a release.
//
// For a release with complete domains, domains holds each key's values, sorted:
// every combination is published, with noise on zero where there are no rows.
// Otherwise the groups are chosen by private selection on their number of
// distinct units (see threshold.go). The groups come out sorted by key, whatever the engine's order.
// leaves are those of the release's trees, in their order. Of a release that is Chosen one group alone
// is published for each combination of the keys but the last.
func (r *Release) Publish(exact *engine.Exact, domains [][]sqltype.Value, bits noise.Bits, leaves ...*engine.Exact) (*Table, error) {
	width := len(r.Keys) + len(r.Components) - len(leaves)
	if r.Private {
		width++
	}
	if len(leaves) != r.trees() {
		return nil, errShape
	}
	rows := exact.RevealExact()
	for _, row := range rows {
		if len(row) != width {
			return nil, errShape
		}
	}
	if r.Chosen {
		return r.publishChoice(r.complete(rows, domains), len(domains[len(domains)-1]), bits)
	}
	t := &Table{release: r, noisy: make([][]*big.Int, len(r.Components)), trees: make([][]*tree, len(r.Components))}
	var chosen [][]sqltype.Value
	var counts []*big.Int
	if r.Private {
		var err error
		if chosen, counts, err = r.shown(rows, bits); err != nil {
			return nil, err
		}
	} else {
		chosen = r.complete(rows, domains)
	}
	column := len(r.Keys)
	for i, c := range r.Components {
		if r.decides(i) {
			t.noisy[i] = counts
			column++
			continue
		}
		if c.Kind == stability.Tree {
			counts, err := r.places(leaves[0], c.Places)
			if err != nil {
				return nil, err
			}
			leaves = leaves[1:]
			for _, row := range chosen {
				key := sqltype.Key(row[:len(r.Keys)]...)
				t.trees[i] = append(t.trees[i], newTree(r.Noise[i].Shape, r.Noise[i], bits, counts[key]))
			}
			continue
		}
		values, err := integers(chosen, column)
		if err != nil {
			return nil, err
		}
		if _, together := r.Noise[i].Additive.(blended); !together {
			if err := r.Noise[i].AddTo(bits, values); err != nil {
				return nil, fmt.Errorf("draw noise: %w", err)
			}
		}
		t.noisy[i] = values
		column++
	}
	for _, b := range r.blends {
		values := make([][]*big.Int, len(b.components))
		for j, i := range b.components {
			values[j] = t.noisy[i]
		}
		if err := b.add(bits, values); err != nil {
			return nil, fmt.Errorf("draw noise: %w", err)
		}
	}
	for _, row := range chosen {
		t.keys = append(t.keys, row[:len(r.Keys):len(r.Keys)])
	}
	return t, nil
}

// trees is how many components are trees.
func (r *Release) trees() (n int) {
	for _, c := range r.Components {
		if c.Kind == stability.Tree {
			n++
		}
	}
	return n
}

// places reads the leaves of a tree: the rows at each place, by group.
func (r *Release) places(leaves *engine.Exact, most int64) (map[string]map[int64]*big.Int, error) {
	out := map[string]map[int64]*big.Int{}
	for _, row := range leaves.RevealExact() {
		if len(row) != len(r.Keys)+2 {
			return nil, errShape
		}
		place, ok := row[len(r.Keys)].(int64)
		if !ok {
			return nil, errShape
		}
		place = min(max(place, 0), most-1) // each row still counts at one place
		n, err := integer(row[len(r.Keys)+1])
		if err != nil {
			return nil, err
		}
		key := sqltype.Key(row[:len(r.Keys)]...)
		if out[key] == nil {
			out[key] = map[int64]*big.Int{}
		}
		if known := out[key][place]; known != nil {
			n.Add(n, known)
		}
		out[key][place] = n
	}
	return out, nil
}

// complete returns one row for every combination of the keys' domains: the
// engine's, or zeros. Rows of other groups, of which there are none, would be
// dropped.
func (r *Release) complete(rows [][]sqltype.Value, domains [][]sqltype.Value) [][]sqltype.Value {
	cells := 1
	for _, d := range domains {
		cells *= len(d)
	}
	rowOf := walker(rows, domains)
	if rowOf == nil {
		rowOf = finder(rows, len(domains))
	}
	out := make([][]sqltype.Value, 0, cells)
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
		row := rowOf(key)
		if row == nil {
			row = make([]sqltype.Value, len(key)+len(r.Components)-r.trees())
			copy(row, key)
		}
		out = append(out, row)
	}
	fill(0)
	return out
}

// finder returns the row of a key, the last if there are several, or nil.
func finder(rows [][]sqltype.Value, keys int) func(key []sqltype.Value) []sqltype.Value {
	found := make(map[string][]sqltype.Value, len(rows))
	for _, row := range rows {
		found[sqltype.Key(row[:keys]...)] = row
	}
	return func(key []sqltype.Value) []sqltype.Value { return found[sqltype.Key(key...)] }
}

// walker is finder for keys that are asked for in the order of the domains. It returns nil unless
// rows and domains rise strictly in the order of their keys, of the same types: then who walks
// through both meets the row of every key that has one.
func walker(rows, domains [][]sqltype.Value) func(key []sqltype.Value) []sqltype.Value {
	n := len(domains)
	for i, d := range domains {
		for j, v := range d {
			if v == nil || j > 0 && (reflect.TypeOf(v) != reflect.TypeOf(d[0]) || sqltype.Compare(d[j-1], v) >= 0) {
				return nil
			}
		}
		for _, row := range rows {
			if len(d) > 0 && row[i] != nil && reflect.TypeOf(row[i]) != reflect.TypeOf(d[0]) {
				return nil
			}
		}
	}
	for i := 1; i < len(rows); i++ {
		if compareKeys(rows[i-1], rows[i], n) >= 0 {
			return nil
		}
	}
	next := 0
	return func(key []sqltype.Value) []sqltype.Value {
		for ; next < len(rows); next++ {
			switch c := compareKeys(rows[next], key, n); {
			case c == 0:
				next++
				return rows[next-1]
			case c > 0:
				return nil
			}
		}
		return nil
	}
}

func compareKeys(a, b []sqltype.Value, n int) int {
	for i := range n {
		if c := sqltype.Compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return 0
}

// integers copies a column of exact integers. Most have a word, and one more once noise is added:
// room for both is made for all at once.
func integers(rows [][]sqltype.Value, column int) ([]*big.Int, error) {
	const words = 2
	all, room := make([]big.Int, len(rows)), make([]big.Word, words*len(rows))
	out := make([]*big.Int, len(rows))
	for i, row := range rows {
		switch v := row[column].(type) {
		case nil:
		case sqltype.Decimal:
			if v.Scale != 0 {
				return nil, errShape
			}
			all[i].SetBits(room[words*i : words*i : words*(i+1)]).Set(v.Unscaled)
		default:
			return nil, errShape
		}
		out[i] = &all[i]
	}
	return out, nil
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
