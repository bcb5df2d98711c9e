package discreet

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/sqltype"
)

// The parts of what is "auto".
const (
	ofLower  = "lower"
	ofUpper  = "upper"
	ofGroups = "groups"
	ofRows   = "rows"
)

// A search is the statement that finds a bound. In it each unit has one number: the least or the largest of
// its values, how many groups it is in, or the most rows that it has in one. A public grid cuts the declared
// range into cells, and the statement counts the units in each. A unit is in one cell, so that the noise is
// that of a single count, however many cells there are and however many rows a unit has.
type search struct {
	bound Bound
	table *catalog.Table
	edges []string // the grid, ascending; its ends are those of the declared range
	text  string
}

var errOneValue = errors.New("the declared range has one value")

// mark begins the statements of searches. The rest of their first line says what is searched for.
const mark = "-- discreet bounds "

type marked struct {
	Domain string   `json:"domain"`
	Table  string   `json:"table"`
	Of     string   `json:"of"`
	Column string   `json:"column,omitempty"`
	By     []string `json:"by,omitempty"`
	Data   string   `json:"data"` // a digest of where the values come from
}

// dataOf is a digest of what a search reads: the source, how its records are read, who owns them, and how each of
// these columns is made. What was found of other data under the same names counts for nothing.
func dataOf(t *catalog.Table, columns ...*catalog.Column) string {
	var b strings.Builder
	column := func(c *catalog.Column) {
		is := ""
		if c.Is != nil {
			is = c.Is.Text
		}
		fmt.Fprintf(&b, "column %q %q %s\n", c.Field(), is, c.Type)
	}
	for of := t; of != nil; of = of.Unit.References {
		fmt.Fprintf(&b, "table %q %q %+v %d unit %d\n", of.Domain.ID, of.Source.Text, of.Form, of.Malformed, of.Unit.Kind)
		for _, c := range []*catalog.Column{of.Unit.Column, of.Unit.Referred} {
			if c != nil {
				column(c)
			}
		}
	}
	for _, c := range columns {
		column(c)
	}
	digest := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(digest[:16])
}

// readBound reads what a statement searches for.
func readBound(text string) (Bound, bool) {
	line, _, _ := strings.Cut(text, "\n")
	line, ok := strings.CutPrefix(line, mark)
	var m marked
	if !ok || json.Unmarshal([]byte(line), &m) != nil {
		return Bound{}, false
	}
	return Bound{Table: m.Table, Of: m.Of, Column: m.Column, By: m.By}, true
}

// search states a bound's search over what the catalog declares.
func (b Bound) search(c *catalog.Catalog) (*search, error) {
	t, ok := c.Table(b.Table)
	if !ok || t.Public || t.Mapping != nil {
		return nil, fmt.Errorf("no private table %q", b.Table)
	}
	b.By = slices.Compact(slices.Sorted(slices.Values(b.By)))
	s := &search{bound: b, table: t}
	var columns []*catalog.Column
	from, unit := rowsOf(t)
	column := func(name string) string { return "t0." + quoted(name) }
	var each string
	switch b.Of {
	case ofLower, ofUpper:
		of, ok := t.Column(b.Column)
		if !ok || !of.Auto {
			return nil, fmt.Errorf("column %q of table %q has no bounds to be found", b.Column, b.Table)
		}
		s.edges, columns = edgesOf(of), []*catalog.Column{of}
		extreme := map[string]string{ofLower: "min", ofUpper: "max"}[b.Of]
		if each = fmt.Sprintf("SELECT %s AS unit, %s(%s) AS x FROM %s GROUP BY 1", unit, extreme, column(b.Column), from); unit == "" {
			each = fmt.Sprintf("SELECT %s AS x FROM %s", column(b.Column), from)
		}
	case ofGroups, ofRows:
		if !t.Auto || unit == "" {
			return nil, fmt.Errorf("table %q has no contribution to be found", b.Table)
		}
		most := map[string]int64{ofGroups: t.MaxGroups, ofRows: t.MaxRows}[b.Of]
		s.edges = wholeEdges(most)
		each = fmt.Sprintf("SELECT %s AS unit, count(*) AS x FROM %s GROUP BY 1", unit, from)
		if len(b.By) > 0 {
			keys := make([]string, len(b.By))
			places := make([]string, len(b.By))
			for i, name := range b.By {
				key, ok := t.Column(name)
				if !ok {
					return nil, fmt.Errorf("table %q has no column %q", b.Table, name)
				}
				columns = append(columns, key)
				keys[i], places[i] = fmt.Sprintf("%s AS k%d", column(name), i), strconv.Itoa(i+2)
			}
			what := map[string]string{ofGroups: "count(*)", ofRows: "max(n)"}[b.Of]
			each = fmt.Sprintf("SELECT unit, %s AS x FROM (SELECT %s AS unit, %s, count(*) AS n FROM %s GROUP BY 1, %s) AS of_group GROUP BY 1",
				what, unit, strings.Join(keys, ", "), from, strings.Join(places, ", "))
		}
	default:
		return nil, fmt.Errorf("nothing is called %q", b.Of)
	}
	if len(s.edges) < 2 {
		return nil, errOneValue
	}
	said, err := json.Marshal(marked{t.Domain.ID, b.Table, b.Of, b.Column, b.By, dataOf(t, columns...)})
	if err != nil {
		return nil, err
	}
	s.text = fmt.Sprintf("%s%s\nSELECT %s AS cell, count(*) AS units FROM (%s) AS of_unit WHERE x IS NOT NULL GROUP BY 1", mark, said, s.cells(), each)
	return s, nil
}

// rowsOf is a table t0 with those by which its rows find their unit, and the unit; none where each row is one.
func rowsOf(t *catalog.Table) (from, unit string) {
	from = quoted(t.Name) + " AS t0"
	for i := 0; ; i++ {
		switch u := t.Unit; u.Kind {
		case catalog.UnitColumn:
			return from, fmt.Sprintf("t%d.%s", i, quoted(u.Column.Name))
		case catalog.UnitReference:
			from += fmt.Sprintf(" JOIN %s AS t%d ON t%d.%s = t%d.%s", quoted(u.References.Name), i+1, i, quoted(u.Column.Name), i+1, quoted(u.Referred.Name))
			t = u.References
		default:
			return from, ""
		}
	}
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// cells numbers the cells from 1, so that the bound of an upper search is the end above its cell, of a
// lower one the end below. What lies beyond the declared range is in the outermost.
func (s *search) cells() string {
	var b strings.Builder
	b.WriteString("CASE")
	n := len(s.edges)
	if s.bound.Of == ofLower {
		for i := n - 1; i > 0; i-- {
			fmt.Fprintf(&b, " WHEN x >= %s THEN %d", s.edges[i], i+1)
		}
		b.WriteString(" ELSE 1 END")
		return b.String()
	}
	for i, edge := range s.edges[:n-1] {
		fmt.Fprintf(&b, " WHEN x <= %s THEN %d", edge, i+1)
	}
	fmt.Fprintf(&b, " ELSE %d END", n)
	return b.String()
}

// declared is the end of the declared range that the search begins at.
func (s *search) declared() string {
	if s.bound.Of == ofLower {
		return plain(s.edges[0])
	}
	return plain(s.edges[len(s.edges)-1])
}

// plain is an edge without the words that make it a double.
func plain(edge string) string {
	return strings.TrimSuffix(strings.TrimPrefix(edge, "'"), "'::double precision")
}

// read finds the bound in a search's answer; "" where there are too few units to find any.
func (s *search) read(a *Answer) (string, error) {
	counts := make([]float64, len(s.edges))
	for _, row := range a.Rows {
		cell, err := strconv.Atoi(sqltype.Format(row[0]))
		if err != nil || cell < 1 || cell > len(counts) {
			return "", errors.New("the answer has a cell that the grid has not")
		}
		if counts[cell-1], err = strconv.ParseFloat(sqltype.Format(row[1]), 64); err != nil {
			return "", err
		}
	}
	if len(a.Mechanisms) != 1 {
		return "", errors.New("the answer's noise is not that of counts alone")
	}
	deviation := a.Mechanisms[0].Scale
	if strings.Contains(a.Mechanisms[0].Mechanism, "laplace") {
		deviation *= math.Sqrt2
	}
	outermost := slices.Clone(counts)
	if s.bound.Of != ofLower {
		slices.Reverse(outermost)
	}
	cut, ok := cutOff(outermost, deviation)
	if !ok {
		return "", nil
	}
	if s.bound.Of == ofLower {
		return plain(s.edges[cut]), nil
	}
	return plain(s.edges[len(s.edges)-1-cut]), nil
}

// cutOff says how many of the outermost cells a bound cuts off, by noisy counts of units that begin with the
// outermost. It goes inwards as long as what is cut off is less than one unit in a hundred, or cannot be told
// from that: noise in empty cells, of two standard deviations, must not stop it far out. It is not ok where
// noise could hide that more than one unit in ten is cut off.
func cutOff(counts []float64, deviation float64) (cells int, ok bool) {
	total := 0.0
	for _, c := range counts {
		total += c
	}
	tail := 0.0
	for i, c := range counts[:len(counts)-1] {
		if tail += c; tail > total/100+2*deviation*math.Sqrt(float64(i+1)) {
			break
		}
		cells = i + 1
	}
	return cells, total/100+4*deviation*math.Sqrt(float64(max(cells, 1))) <= total/10
}

// octaves is how far the grid reaches below the end of the declared range that is farther from 0, in powers of two.
const octaves = 32

// edgesOf is the grid of a column: 0, the ends of the declared range, and, between them, 1, 1.25, 1.5 and 1.75
// times powers of two, of both signs, rounded away from 0 to what the type has.
func edgesOf(c *catalog.Column) []string {
	value := func(v sqltype.Value) *big.Rat {
		r, err := numeric.ParseDecimal(sqltype.Format(v))
		if err != nil {
			panic("found: a bound that is no number") // the catalog has numbers alone
		}
		return r
	}
	low, high := value(c.Lower), value(c.Upper)
	unit := new(big.Rat) // of the type's lattice; 0 of doubles
	switch {
	case c.Type.IsInteger():
		unit.SetInt64(1)
	case c.Type.Kind == sqltype.DecimalKind:
		unit.SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.Type.Scale)), nil))
	}
	farther := new(big.Rat).Abs(low)
	if a := new(big.Rat).Abs(high); a.Cmp(farther) > 0 {
		farther = a
	}
	top, _ := farther.Float64()
	_, exponent := math.Frexp(top)
	all := []*big.Rat{low, high, new(big.Rat)}
	for k := exponent - octaves; k <= exponent; k++ {
		for quarters := int64(4); quarters < 8; quarters++ {
			x := new(big.Rat).Mul(big.NewRat(quarters, 4), powerOfTwo(k))
			if unit.Sign() > 0 {
				x.Mul(unit, new(big.Rat).SetInt(numeric.Ceil(new(big.Rat).Quo(x, unit))))
			}
			all = append(all, x, new(big.Rat).Neg(x))
		}
	}
	all = slices.DeleteFunc(all, func(x *big.Rat) bool { return x.Cmp(low) < 0 || x.Cmp(high) > 0 })
	slices.SortFunc(all, (*big.Rat).Cmp)
	all = slices.CompactFunc(all, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
	edges := make([]string, len(all))
	for i, x := range all {
		switch {
		case c.Type.IsInteger():
			edges[i] = x.Num().String()
		case c.Type.Kind == sqltype.DecimalKind:
			edges[i] = x.FloatString(int(c.Type.Scale))
		default:
			f, _ := x.Float64()
			edges[i] = "'" + strconv.FormatFloat(f, 'g', -1, 64) + "'::double precision"
		}
	}
	return slices.Compact(edges)
}

func powerOfTwo(k int) *big.Rat {
	p := new(big.Int).Lsh(big.NewInt(1), uint(max(k, -k)))
	if k < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), p)
	}
	return new(big.Rat).SetInt(p)
}

// wholeEdges is the grid of a number from 1 to most.
func wholeEdges(most int64) (edges []string) {
	last := int64(0)
	for k := 0; last < most; k++ {
		for quarters := int64(4); quarters < 8 && last < most; quarters++ {
			if x := min((quarters<<k+3)/4, most); x > last {
				edges, last = append(edges, strconv.FormatInt(x, 10)), x
			}
		}
	}
	return edges
}
