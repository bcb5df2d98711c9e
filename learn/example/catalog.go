package example

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/sqltype"
)

// Declared says what is to be learned from a catalog's table.
type Declared struct {
	Table   *catalog.Table
	Columns []string // of the features; nil: all but the unit's and the target that have a domain or bounds
	Target  string   // the column that is to be predicted; "": none
	Bins    int      // of numbers: see Column
	Unit    bool     // see Encoding
	// Public returns the values of a domain that stands in a public table; needed only
	// where there is one.
	Public func(*catalog.PublicDomain) ([]sqltype.Value, error)
	// Seen returns the values of a column of which nothing is declared, where Table is
	// public and may be looked at: its encoding is taken from them then. Nil where it is
	// private.
	Seen func(*catalog.Column) ([]sqltype.Value, error)
}

// A ColumnError refuses a column by what is declared of it.
type ColumnError struct {
	Table, Column string
	Unknown       bool   // the table has no such column
	Why           string // what is lacking
	Declare       string // the catalog's line that would help; "" if none would
}

func (e *ColumnError) Error() string {
	return fmt.Sprintf("column %q of table %q: %s", e.Column, e.Table, e.Why)
}

// Encoding returns the encoding that the table's declarations amount to, and the
// columns that were left out for want of a domain or bounds.
func (d Declared) Encoding() (e *Encoding, left []string, err error) {
	e = &Encoding{Unit: d.Unit}
	names := d.Columns
	if names == nil {
		for _, c := range d.Table.Columns {
			if c.Name == d.Target || d.unit(c) {
				continue
			}
			if lacks(c) != nil {
				if _, err := d.seen(c); err != nil {
					if refused := (*ColumnError)(nil); !errors.As(err, &refused) {
						return nil, nil, err
					}
					left = append(left, c.Name)
					continue
				}
			}
			names = append(names, c.Name)
		}
	}
	for _, name := range names {
		c, err := d.column(name)
		if err != nil {
			return nil, nil, err
		}
		if name == d.Target {
			return nil, nil, &ColumnError{Table: d.Table.Name, Column: name, Why: "it is the target, and cannot be a feature as well"}
		}
		if c.Values == nil && !c.boolean() {
			c.Bins = d.Bins
		}
		e.Columns = append(e.Columns, *c)
	}
	if d.Target != "" {
		if e.Target, err = d.column(d.Target); err != nil {
			return nil, nil, err
		}
	}
	return e, left, e.Validate()
}

// unit reports whether a column names units: who somebody is must not be a feature
// unless it is asked for.
func (d Declared) unit(c *catalog.Column) bool { return c == d.Table.Unit.Column }

// Needs returns the columns that records are read by: those of the features, and last
// the target.
func (e *Encoding) Needs() (names []string) {
	for _, c := range e.Columns {
		names = append(names, c.Name)
	}
	if e.Target != nil {
		names = append(names, e.Target.Name)
	}
	return names
}

func (d Declared) column(name string) (*Column, error) {
	refuse := &ColumnError{Table: d.Table.Name, Column: name}
	c, ok := d.Table.Column(name)
	if !ok {
		refuse.Unknown, refuse.Why = true, "there is none of that name"
		return nil, refuse
	}
	if lacks(c) != nil {
		return d.seen(c)
	}
	out := &Column{Name: c.Name, Type: c.Type.String()}
	if c.Type.Kind == sqltype.Boolean {
		return out, nil
	}
	if lower, upper, ok := bounds(c); ok && (c.Domain == nil || c.Domain.Values == nil && c.Domain.FromTable == nil) {
		out.Lower, out.Upper = lower, upper
		return out, nil
	}
	values := c.Domain.Values
	if c.Domain.FromTable != nil {
		var err error
		if values, err = d.Public(c.Domain); err != nil {
			return nil, err
		}
	}
	for _, v := range values {
		if v != nil {
			out.Values = append(out.Values, sqltype.Format(v))
		}
	}
	if len(out.Values) == 0 {
		refuse.Why = "its domain is empty"
		return nil, refuse
	}
	return out, nil
}

// maxSeen is how many different values of a public column are categories.
const maxSeen = 256

// seen is the encoding of a column of which too little is declared, by the values that
// stand in it. It refuses what is private, and what has nothing to be learned from.
func (d Declared) seen(c *catalog.Column) (*Column, error) {
	refuse := &ColumnError{Table: d.Table.Name, Column: c.Name}
	if d.Seen == nil || !d.Table.Public || c.Type.Kind == sqltype.IntervalKind {
		lack := lacks(c)
		refuse.Why, refuse.Declare = lack.Why, lack.Declare
		return nil, refuse
	}
	values, err := d.Seen(c)
	if err != nil {
		return nil, err
	}
	out := &Column{Name: c.Name, Type: c.Type.String(), Lower: math.Inf(1), Upper: math.Inf(-1)}
	texts := map[string]bool{}
	for _, v := range values {
		if c.Type.Kind == sqltype.Text && v != nil && len(texts) <= maxSeen {
			texts[sqltype.Format(v)] = true
		}
		if x, ok := number(v); ok {
			out.Lower, out.Upper = min(out.Lower, x), max(out.Upper, x)
		}
	}
	switch {
	case len(texts) > maxSeen:
		refuse.Why = fmt.Sprintf("it has more than %d different values", maxSeen)
		return nil, refuse
	case c.Type.Kind == sqltype.Text && len(texts) > 0:
		out.Values, out.Lower, out.Upper = slices.Sorted(maps.Keys(texts)), 0, 0
		return out, nil
	case c.Type.Kind == sqltype.Text || !(out.Lower < out.Upper) || math.IsInf(out.Upper-out.Lower, 0):
		refuse.Why = "its values are all alike"
		return nil, refuse
	}
	return out, nil
}

// lacks says what a column lacks to be a feature.
func lacks(c *catalog.Column) *ColumnError {
	_, _, bounded := bounds(c)
	switch {
	case c.Type.Kind == sqltype.Boolean || c.Domain != nil || bounded:
		return nil
	case c.Type.Kind == sqltype.Text:
		return &ColumnError{Why: "its values are not declared",
			Declare: fmt.Sprintf(`%s = { type = "text", domain = ["...", "..."] }`, c.Name)}
	case c.Type.Kind == sqltype.IntervalKind:
		return &ColumnError{Why: "intervals are no numbers"}
	case c.Type.IsTemporal():
		return &ColumnError{Why: "its bounds are not declared",
			Declare: fmt.Sprintf(`%s = { type = %q, lower = "...", upper = "..." }`, c.Name, c.Type)}
	}
	return &ColumnError{Why: "its bounds are not declared",
		Declare: fmt.Sprintf(`%s = { type = %q, lower = ..., upper = ... }`, c.Name, c.Type)}
}

// bounds returns the bounds of a column, its own or those of its domain's steps,
// rounded to numbers.
func bounds(c *catalog.Column) (lower, upper float64, ok bool) {
	if d := c.Domain; d != nil && d.Lower != nil && d.Upper != nil {
		lower, upper = float(d.Lower), float(d.Upper)
	} else {
		lo, has := number(c.Lower)
		hi, also := number(c.Upper)
		if !has || !also {
			return 0, 0, false
		}
		lower, upper = lo, hi
	}
	return lower, upper, lower < upper && !math.IsInf(upper-lower, 0)
}

func float(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}
