package accept

type member struct {
	city string
	age  int
	tags []string
}

func indexOf(names []string, name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return -1
}

// ByCityFound counts by a function that returns from a loop.
//
// want: accepted: rows: 1
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func ByCityFound(rows []member, cities []string) []int {
	counts := make([]int, len(cities))
	for _, m := range rows {
		if i := indexOf(cities, m.city); i >= 0 {
			counts[i]++
		}
	}
	return counts
}

// Tagged leaves a loop over what a record holds.
//
// want: accepted: rows: 1
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func Tagged(rows []member, tag string) int {
	n := 0
	for _, m := range rows {
		has := false
		for _, t := range m.tags {
			if t == tag {
				has = true
				break
			}
		}
		if has {
			n++
		}
	}
	return n
}

// Binned finds the bin of a record by a search.
//
// want: accepted: rows: 1
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func Binned(rows []float64, edges []float64) []int {
	counts := make([]int, len(edges)+1)
	for _, r := range rows {
		b := 0
		for b < len(edges) && r >= edges[b] {
			b++
		}
		counts[b]++
	}
	return counts
}

func divisor(a, b int) int {
	if b == 0 {
		return a
	}
	return divisor(b, a%b)
}

// Coprime calls what calls itself.
//
// want: accepted: rows: 1
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func Coprime(rows []int) int {
	n := 0
	for _, r := range rows {
		if divisor(r, 12) == 1 {
			n++
		}
	}
	return n
}

func weight(m member, w []float64) (float64, bool) {
	sum := 0.0
	for i, t := range m.tags {
		if t == "" {
			return 0, false
		}
		sum += w[i]
	}
	return sum, true
}

// Weighed has a function of two results.
//
// want: accepted: rows: 5
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 5
func Weighed(rows []member, w []float64) float64 {
	total := 0.0
	for _, m := range rows {
		if x, ok := weight(m, w); ok {
			total += max(0, min(x, 5))
		}
	}
	return total
}
