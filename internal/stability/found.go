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
		lower, okLower := number(b.Lower)
		upper, okUpper := number(b.Upper)
		if okLower && okUpper {
			return interval{maxOf(r.lower, lower), minOf(r.upper, upper)}
		}
	}
	return r
}

// contribution is what was found for an aggregation of rows of one private table by columns of it, or nil.
func (f *Found) contribution(n *plan.Aggregate, r *relation) *Contribution {
	if f == nil || len(r.tables) != 1 {
		return nil
	}
	t := r.tables[0]
	keys, ok := columnsOf(n, t)
	if !ok {
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
