package attack

import (
	"math"
	"slices"

	"github.com/discreet-dp/discreet/noise"
)

// MixedBeyond: 1-w is -1 at w = 2, and moves as far as 1.
//
// want: rejected
//
//dp:requires w >= 0
//dp:sensitivity y = 1 - w
func MixedBeyond(x, y, w float64) float64 { return w*x + (1-w)*y }

// MixedTwice: the factors add up to 1+2w.
//
// want: rejected
//
//dp:requires w >= 0 && w <= 1
//dp:sensitivity x = 1
func MixedTwice(x, w float64) float64 { return (1+w)*x + w*x }

// Overshooting: (1-r)·y grows for r > 2.
//
// want: rejected
//
//dp:requires r >= 0
//dp:sensitivity x = 1
func Overshooting(x, r float64, n int) float64 {
	y := x
	for i := 0; i < n; i++ {
		y = (1-r)*y + r*10
	}
	return y
}

// SquareOfThree: x² of x in [-3, 3] is 9.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 3
func SquareOfThree(rows []float64) float64 {
	s := 0.0
	for _, x := range rows {
		c := max(-3, min(3, x))
		s += c * c
	}
	return s
}

// CubeOfTwo is 8.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 4
func CubeOfTwo(rows []float64) float64 {
	s := 0.0
	for _, x := range rows {
		c := max(0, min(2, x))
		s += c * c * c
	}
	return s
}

// LargestTwice: the largest moves by 1, and it is doubled in each round.
//
// want: rejected
//
//dp:sensitivity q = 1 in linf
func LargestTwice(q []float64) float64 {
	best := 0.0
	for _, x := range q {
		best = math.Max(2*best, x)
	}
	return best
}

// LargestRun is the largest sum of a run that ends here: all elements of it count.
//
// want: rejected
//
//dp:sensitivity q = 1 in linf
func LargestRun(q []float64) float64 {
	best := 0.0
	for _, x := range q {
		best = math.Max(0, best+x)
	}
	return best
}

// LargestJump is set to 100 by a comparison that 100 does not meet.
//
// want: rejected
//
//dp:sensitivity q = 1 in linf
func LargestJump(q []float64) float64 {
	best := 0.0
	for _, x := range q {
		if x > best {
			best = x + 100
		}
	}
	return best
}

// LargestBefore adds up the largest so far.
//
// want: rejected
//
//dp:sensitivity q = 1 in linf
func LargestBefore(q []float64) float64 {
	best, sum := 0.0, 0.0
	for _, x := range q {
		best = math.Max(best, x)
		sum += best
	}
	return sum
}

// LargestOfTwo are two that feed each other.
//
// want: rejected
//
//dp:sensitivity q = 1 in linf
func LargestOfTwo(q []float64) float64 {
	a, b := 0.0, 0.0
	for _, x := range q {
		a = math.Max(a, b+x)
		b = math.Max(b, a)
	}
	return a
}

// SecondOf: the second largest is no maximum of what it was and x, but it is of two that move.
// It is 1 in truth, and what is claimed is less.
//
// want: rejected
//
//dp:sensitivity q = 0.5 in linf
func SecondOf(q []float64) float64 {
	best, second := 0.0, 0.0
	for _, x := range q {
		second = math.Max(second, math.Min(best, x))
		best = math.Max(best, x)
	}
	return second
}

// OtherPlace reads the record at another place.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 7
func OtherPlace(rows []int) int {
	s := 0
	for i := range rows {
		s += min(max(rows[len(rows)-1-i], 0), 7) * min(i, 1)
	}
	return s
}

// NextPlace reads the next record.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func NextPlace(rows []int) int {
	s := 0
	for i := range rows {
		if i+1 < len(rows) && rows[i] < rows[i+1] {
			s++
		}
	}
	return s
}

// OtherRows reads other records at the place of one.
//
// want: rejected
//
//dp:adjacent bag(a) <= 1
//dp:adjacent bag(b) <= 1
//dp:sensitivity a = 1, b = 1
func OtherRows(a, b []int) int {
	s := 0
	for i := range a {
		if i < len(b) && a[i] < b[i] {
			s++
		}
	}
	return s
}

// MovedPlace moves its index.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func MovedPlace(rows []int) int {
	s := 0
	for i := range rows {
		j := i
		if i > 0 {
			j--
		}
		if rows[i] == rows[j] {
			s++
		}
	}
	return s
}

// FirstPlace compares each record with the first.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func FirstPlace(rows []int) int {
	s := 0
	for i := range rows {
		if rows[i] == rows[0] {
			s++
		}
	}
	return s
}

// InnerPlace compares each record with all.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func InnerPlace(rows []int) int {
	s := 0
	for i := range rows {
		for j := range rows {
			if rows[i] < rows[j] {
				s++
			}
		}
	}
	return s
}

// PlaceOfKept has places of what is kept of the rows.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func PlaceOfKept(rows []int) int {
	var kept []int
	for _, r := range rows {
		if r > 0 {
			kept = append(kept, r)
		}
	}
	s := 0
	for i := range kept {
		if rows[i] > 3 {
			s++
		}
	}
	return s
}

// OneSided bounds what is added for x > 0, and not for others.
//
// want: rejected
//
//dp:adjacent bag(xs) <= 1
//dp:sensitivity xs = 3
func OneSided(xs []float64) float64 {
	s := 0.0
	for _, x := range xs {
		if x > 0 {
			s += min(x, 3)
		} else {
			s += min(x, 3)
		}
	}
	return s
}

// WrongSide has the branches changed.
//
// want: rejected
//
//dp:adjacent bag(xs) <= 1
//dp:sensitivity xs = 3
func WrongSide(xs []float64) float64 {
	s := 0.0
	for _, x := range xs {
		if x < 0 {
			s += min(x, 3)
		}
	}
	return s
}

// HalfSide compares half of x: min(x, 3) is -10 at least where x/2 > -5.
//
// want: rejected
//
//dp:adjacent bag(xs) <= 1
//dp:sensitivity xs = 5
func HalfSide(xs []float64) float64 {
	s := 0.0
	for _, x := range xs {
		if x/2 > -5 {
			s += min(x, 3)
		}
	}
	return s
}

// OtherSide compares another number of the record.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 3
func OtherSide(rows []pair) float64 {
	s := 0.0
	for _, r := range rows {
		if r.x > 0 {
			s += min(r.y, 3)
		}
	}
	return s
}

type pair struct{ x, y float64 }

// BothSums adds to both in one branch.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func BothSums(rows []int) (a, b int) {
	for _, r := range rows {
		if r > 0 {
			a++
			b++
		} else {
			b++
		}
	}
	return a, b
}

// OverlappingSums asks twice.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func OverlappingSums(rows []int) (a, b int) {
	for _, r := range rows {
		if r > 0 {
			a++
		}
		if r <= 5 {
			b++
		}
	}
	return a, b
}

// SumsTwice counts the same in two loops.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func SumsTwice(rows []int) (a, b int) {
	for _, r := range rows {
		if r > 0 {
			a++
		}
	}
	for _, r := range rows {
		if r <= 0 {
		} else {
			b++
		}
	}
	return a, b
}

// SumsInner branches anew in an inner loop: a record may add to both.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func SumsInner(rows []int) (a, b int) {
	for _, r := range rows {
		for k := range 2 {
			if r > k {
				a++
			} else {
				b++
			}
		}
	}
	return a, b
}

func tell(yes bool) (a, b int) {
	if yes {
		return 1, 0
	}
	return 0, 1
}

// SumsByHelper calls one branch twice.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func SumsByHelper(rows []int) (a, b int) {
	for _, r := range rows {
		x, _ := tell(r > 0)
		_, y := tell(r > 5)
		a += x
		b += y
	}
	return a, b
}

// SumsOfUnequal: the larger is 5.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func SumsOfUnequal(rows []int) (a, b int) {
	for _, r := range rows {
		if r > 0 {
			a++
		} else {
			b += 5
		}
	}
	return a, b
}

// SumsOfAll adds one of two to the other.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func SumsOfAll(rows []int) (a, b, c int) {
	for _, r := range rows {
		if r > 0 {
			a++
		} else {
			b++
		}
	}
	return a, b, a + b
}

// PartsAndAll asks both of two parts, and of all.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func PartsAndAll(rows []int, eps float64, src *noise.Source) (int64, int64, int64) {
	var a, b []int
	for _, r := range rows {
		if r > 0 {
			a = append(a, r)
		} else {
			b = append(b, r)
		}
	}
	return int64(len(a)) + src.DiscreteLaplace(1/eps), int64(len(b)) + src.DiscreteLaplace(1/eps), int64(len(rows)) + src.DiscreteLaplace(1/eps)
}

// PartTwiceAsked asks one of two parts twice.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func PartTwiceAsked(rows []int, eps float64, src *noise.Source) (int64, int64, int64) {
	var a, b []int
	for _, r := range rows {
		if r > 0 {
			a = append(a, r)
		} else {
			b = append(b, r)
		}
	}
	return int64(len(a)) + src.DiscreteLaplace(1/eps), int64(len(b)) + src.DiscreteLaplace(1/eps), int64(len(b)) + src.DiscreteLaplace(1/eps)
}

// PartsOverlap are no parts.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func PartsOverlap(rows []int, eps float64, src *noise.Source) (int64, int64) {
	var a, b []int
	for _, r := range rows {
		if r > 0 {
			a = append(a, r)
		} else {
			b = append(b, r)
		}
		if r == 3 {
			b = append(b, r)
		}
	}
	return int64(len(a)) + src.DiscreteLaplace(1/eps), int64(len(b)) + src.DiscreteLaplace(1/eps)
}

// PartsOfTwo: two records may come, one to each part.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 2
//dp:requires eps > 0
//dp:cost eps
func PartsOfTwo(rows []int, eps float64, src *noise.Source) (int64, int64) {
	var a, b []int
	for _, r := range rows {
		if r > 0 {
			a = append(a, r)
		} else {
			b = append(b, r)
		}
	}
	return int64(len(a)) + src.DiscreteLaplace(1/eps), int64(len(b)) + src.DiscreteLaplace(1/eps)
}

// PartsUnequal cost 3 at most.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost 2 * eps
func PartsUnequal(rows []int, eps float64, src *noise.Source) (int64, int64) {
	var a, b []int
	for _, r := range rows {
		if r > 0 {
			a = append(a, r)
		} else {
			b = append(b, r)
		}
	}
	return int64(len(a)) + src.DiscreteLaplace(1/eps), int64(len(b)) + src.DiscreteLaplace(1/(3*eps))
}

// PartsOfDoubled: each record is there twice.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func PartsOfDoubled(rows []int, eps float64, src *noise.Source) (int64, int64) {
	var twice []int
	for _, r := range rows {
		twice = append(twice, r, -r)
	}
	var a, b []int
	for _, r := range twice {
		if r > 0 {
			a = append(a, r)
		} else {
			b = append(b, r)
		}
	}
	return int64(len(a)) + src.DiscreteLaplace(1/eps), int64(len(b)) + src.DiscreteLaplace(1/eps)
}

type desk struct {
	rows  []int
	other []int
	last  int
	scale float64
}

// FieldTold writes a private field to where the caller sees it.
//
// want: rejected
//
//dp:adjacent bag(d.rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func FieldTold(d *desk, eps float64, src *noise.Source) int64 {
	d.last = len(d.rows)
	return int64(len(d.rows)) + src.DiscreteLaplace(1/eps)
}

// FieldToldByMethod does so by a method.
//
// want: rejected
//
//dp:adjacent bag(d.rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func (d *desk) FieldToldByMethod(eps float64, src *noise.Source) int64 {
	d.last += len(d.rows)
	return int64(d.last-d.last) + int64(len(d.rows)) + src.DiscreteLaplace(1/eps)
}

// FieldShown returns all fields.
//
// want: rejected
//
//dp:adjacent bag(d.rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func FieldShown(d desk, eps float64, src *noise.Source) (desk, int64) {
	return d, int64(len(d.rows)) + src.DiscreteLaplace(1/eps)
}

// FieldMoved puts a private field where a public one was.
//
// want: rejected
//
//dp:adjacent bag(d.rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func FieldMoved(d desk, eps float64, src *noise.Source) (int, int64) {
	e := d
	e.other = d.rows
	return len(e.other), int64(len(d.rows)) + src.DiscreteLaplace(1/eps)
}

// FieldWritten writes into a private field's memory by a public one's.
//
// want: rejected
//
//dp:adjacent each(d.rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func FieldWritten(d desk, eps float64, src *noise.Source) int64 {
	if len(d.rows) > 0 && len(d.other) > 0 {
		d.other[0] = d.rows[0]
	}
	return src.DiscreteLaplace(1 / eps)
}

// FieldScaled is noise by a field that is private.
//
// want: rejected
//
//dp:adjacent bag(d.rows) <= 1
//dp:adjacent |d.scale| <= 1
//dp:requires eps > 0
//dp:cost eps
func FieldScaled(d desk, eps float64, src *noise.Source) int64 {
	return int64(len(d.rows)) + src.DiscreteLaplace(d.scale)
}

// FieldTwice asks twice.
//
// want: rejected
//
//dp:adjacent bag(d.rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func FieldTwice(d *desk, eps float64, src *noise.Source) (int64, int64) {
	ask := func(e *desk) int64 { return int64(len(e.rows)) + src.DiscreteLaplace(1/eps) }
	return ask(d), ask(d)
}

// BoundMoved moves its bound in a closure.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && n >= 0
//dp:cost float64(n) * eps
func BoundMoved(x float64, n int, eps float64, src *noise.Source) (out []float64) {
	m := n
	for i := 0; i < m; i++ {
		more := func() { m++ }
		if i < 5 {
			more()
		}
		out = append(out, x+src.Laplace(1/eps))
	}
	return out
}

// IndexMoved moves its index back in a closure.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && n >= 0
//dp:cost float64(n) * eps
func IndexMoved(x float64, n int, eps float64, src *noise.Source) (out []float64) {
	again := true
	for i := 0; i < n; i++ {
		back := func() { i-- }
		if again {
			again = false
			back()
		}
		out = append(out, x+src.Laplace(1/eps))
	}
	return out
}

// LeastBound runs as often as the largest of two bounds.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && n >= 0 && m >= 0
//dp:cost float64(n) * eps
func LeastBound(x float64, n, m int, eps float64, src *noise.Source) (out []float64) {
	for i := 0; i < n || i < m; i++ {
		out = append(out, x+src.Laplace(1/eps))
	}
	return out
}

// LeastOfOther bounds another number than its index.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && n >= 0 && m >= 0
//dp:cost float64(m) * eps
func LeastOfOther(x float64, n, m int, eps float64, src *noise.Source) (out []float64) {
	k := 0
	for i := 0; i < n && k < m; i++ {
		out = append(out, x+src.Laplace(1/eps))
	}
	return out
}

// WeightOfSize: the weights are in [-2, 1].
//
// want: rejected
//
//dp:sensitivity q = 1
func WeightOfSize(q, w []float64) float64 {
	s := 0.0
	for i := range q {
		s += q[i] * max(-2, min(1, w[i]))
	}
	return s
}

// WeightOneSided has no lower bound.
//
// want: rejected
//
//dp:sensitivity q = 1
func WeightOneSided(q, w []float64) float64 {
	s := 0.0
	for i := range q {
		s += q[i] * min(1, w[i])
	}
	return s
}

// WeightChosen is 4 at most.
//
// want: rejected
//
//dp:sensitivity x = 2
func WeightChosen(x float64, level int) float64 {
	rate := 0.5
	if level > 3 {
		rate = -4
	}
	return x * rate
}

// SetOfTwo has two keys of each record.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func SetOfTwo(rows []int) int {
	seen := map[int]struct{}{}
	for _, r := range rows {
		seen[r] = struct{}{}
		seen[r+1] = struct{}{}
	}
	return len(seen)
}

// SetOfNew asks whether it is new, and counts what was there.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func SetOfNew(rows []int) int {
	seen, n := map[int]struct{}{}, 0
	for _, r := range rows {
		if _, ok := seen[r+1]; ok {
			n++
		}
		seen[r] = struct{}{}
	}
	return n
}

// SearchShown returns the place of a private number in a public list.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:sensitivity x = 1
func SearchShown(x float64, edges []float64) int {
	k, _ := slices.BinarySearch(edges, x)
	return k
}

// SearchOfRows tells of the records together whether one is there, and adds that up.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func SearchOfRows(rows []int) int {
	n := 0
	for _, r := range rows {
		if slices.Contains(rows, r+1) {
			n++
		}
	}
	return n
}

// SearchOfKept looks in what other records left.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func SearchOfKept(rows []int) int {
	var kept []int
	n := 0
	for _, r := range rows {
		if slices.Contains(kept, r) {
			n++
		}
		kept = append(kept, r)
	}
	return n
}

type tallied struct {
	counts []int
	total  int
}

// TalliedTwice counts each record in two cells.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 2
func TalliedTwice(rows []int) tallied {
	t := tallied{counts: make([]int, 4)}
	for _, r := range rows {
		if r >= 0 && r < 3 {
			t.counts[r]++
			t.counts[r+1]++
			t.total++
		}
	}
	return t
}

// TalliedOrder keeps the last cell.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 2
func TalliedOrder(rows []int) tallied {
	t := tallied{counts: make([]int, 4)}
	for _, r := range rows {
		if r >= 0 && r < 4 {
			t.counts[r]++
			t.total = t.counts[r]
		}
	}
	return t
}

// TalliedOther takes a slice of another's place.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func TalliedOther(rows []int) tallied {
	t := tallied{counts: make([]int, 4)}
	for _, r := range rows {
		if r > 0 {
			t.counts = make([]int, 1)
		}
	}
	return t
}

// AllOfRows adds up fifteen numbers, each of which moves by 1.
//
// want: rejected: at most 15
//
//dp:sensitivity x = 3 in linf
func AllOfRows(x [3][5]float64) float64 {
	sum := 0.0
	for _, row := range x {
		for _, v := range row {
			sum += v
		}
	}
	return sum
}

// AllOfSquares moves by √45 where each of the numbers does by 1/√45.
//
// want: rejected: at most 3\*sqrt\(5\)
//
//dp:sensitivity x = 3 in l2
func AllOfSquares(x [9][5]float64) float64 {
	sum := 0.0
	for _, row := range x {
		for _, v := range row {
			sum += v
		}
	}
	return sum
}

// AllOfAnyRows adds up as many numbers as there are.
//
// want: rejected: how many numbers there are is not known
//
//dp:sensitivity x = 3 in linf
func AllOfAnyRows(x [3][]float64) float64 {
	sum := 0.0
	for _, row := range x {
		for _, v := range row {
			sum += v
		}
	}
	return sum
}

type quarters struct{ of [4]float64 }

// AllOfField adds up four numbers.
//
// want: rejected: at most 4
//
//dp:sensitivity x = 1 in linf
func AllOfField(x quarters) float64 {
	sum := 0.0
	for _, v := range x.of {
		sum += v
	}
	return sum
}

// FieldOfFour moves by √4 times as much in l1 as in l2.
//
// want: rejected: at most 2
//
//dp:sensitivity x = 1 in l2
func FieldOfFour(x quarters) float64 {
	sum := 0.0
	for _, v := range x.of {
		sum += v
	}
	return sum
}

// KeysOfAnother counts one key where x is 0, and two elsewhere.
//
// want: rejected: where something is added depends on private data
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity x = 0
func KeysOfAnother(rows []int, x int) int {
	m := map[int]int{}
	for range rows {
		m[0]++
		m[x]++
	}
	return len(m)
}

// KeysPutOfAnother is the same of what is put.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity x = 0
func KeysPutOfAnother(rows []int, x int) int {
	m := map[int]int{}
	for range rows {
		m[0] = 1
		m[x] = 1
	}
	return len(m)
}

// KeysIfAnother is the same of a condition.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity x = 0
func KeysIfAnother(rows []int, x int) int {
	m := map[int]int{}
	for range rows {
		m[0] = 1
		if x > 0 {
			m[1] = 1
		}
	}
	return len(m)
}

// LengthsOfParts puts in each part how many records the first one had by then, which is another
// number where the records have another order.
//
// want: rejected: depends on the order of private records
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func LengthsOfParts(rows []int) map[int][]int {
	parts := map[int][]int{}
	for _, r := range rows {
		parts[r%2] = append(parts[r%2], len(parts[0]))
	}
	return parts
}

// LengthsInRounds adds up how many records a part has before each of three rounds that add to
// it: 0, 1 and 2 for one record.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 2
func LengthsInRounds(rows []int) int {
	parts := map[int][]int{}
	n := 0
	for range 3 {
		n += len(parts[0])
		for _, r := range rows {
			parts[r%2] = append(parts[r%2], r)
		}
	}
	return n
}

// EitherDesk: the last of the other desk is another number.
//
// want: rejected
//
//dp:adjacent bag(a.rows) <= 1
//dp:adjacent bag(b.rows) <= 1
//dp:sensitivity a.rows = 0
func EitherDesk(a, b desk, c bool) int {
	d := b
	if c {
		d = a
	}
	if d.last != a.last {
		return len(a.rows)
	}
	return 0
}

func deskOf(a, b desk, c bool) desk {
	if c {
		return a
	}
	return b
}

// ReturnedDesk is either, by a function.
//
// want: rejected
//
//dp:adjacent bag(a.rows) <= 1
//dp:adjacent bag(b.rows) <= 1
//dp:sensitivity a.rows = 0
func ReturnedDesk(a, b desk, c bool) int {
	if deskOf(a, b, c).last != a.last {
		return len(a.rows)
	}
	return 0
}

// RowOfRecords has as many numbers as there are records.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 0
func RowOfRecords(rows []int) int {
	var all []int
	for _, r := range rows {
		all = append(all, r)
	}
	table := make([][]int, 1)
	table[0] = all
	return len(table[0])
}

// RowIfPrivate is a row, or none.
//
// want: rejected
//
//dp:sensitivity x = 0
func RowIfPrivate(x float64) int {
	table := make([][]int, 1)
	if x > 0 {
		table[0] = make([]int, 1)
	}
	return len(table[0])
}

// RowIfPrivateBefore is the same of the round before.
//
// want: rejected
//
//dp:sensitivity x = 0
func RowIfPrivateBefore(x float64) int {
	table := make([][]int, 1)
	n := 0
	for range 2 {
		n += len(table[0])
		if x > 0 {
			table[0] = make([]int, 1)
		}
	}
	return n
}

// RowSomewhere is at a private key.
//
// want: rejected
//
//dp:sensitivity x = 0
func RowSomewhere(x int) int {
	table := map[int][]int{}
	table[x] = make([]int, 1)
	return len(table[0])
}

// RowOfAny is a row if there is any record.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 0
func RowOfAny(rows []int) int {
	table := map[int][]int{}
	for range rows {
		table[0] = make([]int, 1)
	}
	return len(table[0])
}

// ValuesOfKeys adds up what is private itself, by keys that are for another reason.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity x = 0
func ValuesOfKeys(rows []int, x float64) float64 {
	m := map[int]float64{}
	for _, r := range rows {
		m[r]++
	}
	m[1] = x
	sum := 0.0
	for _, v := range m {
		sum += v
	}
	return sum
}

// AppendedAndOverwritten has x as often as there are records, three times.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity x = 0
func AppendedAndOverwritten(rows []int, x float64, n int) []float64 {
	l := make([]float64, 1)
	for range rows {
		for range 3 {
			if n < 0 {
				l[0] = 1
			}
			l = append(l, x)
		}
	}
	return l
}
