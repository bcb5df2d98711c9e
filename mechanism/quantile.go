package mechanism

import (
	"fmt"
	"math/big"
	"math/bits"
	"slices"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// QuantileOptions say which quantiles are wanted, from which candidates.
type QuantileOptions struct {
	// Lower, Lower+Step, ... up to at most Upper are the candidates, which are public;
	// at most 2^42 of them. Required. Values are clamped to them and rounded to the
	// nearest.
	Lower, Upper, Step *big.Rat
	// Quantiles are the wanted ones, such as 1/2 for the median: ascending, each
	// between 0 and 1, and with a common denominator of at most a million. Required.
	Quantiles []*big.Rat
	// MaxRows is the number of values that a unit has at most; 1 if it is not given.
	MaxRows int64
	// Neighbours is the relation in force; AddRemove if it is not given.
	Neighbours privacy.Neighbours
	// Epsilon is the guarantee of all quantiles together. Required.
	Epsilon privacy.Epsilon
}

// Quantile chooses quantiles from public candidates by the exponential mechanism:
// x is more likely the fewer values must be added or removed to make it one.
//
// With q = a/b and n values, x misses by max(b·#(<x) − a·n, b·#(>x) − (b−a)·n, 0),
// in units of 1/b. A value that is added or removed changes that by at most
// max(a, b−a), one that is replaced by at most b; a unit, by R times as much.
//
// Theorem (McSherry and Talwar 2007; for the range, Durfee and Rogers 2019). Choosing x
// with probability proportional to exp(−ε·score(x)/2Δ), for scores that change by at
// most Δ, is ε-DP, of bounded range ε.
//
// Several quantiles (Kaplan, Schnapp and Stemmer 2022): the middle one t is chosen
// first, and splits the values into those below and those above, among which the
// others are sought, with their ranks relative to the part. Given t, a value is in
// one part only. So on each of the ⌈log2(m+1)⌉ levels a unit's values, together,
// change the scores by no more than one part's would, and each level costs
// ε/levels. A replaced unit, removed in some parts and added in others, counts
// twice there.
//
// The split must be possible among values that are equal. So each candidate has S
// slots, and where c values lie on it, slot s has ⌊c·s/S⌋ of them below and the rest
// above. Another value adds one to exactly one of the two sides of a point, wherever
// it lies; so all this holds for the points (candidate, slot), which miss by
// |b·l − a·n| with l values below.
type Quantile struct {
	line       line
	slotBits   uint    // each candidate has 2^slotBits slots
	quantiles  []int64 // numerators, over den
	den        int64
	rows       int64
	neighbours privacy.Neighbours
	single     privacy.Epsilon // of one level
	levels     int
}

const (
	slotBits    = 20
	maxQuantile = 1_000_000 // the common denominator
	maxValues   = maxPieces / 4
)

// NewQuantile returns the mechanism with the given options.
func NewQuantile(o QuantileOptions) (*Quantile, error) {
	q := &Quantile{neighbours: o.Neighbours, slotBits: slotBits}
	var err error
	if q.line, err = newLine(o.Lower, o.Upper, o.Step); err != nil {
		return nil, err
	}
	if err := q.setQuantiles(o.Quantiles); err != nil {
		return nil, err
	}
	if q.rows, err = contribution("values", o.MaxRows); err != nil {
		return nil, err
	}
	if o.Neighbours > privacy.ReplaceOne {
		return nil, fmt.Errorf("%w: no such neighbouring relation: %v", ErrParameter, o.Neighbours)
	}
	if err := checkPositive("epsilon", o.Epsilon.Rat()); err != nil {
		return nil, err
	}
	q.levels = bits.Len(uint(len(o.Quantiles)))
	single := o.Epsilon.Rat()
	q.single, err = privacy.NewEpsilon(single.Quo(single, big.NewRat(int64(q.levels), 1)))
	if err != nil {
		return nil, fmt.Errorf("%w: for one level, %w", ErrParameter, err)
	}
	return q, nil
}

// setQuantiles brings the quantiles to a common denominator.
func (q *Quantile) setQuantiles(quantiles []*big.Rat) error {
	if len(quantiles) == 0 {
		return fmt.Errorf("%w: no quantile is wanted", ErrParameter)
	}
	den := big.NewInt(1)
	for i, r := range quantiles {
		if r == nil || r.Sign() <= 0 || r.Cmp(big.NewRat(1, 1)) >= 0 {
			return fmt.Errorf("%w: a quantile is missing, or not between 0 and 1", ErrParameter)
		}
		if i > 0 && r.Cmp(quantiles[i-1]) <= 0 {
			return fmt.Errorf("%w: the quantiles do not ascend", ErrParameter)
		}
		common := new(big.Int).GCD(nil, nil, den, r.Denom())
		if den.Mul(den, common.Quo(r.Denom(), common)); den.Cmp(big.NewInt(maxQuantile)) > 0 {
			return fmt.Errorf("%w: the quantiles have no common denominator up to a million", ErrParameter)
		}
	}
	q.den = den.Int64()
	for _, r := range quantiles {
		q.quantiles = append(q.quantiles, new(big.Rat).Mul(r, new(big.Rat).SetInt(den)).Num().Int64())
	}
	return nil
}

// Event is what the quantiles reveal together, under the relation of the options.
func (q *Quantile) Event() privacy.Event {
	return privacy.Under{Neighbours: q.neighbours, Event: q.event()}
}

func (q *Quantile) event() privacy.Event {
	if q.levels == 1 {
		return privacy.Exponential{Epsilon: q.single}
	}
	return privacy.Repeat{Count: q.levels, Event: privacy.Exponential{Epsilon: q.single}}
}

// Choose returns the quantiles of the values, ascending. A NaN is left out;
// infinities are clamped like other values. Without values all candidates are
// equally likely. It relies on the caller that a unit has no more values than the
// options say.
func (q *Quantile) Choose(source noise.Bits, values []float64) ([]float64, error) {
	if len(values) > maxValues {
		return nil, fmt.Errorf("%w: more than %d values", ErrParameter, maxValues)
	}
	all := part{ties: q.ties(values), to: (q.line.last + 1) << q.slotBits, slotBits: q.slotBits, high: q.den}
	points, err := q.search(source, all, q.quantiles)
	if err != nil {
		return nil, fmt.Errorf("choose quantiles: %w", err)
	}
	chosen := make([]float64, len(points))
	for i, point := range points {
		chosen[i] = q.line.value(new(big.Int).SetUint64(point >> q.slotBits))
	}
	return chosen, nil
}

// A tie is how many values lie on one candidate.
type tie struct {
	candidate uint64
	count     int64
}

// ties returns the values as candidates, ascending.
func (q *Quantile) ties(values []float64) (ties []tie) {
	candidates := q.line.numbers(values)
	slices.Sort(candidates)
	for _, c := range candidates {
		if n := len(ties); n > 0 && ties[n-1].candidate == c {
			ties[n-1].count++
		} else {
			ties = append(ties, tie{c, 1})
		}
	}
	return ties
}

// search returns a point for each of the wanted quantiles, which lie in the part.
func (q *Quantile) search(source noise.Bits, p part, wanted []int64) ([]uint64, error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	middle := len(wanted) / 2
	a, b := wanted[middle]-p.low, p.high-p.low
	point, err := p.choose(source, p.stretches(a, b, len(wanted) > 1), q.unit(a, b, p.high-p.low == q.den))
	if err != nil || len(wanted) == 1 {
		return []uint64{point}, err
	}
	below, above := p.split(point, wanted[middle])
	left, err := q.search(source, below, wanted[:middle])
	if err != nil {
		return nil, err
	}
	right, err := q.search(source, above, wanted[middle+1:])
	if err != nil {
		return nil, err
	}
	return slices.Concat(left, []uint64{point}, right), nil
}

// unit returns ε/2Δ for the quantile a/b, among all values or in one of several parts.
func (q *Quantile) unit(a, b int64, all bool) *big.Rat {
	change := big.NewRat(q.rows, 1)
	switch {
	case q.neighbours == privacy.AddRemove:
		change.Mul(change, big.NewRat(max(a, b-a), 1))
	case all:
		change.Mul(change, big.NewRat(b, 1))
	default: // removed from one part and added to another
		change.Mul(change, big.NewRat(2*max(a, b-a), 1))
	}
	return new(big.Rat).Quo(q.single.Rat(), change.Add(change, change))
}

// A part is the values between two points of a line. The point p is the slot of its
// low bits in the candidate p>>slotBits.
type part struct {
	ties      []tie
	from, to  uint64 // the points from <= p < to
	slotBits  uint
	low, high int64 // the ranks of its values among all, over the common denominator
}

// slots returns the points of a candidate that are in the part.
func (p part) slots(candidate uint64) (from, to uint64) {
	return max(p.from, candidate<<p.slotBits), min(p.to, (candidate+1)<<p.slotBits)
}

// A stretch is points with the same score, in the width of the piece.
type stretch struct {
	from uint64
	piece
}

// stretches returns the points of the part by how far they miss the quantile a/b.
// Only if it will be split are the slots of a candidate told apart.
func (p part) stretches(a, b int64, split bool) (all []stretch) {
	at, below, n := p.from, int64(0), int64(0)
	for _, t := range p.ties {
		n += t.count
	}
	upTo := func(end uint64, score int64) {
		if end > at {
			all = append(all, stretch{at, piece{end - at, score}})
			at = end
		}
	}
	for _, t := range p.ties {
		from, to := p.slots(t.candidate)
		upTo(from, abs(b*below-a*n))
		if !split {
			// b·#(>x) − (b−a)·n = a·n − b·#(<=x)
			upTo(to, max(b*below-a*n, a*n-b*(below+t.count), 0))
		}
		count, slots := uint64(t.count), to-from
		for at < to {
			under := count * (at - from) / slots
			upTo(from+((under+1)*slots+count-1)/count, abs(b*(below+int64(under))-a*n))
		}
		below += t.count
	}
	upTo(p.to, abs(b*below-a*n))
	return all
}

func abs(x int64) int64 { return max(x, -x) }

// choose returns a random point by its score. A part without points gives the one
// where it would be: that it has none is public.
func (p part) choose(source noise.Bits, all []stretch, unit *big.Rat) (uint64, error) {
	if p.from == p.to {
		return p.from, nil
	}
	pieces := make([]piece, len(all))
	for i, s := range all {
		pieces[i] = s.piece
	}
	i, err := choose(source, pieces, unit)
	if err != nil {
		return 0, err
	}
	within, err := noise.Uniform(source, new(big.Int).SetUint64(pieces[i].width))
	if err != nil {
		return 0, err
	}
	return all[i].from + within.Uint64(), nil
}

// split returns the parts below and above a point, which has the given rank.
func (p part) split(point uint64, rank int64) (below, above part) {
	below = part{from: p.from, to: point, slotBits: p.slotBits, low: p.low, high: rank}
	above = part{from: point, to: p.to, slotBits: p.slotBits, low: rank, high: p.high}
	for _, t := range p.ties {
		from, to := p.slots(t.candidate)
		under := t.count
		if point < to {
			under = int64(uint64(t.count) * (max(point, from) - from) / (to - from))
		}
		if under > 0 {
			below.ties = append(below.ties, tie{t.candidate, under})
		}
		if under < t.count {
			above.ties = append(above.ties, tie{t.candidate, t.count - under})
		}
	}
	return below, above
}

// Bound returns an α such that every quantile chosen of n values is off by at most
// α ranks but with probability beta: what is chosen as the quantile q has at most
// qn+α values below it, and at least qn−α that are not above it.
//
// Theorem (McSherry and Talwar 2007; Kaplan, Schnapp and Stemmer 2022). Of N
// candidates, one that misses by more than ln(N/β)·2Δ/ε beyond the best is chosen with
// probability β at most; among candidates the best misses by nothing, among points by
// what one slot holds of the values that are equal. A miss on a level shifts the
// ranks in the parts below it by no more than itself, so misses add up.
//
// For an interval that holds a quantile q but with probability beta, choose also the
// quantiles q−γ and q+γ for a γ of at least α/n.
func (q *Quantile) Bound(n int64, beta *big.Rat) (float64, error) {
	if err := checkBeta(beta); err != nil {
		return 0, err
	}
	if n < 0 || n > maxValues {
		return 0, fmt.Errorf("%w: the number of values is not between 0 and %d", ErrParameter, maxValues)
	}
	candidates := new(big.Rat).SetInt64(int64(q.line.last) + 1)
	if len(q.quantiles) == 1 {
		reach := numeric.Of(candidates.Quo(candidates, beta)).Log()
		unit := q.unit(q.quantiles[0], q.den, true)
		return upFloat(reach.Quo(numeric.Of(unit.Mul(unit, big.NewRat(q.den, 1)))).Hi()), nil
	}
	candidates.Mul(candidates, big.NewRat(int64(len(q.quantiles))<<q.slotBits, 1))
	reach := numeric.Of(candidates.Quo(candidates, beta)).Log()
	// The sensitivity is below R ranks, or 2R.
	change := big.NewRat(2*q.rows, 1)
	if q.neighbours == privacy.ReplaceOne {
		change.Add(change, change)
	}
	levels := int64(q.levels)
	misses := reach.Mul(numeric.Of(change)).Quo(numeric.Of(q.single.Rat())).Mul(numeric.OfInt(levels))
	slots := new(big.Rat).Mul(big.NewRat(n, 1<<q.slotBits), big.NewRat(levels, 1))
	slots.Add(slots, big.NewRat(levels*(levels+1)/2, 1))
	return upFloat(misses.Add(numeric.Of(slots)).Hi()), nil
}
