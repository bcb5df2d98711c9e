package release

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

// A quiet noise has a variance and a width.
type quiet struct {
	still
	variance float64
}

func (q quiet) Variance() float64 { return q.variance }

// A setting is the tables of some grouping sets over the same fine groups, with noise, and the true fine values.
type setting struct {
	sizes    []int
	levels   [][]int
	variance []float64
	truth    []int64
	tables   []*Table
}

func (s setting) cells() int { return len(s.truth) }

// group is the number of the group of a level that a fine one is in.
func (s setting) group(level []int, cell int) int {
	index := make([]int, len(s.sizes))
	for k, rest := len(s.sizes)-1, cell; k >= 0; k-- {
		index[k], rest = rest%s.sizes[k], rest/s.sizes[k]
	}
	g := 0
	for _, k := range level {
		g = g*s.sizes[k] + index[k]
	}
	return g
}

func (s setting) groups(level []int) int {
	n := 1
	for _, k := range level {
		n *= s.sizes[k]
	}
	return n
}

// A counted aggregate, or a sum of values of both signs.
func settings(of *stability.Component) *rapid.Generator[setting] {
	return rapid.Custom(func(t *rapid.T) setting {
		s := setting{sizes: rapid.SliceOfN(rapid.IntRange(1, 4), 1, 3).Draw(t, "sizes")}
		all := &plan.Sets{}
		for k := range s.sizes {
			all.Names = append(all.Names, fmt.Sprint("k", k))
			all.Keys = append(all.Keys, &plan.Ref{Index: k, T: sqltype.Of(sqltype.Bigint)})
		}
		masks := rapid.SliceOfNDistinct(rapid.IntRange(0, 1<<len(s.sizes)-1), 1, 5, rapid.ID[int]).Draw(t, "sets")
		if finest := 1<<len(s.sizes) - 1; !slices.Contains(masks, finest) {
			masks = append(masks, finest)
		}
		cells := 1
		for _, n := range s.sizes {
			cells *= n
		}
		s.truth = rapid.SliceOfN(rapid.Int64Range(0, 6), cells, cells).Draw(t, "truth")
		bigint := sqltype.Of(sqltype.Bigint)
		for _, mask := range masks {
			var level []int
			for k := range s.sizes {
				if mask>>k&1 == 1 {
					level = append(level, k)
				}
			}
			variance := float64(rapid.IntRange(1, 9).Draw(t, "variance"))
			g := stability.Aggregate{Function: plan.CountStar, Type: bigint, Components: []int{0}}
			certificate := &stability.Release{Components: []stability.Component{*of}, Aggregates: []stability.Aggregate{g}, Sets: all, Level: level}
			for _, k := range level {
				certificate.Keys = append(certificate.Keys, stability.Key{Name: all.Names[k]})
				certificate.Columns = append(certificate.Columns, plan.Column{Name: all.Names[k], Type: bigint})
			}
			certificate.Columns = append(certificate.Columns, plan.Column{Name: "n", Type: bigint})
			table := &Table{release: &Release{Noise: []Noise{{Additive: quiet{still{width: big.NewInt(3)}, variance}}}, Release: certificate}}
			values := make([]*big.Int, s.groups(level))
			for i := range values {
				values[i] = big.NewInt(rapid.Int64Range(-8, 8).Draw(t, "noise"))
				key, rest := make([]sqltype.Value, len(level)), i
				for j := len(level) - 1; j >= 0; j-- {
					key[j], rest = int64(rest%s.sizes[level[j]]), rest/s.sizes[level[j]]
				}
				table.keys = append(table.keys, key)
			}
			for cell, v := range s.truth {
				g := s.group(level, cell)
				values[g].Add(values[g], big.NewInt(v))
			}
			table.noisy = [][]*big.Int{values}
			s.levels, s.variance, s.tables = append(s.levels, level), append(s.variance, variance), append(s.tables, table)
		}
		return s
	})
}

func component(kind stability.ComponentKind, low int64) *stability.Component {
	return &stability.Component{Kind: kind, Grid: big.NewRat(1, 1), ArgGrid: big.NewRat(1, 1), PerGroup: big.NewInt(1), Center: new(big.Int), LowerUnits: big.NewInt(low), UpperUnits: big.NewInt(6)}
}

// Marginals add up to the last unit, have the sign that data has, keep intervals that hold, and stay as they are where they add up already. Three
// planted faults are caught: sets that are moved by themselves, fine values that are rounded by themselves, intervals that are centred anew.
func TestMarginalsAddUp(t *testing.T) {
	t.Parallel()
	for _, of := range []*stability.Component{component(stability.Rows, 0), component(stability.Sum, -6)} {
		checkFaults(t, rapid.Custom(func(t *rapid.T) []bool {
			caught := make([]bool, 3)
			s := settings(of).Draw(t, "setting")
			shown := func() (rows [][][]sqltype.Value) {
				for _, table := range s.tables {
					_, out, err := table.Rows(big.NewRat(19, 20), []int{1})
					if err != nil {
						t.Fatal(err)
					}
					rows = append(rows, out)
				}
				return rows
			}
			before := shown()
			Consistent(s.tables)
			after := shown()
			whole := slices.IndexFunc(s.levels, func(l []int) bool { return len(l) == len(s.sizes) })
			at := func(rows [][][]sqltype.Value, i, g, column int) int64 {
				return rows[i][g][len(s.levels[i])+column].(int64)
			}
			for i, level := range s.levels {
				sums, alone := make([]int64, s.groups(level)), make([]int64, s.groups(level))
				for cell := range s.cells() {
					sums[s.group(level, cell)] += at(after, whole, cell, 0)
					alone[s.group(level, cell)] += at(before, whole, cell, 0)
				}
				for g, sum := range sums {
					value, lower, upper := at(after, i, g, 0), at(after, i, g, 1), at(after, i, g, 2)
					if value != sum {
						t.Fatalf("set %v, group %d: %d, and its fine groups add up to %d", level, g, value, sum)
					}
					if of.Kind == stability.Rows && value < 0 {
						t.Fatalf("set %v, group %d: a count of %d", level, g, value)
					}
					from, to := at(before, i, g, 1), at(before, i, g, 2)
					if of.Kind == stability.Rows {
						from, to = max(from, 0), max(to, 0)
					}
					if lower > from || upper < to || value < lower || value > upper {
						t.Fatalf("set %v, group %d: %d in [%d, %d], where [%d, %d] holds", level, g, value, lower, upper, from, to)
					}
					if lower < from && lower != value || upper > to && upper != value {
						t.Fatalf("set %v, group %d: [%d, %d] reaches further than to %d and [%d, %d]", level, g, lower, upper, value, from, to)
					}
					caught[0] = caught[0] || at(before, i, g, 0) != alone[g]
					caught[2] = caught[2] || value-3 > from || value+3 < to
				}
			}
			if len(s.tables) > 1 {
				x := newMarginals(s.tables, len(s.sizes)).leastSquares(looksAt(s))
				exact, rounded := 0.0, 0.0
				for _, v := range x {
					exact, rounded = exact+v, rounded+math.Round(v)
				}
				caught[1] = math.Abs(exact-rounded) > 1
				total := 0.0
				for _, v := range roundTogether(x) {
					f, _ := new(big.Float).SetInt(v).Float64()
					total += f
				}
				if math.Abs(total-exact) > 0.5+1e-6 {
					t.Fatalf("%v adds up to %v, and rounded to %v", x, exact, total)
				}
			}
			return caught
		}))
	}
}

func looksAt(s setting) (all []look) {
	m := newMarginals(s.tables, len(s.sizes))
	for i := range s.tables {
		all = append(all, m.look(i, 0))
	}
	return all
}

// The values are those of least squares, as elimination finds them, and of one sign the nearest that have it: no small move along any
// fine group, or between two of them, comes nearer. Squares without weights are caught.
func TestMarginalsAreLeastSquares(t *testing.T) {
	t.Parallel()
	checkFaults(t, rapid.Custom(func(t *rapid.T) []bool {
		s := settings(component(stability.Rows, 0)).Draw(t, "setting")
		if len(s.tables) < 2 {
			return []bool{false}
		}
		m, looks := newMarginals(s.tables, len(s.sizes)), looksAt(s)
		x := m.leastSquares(looks)
		want := s.eliminate(func(i int) float64 { return 1 / s.variance[i] })
		plain := s.eliminate(func(int) float64 { return 1 })
		differ := false
		for i := range x {
			if math.Abs(x[i]-want[i]) > 1e-6 {
				t.Fatalf("least squares of %v are %v, want %v", s.levels, x, want)
			}
			differ = differ || math.Abs(x[i]-plain[i]) > 1e-3
		}
		square := func(x []float64) (sum float64) {
			for _, l := range looks {
				of := slices.Clone(l.y)
				for cell, g := range m.group[l.table] {
					of[g] -= x[cell]
				}
				sum += l.weight * dot(of, of)
			}
			return sum
		}
		sided := m.oneSided(looks, x, 1)
		least := square(sided)
		for i := range sided {
			if sided[i] < 0 {
				t.Fatalf("%v has a negative count", sided)
			}
			for j := range sided {
				for _, by := range []float64{0.01, -0.01} {
					y := slices.Clone(sided)
					y[i] += by
					if j != i {
						y[j] -= by
					}
					if y[i] >= 0 && y[j] >= 0 && square(y) < least-1e-5 {
						t.Fatalf("%v is no nearer than %v: %v, %v", sided, y, least, square(y))
					}
				}
			}
		}
		return []bool{differ}
	}))
}

// eliminate solves the normal equations.
func (s setting) eliminate(weight func(set int) float64) []float64 {
	n := s.cells()
	a := make([][]float64, n)
	for i := range a {
		a[i] = make([]float64, n+1)
		for set, level := range s.levels {
			g := s.group(level, i)
			for j := range n {
				if s.group(level, j) == g {
					a[i][j] += weight(set)
				}
			}
			y, _ := new(big.Float).SetInt(s.tables[set].noisy[0][g]).Float64()
			a[i][n] += weight(set) * y
		}
	}
	for i := range n {
		for j := range n {
			if j != i {
				f := a[j][i] / a[i][i]
				for k := range a[j] {
					a[j][k] -= f * a[i][k]
				}
			}
		}
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = a[i][n] / a[i][i]
	}
	return out
}
