package fresh

import (
	"errors"
	"iter"

	"github.com/discreet-dp/discreet/noise"
)

// LastsUntil counts its budget down, and says how many queries were asked.
//
// want: proved
//
//dp:adjacent each(queries) <= 1
//dp:requires epsilon > 0 && budget >= 1
//dp:cost epsilon
func LastsUntil(queries []int64, threshold int64, budget int, epsilon float64, rng *noise.Source) (answers []bool, asked int) {
	var (
		left = budget
		bar  = threshold + rng.DiscreteLaplace(2/epsilon)
		b    = 4 * float64(budget) / epsilon
	)
	for left > 0 && asked < len(queries) {
		hit := queries[asked]+rng.DiscreteLaplace(b) >= bar
		answers = append(answers, hit)
		asked++
		if hit {
			left--
		}
	}
	return
}

// OnlyWhere keeps nothing but where a query was above.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && c > 0
//dp:cost eps
func OnlyWhere(q []float64, t float64, c int, eps float64, src *noise.Source) []int {
	at := make([]int, 0, c)
	bar := t + src.Laplace(2/eps)
	for i, x := range q {
		if len(at) == c {
			return at
		}
		if x+src.Laplace(4*float64(c)/eps) < bar {
			continue
		}
		at = append(at, i)
	}
	return at
}

// HowMany counts them.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && c > 0
//dp:cost eps
func HowMany(q []float64, t float64, c int, eps float64, src *noise.Source) (n int) {
	bar := t + src.Laplace(2/eps)
	for _, x := range q {
		if n >= c {
			break
		}
		if x+src.Laplace(4*float64(c)/eps) > bar {
			n++
		}
	}
	return n
}

type finding struct {
	Index int
	Above bool
	Value float64
}

// Structs answers with structs, and a fresh value where a query is above.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && c > 0
//dp:cost eps
func Structs(q []float64, t float64, c int, eps float64, src *noise.Source) []finding {
	var out []finding
	bar := t + src.Laplace(3/eps)
	hits := 0
	for i, x := range q {
		if hits == c {
			break
		}
		a := finding{Index: i}
		if x+src.Laplace(6*float64(c)/eps) >= bar {
			a.Above = true
			a.Value = x + src.Laplace(3*float64(c)/eps)
			hits++
		}
		out = append(out, a)
	}
	return out
}

// LargeKeys marks the first key whose count is large.
//
// want: proved
//
//dp:adjacent each(count) <= 1
//dp:requires eps > 0 && c > 0
//dp:cost eps
func LargeKeys(count map[string]int64, keys []string, t int64, c int, eps float64, src *noise.Source) []bool {
	large := make([]bool, len(keys))
	bar := t + src.DiscreteLaplace(2/eps)
	for i, k := range keys {
		if c == 0 {
			break
		}
		if count[k]+src.DiscreteLaplace(4*float64(c)/eps) > bar {
			large[i] = true
			break
		}
	}
	return large
}

func firstAbove(q []float64, bar, scale float64, src *noise.Source) int {
	for i, x := range q {
		if x+src.Laplace(scale) >= bar {
			return i
		}
	}
	return -1
}

// ByHelperTwice asks a function that returns early, with a threshold of its own each time.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func ByHelperTwice(q []float64, t, u, eps float64, src *noise.Source) (int, int) {
	a := firstAbove(q, t+src.Laplace(4/eps), 8/eps, src)
	b := firstAbove(q, u+src.Laplace(4/eps), 8/eps, src)
	return a, b
}

// ByHelperShared asks it twice with one threshold.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func ByHelperShared(q []float64, t, eps float64, src *noise.Source) (int, int) {
	bar := t + src.Laplace(2/eps)
	a := firstAbove(q, bar, 4/eps, src)
	b := firstAbove(q, bar, 4/eps, src)
	return a, b
}

// AboveOnce is the mechanism that the next two call by its claim.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func AboveOnce(q []float64, t, eps float64, src *noise.Source) int {
	bar := t + src.Laplace(2/eps)
	for i, x := range q {
		if x+src.Laplace(4/eps) >= bar {
			return i
		}
	}
	return -1
}

// RoundsByClaim shares the budget between its rounds.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && rounds > 0
//dp:cost eps
func RoundsByClaim(q []float64, t float64, rounds int, eps float64, src *noise.Source) []int {
	found := make([]int, rounds)
	for r := range found {
		found[r] = AboveOnce(q, t, eps/float64(rounds), src)
	}
	return found
}

// RoundsByClaimFull gives each round the whole budget.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && rounds > 0
//dp:cost eps
func RoundsByClaimFull(q []float64, t float64, rounds int, eps float64, src *noise.Source) []int {
	found := make([]int, rounds)
	for r := range found {
		found[r] = AboveOnce(q, t, eps, src)
	}
	return found
}

// RoundsOfOneBar has one threshold for all rounds.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && rounds > 0
//dp:cost eps
func RoundsOfOneBar(q []float64, t float64, rounds int, eps float64, src *noise.Source) []int {
	bar := t + src.Laplace(2/eps)
	var found []int
	for range rounds {
		at := -1
		for i, x := range q {
			if x+src.Laplace(4/eps) >= bar {
				at = i
				break
			}
		}
		found = append(found, at)
	}
	return found
}

// SeqVector counts down over a sequence, and ends at its last finding.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && c > 0
//dp:cost eps
func SeqVector(q iter.Seq[float64], t float64, c int, eps float64, src *noise.Source) (out []bool) {
	bar := t + src.Laplace(2/eps)
	left := c
	for x := range q {
		above := x+src.Laplace(4*float64(c)/eps) >= bar
		out = append(out, above)
		if above {
			left--
		}
		if left == 0 {
			break
		}
	}
	return out
}

// SeqVectorUnscaled has the noise of one finding.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && c > 0
//dp:cost eps
func SeqVectorUnscaled(q iter.Seq[float64], t float64, c int, eps float64, src *noise.Source) (out []bool) {
	bar := t + src.Laplace(2/eps)
	left := c
	for x := range q {
		above := x+src.Laplace(4/eps) >= bar
		out = append(out, above)
		if above {
			left--
		}
		if left == 0 {
			break
		}
	}
	return out
}

// Falling lowers its threshold by a public step after each query.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && c > 0
//dp:cost eps
func Falling(q []float64, t, step float64, c int, eps float64, src *noise.Source) []bool {
	bar := t + src.Laplace(2/eps)
	var out []bool
	for hits, i := 0, 0; hits < c && i < len(q); i++ {
		above := q[i]+src.Laplace(4*float64(c)/eps) >= bar
		if above {
			hits++
		}
		out = append(out, above)
		bar -= step
	}
	return out
}

// FallingPublic lowers it by steps of the caller, and looks at the finding that it has stored.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && c > 0
//dp:cost eps
func FallingPublic(q, steps []float64, t float64, c int, eps float64, src *noise.Source) []bool {
	if len(steps) != len(q) {
		return nil
	}
	rho := src.Laplace(2 / eps)
	out := make([]bool, len(q))
	for i, x := range q {
		t -= steps[i]
		if c <= 0 {
			continue
		}
		out[i] = x+src.Laplace(4/eps) >= t+rho
		if out[i] {
			break
		}
	}
	return out
}

// FallingByValue lowers it by the query.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && c > 0
//dp:cost eps
func FallingByValue(q []float64, t float64, c int, eps float64, src *noise.Source) []bool {
	bar := t + src.Laplace(2/eps)
	var out []bool
	for hits, i := 0, 0; hits < c && i < len(q); i++ {
		above := q[i]+src.Laplace(4*float64(c)/eps) >= bar
		if above {
			hits++
		}
		out = append(out, above)
		bar -= q[i]
	}
	return out
}

// FlagsAll goes on after the first finding above.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func FlagsAll(q []float64, t float64, eps float64, src *noise.Source) int {
	rho := src.Laplace(2 / eps)
	out := make([]bool, len(q))
	n := 0
	for i, x := range q {
		out[i] = x+src.Laplace(4/eps) >= t+rho
		n *= 2
		if out[i] {
			n++
		}
	}
	return n
}

var errNothingAbove = errors.New("nothing above")

// FirstOrError returns an error where nothing is above.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func FirstOrError(q []float64, t, eps float64, src *noise.Source) (int, error) {
	bar := t + src.Laplace(2/eps)
	for i, x := range q {
		if x+src.Laplace(4/eps) >= bar {
			return i, nil
		}
	}
	return 0, errNothingAbove
}

type vector struct {
	bar, scale float64
	left       int
	src        *noise.Source
}

func newVector(t float64, c int, eps float64, src *noise.Source) *vector {
	return &vector{bar: t + src.Laplace(2/eps), scale: 4 * float64(c) / eps, left: c, src: src}
}

func (s *vector) ask(x float64) (above, ok bool) {
	if s.left <= 0 {
		return false, false
	}
	above = x+s.src.Laplace(s.scale) >= s.bar
	if above {
		s.left--
	}
	return above, true
}

// ByObject asks an object that a constructor makes.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && c > 0
//dp:cost eps
func ByObject(q []float64, t float64, c int, eps float64, src *noise.Source) []bool {
	s := newVector(t, c, eps, src)
	var out []bool
	for _, x := range q {
		above, ok := s.ask(x)
		if !ok {
			return out
		}
		out = append(out, above)
	}
	return out
}

// GapMany counts down the parameter that its noise was scaled by.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && n > 0
//dp:cost eps
func GapMany(q []float64, t float64, n int, eps float64, src *noise.Source) []float64 {
	out := make([]float64, len(q))
	bar := t + src.Laplace(2/eps)
	scale := float64(4*n) / eps
	for i := range q {
		gap := q[i] + src.Laplace(scale) - bar
		if gap >= 0 {
			out[i] = gap
			if n--; n == 0 {
				break
			}
		}
	}
	return out
}

// Cutoff draws its threshold anew after each finding above, and is silent after the last.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && c > 0
//dp:cost eps
func Cutoff(q []float64, t float64, c int, eps float64, src *noise.Source) []bool {
	sigma := float64(2*c) / eps
	bar := t + src.Laplace(sigma)
	count, done := 0, false
	var out []bool
	for _, x := range q {
		if done {
			out = append(out, false)
			continue
		}
		nu := src.Laplace(2 * sigma)
		if x+nu >= bar {
			out = append(out, true)
			count++
			if count >= c {
				done = true
			} else {
				bar = t + src.Laplace(sigma)
			}
		} else {
			out = append(out, false)
		}
	}
	return out
}

// CutoffLate compares without noise after the last.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && c > 0
//dp:cost eps
func CutoffLate(q []float64, t float64, c int, eps float64, src *noise.Source) []bool {
	sigma := float64(2*c) / eps
	bar := t + src.Laplace(sigma)
	count, done := 0, false
	var out []bool
	for _, x := range q {
		if done {
			out = append(out, x >= bar)
			continue
		}
		nu := src.Laplace(2 * sigma)
		if x+nu >= bar {
			out = append(out, true)
			count++
			if count >= c {
				done = true
			} else {
				bar = t + src.Laplace(sigma)
			}
		} else {
			out = append(out, false)
		}
	}
	return out
}

// Grid goes over a matrix.
//
// want: proved
//
//dp:adjacent each(a) <= 1
//dp:requires eps > 0
//dp:cost eps
func Grid(a []float64, rows, cols int, t, eps float64, src *noise.Source) (int, int) {
	if len(a) != rows*cols {
		return -1, -1
	}
	bar := t + src.Laplace(2/eps)
	for r := range rows {
		for c := range cols {
			if a[r*cols+c]+src.Laplace(4/eps) > bar {
				return r, c
			}
		}
	}
	return -1, -1
}

// GridRows goes on with the next row after a finding, with the same threshold.
//
// want: refuted
//
//dp:adjacent each(a) <= 1
//dp:requires eps > 0
//dp:cost eps
func GridRows(a []float64, rows, cols int, t, eps float64, src *noise.Source) []int {
	if len(a) != rows*cols {
		return nil
	}
	bar := t + src.Laplace(2/eps)
	var out []int
	for r := range rows {
		at := -1
		for c := range cols {
			if a[r*cols+c]+src.Laplace(4/eps) > bar {
				at = c
				break
			}
		}
		out = append(out, at)
	}
	return out
}

// While has the comparison in the condition of its loop.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func While(q []float64, t, eps float64, src *noise.Source) int {
	bar := t + src.Laplace(2/eps)
	i := 0
	for i < len(q) && q[i]+src.Laplace(4/eps) < bar {
		i++
	}
	return i
}

// WhileValue tells the noisy threshold as well.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func WhileValue(q []float64, t, eps float64, src *noise.Source) (int, float64) {
	bar := t + src.Laplace(2/eps)
	i := 0
	for i < len(q) && q[i]+src.Laplace(4/eps) < bar {
		i++
	}
	return i, bar
}

// OneQueryManyThresholds compares one noisy number with many.
//
// want: proved
//
//dp:adjacent |base| <= 1
//dp:requires eps > 0
//dp:cost eps
func OneQueryManyThresholds(base float64, ts []float64, eps float64, src *noise.Source) int {
	noisy := base + src.Laplace(1/eps)
	n := 0
	for _, t := range ts {
		if noisy > t {
			n++
		}
	}
	return n
}

// OneQueryManyThresholdsFresh draws the noise for each of them.
//
// want: refuted
//
//dp:adjacent |base| <= 1
//dp:requires eps > 0
//dp:cost eps
func OneQueryManyThresholdsFresh(base float64, ts []float64, eps float64, src *noise.Source) int {
	n := 0
	for _, t := range ts {
		if base+src.Laplace(1/eps) > t {
			n++
		}
	}
	return n
}

// LastAbove looks from the end.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func LastAbove(q []float64, t, eps float64, src *noise.Source) int {
	bar := t + src.Laplace(2/eps)
	for i := len(q) - 1; i >= 0; i-- {
		if q[i]+src.Laplace(4/eps) >= bar {
			return i
		}
	}
	return -1
}

// EvenOnes looks at every other query.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func EvenOnes(q []float64, t, eps float64, src *noise.Source) int {
	bar := t + src.Laplace(2/eps)
	for i := 0; i < len(q); i += 2 {
		if q[i]+src.Laplace(4/eps) >= bar {
			return i
		}
	}
	return -1
}

// Normalized has twice the queries, and twice the noise.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Normalized(q []float64, t, eps float64, src *noise.Source) int {
	bar := t*2 + src.Laplace(4/eps)
	for i := range q {
		if 2*q[i]+src.Laplace(8/eps) >= bar {
			return i
		}
	}
	return -1
}

// Unnormalized has the noise of once the queries.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Unnormalized(q []float64, t, eps float64, src *noise.Source) int {
	bar := t*2 + src.Laplace(2/eps)
	for i := range q {
		if 2*q[i]+src.Laplace(4/eps) >= bar {
			return i
		}
	}
	return -1
}

// FlagFound ends its loop by a flag.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func FlagFound(q []float64, t, eps float64, src *noise.Source) (idx int) {
	bar := t + src.Laplace(2/eps)
	found := false
	idx = -1
	for i := 0; i < len(q) && !found; i++ {
		if x := q[i] + src.Laplace(4/eps); x > bar {
			found = true
			idx = i
		}
	}
	return
}

// FlagNoBreak goes on drawing when it has its finding.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func FlagNoBreak(q []float64, t, eps float64, src *noise.Source) int {
	bar := t + src.Laplace(2/eps)
	idx := -1
	for i, x := range q {
		noisy := x + src.Laplace(4/eps)
		if idx == -1 && noisy > bar {
			idx = i
		}
	}
	return idx
}

// FlagReset answers for each query, in the bits of a number.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func FlagReset(q []float64, t, eps float64, src *noise.Source) int {
	bar := t + src.Laplace(2/eps)
	idx := 0
	for _, x := range q {
		noisy := x + src.Laplace(4/eps)
		idx *= 2
		if noisy > bar {
			idx++
		}
	}
	return idx
}
