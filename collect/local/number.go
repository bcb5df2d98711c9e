package local

import (
	"fmt"
	"iter"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/proportion"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// The protocols for one number.
const (
	Duchi      Protocol = "duchi"      // one of two numbers beyond the range
	Piecewise  Protocol = "piecewise"  // a number that is probably near the true one
	Hybrid     Protocol = "hybrid"     // one or the other, by a public coin
	SquareWave Protocol = "squarewave" // a number near the true one, for distributions
)

// Numbers are the protocols for one number.
func Numbers() []Protocol { return []Protocol{Duchi, Piecewise, Hybrid, SquareWave} }

// NumberOptions say what is asked, and how.
type NumberOptions struct {
	// Protocol is one of Numbers. Required.
	Protocol Protocol
	// Epsilon is what a report may reveal, at most 64. Required.
	Epsilon privacy.Epsilon
	// Lower and Upper are the ends of the range, which is public; −1 and 1 if both are 0. What lies
	// outside is told as the nearer end.
	Lower, Upper float64
	// Cells is how many equal parts of the range a distribution tells apart; 64 if it is not given.
	// Of SquareWave alone.
	Cells int
}

// Number asks each respondent for a number in a public range, and estimates their mean; by
// SquareWave also how they are distributed. It is immutable and safe for concurrent use.
//
// A number is first rounded to one of the positions that the range has, 2^50 or, of SquareWave,
// the number of cells. The law of a report is finite, and means are those of the positions.
type Number struct {
	options NumberOptions
	kernel  numberKernel
	form    form
	epsilon privacy.Epsilon
}

// A numberKernel is what a protocol does with a position, from 0 to steps.
type numberKernel interface {
	form() form
	steps() uint64
	reply(s *noise.Stream, r Report, position uint64) (Report, error)
	law(coins Report, position uint64) iter.Seq2[Report, *big.Rat]
	ratio() *big.Rat
	// value is without bias what a report says of the position, from −1 to 1; no report is more
	// than reach beyond the true one.
	value(r Report) float64
	reach() float64
	// variance of value where the position is x, from −1 to 1.
	variance(x float64) float64
	parameters(d *Description)
}

// NewNumber returns the protocol with the given options.
func NewNumber(o NumberOptions) (*Number, error) {
	if err := checkEpsilon(o.Epsilon); err != nil {
		return nil, err
	}
	if o.Lower == 0 && o.Upper == 0 {
		o.Lower, o.Upper = -1, 1
	}
	if !(o.Lower < o.Upper) || math.IsInf(o.Upper-o.Lower, 0) {
		return nil, parameter("lower is not below upper")
	}
	n := &Number{options: o}
	switch o.Protocol {
	case Duchi:
		n.kernel = newDuchi(o.Epsilon)
	case Piecewise:
		n.kernel = newPiecewise(o.Epsilon)
	case Hybrid:
		n.kernel = newHybrid(o.Epsilon)
	case SquareWave:
		cells := orElse(o.Cells, 64)
		if cells < 2 || cells > 4096 {
			return nil, parameter("a distribution has 2 to 4096 cells")
		}
		n.options.Cells = cells
		n.kernel = newSquareWave(cells, o.Epsilon)
	default:
		return nil, fmt.Errorf("%w: there is no protocol %q for a number", ErrParameter, o.Protocol)
	}
	n.form = n.kernel.form()
	var err error
	if n.epsilon, err = certified(n.kernel.ratio(), o.Epsilon); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Protocol, err)
	}
	return n, nil
}

// Protocol is the one that is used.
func (n *Number) Protocol() Protocol { return n.options.Protocol }

// Epsilon is what one report reveals at most, rounded up to 40 digits.
func (n *Number) Epsilon() privacy.Epsilon { return n.epsilon }

// Event is what one report reveals.
func (n *Number) Event() privacy.Event { return replaceOne(n.epsilon) }

// Steps is the greatest position; the least is 0.
func (n *Number) Steps() uint64 { return n.kernel.steps() }

// Position is the one that a number is rounded to; NaN counts as the lowest number.
func (n *Number) Position(x float64) uint64 {
	steps := n.kernel.steps()
	f := (x - n.options.Lower) / (n.options.Upper - n.options.Lower)
	if n.options.Protocol == SquareWave { // a cell holds the numbers between its ends
		f = math.Floor(f * float64(steps+1))
	} else {
		f = math.Round(f * float64(steps))
	}
	if !(f > 0) {
		return 0
	}
	return min(uint64(min(f, 1<<62)), steps)
}

// Randomize returns a report of a number.
func (n *Number) Randomize(s *noise.Stream, x float64) (Report, error) {
	r, err := n.form.toss(s)
	if err == nil {
		r, err = n.kernel.reply(s, r, n.Position(x))
	}
	if err != nil {
		return nil, fmt.Errorf("randomize answer: %w", err)
	}
	return r, nil
}

// Law yields each report of a position that has the given coins, with its probability given
// them. Of all but SquareWave and Duchi there are 2^50 and more.
func (n *Number) Law(coins Report, position uint64) iter.Seq2[Report, *big.Rat] {
	return n.kernel.law(coins, min(position, n.kernel.steps()))
}

// Format writes a report as text, its numbers with a blank between any two.
func (n *Number) Format(r Report) string { return n.form.format(r) }

// Parse reads what Format writes, and refuses what is no report of the protocol.
func (n *Number) Parse(text string) (Report, error) {
	r, err := n.form.parse(text)
	if err != nil {
		return nil, err
	}
	return r, n.check(r)
}

func (n *Number) check(r Report) error {
	if err := n.form.check(r); err != nil {
		return err
	}
	if h, ok := n.kernel.(*hybrid); ok {
		return h.check(r)
	}
	return nil
}

// A NumberTally adds up the reports of one protocol, in a size that does not depend on their
// number. It is not safe for concurrent use.
type NumberTally struct {
	of      *Number
	reports int64
	sum     float64
	told    []float64 // of SquareWave: how often each cell was told; of Duchi: either number
}

// NewTally returns an empty tally.
func (n *Number) NewTally() *NumberTally {
	t := &NumberTally{of: n}
	switch k := n.kernel.(type) {
	case *squareWave:
		t.told = make([]float64, k.cells)
	case *duchi:
		t.told = make([]float64, 2)
	}
	return t
}

// Add counts a report. It refuses one that the protocol does not make, and then counts nothing.
func (t *NumberTally) Add(r Report) error {
	if err := t.of.check(r); err != nil {
		return err
	}
	t.reports++
	t.sum += t.of.kernel.value(r)
	if t.told != nil {
		t.told[r[0]]++
	}
	return nil
}

// Reports is how many reports were counted.
func (t *NumberTally) Reports() int64 { return t.reports }

// A MeanEstimate estimates the mean of the respondents' numbers from their reports.
type MeanEstimate struct {
	Reports int64
	// Raw is without bias, and may lie outside of the range.
	Raw float64
	// Low and High hold the mean of the respondents' positions but with probability beta.
	Low, High float64
}

// Estimate returns the mean. Of Duchi the interval is that of a share (Clopper and Pearson).
//
// Theorem (Bernstein; Boucheron, Lugosi and Massart 2013, Corollary 2.11). The mean of m
// independent numbers of variance v at most, none of which exceeds its expectation by more than
// b, exceeds its own by s with probability at most exp(−ms²/(2(v+bs/3))). A report's value has
// the true position for its expectation; v is the greatest variance that any position gives.
func (t *NumberTally) Estimate(beta *big.Rat) (*MeanEstimate, error) {
	tail, err := EstimateOptions{Beta: beta}.tail(1)
	if err != nil {
		return nil, err
	}
	if t.reports == 0 {
		return nil, ErrNoReports
	}
	raw := t.sum / float64(t.reports)
	low, high := raw-t.of.margin(t.reports, tail), raw+t.of.margin(t.reports, tail)
	if d, ok := t.of.kernel.(*duchi); ok {
		l, h := proportion.Bounds(int64(t.told[1]), t.reports, tail)
		low, high = (2*l-1)*d.scale, (2*h-1)*d.scale
	}
	return &MeanEstimate{t.reports, t.of.in(raw), t.of.in(min(max(low, -1), 1)), t.of.in(min(max(high, -1), 1))}, nil
}

// margin is that of a mean, in the range from −1 to 1.
func (n *Number) margin(reports int64, tail float64) float64 {
	m, l, b := float64(reports), math.Log(2/tail), n.kernel.reach()
	v := max(n.kernel.variance(0), n.kernel.variance(1))
	return (l*b/(3*m) + math.Sqrt(l*l*b*b/(9*m*m)+2*l*v/m)) * (1 + 1e-9)
}

// Error returns an α such that the raw mean of so many respondents is within α of the true one
// but with probability beta: before anybody is asked.
func (n *Number) Error(respondents int64, beta *big.Rat) (float64, error) {
	tail, err := EstimateOptions{Beta: beta}.tail(1)
	if err != nil {
		return 0, err
	}
	if respondents < 1 {
		return 0, parameter("there are no respondents")
	}
	return n.margin(respondents, tail) * (n.options.Upper - n.options.Lower) / 2, nil
}

// Respondents returns the least number of them for an Error of at most alpha.
func (n *Number) Respondents(alpha, beta *big.Rat) (int64, error) {
	if alpha == nil || alpha.Sign() <= 0 {
		return 0, parameter("alpha is not positive")
	}
	return leastCount(func(m int64) (bool, error) {
		e, err := n.Error(m, beta)
		return e <= near(alpha), err
	})
}

// in is a number from −1 to 1 in the range.
func (n *Number) in(t float64) float64 {
	o := n.options
	return o.Lower + (t+1)/2*(o.Upper-o.Lower)
}

// Variance is that of a report's value where the true number is x, from −1 to 1, of the range
// from −1 to 1.
func (n *Number) Variance(x float64) float64 { return n.kernel.variance(x) }

// Describe returns the numbers of the protocol. Variances are those of a mean of so many
// reports, of the range from −1 to 1.
func (n *Number) Describe(reports int64) *Description {
	d := newDescription(n.options.Protocol, n.options.Epsilon, n.epsilon, n.options.Epsilon.Float64(), n.epsilon.Float64(), reports)
	d.Set("reports", max(reports, 1))
	n.kernel.parameters(d)
	d.Set("laplace_var", 8/(d.epsilon*d.epsilon)/d.reports)
	d.Set("variance", max(n.kernel.variance(0), n.kernel.variance(1))/d.reports)
	d.Set("event", n.Event())
	return d
}
