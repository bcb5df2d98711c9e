package accept

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/discreet-dp/discreet/noise"
)

func counted(rows []int, n int) []float64 {
	c := make([]float64, n)
	for _, r := range rows {
		if r >= 0 && r < n {
			c[r]++
		}
	}
	return c
}

// Counted calls a helper that returns a slice of its own, and changes it.
//
// want: accepted: rows: 1/2
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 0.5
func Counted(rows []int, n int) []float64 {
	c := counted(rows, n)
	for i := range c {
		c[i] /= 2
	}
	return c
}

type tally struct {
	counts []int
	total  int
}

func newTally(n int) tally { return tally{counts: make([]int, n)} }

func variadic(xs ...float64) float64 {
	s := 0.0
	for _, x := range xs {
		s += x
	}
	return s
}

// Variadic sums its arguments.
//
// want: accepted: x: 2, y: 1
//
//dp:sensitivity x = 2, y = 1
func Variadic(x, y float64) float64 { return variadic(x, y, x, 5) }

// Literal is a slice of what is private.
//
// want: accepted: x: 1, y: 1
//
//dp:sensitivity x = 1, y = 1
func Literal(x, y float64) []float64 { return []float64{x, y, 0} }

// LiteralSum sums it.
//
// want: accepted: x: 1, y: 3
//
//dp:sensitivity x = 1, y = 3
func LiteralSum(x, y float64) float64 {
	s := 0.0
	for i, v := range []float64{x, 3 * y} {
		_ = i
		s += v
	}
	return s
}

// Structs is a slice of structs.
//
// want: accepted: q: 2
//
//dp:sensitivity q = 2
func Structs(q []float64) []reading {
	out := make([]reading, len(q))
	for i, x := range q {
		out[i] = reading{low: x, high: x + 1, weight: 1}
	}
	return out
}

type base struct{ offset float64 }

func (b base) from(x float64) float64 { return x - b.offset }

type derived struct {
	base
	gain float64
}

// Embedded calls a method of what is embedded, with a public gain.
//
// want: accepted: x: d.gain
//
//dp:requires d.gain >= 0
//dp:sensitivity x = d.gain
func (d derived) Embedded(x float64) float64 { return d.gain * d.from(x) }

// MethodValue takes a method as a function.
//
// want: accepted: x: 1
//
//dp:sensitivity x = 1
func MethodValue(x float64, b base) float64 {
	f := b.from
	return f(x)
}

// Immediate calls a literal where it stands.
//
// want: accepted: x: 3
//
//dp:sensitivity x = 3
func Immediate(x float64) float64 {
	return func(v float64) float64 { return 3 * v }(x)
}

// Texted counts upper case words, with a builder that is never shown.
//
// want: accepted: texts: 1
//
//dp:adjacent bag(texts) <= 1
//dp:sensitivity texts = 1
func Texted(texts []string) int {
	n := 0
	for _, t := range texts {
		if strings.ToUpper(t) == t && !strings.HasPrefix(t, "#") {
			n++
		}
	}
	return n
}

// Split2 parses fields of a line, by a helper with an error.
//
// want: accepted: lines: 10
//
//dp:adjacent bag(lines) <= 1
//dp:sensitivity lines = 10
func Parsed(lines []string) float64 {
	s := 0.0
	for _, l := range lines {
		x, err := parse(l)
		if err != nil {
			continue
		}
		s += min(max(x, 0), 10)
	}
	return s
}

var errEmpty = errors.New("empty")

func parse(l string) (float64, error) {
	name, rest, ok := strings.Cut(l, "=")
	if !ok || name == "" {
		return 0, errEmpty
	}
	return float64(len(rest)), nil
}

// Sequenced has the error of a helper that draws noise.
//
// want: accepted: 2*eps
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost 2 * eps
func Sequenced(rows []float64, eps float64, src *noise.Source) (float64, error) {
	n, err := noisyLength(rows, eps, src)
	if err != nil {
		return 0, fmt.Errorf("count: %w", err)
	}
	m, err := noisyLength(rows, eps, src)
	if err != nil {
		return 0, fmt.Errorf("count again: %w", err)
	}
	return (n + m) / 2, nil
}

func noisyLength(rows []float64, eps float64, src *noise.Source) (float64, error) {
	if eps > 100 {
		return 0, errors.New("epsilon is too large")
	}
	return float64(len(rows)) + src.Laplace(1/eps), nil
}

type config struct {
	Epsilon    float64
	Lower      float64
	Upper      float64
	Iterations int
}

// Configured reads all from a struct of options.
//
// want: accepted: c.Epsilon
//
//dp:adjacent bag(rows) <= 1
//dp:requires c.Epsilon > 0 && c.Upper > 0 && c.Iterations > 0
//dp:cost c.Epsilon
func Configured(rows []float64, c config, src *noise.Source) float64 {
	guess := 0.0
	scale := c.Upper * float64(c.Iterations) / c.Epsilon
	for range c.Iterations {
		s := 0.0
		for _, x := range rows {
			s += min(max(x-guess, 0), c.Upper)
		}
		guess += (s + src.Laplace(scale)) / 1000
	}
	return guess
}

// ConfiguredBy has them by a pointer.
//
// want: accepted: c.Epsilon
//
//dp:adjacent bag(rows) <= 1
//dp:requires c.Epsilon > 0
//dp:cost c.Epsilon
func ConfiguredBy(rows []float64, c *config, src *noise.Source) float64 {
	return float64(len(rows)) + src.Laplace(1/c.Epsilon)
}

// Best keeps the best noisy answer of rounds, and where.
//
// want: accepted: eps*len(q)
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps * float64(len(q))
func Best(q []float64, eps float64, src *noise.Source) (at int, best float64) {
	at, best = -1, math.Inf(-1)
	for i, x := range q {
		noisy := x + src.Laplace(1/eps)
		if noisy > best {
			at, best = i, noisy
		}
	}
	return at, best
}

// Filtered keeps what is above, of noisy numbers.
//
// want: accepted: eps
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Filtered(q []float64, t, eps float64, src *noise.Source) []float64 {
	var out []float64
	for _, x := range q {
		if n := x + src.Laplace(1/eps); n > t {
			out = append(out, n)
		}
	}
	return out
}

// Mapped counts by a map of noisy counts over public keys.
//
// want: accepted: eps*len(keys)
//
//dp:adjacent each(counts) <= 1
//dp:requires eps > 0
//dp:cost eps * float64(len(keys))
func Mapped(counts map[string]float64, keys []string, eps float64, src *noise.Source) map[string]float64 {
	out := make(map[string]float64, len(keys))
	for _, k := range keys {
		if _, ok := out[k]; ok {
			continue
		}
		out[k] = counts[k] + src.Laplace(1/eps)
	}
	return out
}

// Renormalised changes noisy numbers in place, in several passes.
//
// want: accepted: eps
//
//dp:adjacent one(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Renormalised(q []float64, eps float64, src *noise.Source) []float64 {
	out := make([]float64, len(q))
	total := 0.0
	for i := range q {
		out[i] = math.Max(0, q[i]+src.Laplace(1/eps))
		total += out[i]
	}
	if total == 0 {
		return nil
	}
	for i := range out {
		out[i] /= total
	}
	return out
}

// Consistent smooths noisy levels of a tree afterwards: it pays for the levels alone.
//
// want: accepted: 2*eps
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost 2 * eps
func Consistent(rows []int, eps float64, src *noise.Source) (float64, []float64) {
	counts := make([]int, 4)
	for _, r := range rows {
		counts[clampTo(r, 0, 3)]++
	}
	total := float64(len(rows)) + src.Laplace(1/eps)
	leaves := make([]float64, 4)
	sum := 0.0
	for i, c := range counts {
		leaves[i] = float64(c) + src.Laplace(1/eps)
		sum += leaves[i]
	}
	for i := range leaves {
		leaves[i] += (total - sum) / 4
	}
	return total, leaves
}

// Retried draws until what has noise is plausible: at most three times.
//
// want: accepted: 3*eps
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost 3 * eps
func Retried(rows []float64, eps float64, src *noise.Source) float64 {
	noisy := 0.0
	for try := 0; try < 3; try++ {
		noisy = float64(len(rows)) + src.Laplace(1/eps)
		if noisy >= 0 {
			break
		}
	}
	return noisy
}

// Copied takes a struct by value and changes the copy.
//
// want: accepted: x: 2
//
//dp:sensitivity x = 2
func Copied(x float64, c config) float64 {
	d := c
	d.Upper = x
	e := d
	e.Lower = x
	return d.Upper + e.Lower - c.Upper
}

// Nested makes a slice within each round, and sums it up.
//
// want: accepted: q: 2
//
//dp:adjacent each(q) <= 1
//dp:sensitivity q = 2
func Nested(q []float64) float64 {
	total := 0.0
	for _, x := range q {
		pair := []float64{x, x}
		for _, y := range pair {
			total += y
		}
	}
	return total
}

// Histogram2 shows a histogram in a struct with its public labels.
//
// want: accepted: eps
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func Charted(rows []int, labels []string, eps float64, src *noise.Source) []bar {
	counts := make([]int, len(labels))
	for _, r := range rows {
		if r >= 0 && r < len(counts) {
			counts[r]++
		}
	}
	bars := make([]bar, 0, len(labels))
	for i, l := range labels {
		bars = append(bars, bar{Label: l, Height: float64(counts[i]) + src.Laplace(1/eps)})
	}
	return bars
}

type bar struct {
	Label  string
	Height float64
}

// ChartedMap does by a map of structs.
//
// want: accepted: eps
//
//dp:adjacent bag(rows) <= 1
//dp:requires eps > 0
//dp:cost eps
func ChartedMap(rows []int, labels []string, eps float64, src *noise.Source) map[string]bar {
	counts := make([]int, len(labels))
	for _, r := range rows {
		if r >= 0 && r < len(counts) {
			counts[r]++
		}
	}
	bars := map[string]bar{}
	for i, l := range labels {
		bars[l] = bar{l, float64(counts[i]) + src.Laplace(1/eps)}
	}
	return bars
}

// Sampled reads public places.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1 in linf
func Sampled(q []float64, places []int) []float64 {
	var out []float64
	for _, p := range places {
		if p >= 0 && p < len(q) {
			out = append(out, q[p])
		}
	}
	return out
}

// Blocks sums in blocks of a public size.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func Blocks(q []float64, size int) []float64 {
	if size <= 0 {
		return nil
	}
	out := make([]float64, len(q)/size+1)
	for i, x := range q {
		out[i/size] += x
	}
	return out
}

// Once is a flag that is public.
//
// want: accepted: q: 1
//
//dp:sensitivity q = 1
func Once(q []float64, is []bool) float64 {
	seen, first := false, 0.0
	for i, x := range q {
		if is[i] && !seen {
			seen, first = true, x
		}
	}
	return first
}

// Mutexed is a bag's sum in two accumulators, each clamped.
//
// want: accepted: rows: 1
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func TwoWays(rows []float64) (gain, loss float64) {
	for _, x := range rows {
		switch {
		case x > 0:
			gain += min(x, 1)
		case x < 0:
			loss += min(-x, 1)
		}
	}
	return gain, loss
}

// Tallied counts in a slice that is a field: one cell, and the total.
//
// want: accepted: rows: 2
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 2
func Tallied(rows []int, n int) tally {
	t := newTally(n)
	for _, r := range rows {
		if r >= 0 && r < n {
			t.counts[r]++
			t.total++
		}
	}
	return t
}
