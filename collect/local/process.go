package local

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Post-processing of raw shares reveals nothing more. What comes out is biased, and claims no
// interval.

// Clip replaces each share by the nearest number in [0, 1].
func Clip(raw []float64) []float64 {
	out := slices.Clone(raw)
	for i, x := range out {
		out[i] = min(max(x, 0), 1)
	}
	return out
}

// NormSub makes negative shares 0 and takes as much from each other one, until they add up to
// 1 (Wang et al. 2020, "Norm-Sub"). It is Simplex, found by steps.
func NormSub(raw []float64) []float64 {
	out := slices.Clone(raw)
	for range len(raw) + 1 {
		sum, n := 0.0, 0
		for i, x := range out {
			if x <= 0 {
				out[i] = 0
				continue
			}
			sum, n = sum+x, n+1
		}
		if n == 0 {
			return uniform(len(raw))
		}
		off := (sum - 1) / float64(n)
		done := true
		for i, x := range out {
			if x > 0 {
				out[i] = x - off
				done = done && out[i] >= 0
			}
		}
		if done {
			break
		}
	}
	return out
}

// Simplex returns the nearest distribution, in L2 (Duchi et al. 2008).
func Simplex(raw []float64) []float64 {
	sorted := slices.Clone(raw)
	slices.Sort(sorted)
	sum, off := 0.0, 0.0
	for i := range sorted {
		x := sorted[len(sorted)-1-i]
		sum += x
		if next := (sum - 1) / float64(i+1); x > next {
			off = next
		}
	}
	out := make([]float64, len(raw))
	for i, x := range raw {
		out[i] = max(x-off, 0)
	}
	return out
}

func uniform(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1 / float64(n)
	}
	return out
}

// IteratedBayes returns the distribution of values that is most likely, given how often each
// reply was told and the probability of a reply given a value, by expectation maximisation from
// the uniform one (Agrawal and Aggarwal 2001). It stops after so many rounds, or when the
// log-likelihood rises by less than 1e-9 of the number of replies. smooth, if it is not nil, is
// applied after each round.
func IteratedBayes(told []float64, values int, given func(reply, value int) float64, rounds int, smooth func([]float64)) []float64 {
	shares := uniform(values)
	n := 0.0
	for _, c := range told {
		n += c
	}
	if n == 0 {
		return shares
	}
	before := math.Inf(-1)
	for range rounds {
		next, likelihood := make([]float64, values), 0.0
		for y, c := range told {
			if c == 0 {
				continue
			}
			sum := 0.0
			for v, s := range shares {
				sum += s * given(y, v)
			}
			likelihood += c * math.Log(sum)
			for v, s := range shares {
				next[v] += c / n * s * given(y, v) / sum
			}
		}
		shares = next
		if smooth != nil {
			smooth(shares)
		}
		if likelihood-before < 1e-9*n {
			break
		}
		before = likelihood
	}
	return shares
}

// IteratedBayes returns the most likely shares, for a protocol whose reports are few enough to
// be counted: GRR and Hadamard response.
func (t *Tally) IteratedBayes() ([]float64, error) {
	if t.reports == 0 {
		return nil, ErrNoReports
	}
	k := t.of.options.Values
	switch kernel := t.of.kernel.(type) {
	case *grr:
		p, q := near(kernel.truth()), near(kernel.lie())
		return IteratedBayes(t.counter.scores(), k, func(y, v int) float64 {
			if y == v {
				return p
			}
			return q
		}, 1000, nil), nil
	case *hadamardResponse:
		in := near(kernel.p) / float64(kernel.size/2)
		out := near(not(kernel.p)) / float64(kernel.size/2)
		return IteratedBayes(t.counter.(*spectrum).sums, k, func(y, v int) float64 {
			if entry(oddRow(v), uint64(y)) == 0 {
				return in
			}
			return out
		}, 1000, nil), nil
	}
	return nil, parameter("iterated Bayes needs the number of each report, which the tally of %s does not have: take grr or hadamard-response", t.of.Protocol())
}

// A Test is the result of a test of a hypothesis.
type Test struct {
	// Statistic is Pearson's chi-square, of so many degrees of freedom.
	Statistic float64
	Freedom   int
	// P is the probability of a statistic as large where the hypothesis is true, by the law of
	// chi-square, which many reports have nearly; it is no exact one.
	P float64
}

// Fit tests whether the respondents are drawn from the given distribution, by how often each
// reply of GRR was told: where it is true, replies are drawn from its image.
func (t *Tally) Fit(shares []float64) (*Test, error) {
	g, ok := t.of.kernel.(*grr)
	if !ok {
		return nil, parameter("the test of a distribution is of reports of grr")
	}
	sum := 0.0
	for _, s := range shares {
		if !(s >= 0) {
			return nil, parameter("a share is negative")
		}
		sum += s
	}
	if len(shares) != g.k || math.Abs(sum-1) > 1e-9 {
		return nil, parameter("the shares are not %d numbers that add up to 1", g.k)
	}
	p, q, x2 := near(g.truth()), near(g.lie()), 0.0
	for v, told := range t.counter.scores() {
		want := float64(t.reports) * (q + (p-q)*shares[v])
		x2 += (told - want) * (told - want) / want
	}
	return chiSquare(x2, g.k-1), nil
}

func chiSquare(x2 float64, freedom int) *Test {
	return &Test{x2, freedom, distuv.ChiSquared{K: float64(freedom)}.Survival(x2)}
}

// Independence tests whether two values of a respondent are independent, by how often each
// pair of replies was told, where either is randomized by itself. Independent values have
// independent replies, and the other way round, since a randomizer can be undone on average: so
// the test of the replies is one of the values.
func Independence(told [][]int64) (*Test, error) {
	if len(told) < 2 || len(told[0]) < 2 {
		return nil, parameter("independence is of two values or more on either side")
	}
	rows, columns, n := make([]float64, len(told)), make([]float64, len(told[0])), 0.0
	for i, row := range told {
		if len(row) != len(columns) {
			return nil, parameter("the table's rows differ in length")
		}
		for j, c := range row {
			if c < 0 {
				return nil, parameter("a count is negative")
			}
			rows[i] += float64(c)
			columns[j] += float64(c)
			n += float64(c)
		}
	}
	x2 := 0.0
	for i, row := range told {
		for j, c := range row {
			want := rows[i] * columns[j] / n
			if !(want > 0) {
				return nil, parameter("nobody told %s of the table", fmt.Sprintf("row %d or column %d", i+1, j+1))
			}
			x2 += (float64(c) - want) * (float64(c) - want) / want
		}
	}
	return chiSquare(x2, (len(rows)-1)*(len(columns)-1)), nil
}
