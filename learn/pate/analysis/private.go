package analysis

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
)

// A Private is a cost that depends on the votes, at one order, and how far it may
// change near them.
type Private struct {
	Order float64
	// RDP is the divergence of all queries: what Analyze adds up, but with β of
	// GNMaxSensitivity for its answers.
	RDP float64
	// Bounds are, at each distance, bounds of its local sensitivity. They never fall.
	Bounds []float64
}

// ErrConditions is wrapped where no theorem bounds the sensitivity.
var ErrConditions = errors.New("nothing can be published")

// Local returns the cost at an order above 1 of votes of so many teachers, and its
// sensitivity. Whether it refuses depends on the options alone, and on rows that are
// no votes of that many teachers.
//
// A teacher that changes may vote otherwise in every query, so that the sensitivities
// of queries add up: each with its largest value up to a distance, because the votes
// of a query may be nearer than the votes of another. Without knowledge of what was
// answered the cost has P(answered)·β, of which
//
//	|p'β' − pβ| <= p'·|β'−β| + β·|p'−p|
//
// with p' at most its value one vote further, and β at most Proposition 8.
func Local(v *Votes, o Options, teachers int, order float64) (*Private, error) {
	if err := v.Validate(); err != nil {
		return nil, err
	}
	if err := o.validate(v.Len()); err != nil {
		return nil, err
	}
	if o.LNMax != nil {
		return nil, fmt.Errorf("%w: of LNMax no bound of the smooth sensitivity is proved", ErrConditions)
	}
	s, err := NewGNMaxSensitivity(o.GNMax.Sigma, v.Classes, order)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConditions, err)
	}
	if c5, c6 := s.Check(); !c5 || !c6 {
		which := "C6"
		if !c5 {
			which = "C5"
		}
		return nil, fmt.Errorf("%w: condition %s is not proved for sigma %g, %d classes, order %g", ErrConditions, which, o.GNMax.Sigma, v.Classes, order)
	}
	if n, odd := v.Teachers(); n != teachers || odd >= 0 {
		return nil, fmt.Errorf("not every query has the votes of %d teachers", teachers)
	}
	return o.local(v, s, teachers), nil
}

func (o *Options) local(v *Votes, s *GNMaxSensitivity, teachers int) *Private {
	kinds := o.kinds(v)
	p := &Private{Order: s.Order, Bounds: make([]float64, teachers)}
	costs, bounds := make([]float64, len(kinds)), make([][]float64, len(kinds))
	var test *thresholdSensitivity
	if o.Threshold != nil {
		test = newThresholdSensitivity(*o.Threshold, s.Order, teachers)
	}
	parallel(cmp.Or(o.Workers, runtime.GOMAXPROCS(0)), len(kinds), func(i int) {
		costs[i], bounds[i] = o.localOf(kinds[i], s, test)
	})
	for i, k := range kinds {
		p.RDP += float64(k.n) * costs[i]
		for d, b := range bounds[i] {
			p.Bounds[d] += float64(k.n) * b
		}
	}
	return p
}

// A kind is n queries with the same votes, sorted.
type kind struct {
	votes    []int32
	answered bool
	n        int
}

// kinds sorts the votes of each query, and counts those that are equal.
func (o *Options) kinds(v *Votes) []kind {
	index := map[string]int{}
	var kinds []kind
	for i := range v.Len() {
		row := slices.Clone(v.Row(i))
		slices.Sort(row)
		answered := o.Answered != nil && o.Answered[i]
		name := strings.Join([]string{fmt.Sprint(row), fmt.Sprint(answered)}, " ")
		k, ok := index[name]
		if !ok {
			k = len(kinds)
			index[name] = k
			kinds = append(kinds, kind{votes: row, answered: answered})
		}
		kinds[k].n++
	}
	return kinds
}

// localOf is the cost and the sensitivity of one query.
func (o *Options) localOf(k kind, s *GNMaxSensitivity, test *thresholdSensitivity) (rdp float64, bounds []float64) {
	votes := make([]float64, len(k.votes))
	teachers := 0
	for j, n := range k.votes {
		votes[j] = float64(n)
		teachers += int(n)
	}
	answer := s.RDP(o.GNMax.LogQ(votes))
	if test == nil {
		return answer, s.bounds(votes, teachers)
	}
	largest := int(slices.Max(k.votes))
	b := test.known(float64(largest))
	rdp = b.rdp(s.Order, test.IndependentRDP(s.Order))
	bounds = envelope(test.bounds(votes))
	if o.Answered != nil {
		if k.answered {
			rdp += answer
			for d, more := range s.bounds(votes, teachers) {
				bounds[d] += more
			}
		}
		return rdp, bounds
	}
	p := func(largest int) float64 {
		return math.Exp(test.logAnswered(float64(min(max(largest, 0), teachers))))
	}
	rdp += p(largest) * answer
	step := 0.0 // the most by which one vote changes p, at distances up to d
	for d, more := range s.bounds(votes, teachers) {
		for _, at := range []int{largest - d, largest + d} {
			step = max(step, p(at+1)-p(at), p(at)-p(at-1))
		}
		bounds[d] += p(largest+d+1)*more + s.independent()*step
	}
	return rdp, bounds
}
