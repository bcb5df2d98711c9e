package datanode

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/privacy"
)

// A Query is a function of rows with bounds, so that its sensitivity is known from
// the query alone. Queries are compiled before private data are touched.
//
// Below, n rows become integers on a grid (x for a row, low <= x <= high). Each query
// states the distances between the integers of neighbours: with a row added or removed, and
// with a row replaced, where n is public.
type Query interface {
	fmt.Stringer
	compile(s shape) (compiled, error)
	declared() []Vouched
}

// The queries for whose sensitivity nobody has to vouch.

func (Count) declared() []Vouched      { return nil }
func (CountWhere) declared() []Vouched { return nil }
func (Sum) declared() []Vouched        { return nil }
func (Mean) declared() []Vouched       { return nil }
func (Histogram) declared() []Vouched  { return nil }
func (Identity) declared() []Vouched   { return nil }

// A compiled query turns rows into integers, each of which stands for a public amount.
type compiled struct {
	labels []string
	exact  func(f *frame) []*big.Int
	// Distances of the integers between neighbours: L1, and the square of L2.
	l1, l2squared *big.Rat
	worth         []*big.Rat // what one integer is worth in each coordinate; the last for all further ones
	finish        func(noisy []float64) []float64
	declared      []Vouched // on which the distances rest
}

// Count is the number of rows. Distances: 1 and 1.
type Count struct{}

func (Count) String() string { return "count()" }

func (Count) compile(shape) (compiled, error) {
	return counting([]string{"count"}, 1, func(f *frame) []int { return []int{f.rows} }), nil
}

// counting is a vector of counts. A neighbour changes at most changed of them, by one each.
func counting(labels []string, changed int64, exact func(f *frame) []int) compiled {
	return compiled{
		labels: labels,
		exact: func(f *frame) []*big.Int {
			counts := exact(f)
			values := make([]*big.Int, len(counts))
			for i, n := range counts {
				values[i] = big.NewInt(int64(n))
			}
			return values
		},
		l1: big.NewRat(changed, 1), l2squared: big.NewRat(changed, 1), worth: []*big.Rat{big.NewRat(1, 1)},
	}
}

// CountWhere is the number of rows whose Column is Text, or is a number from Lower to
// Upper. Distances: 1 and 1.
type CountWhere struct {
	Column       string
	Text         string
	Lower, Upper float64
}

func (q CountWhere) String() string {
	if q.Text != "" {
		return fmt.Sprintf("count(%q is %q)", q.Column, q.Text)
	}
	return fmt.Sprintf("count(%q in [%v, %v])", q.Column, q.Lower, q.Upper)
}

func (q CountWhere) compile(s shape) (compiled, error) {
	i, err := s.find(q.Column)
	if err != nil {
		return compiled{}, err
	}
	if !s.columns[i].text() && (q.Text != "" || !(q.Lower <= q.Upper)) {
		return compiled{}, fmt.Errorf("%w: column %q has numbers, and the bounds admit none", ErrQuery, s.columns[i].name)
	}
	return counting([]string{"count"}, 1, func(f *frame) []int {
		n := 0
		for _, t := range f.columns[i].texts {
			if t == q.Text {
				n++
			}
		}
		for _, x := range f.columns[i].numbers {
			if q.Lower <= x && x <= q.Upper {
				n++
			}
		}
		return []int{n}
	}), nil
}

// Sum is the sum of a column clamped to [Lower, Upper]. Distances: added or removed
// max(|low|, |high|), replaced high − low.
type Sum struct {
	Column       string
	Lower, Upper float64
}

func (q Sum) String() string { return fmt.Sprintf("sum(%q in [%v, %v])", q.Column, q.Lower, q.Upper) }

func (q Sum) compile(s shape) (compiled, error) {
	i, err := s.number(q.Column)
	if err != nil {
		return compiled{}, err
	}
	g, err := newGrid(q.Lower, q.Upper)
	if err != nil {
		return compiled{}, err
	}
	far := max(-g.low, g.high)
	if s.replaced {
		far = g.high - g.low
	}
	d := big.NewRat(far, 1)
	return compiled{
		labels: []string{"sum"},
		exact:  func(f *frame) []*big.Int { return []*big.Int{g.sum(f.columns[i].numbers, 0)} },
		l1:     d, l2squared: new(big.Rat).Mul(d, d), worth: []*big.Rat{g.worth()},
	}, nil
}

// Mean is the mean of a column clamped to [Lower, Upper], and clamped to it again
// after noise.
//
// Under replace-one n is public: the distance of the sum is high − low. Under
// add-remove the mean is the quotient of two noisy numbers, the sum of x − c for the
// middle c of the bounds, and the count times s = max(high−c, c−low): each changes by
// at most s, so the distances are 2s and s√2.
type Mean struct {
	Column       string
	Lower, Upper float64
}

func (q Mean) String() string {
	return fmt.Sprintf("mean(%q in [%v, %v])", q.Column, q.Lower, q.Upper)
}

func (q Mean) compile(s shape) (compiled, error) {
	i, err := s.number(q.Column)
	if err != nil {
		return compiled{}, err
	}
	g, err := newGrid(q.Lower, q.Upper)
	if err != nil {
		return compiled{}, err
	}
	c := compiled{labels: []string{"mean"}}
	within := func(x float64) []float64 { return []float64{min(max(x, g.lower), g.upper)} }
	if s.replaced {
		if s.rows == 0 {
			return compiled{}, fmt.Errorf("%w: the mean of no rows", ErrQuery)
		}
		d := big.NewRat(g.high-g.low, 1)
		c.l1, c.l2squared = d, new(big.Rat).Mul(d, d)
		c.worth = []*big.Rat{new(big.Rat).Quo(g.worth(), big.NewRat(int64(s.rows), 1))}
		c.exact = func(f *frame) []*big.Int { return []*big.Int{g.sum(f.columns[i].numbers, 0)} }
		c.finish = func(noisy []float64) []float64 { return within(noisy[0]) }
		return c, nil
	}
	centre := g.low + (g.high-g.low)/2
	far := max(g.high-centre, centre-g.low)
	d := big.NewRat(far, 1)
	c.l1, c.l2squared = new(big.Rat).Add(d, d), new(big.Rat).Mul(d, d)
	c.l2squared.Add(c.l2squared, c.l2squared)
	c.worth = []*big.Rat{big.NewRat(1, far), g.worth()}
	c.exact = func(f *frame) []*big.Int {
		n := new(big.Int).Mul(big.NewInt(int64(f.rows)), big.NewInt(far))
		return []*big.Int{n, g.sum(f.columns[i].numbers, centre)}
	}
	middle := math.Ldexp(float64(centre), g.exp)
	c.finish = func(noisy []float64) []float64 { return within(middle + noisy[1]/max(noisy[0], 1)) }
	return c, nil
}

// Histogram counts the rows in each of the Categories of a column of texts, or
// between each two of the ascending Edges of a column of numbers, the lower one
// included; what is in none is not counted. A row is in one bin: distances 1 and 1,
// replaced 2 and √2.
type Histogram struct {
	Column     string
	Categories []string
	Edges      []float64
}

func (q Histogram) String() string {
	if len(q.Categories) > 0 {
		return fmt.Sprintf("histogram(%q among %q)", q.Column, q.Categories)
	}
	return fmt.Sprintf("histogram(%q at %v)", q.Column, q.Edges)
}

func (q Histogram) compile(s shape) (compiled, error) {
	i, err := s.find(q.Column)
	if err != nil {
		return compiled{}, err
	}
	changed := int64(1)
	if s.replaced {
		changed = 2
	}
	if s.columns[i].text() {
		bins := map[string]int{}
		for b, text := range q.Categories {
			bins[text] = b
		}
		if len(bins) == 0 || len(bins) < len(q.Categories) || len(q.Edges) > 0 {
			return compiled{}, fmt.Errorf("%w: a column of texts needs categories, each once", ErrQuery)
		}
		return counting(slices.Clone(q.Categories), changed, func(f *frame) []int {
			counts := make([]int, len(bins))
			for _, t := range f.columns[i].texts {
				if b, ok := bins[t]; ok {
					counts[b]++
				}
			}
			return counts
		}), nil
	}
	edges := slices.Clone(q.Edges)
	ascending := len(edges) > 1 && len(q.Categories) == 0
	for b := 1; b < len(edges); b++ {
		ascending = ascending && edges[b-1] < edges[b]
	}
	if !ascending {
		return compiled{}, fmt.Errorf("%w: a column of numbers needs ascending edges", ErrQuery)
	}
	labels := make([]string, len(edges)-1)
	for b := range labels {
		labels[b] = fmt.Sprintf("[%v, %v)", edges[b], edges[b+1])
	}
	return counting(labels, changed, func(f *frame) []int {
		counts := make([]int, len(labels))
		for _, x := range f.columns[i].numbers {
			if b, on := slices.BinarySearch(edges, x); !math.IsNaN(x) {
				if !on {
					b--
				}
				if 0 <= b && b < len(counts) {
					counts[b]++
				}
			}
		}
		return counts
	}), nil
}

// Identity is every row's numbers, in one column or, if none is named, in all,
// clamped to [Lower, Upper]. It shows how many rows there are, so it is for replace-one
// alone. Of k columns, distances are k·(high−low) and √k·(high−low). With one column it is
// what each unit would do for itself (the local model).
type Identity struct {
	Column       string
	Lower, Upper float64
}

func (q Identity) String() string {
	return fmt.Sprintf("identity(%q in [%v, %v])", q.Column, q.Lower, q.Upper)
}

func (q Identity) compile(s shape) (compiled, error) {
	if !s.replaced {
		return compiled{}, fmt.Errorf("%w: identity shows how many rows there are, so a row may only be replaced (%v)", ErrQuery, privacy.ReplaceOne)
	}
	var chosen []int
	if q.Column == "" {
		for i, c := range s.columns {
			if !c.text() {
				chosen = append(chosen, i)
			}
		}
	} else {
		i, err := s.number(q.Column)
		if err != nil {
			return compiled{}, err
		}
		chosen = []int{i}
	}
	if s.rows*len(chosen) == 0 {
		return compiled{}, fmt.Errorf("%w: no numbers", ErrQuery)
	}
	g, err := newGrid(q.Lower, q.Upper)
	if err != nil {
		return compiled{}, err
	}
	k, d := big.NewRat(int64(len(chosen)), 1), big.NewRat(g.high-g.low, 1)
	square := new(big.Rat).Mul(d, d)
	return compiled{
		exact: func(f *frame) []*big.Int {
			values := make([]*big.Int, 0, f.rows*len(chosen))
			for r := range f.rows {
				for _, i := range chosen {
					values = append(values, big.NewInt(g.place(f.columns[i].numbers[r])))
				}
			}
			return values
		},
		l1: d.Mul(d, k), l2squared: square.Mul(square, k), worth: []*big.Rat{g.worth()},
	}, nil
}

// join names the parts of a statement.
func join(parts ...string) string { return strings.Join(parts, " of ") }
