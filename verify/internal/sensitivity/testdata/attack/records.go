package attack

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/dataset"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// TenCopies: a row is ten records of the dataset.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:cost epsilon
func TenCopies(ctx context.Context, rows []int, b budget.Budget, epsilon privacy.Epsilon) (int64, error) {
	var many []int
	for _, r := range rows {
		many = append(many, r, r, r, r, r, r, r, r, r, r)
	}
	d, err := dataset.New(noise.System(), many, b)
	if err != nil {
		return 0, err
	}
	n, err := dataset.NoisyCount(ctx, noise.System(), d, dataset.Options{Epsilon: epsilon})
	return n.Value, err
}

// Split: how many records there are is not bounded.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:cost epsilon
func Split(ctx context.Context, x float64, b budget.Budget, epsilon privacy.Epsilon) (int64, error) {
	rows := strings.Split(fmt.Sprint(x), "1")
	d, err := dataset.New(noise.System(), rows, b)
	if err != nil {
		return 0, err
	}
	n, err := dataset.NoisyCount(ctx, noise.System(), d, dataset.Options{Epsilon: epsilon})
	return n.Value, err
}

// Take: how many are taken is private.
//
// want: rejected
//
//dp:adjacent bag(d) <= 1 && |k| <= 1000
//dp:cost 2 * epsilon
func Take(ctx context.Context, d dataset.Dataset[int], k int, epsilon privacy.Epsilon) (int64, error) {
	n, err := dataset.NoisyCount(ctx, noise.System(), dataset.Take(d, int64(k)), dataset.Options{Epsilon: epsilon})
	return n.Value, err
}

// UpTo: how many are kept is private.
//
// want: rejected
//
//dp:adjacent bag(d) <= 1 && |k| <= 1000
//dp:cost 2 * epsilon
func UpTo(ctx context.Context, d dataset.Dataset[int], k int, epsilon privacy.Epsilon) (int64, error) {
	n, err := dataset.NoisyCount(ctx, noise.System(), dataset.DistinctUpTo(d, int64(k)), dataset.Options{Epsilon: epsilon})
	return n.Value, err
}

// Limit: how many are kept is private.
//
// want: rejected
//
//dp:adjacent bag(d) <= 1 && |k| <= 1000
//dp:cost 3 * epsilon
func Limit(ctx context.Context, d dataset.Dataset[int], k int, epsilon privacy.Epsilon) (int64, error) {
	n, err := dataset.NoisyCount(ctx, noise.System(), dataset.Limit(d, int64(k), func(x int) int { return x }), dataset.Options{Epsilon: epsilon})
	return n.Value, err
}

type store struct{ last []int }

func (s *store) keep(x int) bool {
	s.last[0] = x
	return true
}

// Keeps: the method keeps a record.
//
// want: rejected
//
//dp:adjacent bag(d) <= 1
//dp:cost epsilon
func Keeps(ctx context.Context, d dataset.Dataset[int], epsilon privacy.Epsilon) (int64, int, error) {
	s := &store{make([]int, 1)}
	n, err := dataset.NoisyCount(ctx, noise.System(), dataset.Where(d, func(x int) bool { return s.keep(x) }), dataset.Options{Epsilon: epsilon})
	return n.Value, s.last[0], err
}

// Copies: the function keeps a record.
//
// want: rejected
//
//dp:adjacent bag(d) <= 1
//dp:cost epsilon
func Copies(ctx context.Context, d dataset.Dataset[int], epsilon privacy.Epsilon) (int64, int, error) {
	last := make([]int, 1)
	n, err := dataset.NoisyCount(ctx, noise.System(), dataset.Where(d, func(x int) bool { copy(last, []int{x}); return true }), dataset.Options{Epsilon: epsilon})
	return n.Value, last[0], err
}

func put(to []int, x int) bool { to[0] = x; return true }

// Puts: the function keeps a record by another.
//
// want: rejected
//
//dp:adjacent bag(d) <= 1
//dp:cost epsilon
func Puts(ctx context.Context, d dataset.Dataset[int], epsilon privacy.Epsilon) (int64, int, error) {
	last := make([]int, 1)
	n, err := dataset.NoisyCount(ctx, noise.System(), dataset.Where(d, func(x int) bool { return put(last, x) }), dataset.Options{Epsilon: epsilon})
	return n.Value, last[0], err
}

// Bound: the method keeps a record.
//
// want: rejected
//
//dp:adjacent bag(d) <= 1
//dp:cost epsilon
func Bound(ctx context.Context, d dataset.Dataset[int], epsilon privacy.Epsilon) (int64, int, error) {
	s := &store{make([]int, 1)}
	n, err := dataset.NoisyCount(ctx, noise.System(), dataset.Where(d, s.keep), dataset.Options{Epsilon: epsilon})
	return n.Value, s.last[0], err
}

// Alias: the function keeps a record under another name.
//
// want: rejected
//
//dp:adjacent bag(d) <= 1
//dp:cost epsilon
func Alias(ctx context.Context, d dataset.Dataset[int], epsilon privacy.Epsilon) (int64, int, error) {
	last := make([]int, 1)
	n, err := dataset.NoisyCount(ctx, noise.System(), dataset.Where(d, func(x int) bool { l := last; l[0] = x; return true }), dataset.Options{Epsilon: epsilon})
	return n.Value, last[0], err
}

// PrintsAlias: the function keeps a record behind the end of a slice.
//
// want: rejected
//
//dp:adjacent bag(d) <= 1
//dp:cost epsilon
func PrintsAlias(ctx context.Context, d dataset.Dataset[int], epsilon privacy.Epsilon) (int64, int, error) {
	last := make([]int, 0, 8)
	n, err := dataset.NoisyCount(ctx, noise.System(), dataset.Where(d, func(x int) bool { _ = append(last, x); return true }), dataset.Options{Epsilon: epsilon})
	return n.Value, last[:1][0], err
}

// CopiedRun: the copy of a run is a second run.
//
// want: rejected
//
//dp:adjacent |x| <= 1 && |y| <= 1
//dp:cost eps
func CopiedRun(x, y float64, eps privacy.Epsilon, bits noise.Bits) (a, b mechanism.Answer, err error) {
	m, err := mechanism.NewAboveThreshold(mechanism.AboveThresholdOptions{Sensitivity: big.NewRat(1, 1), Epsilon: eps})
	if err != nil {
		return a, b, err
	}
	c := *m
	a, err = m.Ask(bits, x)
	if err != nil {
		return a, b, err
	}
	b, err = c.Ask(bits, y)
	return a, b, err
}

type zeros struct{}

func (zeros) Uint64() (uint64, error) { return 0, nil }

// KnownBits: the noise is known.
//
// want: rejected
//
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func KnownBits(x, eps float64) float64 {
	return x + noise.NewSource(zeros{}).Laplace(1/eps)
}

// KnownBitsOfDataset: the noise is known.
//
// want: rejected
//
//dp:adjacent bag(d) <= 1
//dp:cost epsilon
func KnownBitsOfDataset(ctx context.Context, d dataset.Dataset[int], epsilon privacy.Epsilon) (int64, error) {
	n, err := dataset.NoisyCount(ctx, zeros{}, d, dataset.Options{Epsilon: epsilon})
	return n.Value, err
}

// LastIndex: the last place is infinitely sensitive.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func LastIndex(rows []float64, eps float64, src *noise.Source) float64 {
	last := -1
	for i := range rows {
		last = i
	}
	return float64(last) + src.Laplace(1/eps)
}

// Weighted: weights depend on the order.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Weighted(rows []float64, eps float64, src *noise.Source) float64 {
	s, w := 0.0, 0.0
	for _, r := range rows {
		w++
		s += max(0, min(r, 1)) * w
	}
	return s + src.Laplace(1/eps)
}

// Toggle: signs depend on the order.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Toggle(rows []float64, eps float64, src *noise.Source) float64 {
	s, sign := 0.0, 1.0
	for _, r := range rows {
		s += max(0, min(r, 1)) * sign
		sign = -sign
	}
	return s + src.Laplace(1/eps)
}

// FirstOnly: the first is not that of the neighbour.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func FirstOnly(rows []float64, eps float64, src *noise.Source) float64 {
	first := 0.0
	seen := false
	for _, r := range rows {
		if !seen {
			first = max(0, min(r, 1))
			seen = true
		}
	}
	return first + src.Laplace(1/eps)
}

// TwoLists: a row may be in both lists.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func TwoLists(rows []float64, eps float64, src *noise.Source) (float64, float64) {
	var lo, hi []float64
	for _, r := range rows {
		if r < 1 {
			lo = append(lo, r)
		}
		if r > 0 {
			hi = append(hi, r)
		}
	}
	return float64(len(lo)) + src.Laplace(1/eps), float64(len(hi)) + src.Laplace(1/eps)
}

// Nested: a count squared.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Nested(rows []float64, eps float64, src *noise.Source) float64 {
	n := 0.0
	for range rows {
		for range rows {
			n++
		}
	}
	return n + src.Laplace(1/eps)
}

// SplitTwice: the second list has the first in it.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func SplitTwice(rows []float64, eps float64, src *noise.Source) (int64, int64) {
	var yes, no []float64
	for _, r := range rows {
		if r > 0 {
			yes = append(yes, r)
		} else {
			no = append(no, r)
		}
	}
	no = append(no, yes...)
	return int64(len(yes)) + src.DiscreteLaplace(1/eps), int64(len(no)) + src.DiscreteLaplace(1/eps)
}

// Doubled: all rows are there twice.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Doubled(rows []float64, eps float64, src *noise.Source) int64 {
	var all []float64
	all = append(all, rows...)
	all = append(all, rows...)
	return int64(len(all)) + src.DiscreteLaplace(1/eps)
}

// Counts: a row counts at two places.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Counts(rows []int, eps float64, src *noise.Source) []float64 {
	c := make([]float64, 10)
	for _, r := range rows {
		if r >= 0 && r < 10 {
			c[r] += 1
			c[9-r] += 1
		}
	}
	for i := range c {
		c[i] += src.Laplace(1 / eps)
	}
	return c
}

// KeysOfMap: which keys there are tells of rows.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func KeysOfMap(rows []int, eps float64, src *noise.Source) []float64 {
	c := map[int]float64{}
	for _, r := range rows {
		c[r] += 1
	}
	var out []float64
	for _, v := range c {
		out = append(out, v+src.Laplace(1/eps))
	}
	return out
}

// Prefix: a row moves all sums that follow.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Prefix(rows []int, eps float64, src *noise.Source) []float64 {
	c := make([]float64, 10)
	for _, r := range rows {
		c[max(0, min(r, 9))] += 1
	}
	s := 0.0
	for i := range c {
		s += c[i]
		c[i] = s + src.Laplace(1/eps)
	}
	return c
}

// FirstOverwritten: of [1, 1, 0] and [0, 1, 1, 1] are left a 1, and three.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func FirstOverwritten(rows []float64) float64 {
	w := slices.Clone(rows)
	w[0] = 0
	s := 0.0
	for _, r := range w {
		s += max(0, min(1, r))
	}
	return s
}

// KeptOverwritten does so with what it kept of the rows.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func KeptOverwritten(rows []float64) float64 {
	var w []float64
	for _, r := range rows {
		w = append(w, max(0, min(1, r)))
	}
	for i := range 3 {
		w[i] = 0
	}
	s := 0.0
	for _, r := range w {
		s += max(0, min(1, r))
	}
	return s
}

// MapAfterFlag: an earlier record decides.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func MapAfterFlag(rows []int) int {
	out := make([]int, len(rows))
	flag := 0
	for i, r := range rows {
		if flag > 0 {
			out[i] = 1
		}
		if r > 5 {
			flag = 1
		}
	}
	s := 0
	for _, o := range out {
		s += min(max(o, 0), 1)
	}
	return s
}

// MapByOther: x decides for all.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:adjacent |x| <= 1
//dp:sensitivity rows = 1, x = 0
func MapByOther(rows []int, x float64) int {
	out := make([]int, len(rows))
	for i := range rows {
		if x > 0 {
			out[i] = 1
		}
	}
	s := 0
	for _, o := range out {
		s += min(max(o, 0), 1)
	}
	return s
}

// MapUntilFlag: an earlier record decides.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func MapUntilFlag(rows []int) int {
	out := make([]int, len(rows))
	flag := 0
	for i, r := range rows {
		if r > 5 {
			flag = 1
		}
		if flag > 0 {
			continue
		}
		out[i] = 1
	}
	s := 0
	for _, o := range out {
		s += min(max(o, 0), 1)
	}
	return s
}

// MapEitherWay: an earlier record decides.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func MapEitherWay(rows []int) int {
	out := make([]int, len(rows))
	flag := 0
	for i, r := range rows {
		if flag > 0 {
			out[i] = 1
		} else {
			out[i] = 0
		}
		if r > 5 {
			flag = 1
		}
	}
	s := 0
	for _, o := range out {
		s += min(max(o, 0), 1)
	}
	return s
}

// MapByCount: how many records there are decides.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func MapByCount(rows []int) int {
	out := make([]int, len(rows))
	s := 0
	for k := range 3 {
		for i, r := range rows {
			if s > 2 {
				out[i] = 1
			}
			_ = r
		}
		for range rows {
			s += k
		}
	}
	t := 0
	for _, o := range out {
		t += min(max(o, 0), 1)
	}
	return t
}
