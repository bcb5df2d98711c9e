package catalog

import (
	"iter"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/sqltype"
)

// MaxDomain bounds the size of a public domain: each of its values is a row of
// the answer, noise and all, whether or not the data has it.
const MaxDomain = 1_000_000

// Size returns how many values the domain has; ok is false when that is known
// only after its public table is read.
func (d *PublicDomain) Size() (n int64, ok bool) {
	switch {
	case d.FromTable != nil:
		return 0, false
	case d.Step != nil:
		return d.steps().Int64() + 1, true
	}
	return int64(len(d.Values)), true
}

// steps returns (upper − lower) / step, which is whole.
func (d *PublicDomain) steps() *big.Int {
	r := new(big.Rat).Sub(d.Upper, d.Lower)
	return r.Quo(r, d.Step).Num()
}

// All yields the domain's values in ascending order, as values of the column's
// type t. It yields none of a domain that is read from a public table.
func (d *PublicDomain) All(t sqltype.Type) iter.Seq[sqltype.Value] {
	if d.Step == nil {
		return slices.Values(d.Values)
	}
	// Lower and Step are whole multiples of 10^−scale, so the values are exact.
	unit := new(big.Rat).SetInt(pow10(t.Scale))
	next := new(big.Rat).Mul(d.Lower, unit).Num()
	step := new(big.Rat).Mul(d.Step, unit).Num()
	return func(yield func(sqltype.Value) bool) {
		n, _ := d.Size()
		for i, v := int64(0), next; i < n; i++ {
			var value sqltype.Value = sqltype.Decimal{Unscaled: v, Scale: t.Scale}
			if t.IsInteger() {
				value = v.Int64()
			}
			if !yield(value) {
				return
			}
			v = new(big.Int).Add(v, step)
		}
	}
}

func pow10(n uint8) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// publicDomain reads a column's step or domain.
func (l *loader) publicDomain(c *Column, n *node, public bool) {
	if public || n == nil || n.kind != tableNode || c.Type.Kind == sqltype.Null {
		return
	}
	step, list := n.field("step"), n.field("domain")
	switch {
	case step != nil && list != nil:
		l.refuse("D092", step.key, "column %q has two public domains", c.Name).
			Because("step and domain each declare one").Try("remove one of them")
	case step != nil:
		c.Domain = l.steppedDomain(c, n, step)
	case list != nil && l.undecided[list]:
	case list != nil && list.kind == arrayNode:
		c.Domain = l.listedDomain(c, list)
	case list != nil && list.kind == tableNode:
		c.Domain = l.tableDomain(c, list)
	case list != nil:
		l.wrong(list, `an array of values or { from = "table.column" }`)
	}
}

func (l *loader) steppedDomain(c *Column, n, f *node) *PublicDomain {
	if !c.Type.IsInteger() && c.Type.Kind != sqltype.DecimalKind && c.Type.Kind != sqltype.DateKind {
		l.refuse("D092", f.key, "a column of type %s has no step", c.Type).
			Because("a step makes a public domain of integers, decimals or dates").
			Try("list the values with domain = [...], or remove step")
		return nil
	}
	if n.field("lower") == nil && n.field("upper") == nil {
		l.refuse("D092", f.key, `"step" needs "lower" and "upper"`).Because("the public domain is lower, lower + step, ... up to upper")
		return nil
	}
	if c.Lower == nil || c.Upper == nil { // refused already
		return nil
	}
	stepType := c.Type
	if c.Type.Kind == sqltype.DateKind {
		stepType = sqltype.Of(sqltype.Integer) // days
	}
	v, ok := l.value("D092", f, stepType)
	if !ok {
		return nil
	}
	d := &PublicDomain{Lower: ratOf(c.Lower), Upper: ratOf(c.Upper), Step: ratOf(v)}
	if d.Step.Sign() <= 0 {
		l.refuse("D092", f.value, "step is not above zero")
		return nil
	}
	n64 := new(big.Rat).Sub(d.Upper, d.Lower)
	if n64.Quo(n64, d.Step); !n64.IsInt() {
		l.refuse("D092", f.value, "step does not lead from lower to upper").
			Because("(upper - lower) / step is not whole")
		return nil
	}
	if n64.Num().Cmp(big.NewInt(MaxDomain)) >= 0 {
		l.tooLarge(f, "step")
		return nil
	}
	if c.Type.Kind == sqltype.DateKind {
		return &PublicDomain{Values: dates(d)}
	}
	return d
}

// dates lists a range of days: only numbers are ranges outside this package.
func dates(days *PublicDomain) []sqltype.Value {
	var all []sqltype.Value
	for v := range days.All(sqltype.Of(sqltype.Integer)) {
		all = append(all, sqltype.Date(v.(int64)))
	}
	return all
}

func (l *loader) tooLarge(f *node, what string) {
	l.refuse("D092", f.value, "%s makes a public domain of more than %d values", what, MaxDomain).
		Because("an answer has a row for each value, whatever the data").
		Try("take a coarser domain")
}

func (l *loader) listedDomain(c *Column, f *node) *PublicDomain {
	switch {
	case c.Type.Kind == sqltype.IntervalKind:
		l.refuse("D092", f.key, "a column of type %s has no public domain", c.Type).
			Because("different intervals can compare equal, as 1 month and 30 days do")
		return nil
	case len(f.items) == 0:
		l.refuse("D092", f.value, "the public domain is empty").Try("list its values, or remove domain")
		return nil
	case len(f.items) > MaxDomain:
		l.tooLarge(f, "domain")
		return nil
	}
	d := &PublicDomain{}
	seen := map[string]bool{}
	ok := true
	for _, item := range f.items {
		v, valid := l.value("D092", item, c.Type)
		if ok = ok && valid; !valid {
			continue
		}
		if key := sqltype.Key(v); seen[key] {
			l.refuse("D092", item.value, "%s stands twice in the public domain", l.text[item.value.Start:item.value.End])
			ok = false
		} else {
			seen[key] = true
			d.Values = append(d.Values, v)
		}
	}
	if !ok {
		return nil
	}
	slices.SortFunc(d.Values, sqltype.Compare)
	return d
}

func (l *loader) tableDomain(c *Column, f *node) *PublicDomain {
	l.keys(f, "from")
	from := f.field("from")
	if from == nil {
		l.missing(f, "from", `write domain = { from = "departments.name" }`)
		return nil
	}
	text, ok := l.str(from)
	if !ok {
		return nil
	}
	table, column := l.resolve(from, text)
	switch {
	case table == nil:
		return nil
	case !table.Public:
		l.refuse("D092", from.value, "table %q is private", table.Name).
			Because("a public domain is what anyone may know").
			Try("list the values with domain = [...], or name a table with public = true")
		return nil
	case column.Type.Kind == sqltype.Null: // refused already
		return nil
	case !sameDomainType(c.Type, column.Type):
		l.refuse("D092", from.value, "column %q has type %s, not %s", text, column.Type, c.Type).
			Try("declare both with the same type")
		return nil
	}
	return &PublicDomain{FromTable: table, FromColumn: column}
}

// sameDomainType reports whether values of b can be listed as values of a.
func sameDomainType(a, b sqltype.Type) bool {
	return a == b && a.Kind != sqltype.IntervalKind || a.IsInteger() && b.IsInteger()
}
