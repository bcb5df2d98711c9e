//go:build cgo

package release

import (
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/mechanism"
)

// A telling is a number that an answer tells of a group, in which neighbours are d apart: a weighted sum of components, in
// which one draw of noise stands alone.
type telling struct {
	group    int
	weights  map[int]float64 // by component
	d        float64
	variance float64 // of Gaussian noise
}

// from is how far a table's number lies from another's.
func (x telling) from(table, other *Table) (off float64) {
	for i, w := range x.weights {
		d, _ := new(big.Float).SetInt(new(big.Int).Sub(table.noisy[i][x.group], other.noisy[i][x.group])).Float64()
		off += w * d
	}
	return off
}

// A drawing is a law with the components to which its draws are added: one, or with a blend several, each by weights.
type drawing struct {
	law        mechanism.Additive
	components []int
	weights    [][]*big.Rat // by component and draw
}

func (r *Release) laws() (all []drawing) {
	for i, n := range r.Noise {
		if _, together := n.Additive.(blended); !together {
			all = append(all, drawing{n.Additive, []int{i}, [][]*big.Rat{{big.NewRat(1, 1)}}})
		}
	}
	for _, b := range r.blends {
		all = append(all, drawing{b.law, b.components, b.weights})
	}
	return all
}

// apart are the numbers in which neighbours differ, for each draw that can be told from the components. Let A have the weights: the
// draws' least numbers that move the components by v are Aᵗ(AAᵗ)⁻¹v, and the i-th of them is told by the components
// with the weights (AAᵗ)⁻¹A·eᵢ.
func (l drawing) apart(t *testing.T, a *arranged) (out []telling) {
	t.Helper()
	n, draws := len(l.components), len(l.weights[0])
	product := func(x, y []*big.Rat) *big.Rat {
		sum := new(big.Rat)
		for i := range x {
			sum.Add(sum, new(big.Rat).Mul(x[i], y[i]))
		}
		return sum
	}
	square := make([][]*big.Rat, n)
	for i := range square {
		for j := range n {
			square[i] = append(square[i], product(l.weights[i], l.weights[j]))
		}
	}
	inverse := inverted(t, square)
	for g := range a.d.bare.noisy[l.components[0]] {
		v := make([]*big.Rat, n)
		for j, i := range l.components {
			v[j] = new(big.Rat).SetInt(new(big.Int).Sub(a.neighbour.bare.noisy[i][g], a.d.bare.noisy[i][g]))
		}
		numbers, most := make([]telling, draws), 0.0
		for k := range numbers {
			column := make([]*big.Rat, n)
			for j := range column {
				column[j] = l.weights[j][k]
			}
			x := telling{group: g, weights: map[int]float64{}}
			d := new(big.Rat)
			for j, i := range l.components {
				w := product(inverse[j], column)
				x.weights[i], _ = w.Float64()
				d.Add(d, new(big.Rat).Mul(w, v[j]))
			}
			x.d, _ = d.Float64()
			numbers[k], most = x, max(most, math.Abs(x.d))
		}
		for _, x := range numbers {
			if math.Abs(x.d) > most/1000 { // less tells nothing
				out = append(out, x)
			}
		}
	}
	return out
}

// inverted is the inverse of a matrix, by Gauss and Jordan.
func inverted(t *testing.T, m [][]*big.Rat) [][]*big.Rat {
	t.Helper()
	n := len(m)
	rows := make([][]*big.Rat, n)
	for i := range rows {
		for j := range 2 * n {
			x := new(big.Rat)
			switch {
			case j < n:
				x.Set(m[i][j])
			case j == n+i:
				x.SetInt64(1)
			}
			rows[i] = append(rows[i], x)
		}
	}
	for i := range rows {
		at := i
		for at < n && rows[at][i].Sign() == 0 {
			at++
		}
		if at == n {
			t.Fatal("components that hang on one another have one noise")
		}
		rows[i], rows[at] = rows[at], rows[i]
		pivot := new(big.Rat).Set(rows[i][i])
		for j := range rows[i] {
			rows[i][j].Quo(rows[i][j], pivot)
		}
		for k := range rows {
			if k == i {
				continue
			}
			factor := new(big.Rat).Set(rows[k][i])
			for j := range rows[k] {
				rows[k][j].Sub(rows[k][j], new(big.Rat).Mul(factor, rows[i][j]))
			}
		}
	}
	for i := range rows {
		rows[i] = rows[i][n:]
	}
	return rows
}
