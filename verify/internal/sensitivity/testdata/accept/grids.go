package accept

import "github.com/discreet-dp/discreet/noise"

// GridReleased is one record in one cell, and all cells with noise.
//
// want: accepted: eps
//
//dp:adjacent bag(spots) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func GridReleased(spots []spot, n int, eps float64, src *noise.Source) []float64 {
	grid := make([][]float64, n)
	for i := range grid {
		grid[i] = make([]float64, n)
	}
	for _, s := range spots {
		if s.x >= 0 && s.x < n && s.y >= 0 && s.y < n {
			grid[s.x][s.y]++
		}
	}
	var out []float64
	for i := range n {
		for j := range n {
			out = append(out, grid[i][j]+src.Laplace(1/eps))
		}
	}
	return out
}

type spot struct{ x, y int }

// Grid counts in a table of two dimensions.
//
// want: accepted: spots: 1
//
//dp:adjacent bag(spots) <= 1
//dp:sensitivity spots = 1
func Grid(spots []spot, n int) [][]int {
	grid := make([][]int, n)
	for i := range grid {
		grid[i] = make([]int, n)
	}
	for _, s := range spots {
		if s.x >= 0 && s.x < n && s.y >= 0 && s.y < n {
			grid[s.x][s.y]++
		}
	}
	return grid
}

// SecondMoments are sums of products of clamped coordinates, of which there are d·d.
//
// want: accepted: rows: d*d
//
//dp:adjacent bag(rows) <= 1
//dp:requires d >= 0
//dp:sensitivity rows = float64(d * d)
func SecondMoments(rows [][]float64, d int) [][]float64 {
	grid := make([][]float64, d)
	for i := range grid {
		grid[i] = make([]float64, d)
	}
	for _, r := range rows {
		for i := range d {
			for j := range d {
				grid[i][j] += max(-1, min(r[i], 1)) * max(-1, min(r[j], 1))
			}
		}
	}
	return grid
}

type cluster struct {
	n    int
	x, y float64
}

// Clusters count and add in the fields of elements.
//
// want: accepted: spots: 5
//
//dp:adjacent bag(spots) <= 1
//dp:sensitivity spots = 5
func Clusters(spots []spot, k int) []cluster {
	all := make([]cluster, k)
	for _, s := range spots {
		if s.x >= 0 && s.x < k {
			all[s.x].n++
			all[s.x].x += float64(max(-2, min(s.x, 2)))
			all[s.x].y += float64(max(-2, min(s.y, 2)))
		}
	}
	return all
}

// ScaledMatrix fills a matrix of its own.
//
// want: accepted: m: 2
//
//dp:sensitivity m = 2
func ScaledMatrix(m [][]float64, cols int) [][]float64 {
	out := make([][]float64, len(m))
	for i := range m {
		out[i] = make([]float64, cols)
		for j := range cols {
			out[i][j] = 2 * m[i][j]
		}
	}
	return out
}

// Product multiplies by a public matrix of numbers in [0, 1]: each element goes into all
// columns.
//
// want: accepted: m: cols
//
//dp:requires cols >= 0
//dp:sensitivity m = cols
func Product(m, w [][]float64, mid, cols int) [][]float64 {
	out := make([][]float64, len(m))
	for i := range m {
		out[i] = make([]float64, cols)
		for j := range cols {
			for k := range mid {
				out[i][j] += m[i][k] * max(0, min(w[k][j], 1))
			}
		}
	}
	return out
}
