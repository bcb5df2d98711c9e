package accept

import (
	"slices"
	"strings"
)

// Count counts.
//
// want: accepted: rows: 1
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func Count(rows []string) int {
	n := 0
	for range rows {
		n++
	}
	return n
}

// CountLong counts by continue.
//
// want: accepted: rows: 1
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func CountLong(rows []string, most int) int {
	n := 0
	for _, r := range rows {
		if len(r) <= most {
			continue
		}
		n++
	}
	return n
}

// CountBoth counts two things of each record: two.
//
// want: accepted: people: 2
//
//dp:adjacent bag(people) <= 1
//dp:sensitivity people = 2
func CountBoth(people []person) (adults, women int) {
	for _, p := range people {
		if p.age >= 18 {
			adults++
		}
		if p.female {
			women++
		}
	}
	return adults, women
}

type person struct {
	name   string
	age    int
	female bool
	income float64
	city   string
}

// CountSwitch counts each record in one of three.
//
// want: accepted: people: 1
//
//dp:adjacent bag(people) <= 1
//dp:sensitivity people = 1
func CountSwitch(people []person) [3]int {
	var n [3]int
	for _, p := range people {
		k := 2
		switch {
		case p.age < 18:
			k = 0
		case p.age < 65:
			k = 1
		}
		n[k]++
	}
	return n
}

// Incomes is a sum of clamped fields.
//
// want: accepted: people: top
//
//dp:adjacent bag(people) <= 1
//dp:requires top > 0
//dp:sensitivity people = top
func Incomes(people []person, top float64) (sum float64) {
	for _, p := range people {
		sum += min(max(p.income, 0), top)
	}
	return sum
}

// IncomesIf clamps by branches.
//
// want: accepted: people: top
//
//dp:adjacent bag(people) <= 1
//dp:requires top > 0
//dp:sensitivity people = top
func IncomesIf(people []person, top float64) float64 {
	sum := 0.0
	for _, p := range people {
		x := p.income
		if x < 0 {
			x = 0
		}
		if x > top {
			x = top
		}
		sum += x
	}
	return sum
}

// Decades is a histogram by a clamped index.
//
// want: accepted: people: 1
//
//dp:adjacent bag(people) <= 1
//dp:sensitivity people = 1
func Decades(people []person) []int {
	counts := make([]int, 12)
	for _, p := range people {
		d := min(max(p.age/10, 0), 11)
		counts[d]++
	}
	return counts
}

// ByCity counts in a map, read at public keys, of which none stands twice (a repeated one is
// counted where it is shown, so that the claim is of the largest).
//
// want: accepted: people: 1
//
//dp:adjacent bag(people) <= 1
//dp:sensitivity people = 1 in linf
func ByCity(people []person, cities []string) []int {
	counts := make(map[string]int)
	for _, p := range people {
		counts[p.city]++
	}
	out := make([]int, 0, len(cities))
	for _, c := range cities {
		out = append(out, counts[c])
	}
	return out
}

// Known counts distinct values that are on a public list.
//
// want: accepted: people: 1
//
//dp:adjacent bag(people) <= 1
//dp:sensitivity people = 1
func Known(people []person, list map[string]bool) int {
	seen := map[string]bool{}
	for _, p := range people {
		if list[p.city] {
			seen[p.city] = true
		}
	}
	return len(seen)
}

// FirstWords counts first words.
//
// want: accepted: texts: 1
//
//dp:adjacent bag(texts) <= 1
//dp:sensitivity texts = 1
func FirstWords(texts []string, word string) int {
	n := 0
	for _, t := range texts {
		fields := strings.Fields(strings.ToLower(t))
		if len(fields) > 0 && fields[0] == word {
			n++
		}
	}
	return n
}

// Below is a distribution function: each record moves each of its steps by 1.
//
// want: accepted: xs: 1
//
//dp:adjacent bag(xs) <= 1
//dp:sensitivity xs = 1 in linf
func Below(xs []float64, steps []float64) []int {
	out := make([]int, len(steps))
	for _, x := range xs {
		for i, s := range steps {
			if x <= s {
				out[i]++
			}
		}
	}
	return out
}

// BelowByOne counts for each step.
//
// want: accepted: xs: 1
//
//dp:adjacent bag(xs) <= 1
//dp:sensitivity xs = 1 in linf
func BelowByOne(xs []float64, steps []float64) (out []int) {
	for _, s := range steps {
		n := 0
		for _, x := range xs {
			if x <= s {
				n++
			}
		}
		out = append(out, n)
	}
	return out
}

// BelowEdge is of at most len(steps) in l1.
//
// want: accepted: xs: len(steps)
//
//dp:adjacent bag(xs) <= 1
//dp:sensitivity xs = float64(len(steps))
func BelowAll(xs []float64, steps []float64) []int {
	return Below(xs, steps)
}

type order struct {
	customer, product string
	amount            float64
	quantity          int
}

// Sales is a struct of sums: 1 and 50 and 10.
//
// want: accepted: orders: 61
//
//dp:adjacent bag(orders) <= 1
//dp:sensitivity orders = 61
func Sales(orders []order) summary {
	var s summary
	for _, o := range orders {
		s.n++
		s.amount += min(max(o.amount, 0), 50)
		s.quantity += min(max(o.quantity, 0), 10)
	}
	return s
}

type summary struct {
	n        int
	amount   float64
	quantity int
}

// Revenue maps, filters and sums.
//
// want: accepted: orders: 100
//
//dp:adjacent bag(orders) <= 1
//dp:sensitivity orders = 100
func Revenue(orders []order, product string) float64 {
	var amounts []float64
	for _, o := range orders {
		if o.product == product {
			amounts = append(amounts, o.amount)
		}
	}
	sum := 0.0
	for _, x := range amounts {
		sum += max(0, min(x, 100))
	}
	return sum
}

// Baskets joins by a public key: a record meets one public price.
//
// want: accepted: orders: 20
//
//dp:adjacent bag(orders) <= 1
//dp:sensitivity orders = 20
func Baskets(orders []order, price map[string]float64) float64 {
	sum := 0.0
	for _, o := range orders {
		if p, ok := price[o.product]; ok {
			sum += min(max(p, 0), 20)
		}
	}
	return sum
}

// PerProduct sums for each public product, in l1: each record in one product.
//
// want: accepted: orders: 5
//
//dp:adjacent bag(orders) <= 1
//dp:sensitivity orders = 5
func PerProduct(orders []order) []float64 {
	sums := make([]float64, 4)
	for _, o := range orders {
		k := len(o.product) % 4
		sums[k] += min(max(o.amount, -5), 5)
	}
	return sums
}

func even(n int) bool { return n%2 == 0 }

func where[T any](rows []T, keep func(T) bool) (out []T) {
	for i := range rows {
		if keep(rows[i]) {
			out = append(out, rows[i])
		}
	}
	return
}

func convert[T, U any](rows []T, f func(T) U) []U {
	out := make([]U, 0, len(rows))
	for _, r := range rows {
		out = append(out, f(r))
	}
	return out
}

func countIf[T any](rows []T, is func(T) bool) (n int) {
	for _, r := range rows {
		if is(r) {
			n++
		}
	}
	return n
}

func groupCount[T any, K comparable](rows []T, key func(T) K) map[K]int {
	m := make(map[K]int)
	for _, r := range rows {
		m[key(r)]++
	}
	return m
}

// Seniors is a generic count with a predicate that captures a public age.
//
// want: accepted: people: 1
//
//dp:adjacent bag(people) <= 1
//dp:sensitivity people = 1
func Seniors(people []person, from int) int {
	return countIf(people, func(p person) bool { return p.age >= from })
}

// Converted is a generic map, in two steps.
//
// want: accepted: people: 1
//
//dp:adjacent bag(people) <= 1
//dp:sensitivity people = 1
func Converted(people []person) int {
	ages := convert(people, func(p person) int { return p.age })
	decades := convert(ages, func(a int) int { return a / 10 })
	return countIf(decades, func(d int) bool { return d == 3 })
}

// Grouped is a generic histogram in a map.
//
// want: accepted: people: 1
//
//dp:adjacent bag(people) <= 1
//dp:sensitivity people = 1
func Grouped(people []person, city string) int {
	return groupCount(people, func(p person) string { return p.city })[city]
}

// Two bags of records.
//
// want: accepted: a: 1, b: 2
//
//dp:adjacent bag(a) <= 1
//dp:adjacent bag(b) <= 1
//dp:sensitivity a = 1, b = 2
func Unlike(a, b []int) int { return len(a) - 2*len(b) }

// All is of appended bags.
//
// want: accepted: a: 1, b: 1
//
//dp:adjacent bag(a) <= 1
//dp:adjacent bag(b) <= 1
//dp:sensitivity a = 1, b = 1
func All(a, b []int) int {
	var all []int
	all = append(all, a...)
	all = append(all, b...)
	return countIf(all, even)
}

// Vector sums are clamped in each of two coordinates.
//
// want: accepted: rows: 2
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 2
func VectorSum(rows [][2]float64) [2]float64 {
	var s [2]float64
	for _, r := range rows {
		for j := range s {
			s[j] += max(-1, min(1, r[j]))
		}
	}
	return s
}

// Cells counts in a matrix of slices, each record in one cell.
//
// want: accepted: people: 1
//
//dp:adjacent bag(people) <= 1
//dp:requires n > 0
//dp:sensitivity people = 1
func Cells(people []person, n int) []int {
	grid := make([]int, n*2)
	for _, p := range people {
		row := 0
		if p.female {
			row = 1
		}
		col := min(max(p.age/10, 0), n-1)
		grid[row*n+col]++
	}
	return grid
}

// Weights is a mean over a public number of respondents.
//
// want: accepted: people: 100/n
//
//dp:adjacent bag(people) <= 1
//dp:requires n > 0
//dp:sensitivity people = 100 / n
func MeanIncome(people []person, n float64) float64 {
	total := 0.0
	for _, p := range people {
		total += clampTo(p.income, 0, 100)
	}
	return total / n
}

// CountEither counts each record once.
//
// want: accepted: people: 1
//
//dp:adjacent bag(people) <= 1
//dp:sensitivity people = 1
func CountEither(people []person) (young, old int) {
	for _, p := range people {
		if p.age < 40 {
			young++
		} else {
			old++
		}
	}
	return young, old
}

// Cities counts distinct values.
//
// want: accepted: people: 1
//
//dp:adjacent bag(people) <= 1
//dp:sensitivity people = 1
func Cities(people []person) int {
	seen := make(map[string]struct{})
	for _, p := range people {
		seen[p.city] = struct{}{}
	}
	return len(seen)
}

// Signed moves by at most the larger bound.
//
// want: accepted: xs: 3
//
//dp:adjacent bag(xs) <= 1
//dp:sensitivity xs = 3
func Signed(xs []float64) float64 {
	s := 0.0
	for _, x := range xs {
		if x > 0 {
			s += min(x, 3)
		} else {
			s -= min(-x, 2)
		}
	}
	return s
}

// Evens is by a helper that tells.
//
// want: accepted: ns: 1
//
//dp:adjacent bag(ns) <= 1
//dp:sensitivity ns = 1
func Evens(ns []int) int { return len(where(ns, even)) }

// Ranged adds for each index.
//
// want: accepted: ns: 7
//
//dp:adjacent bag(ns) <= 1
//dp:sensitivity ns = 7
func Ranged(ns []int) int {
	s := 0
	for i := range ns {
		s += min(max(ns[i], 0), 7)
	}
	return s
}

// BandsSearch finds the band by a search.
//
// want: accepted: people: 1
//
//dp:adjacent bag(people) <= 1
//dp:sensitivity people = 1
func BandsSearch(people []person, edges []int) []int {
	counts := make([]int, len(edges)+1)
	for _, p := range people {
		k, _ := slices.BinarySearch(edges, p.age)
		counts[k]++
	}
	return counts
}

// Matched is a join that counts a record of one side once if its key is among public keys.
//
// want: accepted: orders: 1
//
//dp:adjacent bag(orders) <= 1
//dp:sensitivity orders = 1
func Matched(orders []order, customers []string) int {
	n := 0
	for _, o := range orders {
		if slices.Contains(customers, o.customer) {
			n++
		}
	}
	return n
}
