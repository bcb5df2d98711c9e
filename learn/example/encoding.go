package example

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/sqltype"
)

// An Encoding says how a record becomes an example. It is plain data, made of
// declarations alone, and part of a model: what predicts reads records as what
// trained did.
type Encoding struct {
	Columns []Column `json:"columns"`
	Target  *Column  `json:"target,omitempty"`
	// Unit scales numbers to [0, 1] in place of [-1, 1].
	Unit bool `json:"unit,omitempty"`
}

// A Column is a declared column of one of three kinds:
//
//   - with Values, a category: one feature a value, 1 at the record's own, and one
//     that says that it has none of them, NULL or unknown;
//   - a boolean: -1 or 1, and one that says NULL;
//   - else a number or a time with bounds: clamped to them and scaled, one that says
//     NULL, and with Bins one feature for each of so many equal parts of the
//     range, and of its logarithm, 1 where the number lies. A linear model of these
//     is a step function of the number, and sees what lies close to the lower bound.
//
// Of NULL all other features are 0. So a record's features lie in [-1, 1], whatever
// stands in it, and at most four of a column are not 0.
type Column struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"` // of package sqltype; dates count days, times microseconds
	Values []string `json:"values,omitempty"`
	Lower  float64  `json:"lower,omitempty"`
	Upper  float64  `json:"upper,omitempty"`
	Bins   int      `json:"bins,omitempty"`
}

// The limits of an encoding.
const (
	MaxBins  = 1024
	MaxWidth = 1 << 20
)

// ErrEncoding is returned for an encoding that is no encoding.
var ErrEncoding = errors.New("not an encoding")

// Validate refuses an encoding that records could not be read by.
func (e *Encoding) Validate() error {
	if len(e.Columns) == 0 {
		return fmt.Errorf("%w: it has no columns", ErrEncoding)
	}
	names := map[string]bool{}
	all := e.Columns
	if e.Target != nil {
		all = append(slices.Clip(all), *e.Target)
	}
	for i := range all {
		c := &all[i]
		if names[c.Name] {
			return fmt.Errorf("%w: column %q stands twice", ErrEncoding, c.Name)
		}
		names[c.Name] = true
		if err := c.validate(); err != nil {
			return err
		}
	}
	if w := e.Width(); w > MaxWidth {
		return fmt.Errorf("%w: %d features, more than %d", ErrEncoding, w, MaxWidth)
	}
	if e.Target != nil && e.Target.Bins != 0 {
		return fmt.Errorf("%w: the target %q has bins", ErrEncoding, e.Target.Name)
	}
	if e.Target != nil && e.Target.Values != nil && len(e.Target.Values) < 2 {
		return fmt.Errorf("%w: the target %q has fewer than two values", ErrEncoding, e.Target.Name)
	}
	return nil
}

func (c *Column) validate() error {
	t, err := sqltype.Parse(c.Type)
	bounded := c.Lower < c.Upper && !math.IsInf(c.Upper-c.Lower, 0)
	switch {
	case err != nil:
		return fmt.Errorf("%w: column %q: %w", ErrEncoding, c.Name, err)
	case c.Name == "":
		return fmt.Errorf("%w: a column has no name", ErrEncoding)
	case c.Bins < 0 || c.Bins > MaxBins || c.Bins == 1:
		return fmt.Errorf("%w: column %q has %d bins", ErrEncoding, c.Name, c.Bins)
	case t.Kind == sqltype.IntervalKind:
		return fmt.Errorf("%w: column %q is an interval", ErrEncoding, c.Name)
	case c.Values != nil:
		sorted := slices.Sorted(slices.Values(c.Values))
		if len(slices.Compact(sorted)) < len(c.Values) {
			return fmt.Errorf("%w: a value of column %q stands twice", ErrEncoding, c.Name)
		}
	case t.Kind == sqltype.Boolean:
	case t.Kind == sqltype.Text:
		return fmt.Errorf("%w: column %q is a text without values", ErrEncoding, c.Name)
	case !bounded:
		return fmt.Errorf("%w: column %q has no bounds in order", ErrEncoding, c.Name)
	}
	return nil
}

// Width returns the number of features.
func (e *Encoding) Width() (n int) {
	for i := range e.Columns {
		n += e.Columns[i].width()
	}
	return n
}

// Widths returns the number of features of each column.
func (e *Encoding) Widths() []int {
	all := make([]int, len(e.Columns))
	for i := range e.Columns {
		all[i] = e.Columns[i].width()
	}
	return all
}

func (c *Column) boolean() bool { return c.Values == nil && strings.EqualFold(c.kind(), "boolean") }

// kind is the type's name in the one spelling that there is.
func (c *Column) kind() string {
	t, err := sqltype.Parse(c.Type)
	if err != nil {
		return ""
	}
	return t.String()
}

func (c *Column) width() int {
	switch {
	case c.Values != nil:
		return len(c.Values) + 1
	case c.boolean():
		return 2
	}
	return 2 + 2*c.Bins
}

// Names returns a name for each feature, as "age", "age null", "sex = Male".
func (e *Encoding) Names() (names []string) {
	for i := range e.Columns {
		c := &e.Columns[i]
		for _, v := range c.Values {
			names = append(names, c.Name+" = "+v)
		}
		if c.Values == nil {
			names = append(names, c.Name)
		}
		names = append(names, c.Name+" null")
		for _, of := range []string{"", " log"} {
			for b := range c.Bins {
				names = append(names, fmt.Sprintf("%s%s part %d of %d", c.Name, of, b+1, c.Bins))
			}
		}
	}
	return names
}

// ClassNames are the classes of the target in their order: its values, or false
// and true; nil where it is a number.
func (e *Encoding) ClassNames() []string {
	switch t := e.Target; {
	case t == nil:
		return nil
	case t.boolean():
		return []string{"false", "true"}
	default:
		return slices.Clone(t.Values)
	}
}

// A reader is an encoding, ready to read.
type reader struct {
	unit    bool
	columns []coder
	target  *coder
	width   int
}

type coder struct {
	Column
	boolean bool
	sqlType sqltype.Type
	at      map[string]int // of Values
	from    int            // its first feature
}

func (e *Encoding) reader() (*reader, error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	r := &reader{unit: e.Unit}
	for _, c := range e.Columns {
		r.columns = append(r.columns, c.coder(r.width))
		r.width += c.width()
	}
	if e.Target != nil {
		t := e.Target.coder(0)
		r.target = &t
	}
	return r, nil
}

func (c Column) coder(from int) coder {
	t, _ := sqltype.Parse(c.Type) // validate has parsed it
	out := coder{Column: c, boolean: c.boolean(), sqlType: t, from: from}
	if c.Values != nil {
		out.at = map[string]int{}
		for i, v := range c.Values {
			out.at[v] = i
		}
	}
	return out
}

// parse reads a field of a file; what is no value of the column's type is NULL.
func (c *coder) parse(field []byte) sqltype.Value {
	if field == nil {
		return nil
	}
	v, err := sqltype.ParseValue(c.sqlType, string(field))
	if err != nil {
		return nil
	}
	return v
}

// class returns which of the values, or of false and true, v is; -1 for none.
func (c *coder) class(v sqltype.Value) int {
	switch v := v.(type) {
	case nil:
		return -1
	case bool:
		if c.boolean && v {
			return 1
		} else if c.boolean {
			return 0
		}
	}
	if i, ok := c.at[sqltype.Format(v)]; ok {
		return i
	}
	return -1
}

// share returns where in its bounds a number lies, from 0 to 1; false for NULL.
func (c *coder) share(v sqltype.Value) (float64, bool) {
	x, ok := number(v)
	if !ok {
		return 0, false
	}
	// Halves, so that the widest bounds do not overflow.
	return min(max((x/2-c.Lower/2)/(c.Upper/2-c.Lower/2), 0), 1), true
}

// number is a value as a number, finite.
func number(v sqltype.Value) (x float64, ok bool) {
	switch v := v.(type) {
	case int64:
		x = float64(v)
	case float64:
		x = v
	case sqltype.Decimal:
		x, _ = new(big.Rat).Set(v.Rat()).Float64()
	case sqltype.Date:
		x = float64(v)
	case sqltype.Time:
		x = float64(v)
	case sqltype.Timestamp:
		x = float64(v)
	default:
		return 0, false
	}
	return x, !math.IsNaN(x) && !math.IsInf(x, 0)
}

// scaled puts a share into [-1, 1], or leaves it in [0, 1].
func (r *reader) scaled(u float64) float64 {
	if r.unit {
		return u
	}
	return 2*u - 1
}

// features fills out, of the reader's width, from the columns' values.
func (r *reader) features(values []sqltype.Value, out []float32) {
	clear(out)
	for i := range r.columns {
		c := &r.columns[i]
		c.features(r, values[i], out[c.from:])
	}
}

func (c *coder) features(r *reader, v sqltype.Value, out []float32) {
	switch {
	case c.Values != nil:
		if i := c.class(v); i >= 0 {
			out[i] = 1
		} else {
			out[len(c.Values)] = 1
		}
	case c.boolean:
		if i := c.class(v); i >= 0 {
			out[0] = float32(r.scaled(float64(i)))
		} else {
			out[1] = 1
		}
	default:
		u, ok := c.share(v)
		if !ok {
			out[1] = 1
			return
		}
		out[0] = float32(r.scaled(u))
		if c.Bins > 0 {
			out[2+part(u, c.Bins)] = 1
			out[2+c.Bins+part(math.Log1p(logScale*u)/math.Log1p(logScale), c.Bins)] = 1
		}
	}
}

// logScale is how much finer the logarithm is at the lower bound than at the
// upper.
const logScale = 1000

func part(u float64, parts int) int { return min(int(u*float64(parts)), parts-1) }

// TargetOf returns what a network's output for a numeric target means: the number in
// its bounds.
func (e *Encoding) TargetOf(output float64) float64 {
	u := output
	if !e.Unit {
		u = (output + 1) / 2
	}
	u = min(max(u, 0), 1)
	return e.Target.Lower*(1-u) + e.Target.Upper*u
}
