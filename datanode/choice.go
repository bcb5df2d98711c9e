package datanode

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A Utility scores public candidates by the rows: Frequency, Revenue or Scores.
type Utility interface {
	fmt.Stringer
	score(s shape) (scored, error)
	declared() []Vouched
}

// scored are candidates with the sensitivity of their scores.
type scored struct {
	scores      func(f *frame) []float64
	sensitivity *big.Rat
	monotone    bool // all scores change in one direction
	whole       bool // scores are integers, exactly
	declared    []Vouched
	answer      func(i int) Answer
}

// Choice chooses one of the candidates of a utility by the exponential mechanism
// (mechanism.Exponential), which prefers high scores: Epsilon-DP, of bounded range.
// Each query is one choice.
type Choice struct {
	Utility Utility
	Epsilon privacy.Epsilon
}

func (m Choice) String() string {
	return join(fmt.Sprintf("exponential(epsilon=%v)", m.Epsilon), fmt.Sprint(m.Utility))
}

func (Choice) access() {}

func (m Choice) declared() []Vouched {
	if m.Utility == nil {
		return nil
	}
	return m.Utility.declared()
}

func (m Choice) release(s shape) (release, error) {
	if m.Utility == nil {
		return release{}, fmt.Errorf("%w: the utility is missing", ErrQuery)
	}
	u, err := m.Utility.score(s)
	if err != nil {
		return release{}, err
	}
	o := mechanism.ExponentialOptions{Sensitivity: u.sensitivity, Epsilon: m.Epsilon, Monotone: u.monotone}
	if u.whole {
		o.Grid = big.NewRat(1, 1)
	}
	e, err := mechanism.NewExponential(o)
	if err != nil {
		return release{}, err
	}
	r := release{statement: m.String(), events: []privacy.Event{e.Event()}, declared: u.declared}
	r.answer = func(bits noise.Bits, f *frame) (Answer, error) {
		i, err := e.Choose(bits, u.scores(f))
		if err != nil {
			return Answer{}, err
		}
		a := u.answer(i)
		a.Statement, a.Events = r.statement, r.events
		return a, nil
	}
	return r, nil
}

// Frequency scores texts by how many rows of a column have them. An added row raises
// one score by 1; a replaced row changes two, by 1 each.
type Frequency struct {
	Column     string
	Candidates []string
}

func (u Frequency) String() string {
	return fmt.Sprintf("frequency(%q among %q)", u.Column, u.Candidates)
}

func (Frequency) declared() []Vouched { return nil }

func (u Frequency) score(s shape) (scored, error) {
	c, err := Histogram{Column: u.Column, Categories: u.Candidates}.compile(s)
	if err != nil {
		return scored{}, err
	}
	candidates := slices.Clone(u.Candidates)
	return scored{
		sensitivity: big.NewRat(1, 1), monotone: !s.replaced, whole: true,
		scores: func(f *frame) []float64 {
			counts := c.exact(f)
			scores := make([]float64, len(counts))
			for i, n := range counts {
				scores[i], _ = new(big.Float).SetInt(n).Float64()
			}
			return scores
		},
		answer: func(i int) Answer { return Answer{Texts: []string{candidates[i]}} },
	}, nil
}

// Revenue scores prices by what a sale at that price would bring: the price times the
// number of rows whose bid, a column of numbers, is at least the price. A row changes each
// score by its price or nothing, so by the highest price at most; an added row lowers
// none. In scores, prices count in whole steps of 2^-20 of the highest, or less,
// so that up to 2^31 rows cause no rounding.
type Revenue struct {
	Column string
	Prices []float64
}

func (u Revenue) String() string { return fmt.Sprintf("revenue(%q at %v)", u.Column, u.Prices) }

func (Revenue) declared() []Vouched { return nil }

func (u Revenue) score(s shape) (scored, error) {
	i, err := s.number(u.Column)
	if err != nil {
		return scored{}, err
	}
	prices := slices.Clone(u.Prices)
	highest := 0.0
	for _, p := range prices {
		if !(p > 0) || p > 1e200 {
			return scored{}, fmt.Errorf("%w: a price is not positive", ErrQuery)
		}
		highest = max(highest, p)
	}
	if len(prices) == 0 || highest < 1e-200 {
		return scored{}, fmt.Errorf("%w: there are no prices", ErrQuery)
	}
	_, e := math.Frexp(highest)
	steps := make([]float64, len(prices))
	for j, p := range prices {
		steps[j] = math.RoundToEven(math.Ldexp(p, 21-e))
	}
	return scored{
		sensitivity: new(big.Rat).SetFloat64(slices.Max(steps)), monotone: !s.replaced, whole: true,
		scores: func(f *frame) []float64 {
			scores := make([]float64, len(prices))
			for j, p := range prices {
				buyers := 0
				for _, bid := range f.columns[i].numbers {
					if bid >= p {
						buyers++
					}
				}
				scores[j] = steps[j] * float64(buyers)
			}
			return scores
		},
		answer: func(i int) Answer { return Answer{Values: []float64{prices[i]}} },
	}, nil
}

// Scores are those of a function whose sensitivity an owner declares, as Max. They may
// stand in access definitions, but not in a query.
type Scores struct {
	Candidates []string
	// F returns a score for each candidate.
	F           func(Rows) []float64
	Sensitivity Vouched
}

func (u Scores) String() string {
	return fmt.Sprintf("scores(%q among %q)", u.Sensitivity.Of, u.Candidates)
}

func (u Scores) declared() []Vouched { return []Vouched{u.Sensitivity} }

func (u Scores) score(shape) (scored, error) {
	if err := u.Sensitivity.check(); err != nil {
		return scored{}, err
	}
	if u.F == nil || len(u.Candidates) == 0 || u.Sensitivity.Of == "" || u.Sensitivity.Max == nil {
		return scored{}, fmt.Errorf("%w: scores without a name, candidates, sensitivity or body", ErrQuery)
	}
	candidates := slices.Clone(u.Candidates)
	f := Function{Values: len(candidates), F: u.F}
	return scored{
		sensitivity: u.Sensitivity.Max, scores: f.values, declared: u.declared(),
		answer: func(i int) Answer { return Answer{Texts: []string{candidates[i]}} },
	}, nil
}
