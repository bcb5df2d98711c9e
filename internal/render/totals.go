package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// A dialect that adds up by unit has a function that reads the rows of a copy and says what all units contribute: see engine.Totals.
type totalling interface {
	byUnit
	totals(values, sums int, asked string, arguments []string, rows string) string // SELECTs g, x0, ...
	position(value, texts string) string                                           // of a text among constants, from 0; negative or NULL where it is none of them
}

const (
	// positions bounds a list in which texts of a copy are looked for one by one: few different ones are a dictionary there, of
	// which each is looked for once.
	positions = 256
	// totalBytes bounds what is held of a unit, totalValues how many values are summed, and totalsMost how many contributions are added up at once.
	totalBytes  = 32 << 10
	totalValues = 10
	totalsMost  = 12
	// totalRows is the greatest R that the function takes, MostRows of package least, and mostGroups how many groups it takes of a unit.
	totalRows, mostGroups = 1024, 1024
)

// filtered reports whether a relation has a condition beside x IS NOT NULL, which is what leaves out rows without a unit. It decides the form alone:
// of whatever column x is, the function is told which rows count.
func filtered(n plan.Node) bool {
	if f, ok := n.(*plan.Filter); ok && present(f.Condition) < 0 {
		return true
	}
	return slices.ContainsFunc(n.Inputs(), filtered)
}

// totals renders a bounded aggregation over a copy, whose function decides by the same codes and hashes what every other form of the query
// keeps. rows are the columns of a unit's rows, of which listed ones are replaced. Where a unit may be in every group, as where there are no
// keys, all are kept, and their codes are their numbers.
func (w *bounded) totals(r *renderer, rows []string) *engine.Totals {
	b := w.node
	d, able := w.dialect.(totalling)
	number, size := w.number()
	if !able || w.compared || b.Whole || b.Bin != nil || number == "" && len(b.Keys) > 0 || size+rowBits > packedBits || b.MaxRows > totalRows {
		return nil
	}
	of, some := r.laid(b.Input, b.Unit, true), filtered(b.Input)
	if of == "" || some && !w.cuts() { // rows that a condition leaves are grouped by unit in less time than all are read, if they are few
		return nil
	}
	rows = slices.Clone(rows)
	guard := func(value string) string { return value }
	if some { // what is of no row that counts is not computed
		guard = func(value string) string { return "CASE WHEN f THEN " + value + " END" }
	}
	over := w.over(b.Input)
	shown, numbers, all := []string{"f"}, []string{}, 1
	for i, k := range b.Keys {
		key, texts := w.keys[i], w.listed(i)
		place, is := key, key+" >= 0"
		if of := w.ranged(i); of != nil {
			place, is = of.place(key), ""
		} else if len(texts) > positions {
			place, is = "enum_code("+key+")", key+" IS NOT NULL"
		} else {
			if w.placing(i) != nil {
				place, is = key+" - 1", key+" > 0"
			}
			rows[1+i] = over.placed(k, texts) + " AS " + key
		}
		if is != "" && len(b.Keys) > 1 { // the place of one key alone is none
			shown = append(shown, is)
		}
		number := "CAST(" + place + " AS INTEGER)"
		if all > 1 {
			number += fmt.Sprintf(" * %d", all)
		}
		numbers = append(numbers, number)
		all *= w.count(i)
	}
	groups, order, hash := int64(all), "CAST(0 AS UBIGINT)", "CAST(0 AS UBIGINT)"
	if w.cuts() { // else all groups are kept, in whatever order
		groups, order = b.MaxGroups, w.hash(w.keys)
	}
	if len(numbers) == 0 {
		numbers = []string{"CAST(0 AS INTEGER)"}
	}
	asked := []string{fmt.Sprint(groups), fmt.Sprint(b.MaxRows), fmt.Sprint(all)}
	var values []string
	last := len(b.Keys) // of rows
	for i, c := range b.Contributions {
		if c.Value != nil {
			last++
			name := fmt.Sprintf(" AS v%d", i)
			rows[last] = guard(over.expr(c.Value)) + name
		}
		j := len(values)
		switch {
		case c.Kind == plan.DistinctValues,
			c.Kind == plan.UnitCount && b.Shown != nil, // a unit of several groups of one that is shown is one
			(c.Kind == plan.Added || c.Kind == plan.Clamped) && c.Value.Type() != sqltype.Of(sqltype.Bigint),
			c.Kind == plan.Clamped && (c.Lower.BitLen() > 80 || c.Upper.BitLen() > 80):
			return nil
		case c.Kind == plan.Added && isOne(c.Value):
			asked = append(asked, "n")
			continue
		case c.Kind == plan.Added:
			asked = append(asked, fmt.Sprintf("a%d", j))
		case c.Kind == plan.Clamped:
			asked = append(asked, fmt.Sprintf("c%d:%s:%s", j, c.Lower, c.Upper))
		case c.Value == nil:
			asked = append(asked, "u")
			continue
		default:
			asked, values = append(asked, fmt.Sprintf("s%d", j)), append(values, fmt.Sprintf("CASE WHEN v%d THEN 1 END", i))
			continue
		}
		values = append(values, fmt.Sprintf("v%d", i))
	}
	held := int64(48 + 16*len(values))
	if len(w.chosen) > 0 {
		hash = guard(w.hash(append(w.keys[:len(w.keys):len(w.keys)], w.chosen...)))
		held += int64(16+8*len(values)) * b.MaxRows
	}
	if len(values) > totalValues || len(b.Contributions) > totalsMost || groups > mostGroups || groups*held > totalBytes {
		return nil
	}
	arguments := append([]string{"n", "m", strings.Join(shown, " AND "), strings.Join(numbers, " + "), order, hash}, values...)
	text := d.totals(len(values), len(b.Contributions), strings.Join(asked, " "), arguments,
		fmt.Sprintf("SELECT %s, n, m, f FROM (%s) AS t", strings.Join(rows, ", "), of))
	columns := w.textsOf(d)
	for i := range b.Contributions {
		columns = append(columns, fmt.Sprintf("x%d", i))
	}
	return &engine.Totals{SQL: w.addUp(fmt.Sprintf("SELECT %s FROM (%s) AS t", strings.Join(columns, ", "), text)), Values: len(values), Totals: len(b.Contributions)}
}
