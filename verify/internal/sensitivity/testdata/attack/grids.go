package attack

type spot struct{ x, y int }

// RowsOfRecords: how long a row is depends on the records, and it is counted in as well.
//
// want: rejected
//
//dp:adjacent bag(spots) <= 1
//dp:sensitivity spots = 1
func RowsOfRecords(spots []spot, n int) int {
	grid := make([][]int, n)
	for i := range grid {
		grid[i] = make([]int, n)
	}
	for _, s := range spots {
		grid[s.x] = make([]int, s.y)
		grid[s.x][0]++
	}
	return len(grid[0])
}

// OneRow: all rows are one.
//
// want: rejected
//
//dp:adjacent bag(spots) <= 1
//dp:sensitivity spots = 1
func OneRow(spots []spot, n int) [][]int {
	grid := make([][]int, n)
	row := make([]int, n)
	for i := range grid {
		grid[i] = row
	}
	for _, s := range spots {
		grid[s.x][s.y]++
	}
	return grid
}

// RowOfAnother: two rows are one.
//
// want: rejected
//
//dp:adjacent bag(spots) <= 1
//dp:sensitivity spots = 1
func RowOfAnother(spots []spot, n int) [][]int {
	grid := make([][]int, n)
	for i := range grid {
		grid[i] = make([]int, n)
	}
	grid[0] = grid[1]
	for _, s := range spots {
		grid[s.x][s.y]++
	}
	return grid
}

// GivenRows: the rows are the caller's, who sees what is added.
//
// want: rejected
//
//dp:adjacent bag(spots) <= 1
//dp:sensitivity spots = 1
func GivenRows(spots []spot, rows [][]int) int {
	grid := append([][]int(nil), rows...)
	for _, s := range spots {
		grid[s.x][s.y]++
	}
	return rows[0][0]
}

// TwoCells: each record counts twice.
//
// want: rejected: at most 2
//
//dp:adjacent bag(spots) <= 1
//dp:sensitivity spots = 1
func TwoCells(spots []spot, n int) [][]int {
	grid := make([][]int, n)
	for i := range grid {
		grid[i] = make([]int, n)
	}
	for _, s := range spots {
		grid[s.x][s.y]++
		grid[s.y][s.x]++
	}
	return grid
}

// RowKept: a row has another name when it is counted in.
//
// want: rejected
//
//dp:adjacent bag(spots) <= 1
//dp:sensitivity spots = 1
func RowKept(spots []spot, n int) (int, [][]int) {
	grid := make([][]int, n)
	for i := range grid {
		grid[i] = make([]int, n)
	}
	first := grid[0]
	for _, s := range spots {
		grid[s.x][s.y]++
	}
	return first[0], grid
}

// CellFromOthers: what a record adds depends on the records before it.
//
// want: rejected
//
//dp:adjacent bag(spots) <= 1
//dp:sensitivity spots = 1
func CellFromOthers(spots []spot, n int) [][]int {
	grid := make([][]int, n)
	for i := range grid {
		grid[i] = make([]int, n)
	}
	for _, s := range spots {
		grid[s.x][s.y] += min(1, grid[s.y][s.x])
	}
	return grid
}

type cluster struct {
	n int
	x float64
}

// FieldUnclamped: a record may add anything.
//
// want: rejected
//
//dp:adjacent bag(spots) <= 1
//dp:sensitivity spots = 2
func FieldUnclamped(spots []spot, k int) []cluster {
	all := make([]cluster, k)
	for _, s := range spots {
		all[s.x].n++
		all[s.x].x += float64(s.y)
	}
	return all
}

// FieldSet: the last record that comes decides.
//
// want: rejected
//
//dp:adjacent bag(spots) <= 1
//dp:sensitivity spots = 2
func FieldSet(spots []spot, k int) []cluster {
	all := make([]cluster, k)
	for _, s := range spots {
		all[s.x].n = min(1, max(0, s.y))
	}
	return all
}

// MatrixTwice: each element is in two cells.
//
// want: rejected
//
//dp:sensitivity m = 1
func MatrixTwice(m [][]float64, cols int) [][]float64 {
	out := make([][]float64, len(m))
	for i := range m {
		out[i] = make([]float64, 2*cols)
		for j := range cols {
			out[i][j] = m[i][j]
			out[i][cols+j] = m[i][j]
		}
	}
	return out
}
