package local

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/proportion"
)

// Estimates are of the shares of respondents that have each value. They are computed from reports
// alone, and so reveal nothing more.
type Estimates struct {
	Reports int64
	// Raw shares are without bias, and may lie outside of [0, 1]. (Where hash functions are
	// public, RAPPOR and the sketches, over the draw of these.)
	Raw []float64
	// Low and High hold the true share of each value, that of the respondents themselves; nil
	// where none are known.
	Low, High []float64
}

// EstimateOptions say how sure intervals are to be.
type EstimateOptions struct {
	// Beta is the probability with which an interval may fail; 1/20 if it is not given.
	Beta *big.Rat
	// Together has all intervals hold at once but with probability Beta.
	Together bool
}

// tail is the probability with which one of n intervals may fail, rounded down.
//
// Theorem (Bonferroni). Any of n events that have probability β/n each happens with
// probability at most β.
func (o EstimateOptions) tail(n int) (float64, error) {
	beta := o.Beta
	if beta == nil {
		beta = big.NewRat(1, 20)
	}
	if beta.Sign() <= 0 || beta.Cmp(one()) >= 0 {
		return 0, parameter("beta is not between 0 and 1")
	}
	if o.Together {
		beta = over(beta, whole(n))
	}
	b := near(beta)
	if b = math.Nextafter(b, 0); b <= 0 {
		return 0, parameter("beta is too small")
	}
	return b, nil
}

// Estimate returns the shares of all values. Intervals hold for any respondents who follow
// the protocol, however many: their draws alone are random.
//
// A report's score for a value has mean hit or miss, so that the mean of all scores is
// miss + (hit−miss)·share whatever respondents have. Bounds of the mean (package proportion)
// give bounds of the share; where a miss lies between two, the greater one gives the lower
// bound, the smaller one the upper.
func (t *Tally) Estimate(o EstimateOptions) (*Estimates, error) {
	if t.reports == 0 {
		return nil, ErrNoReports
	}
	k := t.of.options.Values
	tail, err := o.tail(k)
	if err != nil {
		return nil, err
	}
	e := &Estimates{Reports: t.reports, Raw: make([]float64, k), Low: make([]float64, k), High: make([]float64, k)}
	scores, n := t.counter.scores(), float64(t.reports)
	if h, ok := t.of.kernel.(*she); ok {
		margin := h.offMargin(t.reports, math.Log(tail)) / n
		for v, sum := range scores {
			e.Raw[v] = sum / n / sheStep
			e.Low[v], e.High[v] = unitRange(e.Raw[v]-margin, e.Raw[v]+margin)
		}
		return e, nil
	}
	c := t.of.kernel.channel()
	hit, miss := near(c.hit), near(c.miss)
	least, most := []float64(nil), []float64(nil)
	if k, ok := t.of.kernel.(overlapping); ok {
		if least, most = k.misses(); least == nil {
			e.Low, e.High = nil, nil
		}
	}
	for v, score := range scores {
		mean := score / float64(c.weight) / n
		e.Raw[v] = (mean - miss) / (hit - miss)
		if e.Low == nil {
			continue
		}
		low, high := c.bounds(score, t.reports, tail)
		least, most := at(least, v, miss), at(most, v, miss)
		e.Low[v], e.High[v] = unitRange((low-most)/(hit-most), (high-least)/(hit-least))
		if !(hit > most) {
			e.Low[v] = 0 // that value's reports could all be another's
		}
	}
	return e, nil
}

// bounds of the mean score.
func (c channel) bounds(score float64, n int64, tail float64) (low, high float64) {
	if c.binary {
		return proportion.Bounds(int64(score), n, tail)
	}
	return proportion.Mean(score/float64(c.weight)/float64(n), n, tail)
}

func at(x []float64, i int, otherwise float64) float64 {
	if x == nil {
		return otherwise
	}
	return x[i]
}

// unitRange is a range of shares.
func unitRange(low, high float64) (float64, float64) {
	return min(max(low, 0), 1), min(max(high, 0), 1)
}
