package datanode

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Data are private: rows of numbers and texts, each row one unit's, or a table of
// a catalog. Nothing reads them but a Node's access definitions, and nothing prints
// them. Data are immutable.
type Data struct {
	withheld
	held func() *held
}

// held is either a frame or a catalog's table.
type held struct {
	frame frame
	table *catalogTable
}

// A frame is rows in columns.
type frame struct {
	rows    int
	columns []column
}

type column struct {
	name    string
	numbers []float64 // one a row, or
	texts   []string
}

// A Column is a column of a Table, and as private.
type Column struct {
	withheld
	held func() *column
}

// Numbers is a column of numbers. NaN means missing: it counts as zero, or as the
// number nearest to zero that a query's bounds allow.
func Numbers(name string, values []float64) Column {
	return holdColumn(column{name: name, numbers: slices.Clone(nonNil(values))})
}

// Texts is a column of texts.
func Texts(name string, values []string) Column {
	return holdColumn(column{name: name, texts: slices.Clone(nonNil(values))})
}

func hold(h held) Data           { return Data{held: func() *held { return &h }} }
func holdColumn(c column) Column { return Column{held: func() *column { return &c }} }

func nonNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// Number is one unit's number.
func Number(x float64) Data { return Vector([]float64{x}) }

// Vector is numbers, each of another unit.
func Vector(x []float64) Data {
	return hold(held{frame: frame{len(x), []column{{numbers: slices.Clone(nonNil(x))}}}})
}

// Record is one unit's numbers: columns "0", "1", ...
func Record(x []float64) (Data, error) { return Matrix([][]float64{x}) }

// Matrix is rows of numbers, each of another unit, in columns "0", "1", ...
func Matrix(rows [][]float64) (Data, error) {
	if len(rows) == 0 {
		return Data{}, errors.New("matrix: no rows, so that the number of columns is not known")
	}
	columns := make([]column, len(rows[0]))
	for c := range columns {
		columns[c] = column{name: strconv.Itoa(c), numbers: make([]float64, len(rows))}
	}
	for r, row := range rows {
		if len(row) != len(columns) {
			return Data{}, errors.New("matrix: rows differ in length")
		}
		for c, x := range row {
			columns[c].numbers[r] = x
		}
	}
	return newFrame(columns)
}

// Labeled is rows of numbers with a label each: a Matrix with the column "label".
func Labeled(rows [][]float64, labels []float64) (Data, error) {
	d, err := Matrix(rows)
	if err != nil {
		return Data{}, err
	}
	return newFrame(append(d.held().frame.columns, column{name: "label", numbers: slices.Clone(nonNil(labels))}))
}

// Table is columns of the same length, each row of another unit.
func Table(columns ...Column) (Data, error) {
	own := make([]column, len(columns))
	for i, c := range columns {
		if c.held == nil {
			return Data{}, errors.New("table: a column is missing")
		}
		own[i] = *c.held()
	}
	return newFrame(own)
}

func newFrame(columns []column) (Data, error) {
	if len(columns) == 0 {
		return Data{}, errors.New("table: no columns")
	}
	f := frame{columns[0].len(), columns}
	names := map[string]bool{}
	for _, c := range columns {
		if c.len() != f.rows {
			return Data{}, fmt.Errorf("table: column %q is not as long as the first", c.name)
		}
		if names[c.name] {
			return Data{}, fmt.Errorf("table: two columns are called %q", c.name)
		}
		names[c.name] = true
	}
	return hold(held{frame: f}), nil
}

func (c *column) len() int { return max(len(c.numbers), len(c.texts)) }

func (c *column) text() bool { return c.texts != nil }

// A shape is the public part of data: the schema and, under replace-one, the number of
// rows. All that is decided before the charge is decided by it.
type shape struct {
	replaced bool // the relation is privacy.ReplaceOne
	rows     int  // 0 under add-remove
	columns  []column
}

func (f *frame) shape(replaced bool) shape {
	s := shape{replaced: replaced}
	if replaced {
		s.rows = f.rows
	}
	for _, c := range f.columns {
		schema := column{name: c.name}
		if c.text() {
			schema.texts = []string{}
		}
		s.columns = append(s.columns, schema)
	}
	return s
}

// find returns a column's place; an empty name means the only one.
func (s shape) find(name string) (int, error) {
	if name == "" && len(s.columns) == 1 {
		return 0, nil
	}
	if i := slices.IndexFunc(s.columns, func(c column) bool { return c.name == name }); i >= 0 {
		return i, nil
	}
	known := make([]string, len(s.columns))
	for i, c := range s.columns {
		known[i] = strconv.Quote(c.name)
	}
	return 0, fmt.Errorf("%w: no column %q among %s", ErrQuery, name, strings.Join(known, ", "))
}

// number returns the place of a column of numbers.
func (s shape) number(name string) (int, error) {
	i, err := s.find(name)
	if err == nil && s.columns[i].text() {
		err = fmt.Errorf("%w: column %q has texts", ErrQuery, s.columns[i].name)
	}
	return i, err
}

// pick returns the frame of the rows with the given indices.
func (f *frame) pick(rows []int) *frame {
	sample := frame{rows: len(rows)}
	for _, c := range f.columns {
		p := column{name: c.name}
		if c.text() {
			p.texts = make([]string, len(rows))
			for i, r := range rows {
				p.texts[i] = c.texts[r]
			}
		} else {
			p.numbers = make([]float64, len(rows))
			for i, r := range rows {
				p.numbers[i] = c.numbers[r]
			}
		}
		sample.columns = append(sample.columns, p)
	}
	return &sample
}

// zeroed is x, or 0 where it is missing.
func zeroed(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return x
}
