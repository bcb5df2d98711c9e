package sensitivity

import (
	"fmt"
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/verify/internal/claim"
)

// moved is a neighbour, and how far it is.
func moved(t *rapid.T, of []float64, bag bool, norm claim.Norm, record *rapid.Generator[float64], step float64) ([]float64, float64) {
	of = slices.Clone(of)
	if bag {
		of = append(of, record.Draw(t, "record"))
		for i := range of {
			j := rapid.IntRange(0, i).Draw(t, "order")
			of[i], of[j] = of[j], of[i]
		}
		return of, 1
	}
	moves := make([]float64, len(of))
	for i := range of {
		moves[i] = rapid.SampledFrom([]float64{0, 0, 1, -step}).Draw(t, "move")
		of[i] += moves[i]
	}
	return of, length(moves, norm)
}

// between is how far two results are apart.
func between(v, w any, bag bool, norm claim.Norm) (moves []float64) {
	switch v := v.(type) {
	case float64:
		return []float64{v - w.(float64)}
	case []float64:
		return apartness(v, w.([]float64), bag, norm)
	case table:
		w := w.(table)
		for k := range v {
			x, in := w[k]
			if !in {
				x = nothing(v[k])
			}
			moves = append(moves, between(v[k], x, bag, norm)...)
		}
		for k := range w {
			if _, in := v[k]; !in {
				moves = append(moves, between(nothing(w[k]), w[k], bag, norm)...)
			}
		}
	case structure:
		w := w.(structure)
		return append(apartness(v.s, w.s, bag, norm), v.v-w.v, v.n-w.n)
	case [][]float64:
		return listed(v, w.([][]float64), bag, norm)
	case []structure:
		return listed(v, w.([]structure), bag, norm)
	}
	return moves
}

// nothing is what a map has where it has no such value.
func nothing(like any) any {
	switch like.(type) {
	case []float64:
		return []float64(nil)
	case structure:
		return structure{}
	}
	return 0.0
}

// listed is how far slices of what is no number are apart: element by element, or as
// multisets.
func listed[T any](v, w []T, bag bool, norm claim.Norm) (moves []float64) {
	if !bag && len(v) != len(w) {
		return []float64{math.Inf(1)}
	}
	for i := range min(len(v), len(w)) {
		moves = append(moves, between(v[i], w[i], bag, norm)...)
	}
	if !bag {
		return moves
	}
	count := map[string]float64{}
	for _, x := range v {
		count[fmt.Sprint(x)]++
	}
	for _, x := range w {
		count[fmt.Sprint(x)]--
	}
	difference := 0.0
	for _, n := range count {
		difference += math.Abs(n)
	}
	if len(v) != len(w) || length(moves, norm) > difference {
		return []float64{difference}
	}
	return moves
}

// apartness is how far slices are apart: as vectors, or as multisets where that is less.
func apartness(v, w []float64, bag bool, norm claim.Norm) []float64 {
	var moves []float64
	for i := range min(len(v), len(w)) {
		moves = append(moves, v[i]-w[i])
	}
	if !bag {
		if len(v) != len(w) {
			return []float64{math.Inf(1)}
		}
		return moves
	}
	count := map[float64]float64{}
	for _, x := range v {
		count[x]++
	}
	for _, x := range w {
		count[x]--
	}
	difference := 0.0
	for _, n := range count {
		difference += math.Abs(n)
	}
	if len(v) == len(w) && length(moves, norm) < difference {
		return moves
	}
	return []float64{difference}
}
