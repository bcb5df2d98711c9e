package release

import (
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

// Grouping sets that were bounded once (internal/stability/sets.go) are several noisy looks at one table of fine groups, whose values
// without noise add up. Reconciled, they do so with it:
//
//	minimise Σ_s Σ_g (Σ_{i in g} x_i − y_sg)² / v_s over the fine values x, of one sign where data has one sign alone,
//
// where y_sg is what set s says of group g and v_s the variance of its noise. A set's values are then the sums of x.
//
// Theorem. (1) This is a function of what was released and of public parameters: post-processing, which reveals and costs nothing more
// (Dwork and Roth 2014, Proposition 2.1). (2) Without the sign, and with independent noise, no linear unbiased estimate of any
// sum of x has less variance (Gauss and Markov; for trees of counts Hay, Rastogi, Miklau and Suciu 2010, Theorem 4). (3) An interval
// stays as it was drawn around the set's own value, intersected with what is possible, and is extended to the value that is shown
// where that lies outside: a superset of one that holds with the confidence, so that it does as well. It is never centred anew, and what is moved has
// no more narrow one: other sets' noise would have to hold together with its own.

// mostReconciled bounds the fine groups, and mostWork what is added up for them.
const (
	mostReconciled = 100_000
	mostWork       = 200_000_000
)

// Consistent makes the values of tables such as data could have, each by itself and, of grouping sets that were bounded once, all together.
func Consistent(tables []*Table) {
	var done []*plan.Sets
	for _, t := range tables {
		t.Consistent()
		sets := t.release.Sets
		if sets == nil || slices.Contains(done, sets) {
			continue
		}
		done = append(done, sets)
		var of []*Table
		for _, t := range tables {
			if t.release.Sets == sets {
				of = append(of, t)
			}
		}
		if m := newMarginals(of, len(sets.Keys)); m != nil {
			m.reconcile()
		}
	}
}

// marginals are tables of sums of the same fine groups.
type marginals struct {
	cells  int // fine groups, in the order of the keys
	tables []*Table
	group  [][]int32 // by table and cell: the group that it is in
}

// newMarginals lays the fine groups out; nil where there is nothing to reconcile, or too much.
func newMarginals(tables []*Table, keys int) *marginals {
	if len(tables) < 2 {
		return nil
	}
	sizes := make([]int, keys)
	for _, t := range tables {
		for j, k := range t.release.Level {
			if sizes[k] == 0 {
				sizes[k] = t.values(j)
			}
		}
	}
	m := &marginals{cells: 1, tables: tables}
	for _, n := range sizes {
		if m.cells *= n; n < 1 || m.cells > mostReconciled {
			return nil
		}
	}
	for _, t := range tables {
		group, groups := make([]int32, m.cells), 1
		strides := make([]int, keys)
		for _, k := range slices.Backward(t.release.Level) {
			strides[k] = groups
			groups *= sizes[k]
		}
		if groups != len(t.keys) {
			return nil // not every combination is shown
		}
		for cell := range group {
			for k, rest := keys-1, cell; k >= 0; k-- {
				group[cell] += int32(rest % sizes[k] * strides[k])
				rest /= sizes[k]
			}
		}
		m.group = append(m.group, group)
	}
	return m
}

// values is how many values a key has.
func (t *Table) values(key int) int {
	seen := map[string]bool{}
	for _, k := range t.keys {
		seen[sqltype.Key(k[key])] = true
	}
	return len(seen)
}

// A look is what one table says of a component.
type look struct {
	table, component int
	y                []float64
	weight           float64
}

// reconcile moves every component of which several tables speak, and which adds up.
func (m *marginals) reconcile() {
	for _, t := range m.tables {
		t.moved = make([][]*big.Int, len(t.noisy))
	}
	for at, t := range m.tables {
		for i, c := range t.release.Components {
			switch c.Kind {
			case stability.Rows, stability.Sum, stability.Squares, stability.PartialSum:
			default:
				continue // counts of units and of distinct values do not add up
			}
			if t.moved[i] != nil {
				continue
			}
			var looks []look
			for other := at; other < len(m.tables); other++ {
				for j, d := range m.tables[other].release.Components {
					if d.Same(c) {
						looks = append(looks, m.look(other, j))
						break
					}
				}
			}
			if len(looks) < 2 {
				continue
			}
			x := m.fit(looks, t.release.ray(c))
			if x == nil {
				continue
			}
			whole := roundTogether(x)
			for _, l := range looks {
				m.tables[l.table].moved[l.component] = m.sums(l.table, whole)
			}
		}
	}
}

func (m *marginals) look(table, component int) look {
	t := m.tables[table]
	l := look{table: table, component: component, y: make([]float64, len(t.keys)), weight: 1 / t.release.Noise[component].Variance()}
	for i, n := range t.noisy[component] {
		l.y[i], _ = new(big.Float).SetInt(n).Float64()
	}
	return l
}

// sums are a table's values where its fine groups have these.
func (m *marginals) sums(table int, fine []*big.Int) []*big.Int {
	out := make([]*big.Int, len(m.tables[table].keys))
	for i := range out {
		out[i] = new(big.Int)
	}
	for cell, g := range m.group[table] {
		out[g].Add(out[g], fine[cell])
	}
	return out
}

// fit returns the fine values; nil where floating point loses them.
func (m *marginals) fit(looks []look, sign ray) []float64 {
	heaviest := 0.0
	for _, l := range looks {
		heaviest = max(heaviest, l.weight)
	}
	for i := range looks {
		looks[i].weight /= heaviest
	}
	x := m.leastSquares(looks)
	if sign != 0 {
		x = m.oneSided(looks, x, float64(sign))
	}
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
	}
	return x
}

// add adds to each cell what scale and a function of its group say.
func (m *marginals) add(to []float64, table int, of []float64, scale float64) {
	for cell, g := range m.group[table] {
		to[cell] += scale * of[g]
	}
}

// normal returns Σ_s A_sᵀA_s·x/v_s, where A_s adds up the fine values in each of set s's groups.
func (m *marginals) normal(looks []look, x []float64) []float64 {
	out := make([]float64, m.cells)
	for _, l := range looks {
		sums := make([]float64, len(l.y))
		for cell, g := range m.group[l.table] {
			sums[g] += x[cell]
		}
		m.add(out, l.table, sums, l.weight)
	}
	return out
}

func (m *marginals) target(looks []look) []float64 {
	b := make([]float64, m.cells)
	for _, l := range looks {
		m.add(b, l.table, l.y, l.weight)
	}
	return b
}

// leastSquares solves by conjugate gradients. The A_sᵀA_s are products, key by key, of the identity and of the matrix of ones, which commute:
// with k keys the normal matrix has at most 2^k eigenvalues, and as many steps are enough but for rounding. Of several solutions it finds the
// shortest, whose sums are those of all.
func (m *marginals) leastSquares(looks []look) []float64 {
	x, r := make([]float64, m.cells), m.target(looks)
	p := slices.Clone(r)
	square := dot(r, r)
	enough := square * 1e-26
	for range 200 {
		if !(square > enough) {
			break
		}
		q := m.normal(looks, p)
		along := square / dot(p, q)
		for i := range x {
			x[i] += along * p[i]
			r[i] -= along * q[i]
		}
		next := dot(r, r)
		for i := range p {
			p[i] = r[i] + next/square*p[i]
		}
		square = next
	}
	return x
}

// oneSided moves a solution to the nearest, in the same squares, whose values have one sign: projected gradients with momentum (Beck and Teboulle
// 2009). What it has reached when its steps are used up has the sign all the same.
func (m *marginals) oneSided(looks []look, x []float64, sign float64) []float64 {
	project := func(v float64) float64 { return sign * max(0, sign*v) }
	if !slices.ContainsFunc(x, func(v float64) bool { return sign*v < 0 }) {
		return x
	}
	steepest := 0.0 // the largest eigenvalue
	for _, l := range looks {
		steepest += l.weight * float64(m.cells) / float64(len(l.y))
	}
	b := m.target(looks)
	x = slices.Clone(x)
	for i, v := range x {
		x[i] = project(v)
	}
	ahead, t := slices.Clone(x), 1.0
	for range min(max(mostWork/(m.cells*len(looks)), 50), 2000) {
		gradient := m.normal(looks, ahead)
		next, moved, size := 0.5+math.Sqrt(0.25+t*t), 0.0, 0.0
		for i, v := range ahead {
			to := project(v - (gradient[i]-b[i])/steepest)
			moved, size = max(moved, math.Abs(to-x[i])), max(size, math.Abs(to))
			ahead[i] = to + (t-1)/next*(to-x[i])
			x[i] = to
		}
		if t = next; moved <= 1e-9*size {
			break
		}
	}
	return x
}

func dot(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// roundTogether rounds to whole numbers and carries what is lost on, so that sums of neighbours lose no more than one of them
// does. What is 0, or of one sign, stays so.
func roundTogether(x []float64) []*big.Int {
	out, carry := make([]*big.Int, len(x)), 0.0
	for i, v := range x {
		whole := math.Floor(v + carry + 0.5)
		if v == 0 {
			whole = 0
		}
		carry = min(max(carry+v-whole, -0.5), 0.5)
		out[i], _ = new(big.Float).SetFloat64(whole).Int(nil)
	}
	return out
}
