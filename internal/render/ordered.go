package render

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// An enumerating dialect knows where a row stands in its table, and hands values over as bigints.
type enumerating interface {
	rowPlace() string                                 // a row's place in a table
	asBigint(x string, t sqltype.Type) (string, bool) // see engine.BigintForm
	chooses(digest string) string                     // the first bits of a digest as a bigint that is not negative
}

// ordered returns what a release asks of a table whose rows stand in the order of their units, nil where that is no way
// to answer it: where there is more than the rows of one table, filtered and computed one by one, to be bounded.
//
// What is bounded is what Release renders: the same rows with the same unit, keys and values. That each row keeps its place follows
// from the shape of the input: a scan, and above it nothing but filters and projections. The unit is the column that the
// table is laid out by.
func (w *bounded) ordered() *engine.Ordered {
	b := w.node
	d, able := w.dialect.(enumerating)
	scan := scanned(b.Input)
	if !able || scan == nil || scan.Table.Unit.Kind != catalog.UnitColumn || b.Whole || b.Bin != nil {
		return nil
	}
	o := &engine.Ordered{Shown: b.Shown, MaxRows: b.MaxRows, Hashes: w.compared}
	if w.cuts() {
		o.MaxGroups = b.MaxGroups
	}
	unit := "u"
	switch t := b.Input.Columns()[b.Unit].Type; t {
	case sqltype.Of(sqltype.Text):
		o.Unit = engine.TextForm
	case sqltype.Of(sqltype.Bigint):
	default:
		return nil
	}
	r := &renderer{dialect: w.dialect, stages: w.stages, placed: true}
	s := r.scope(column)
	rows, columns := []string{"place", column(b.Unit) + " AS u"}, []string{"place", unit}
	for i, k := range b.Keys {
		key := fmt.Sprintf("k%d", i)
		of, form := engine.OrderedKey{Type: k.Type(), Listed: w.listed(i)}, key
		if k.Type().Kind == sqltype.Text {
			of.Form = engine.TextForm
		} else if text, ok := d.asBigint(key, k.Type()); ok {
			form = text
		} else {
			return nil
		}
		o.Keys = append(o.Keys, of)
		rows, columns = append(rows, s.expr(k)+" AS "+key), append(columns, form)
	}
	for i, c := range b.Contributions {
		of := engine.OrderedContribution{Value: -1, Lower: c.Lower, Upper: c.Upper}
		value := fmt.Sprintf("v%d", i)
		form := value
		switch {
		case c.Kind == plan.Added && b.MaxRows > 0 && isOne(c.Value):
			of.Kind = engine.RowsAdded
		case c.Kind == plan.Added && b.MaxRows > 0:
			of.Kind = engine.ValuesAdded
		case c.Kind == plan.Clamped:
			of.Kind = engine.SumClamped
		case c.Kind == plan.UnitCount && b.Shown == nil: // else a unit of several groups is still one
			of.Kind, form = engine.UnitCounted, fmt.Sprintf("CASE WHEN %s THEN 1::BIGINT END", value)
		default:
			return nil
		}
		if c.Value != nil && of.Kind != engine.RowsAdded {
			of.Value, o.Values = o.Values, o.Values+1
			rows, columns = append(rows, s.expr(c.Value)+" AS "+value), append(columns, form)
		}
		o.Contributions = append(o.Contributions, of)
	}
	if w.compared {
		columns = append(columns, d.chooses(w.hash(w.keys)), d.chooses(w.hash(append(w.keys[:len(w.keys):len(w.keys)], w.chosen...))))
	}
	o.Rows = fmt.Sprintf("SELECT %s FROM (SELECT %s FROM (%s) AS t) AS t", strings.Join(columns, ", "), strings.Join(rows, ", "), r.relation(b.Input))
	if r.err != nil {
		return nil
	}
	return o
}

// scanned is the scan of a relation that is made of the rows of one table, one by one, or nil.
func scanned(n plan.Node) *plan.Scan {
	switch n := n.(type) {
	case *plan.Scan:
		return n
	case *plan.Filter:
		return scanned(n.Input)
	case *plan.Project:
		return scanned(n.Input)
	}
	return nil
}

// withPlace adds the place of a row to the columns of a relation in which each has one.
func (r *renderer) withPlace(columns string) string {
	if r.placed {
		return columns + ", place"
	}
	return columns
}
