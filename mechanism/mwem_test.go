package mechanism

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// ranges are all intervals of cells.
func ranges(cells int) (all [][]int) {
	for a := range cells {
		for b := a; b < cells; b++ {
			var q []int
			for i := a; i <= b; i++ {
				q = append(q, i)
			}
			all = append(all, q)
		}
	}
	return all
}

// loss is an upper bound of the largest log-ratio of the whole run, of all that is
// released, on counts that are neighbours: each choice by its exact law, at all weights
// that the run can have (here, at those of a few runs), and each measurement by how far
// its exact answers are apart.
func (m *MWEM) loss(a, b []int64, unit *big.Rat) (choice, measured float64) {
	answers := func(counts []int64) []int64 {
		all := make([]int64, len(m.queries))
		for i, q := range m.queries {
			for _, cell := range q {
				all[i] += counts[cell]
			}
		}
		return all
	}
	x, y := answers(a), answers(b)
	scale, _ := m.noise.Event().(privacy.DiscreteLaplace).Scale.Float64()
	for i := range x {
		measured = max(measured, float64(abs(x[i]-y[i]))/scale)
	}
	law := func(exact []int64, synthetic []float64) []float64 {
		pieces := make([]piece, len(exact))
		for i, e := range exact {
			pieces[i] = piece{1, 1000 - abs(e-int64(math.Round(answer(m.queries[i], synthetic))))}
		}
		return weights(pieces, unit)
	}
	for range 5 {
		synthetic := must(m.Release(noise.System(), a))
		p, q := law(x, synthetic), law(y, synthetic)
		low, high := math.Inf(1), math.Inf(-1)
		for i := range p {
			l := math.Log(p[i] / q[i])
			low, high = min(low, l), max(high, l)
		}
		choice = max(choice, high-low, high, -low)
	}
	return choice, measured
}

// Every choice and every measurement is within what it is charged, when a unit's rows
// are added, removed or moved; a choice without its half, or a unit of more rows than
// declared, is not.
func TestMWEMCharges(t *testing.T) {
	o := MWEMOptions{Cells: 5, Queries: ranges(5), Rounds: 2, MaxRows: 2, Epsilon: eps("5")}
	m := must(NewMWEM(o))
	if m.single.String() != "1" || m.Event().String() != "2*exponential(1) + 3*discrete_laplace(2, sensitivity=2)" || m.Event().Validate() != nil {
		t.Fatal(m.single, m.Event())
	}
	base := []int64{3, 0, 7, 2, 2}
	change := func(rows int64, from, to int) []int64 {
		c := append([]int64{}, base...)
		if from >= 0 {
			c[from] -= rows
		}
		if to >= 0 {
			c[to] += rows
		}
		return c
	}
	var choice, measured, unhalved, more float64
	for _, move := range [][2]int{{-1, 1}, {-1, 4}, {2, -1}, {0, 4}, {2, 1}, {3, 0}} {
		c, d := m.loss(base, change(2, move[0], move[1]), m.unit())
		choice, measured = max(choice, c), max(measured, d)
		c, _ = m.loss(base, change(2, move[0], move[1]), new(big.Rat).Add(m.unit(), m.unit()))
		unhalved = max(unhalved, c)
		_, d = m.loss(base, change(3, max(move[0], 0), move[1]), m.unit())
		more = max(more, d)
	}
	t.Logf("choices lose %v, measurements %v, of 1", choice, measured)
	if choice > 1+1e-9 || measured > 1+1e-9 || choice < 0.9 || measured < 0.9 {
		t.Errorf("choices lose %v, measurements %v", choice, measured)
	}
	if unhalved <= 1 || more <= 1 {
		t.Errorf("faults pass: %v, %v", unhalved, more)
	}
}

// The choice that is made has its law.
func TestMWEMChoiceFits(t *testing.T) {
	t.Parallel()
	m := must(NewMWEM(MWEMOptions{Cells: 3, Queries: ranges(3), Rounds: 1, Epsilon: eps("1")}))
	exact, at := []int64{4, 9, 10, 5, 6, 1}, []float64{3.4, 3.4, 3.2}
	var pieces []piece
	for i, q := range m.queries {
		pieces = append(pieces, piece{1, 100 - abs(exact[i]-int64(math.Round(answer(q, at))))})
	}
	draw := func(b noise.Bits) (int, error) { return m.worst(b, exact, at) }
	if err := fits(weights(pieces, rat("1/6")), 30_000, draw); err != nil {
		t.Error(err)
	}
	// Half the ε is at a relative entropy of 0.002: 100,000 draws are 8 standard deviations
	// above what is refused.
	if fits(weights(pieces, rat("1/12")), 100_000, draw) == nil {
		t.Error("half the epsilon makes no difference")
	}
}

// Correcting by an exact answer brings weights nearer to the data, by as much as the
// theorem says.
func TestMWEMProgress(t *testing.T) {
	counts, n := []float64{10, 0, 50, 20, 20}, 100.0
	m := must(NewMWEM(MWEMOptions{Cells: 5, Queries: ranges(5), Rounds: 1, Epsilon: eps("1")}))
	entropy := func(weights []float64) (d float64) {
		for i, c := range counts {
			if c > 0 {
				d += c / n * math.Log(c/weights[i])
			}
		}
		return d
	}
	for _, noise := range []float64{0, 5, -10, 40} {
		weights := []float64{20, 20, 20, 20, 20}
		for _, q := range m.queries {
			a, b, before := answer(q, weights), answer(q, counts), entropy(weights)
			measured := min(max(b+noise, 0), n)
			m.correct(weights, q, measured, n)
			want := ((b-a)*(b-a) - (measured-b)*(measured-b)) / (4 * n * n)
			if got := before - entropy(weights); got < want-1e-12 {
				t.Errorf("noise %v, query %v: the entropy falls by %v, less than %v", noise, q, got, want)
			}
			if sum := answer([]int{0, 1, 2, 3, 4}, weights); math.Abs(sum-n) > 1e-9 {
				t.Errorf("the weights add up to %v", sum)
			}
		}
	}
}

// farthest is the largest error of the weights on the queries.
func (m *MWEM) farthest(weights []float64, counts []int64) (worst float64) {
	for _, q := range m.queries {
		exact := 0.0
		for _, cell := range q {
			exact += float64(counts[cell])
		}
		worst = max(worst, math.Abs(exact-answer(q, weights)))
	}
	return worst
}

// The bound holds at its beta.
func TestMWEMBound(t *testing.T) {
	t.Parallel()
	const runs = 20_000
	m := must(NewMWEM(MWEMOptions{Cells: 4, Queries: ranges(4), Rounds: 8, Epsilon: eps("4")}))
	counts := []int64{0, 3000, 1000, 6000}
	alpha, far, source := must(m.Bound(10_000, rat("0.1"))), 0, entropy.New()
	for range runs {
		if m.farthest(must(m.Release(source, counts)), counts) > alpha {
			far++
		}
	}
	t.Logf("%d of %d beyond %.0f", far, runs, alpha)
	if err := failsAtMost(far, runs, 0.1); err != nil {
		t.Error(err)
	}
}

// With enough rows and rounds the distribution is much better than the uniform one, of
// which the largest error is 3750 of 10,000. (The mean of 100 runs spreads by some tens.)
func TestMWEMIsUseful(t *testing.T) {
	m := must(NewMWEM(MWEMOptions{Cells: 8, Queries: ranges(8), Rounds: 40, Epsilon: eps("4")}))
	counts, sum := []int64{0, 4000, 100, 0, 2500, 3000, 10, 390}, 0.0
	for range 100 {
		sum += m.farthest(must(m.Release(noise.System(), counts)), counts)
	}
	t.Logf("the mean of the largest errors is %.0f of 10000", sum/100)
	if sum/100 > 2000 {
		t.Errorf("the mean of the largest errors is %v", sum/100)
	}
}

func TestMWEMRefusals(t *testing.T) {
	good := MWEMOptions{Cells: 3, Queries: ranges(3), Rounds: 2, Epsilon: eps("1")}
	for name, change := range map[string]func(*MWEMOptions){
		"no cells":        func(o *MWEMOptions) { o.Cells = 0 },
		"too many cells":  func(o *MWEMOptions) { o.Cells = 1 << 30 },
		"no queries":      func(o *MWEMOptions) { o.Queries = nil },
		"no such cell":    func(o *MWEMOptions) { o.Queries = [][]int{{3}} },
		"negative cell":   func(o *MWEMOptions) { o.Queries = [][]int{{-1}} },
		"cell twice":      func(o *MWEMOptions) { o.Queries = [][]int{{1, 0, 1}} },
		"no rounds":       func(o *MWEMOptions) { o.Rounds = 0 },
		"too many rounds": func(o *MWEMOptions) { o.Rounds = 1 << 20 },
		"negative rows":   func(o *MWEMOptions) { o.MaxRows = -1 },
		"no epsilon":      func(o *MWEMOptions) { o.Epsilon = privacy.Epsilon{} },
		"tiny epsilon":    func(o *MWEMOptions) { o.Epsilon = eps("1e-300") },
	} {
		o := good
		change(&o)
		if m, err := NewMWEM(o); m != nil || !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
	m := must(NewMWEM(good))
	if _, err := m.Release(noise.System(), []int64{1, 2}); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
	if w, err := m.Release(broken{}, []int64{1, 2, 3}); w != nil || !errors.Is(err, errBroken) {
		t.Error(w, err)
	}
	for name, err := range map[string]error{"no beta": second(m.Bound(5, nil)), "negative": second(m.Bound(-1, rat("1/2")))} {
		if !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Whatever the counts, and the noise, there are weights.
	wild := must(NewMWEM(MWEMOptions{Cells: 3, Queries: append(ranges(3), nil), Rounds: 20, Epsilon: eps("1e-250")}))
	for _, m := range []*MWEM{m, wild} {
		for _, counts := range [][]int64{{0, 0, 0}, {math.MinInt64, 0, math.MaxInt64}, {math.MaxInt64, math.MaxInt64, math.MaxInt64}} {
			w, err := m.Release(noise.System(), counts)
			if err != nil || len(w) != 3 {
				t.Fatal(counts, w, err)
			}
			for _, x := range w {
				if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
					t.Error(fmt.Sprint(counts), w)
				}
			}
		}
	}
}
