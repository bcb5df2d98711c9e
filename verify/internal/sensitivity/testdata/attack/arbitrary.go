package attack

import "math/rand"

func place(list []float64, x float64) int {
	for i, y := range list {
		if y == x {
			return i
		}
	}
	return -1
}

// PlaceAmongOthers is of all records, and not of one.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func PlaceAmongOthers(rows []float64) int {
	n := 0
	for _, r := range rows {
		if place(rows, r) == 0 {
			n++
		}
	}
	return n
}

// PlaceByCount is of what other records did.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func PlaceByCount(rows []float64, list []float64) int {
	n := 0
	for _, r := range rows {
		if place(list, r+float64(n)) >= 0 {
			n++
		}
	}
	return n
}

// PlaceSum has no bound.
//
// want: rejected: no bound
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func PlaceSum(rows []float64, list []float64) int {
	n := 0
	for _, r := range rows {
		n += place(list, r)
	}
	return n
}

// LoopSum adds in a loop that ends by the record, as often as that says.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func LoopSum(rows []float64) int {
	n := 0
	for _, r := range rows {
		for x := r; x > 1; x /= 2 {
			n++
		}
	}
	return n
}

// LoopCarried keeps what the loop found for the next record.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func LoopCarried(rows []float64, list []float64) int {
	n, at := 0, 0
	for _, r := range rows {
		for at < len(list) && list[at] < r {
			at++
		}
		if at == 3 {
			n++
		}
	}
	return n
}

// LoopCells adds to a slice in a loop that is left early.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func LoopCells(rows []float64, list []float64) []int {
	counts := make([]int, len(list))
	for _, r := range rows {
		for i, x := range list {
			counts[i]++
			if x > r {
				break
			}
		}
	}
	return counts
}

func drawn(x float64) bool {
	for x > 0 {
		if rand.Float64() < 0.5 {
			return true
		}
		x--
	}
	return false
}

// PlaceDrawn calls what is not pure.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func PlaceDrawn(rows []float64) int {
	n := 0
	for _, r := range rows {
		if drawn(r) {
			n++
		}
	}
	return n
}

func raise(counts []int, x float64) bool {
	for i := range counts {
		if float64(i) > x {
			return true
		}
		counts[i]++
	}
	return false
}

// PlaceRaised calls what writes to what it is given.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func PlaceRaised(rows []float64, k int) []int {
	counts := make([]int, k)
	for _, r := range rows {
		raise(counts, r)
	}
	return counts
}

func placed(x float64) func() float64 {
	for i := range 3 {
		if float64(i) > x {
			return func() float64 { return x }
		}
	}
	return func() float64 { return 0 }
}

// PlaceLater is given a function that knows its record.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 0
func PlaceLater(rows []float64) float64 {
	sum := 0.0
	for _, r := range rows {
		later := placed(r)
		sum += later()
	}
	return sum
}
