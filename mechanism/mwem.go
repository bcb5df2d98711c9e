package mechanism

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// MWEMOptions say which queries a synthetic distribution is to answer well.
type MWEMOptions struct {
	// Cells is the size of the domain, which is public; at most 2^20. Required.
	Cells int
	// Queries are sets of cells; the answer of one is how many rows lie in it. Required.
	Queries [][]int
	// Rounds is the number of queries that are measured. Required.
	Rounds int
	// MaxRows is the number of rows that a unit has at most; 1 if it is not given.
	MaxRows int64
	// Epsilon is the guarantee of all rounds together. Required.
	Epsilon privacy.Epsilon
}

// MWEM makes a synthetic distribution over a small domain that answers many counting
// queries well, by measuring few of them: in each round the query that it answers
// worst, chosen by the exponential mechanism, by whose noisy answer it is then corrected
// with multiplicative weights (Hardt, Ligett and McSherry 2012).
//
// Theorem. Removing R rows and adding R changes every answer by at most R, so that with
// T rounds, T choices of ε/(2T+1) each, T noisy answers and one noisy number of all
// rows of as much are ε-DP together, when a unit is added, removed or replaced. The
// weights are computed from these alone. The cost is fixed at the start.
type MWEM struct {
	cells   int
	queries [][]int
	rounds  int
	single  privacy.Epsilon // of one choice or one measurement
	change  *big.Rat        // R
	noise   Additive
}

// maxCells bounds domains, maxRounds how often their weights are computed, and maxCount
// what is counted in a cell, so that sums are int64.
const (
	maxCells  = 1 << 20
	maxRounds = 10_000
	maxCount  = 1 << 40
)

// NewMWEM returns the mechanism with the given options.
func NewMWEM(o MWEMOptions) (*MWEM, error) {
	if o.Cells < 1 || o.Cells > maxCells {
		return nil, fmt.Errorf("%w: the number of cells is not between 1 and 2^20", ErrParameter)
	}
	if o.Rounds < 1 || o.Rounds > maxRounds {
		return nil, fmt.Errorf("%w: the number of rounds is not between 1 and %d", ErrParameter, maxRounds)
	}
	if len(o.Queries) == 0 {
		return nil, fmt.Errorf("%w: there are no queries", ErrParameter)
	}
	m := &MWEM{cells: o.Cells, rounds: o.Rounds}
	for _, q := range o.Queries {
		set := slices.Clone(q)
		slices.Sort(set)
		if len(slices.Compact(set)) != len(q) || len(set) > 0 && (set[0] < 0 || set[len(set)-1] >= o.Cells) {
			return nil, fmt.Errorf("%w: a query has a cell twice, or one that does not exist", ErrParameter)
		}
		m.queries = append(m.queries, set)
	}
	rows, err := contribution("rows", o.MaxRows)
	if err != nil {
		return nil, err
	}
	if err := checkPositive("epsilon", o.Epsilon.Rat()); err != nil {
		return nil, err
	}
	m.change = big.NewRat(rows, 1)
	if m.single, err = privacy.NewEpsilon(new(big.Rat).Quo(o.Epsilon.Rat(), big.NewRat(int64(2*o.Rounds+1), 1))); err != nil {
		return nil, fmt.Errorf("%w: for one round, %w", ErrParameter, err)
	}
	if m.noise, err = NewLaplace(LaplaceOptions{Sensitivity: m.change, Epsilon: m.single}); err != nil {
		return nil, err
	}
	return m, nil
}

// Event is what the synthetic distribution reveals.
func (m *MWEM) Event() privacy.Event {
	return privacy.Sum{Events: []privacy.Event{
		privacy.Repeat{Count: m.rounds, Event: privacy.Exponential{Epsilon: m.single}},
		privacy.Repeat{Count: m.rounds + 1, Event: m.noise.Event()},
	}}
}

// Release returns a synthetic distribution: a number of rows, not whole, for each
// cell, from the exact ones, which are clamped to [0, 2^40]. It relies on the caller
// that a unit has no more rows than the options say.
func (m *MWEM) Release(bits noise.Bits, counts []int64) ([]float64, error) {
	if len(counts) != m.cells {
		return nil, fmt.Errorf("%w: %d counts for %d cells", ErrParameter, len(counts), m.cells)
	}
	counts = slices.Clone(counts)
	total := int64(0)
	for i, c := range counts {
		counts[i] = min(max(c, 0), maxCount)
		total += counts[i]
	}
	exact := make([]int64, len(m.queries))
	for i, q := range m.queries {
		for _, cell := range q {
			exact[i] += counts[cell]
		}
	}
	size, err := m.measure(bits, total)
	if err != nil {
		return nil, err
	}
	size = max(size, 1)
	weights, sum := make([]float64, m.cells), make([]float64, m.cells)
	for i := range weights {
		weights[i] = size / float64(m.cells)
	}
	for range m.rounds {
		for i, w := range weights {
			sum[i] += w
		}
		i, err := m.worst(bits, exact, weights)
		if err != nil {
			return nil, err
		}
		answer, err := m.measure(bits, exact[i])
		if err != nil {
			return nil, err
		}
		m.correct(weights, m.queries[i], min(max(answer, 0), size), size)
	}
	for i := range sum {
		sum[i] /= float64(m.rounds)
	}
	return sum, nil
}

// measure returns a count with noise, clamped so that distances are int64.
func (m *MWEM) measure(bits noise.Bits, count int64) (float64, error) {
	noisy := []*big.Int{big.NewInt(count)}
	if err := m.noise.AddTo(bits, noisy); err != nil {
		return 0, fmt.Errorf("measure query: %w", err)
	}
	return min(max(float64(saturate(noisy[0])), -1<<61), 1<<61), nil
}

// worst returns a query, likely one that the weights answer badly: its score is the
// distance of its answer to theirs, which is public and rounded to a whole number, so
// that scores change by at most R.
func (m *MWEM) worst(bits noise.Bits, exact []int64, weights []float64) (int, error) {
	scores, most := make([]int64, len(exact)), int64(0)
	for i, e := range exact {
		scores[i] = abs(e - int64(math.Round(answer(m.queries[i], weights))))
		most = max(most, scores[i])
	}
	pieces := make([]piece, len(scores))
	for i, s := range scores {
		pieces[i] = piece{1, most - s}
	}
	i, err := choose(bits, pieces, m.unit())
	if err != nil {
		return 0, fmt.Errorf("choose query: %w", err)
	}
	return i, nil
}

// unit returns ε/2R of one choice.
func (m *MWEM) unit() *big.Rat {
	return new(big.Rat).Quo(m.single.Rat(), new(big.Rat).Add(m.change, m.change))
}

// answer returns the number of rows that the weights have in a query.
func answer(query []int, weights []float64) (sum float64) {
	for _, cell := range query {
		sum += weights[cell]
	}
	return sum
}

// correct multiplies the weights in the query by exp((measured − answer)/2n), and all
// by what makes their sum n again.
func (m *MWEM) correct(weights []float64, query []int, measured, n float64) {
	factor := math.Exp((measured - answer(query, weights)) / (2 * n))
	for _, cell := range query {
		weights[cell] *= factor
	}
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	for i := range weights {
		weights[i] *= n / sum
	}
}

// Bound returns an α such that the synthetic distribution answers every query on n
// rows within α but with probability beta:
//
//	α = 2(n+N)·√(ln(cells)/T) + 5N + S.
//
// Theorem (after Hardt, Ligett and McSherry 2012, Theorem 2.2). With probability 1−β all
// noise is within N, and every chosen query within S of the worst. Let B be the
// distribution of the data, scaled to the noisy number of rows n', and Ψ its relative
// entropy to the weights. Correcting by m a query answered a, where B says b, lowers Ψ by
// at least ((b−a)² − (m−b)²)/4n'², from at most ln(cells). As |m−b| <= 2N, the mean of
// |b−a| over T rounds is at most 2n'·√(ln(cells)/T) + 2N; the mean of the weights errs,
// on any query, no more than that and S, and what B and the data differ by.
func (m *MWEM) Bound(n int64, beta *big.Rat) (float64, error) {
	if err := checkBeta(beta); err != nil {
		return 0, err
	}
	if n < 0 {
		return 0, fmt.Errorf("%w: the number of rows is negative", ErrParameter)
	}
	share := new(big.Rat).Mul(beta, half)
	q, err := m.noise.Bound(new(big.Rat).Quo(share, big.NewRat(int64(m.rounds+1), 1)))
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	reach := numeric.Of(new(big.Rat).SetInt(q))
	slack := logOver(int64(m.rounds)*int64(len(m.queries)), share)
	slack = slack.Quo(numeric.Of(m.unit())).Add(numeric.OfInt(1))
	spread := numeric.Of(big.NewRat(int64(m.cells), 1)).Log().Quo(numeric.OfInt(int64(m.rounds))).Sqrt()
	alpha := numeric.OfInt(2).Mul(numeric.OfInt(max(n, 1)).Add(reach)).Mul(spread)
	return upFloat(alpha.Add(numeric.OfInt(5).Mul(reach)).Add(slack).Hi()), nil
}
