package stability

import (
	"slices"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// Found are bounds that were found privately, for columns and tables that are declared to have such.
//
// They need no theorem of their own. Whatever a bound is, it is enforced where rows are aggregated (see
// Release), so that a certificate holds for any; and these are released values, which are constants here.
// They decide what is clamped and kept, and nothing else: which groups there are follows from what is declared.
type Found struct {
	Bounds        map[*catalog.Column]Bounds
	Contributions []Contribution
}

// Bounds are those of a column's values.
type Bounds struct{ Lower, Upper sqltype.Value }

// A Contribution is what a unit contributes to an aggregation of a table by some of its columns.
type Contribution struct {
	Table        *catalog.Table
	Keys         []string // names of columns, sorted
	Groups, Rows int64    // 0: as declared
}

// Of returns what was found of a column, if anything was.
func (f *Found) Of(c *catalog.Column) (Bounds, bool) {
	if f == nil {
		return Bounds{}, false
	}
	b, ok := f.Bounds[c]
	return b, ok
}

// narrow is a column's range within what was found; that is within the declared one.
func (f *Found) narrow(c *catalog.Column, r interval) interval {
	if f == nil || !c.Auto {
		return r
	}
	if b, ok := f.Bounds[c]; ok {
		lower, okLower := sqltype.Rat(b.Lower)
		upper, okUpper := sqltype.Rat(b.Upper)
		if okLower && okUpper {
			return interval{maxOf(r.lower, lower), minOf(r.upper, upper)}
		}
	}
	return r
}

// searchable is the table whose rows are aggregated, if what a unit contributes to them can be found, and the columns of
// it that are the keys.
func searchable(n *plan.Aggregate, r *relation) (t *catalog.Table, keys []string) {
	if len(r.tables) != 1 || !r.tables[0].Auto || !rowByRow(n.Input) {
		return nil, nil
	}
	keys, ok := columnsOf(n, r.tables[0])
	if !ok {
		return nil, nil
	}
	return r.tables[0], keys
}

// rowByRow reports whether a node's rows are a table's, but for some that are left out: a join with public rows would
// multiply them, and a search has counted the table's.
func rowByRow(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Scan:
		return true
	case *plan.Filter:
		return rowByRow(n.Input)
	case *plan.Project:
		return rowByRow(n.Input)
	}
	return false
}

// contribution is what was found for an aggregation of a table's rows by columns of it, or nil.
func (f *Found) contribution(t *catalog.Table, keys []string) *Contribution {
	if f == nil || t == nil {
		return nil
	}
	for i, c := range f.Contributions {
		if c.Table == t && slices.Equal(c.Keys, keys) {
			return &f.Contributions[i]
		}
	}
	return nil
}

// columnsOf are the names of the columns of a table by which rows are grouped, sorted; false where a key is
// something else.
func columnsOf(n *plan.Aggregate, t *catalog.Table) (keys []string, ok bool) {
	if n.Sets != nil {
		return nil, false
	}
	for _, k := range n.Keys {
		ref := unwiden(k)
		if ref == nil {
			return nil, false
		}
		of, c := origin(n.Input, ref.Index)
		if of != t || c == nil {
			return nil, false
		}
		keys = append(keys, c.Name)
	}
	slices.Sort(keys)
	return slices.Compact(keys), true
}
