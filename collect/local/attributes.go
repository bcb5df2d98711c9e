package local

import (
	"fmt"
	"iter"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A Division says how a respondent's ε is divided among several attributes.
type Division string

// The divisions.
const (
	// Split tells every attribute with a part of ε.
	Split Division = "split"
	// Sample tells one attribute, which a public coin chooses, with all of ε.
	Sample Division = "sample"
	// Fake does the same, and a random value for every other attribute, so that it does not
	// show which one is told (Arcolezi et al. 2021, RS+FD with GRR).
	Fake Division = "fake"
)

// AttributesOptions say what is asked.
type AttributesOptions struct {
	// Division is one of the above. Required.
	Division Division
	// Values is the number of values of each attribute. Required.
	Values []int
	// Protocol tells an attribute, by Split and Sample; Best if it is not given.
	Protocol Protocol
	// Epsilon is what a report may reveal of all attributes together. Required.
	Epsilon privacy.Epsilon
}

// Attributes asks each respondent for several values. It is immutable and safe for concurrent
// use.
//
// A neighbour may differ in every attribute. Split is composition: the parts add up to ε. Sample
// is ε-DP by what is told of the one attribute. Fake is a mixture of such laws, by the attribute
// that is told:
//
//	P(y) = 1/d · Σⱼ GRR(yⱼ|xⱼ) · Πᵢ≠ⱼ 1/kᵢ,
//
// of which each term is at most e^ε times that of another value. It tells the attribute with ε
// itself: the literature's ln(d(e^ε−1)+1) holds for neighbours that differ in one attribute, and
// the sum shows ratios up to that for those that differ in all.
type Attributes struct {
	options AttributesOptions
	asked   []*Frequency // of each attribute
	epsilon privacy.Epsilon
}

// NewAttributes returns the division with the given options.
func NewAttributes(o AttributesOptions) (*Attributes, error) {
	if err := checkEpsilon(o.Epsilon); err != nil {
		return nil, err
	}
	d := len(o.Values)
	if d < 2 || d > 1000 {
		return nil, parameter("the number of attributes is not between 2 and 1000")
	}
	a := &Attributes{options: o}
	part, p := o.Epsilon, o.Protocol
	if p == "" {
		p = Best
	}
	switch o.Division {
	case Split:
		part = o.Epsilon.MulRat(big.NewRat(1, int64(d)))
	case Sample:
	case Fake:
		if o.Protocol != "" && o.Protocol != GRR {
			return nil, parameter("fake values are told among those of grr")
		}
		p = GRR
	default:
		return nil, fmt.Errorf("%w: there is no division %q", ErrParameter, o.Division)
	}
	for _, k := range o.Values {
		f, err := NewFrequency(FrequencyOptions{Protocol: p, Values: k, Epsilon: part})
		if err != nil {
			return nil, err
		}
		a.asked = append(a.asked, f)
		switch {
		case o.Division == Split:
			a.epsilon = a.epsilon.Add(f.Epsilon())
		case f.Epsilon().Cmp(a.epsilon) > 0:
			a.epsilon = f.Epsilon()
		}
	}
	return a, nil
}

// Epsilon is what a report reveals of all attributes together.
func (a *Attributes) Epsilon() privacy.Epsilon { return a.epsilon }

// Event is what a report reveals.
func (a *Attributes) Event() privacy.Event { return replaceOne(a.epsilon) }

// Randomize returns a report of each attribute; nil for one that is not told.
func (a *Attributes) Randomize(s *noise.Stream, values []int) ([]Report, error) {
	d := len(a.asked)
	chosen, err := s.Index(d)
	if err != nil {
		return nil, fmt.Errorf("randomize answer: %w", err)
	}
	out := make([]Report, d)
	for i, f := range a.asked {
		value := -1 // a random one
		if i < len(values) {
			value = values[i]
		}
		switch {
		case a.options.Division == Split, i == chosen:
			out[i], err = f.Randomize(s, value)
		case a.options.Division == Fake:
			var y uint64
			y, err = s.Below(uint64(a.options.Values[i]))
			out[i] = Report{y}
		}
		if err != nil {
			return nil, fmt.Errorf("randomize answer: %w", err)
		}
	}
	return out, nil
}

// FakeLaw yields the reports of a respondent by Fake, a number for each attribute, with their
// probabilities.
func (a *Attributes) FakeLaw(values []int) iter.Seq2[Report, *big.Rat] {
	return func(yield func(Report, *big.Rat) bool) {
		if a.options.Division != Fake {
			return
		}
		a.each(nil, func(y Report) bool {
			p := new(big.Rat)
			for j, f := range a.asked {
				g := f.kernel.(*grr)
				term := g.lie()
				if y[j] == uint64(values[j]) {
					term = g.truth()
				}
				for i, k := range a.options.Values {
					if i != j {
						term = over(term, whole(k))
					}
				}
				p.Add(p, term)
			}
			return yield(y, over(p, whole(len(a.asked))))
		})
	}
}

// each calls f with every report that begins like r.
func (a *Attributes) each(r Report, f func(Report) bool) bool {
	if len(r) == len(a.asked) {
		return f(append(Report{}, r...))
	}
	for y := range uint64(a.options.Values[len(r)]) {
		if !a.each(append(r, y), f) {
			return false
		}
	}
	return true
}

// Format writes a report: those of the attributes in order, as [Frequency.Format] writes them,
// with | between any two, and - for one that is not told.
func (a *Attributes) Format(reports []Report) string {
	parts := make([]string, len(reports))
	for i, r := range reports {
		if parts[i] = "-"; r != nil && i < len(a.asked) {
			parts[i] = a.asked[i].Format(r)
		}
	}
	return strings.Join(parts, "|")
}

// Parse reads what Format writes, and refuses what is no report of the division.
func (a *Attributes) Parse(text string) ([]Report, error) {
	parts := strings.Split(text, "|")
	if len(parts) != len(a.asked) {
		return nil, fmt.Errorf("%w: it has %d attributes, and not %d", ErrReport, len(parts), len(a.asked))
	}
	out := make([]Report, len(parts))
	for i, part := range parts {
		if strings.TrimSpace(part) == "-" {
			continue
		}
		r, err := a.asked[i].Parse(part)
		if err != nil {
			return nil, fmt.Errorf("attribute %d: %w", i+1, err)
		}
		out[i] = r
	}
	return out, nil
}

// Variance is that of the raw share of an attribute's value from one report, where the true one
// is share; of Sample about that, since how many tell an attribute is random.
func (a *Attributes) Variance(attribute int, share float64) float64 {
	f, d := a.asked[attribute], float64(len(a.asked))
	switch a.options.Division {
	case Sample:
		return d*f.Variance(share) + (d-1)*share*(1-share)
	case Fake:
		return a.mixed(f).Variance(share)
	}
	return f.Variance(share)
}

// Describe returns the numbers of the division. Variances are those of a raw share of an
// attribute's value from so many reports.
func (a *Attributes) Describe(reports int64) *Description {
	d := newDescription(Protocol(a.options.Division), a.options.Epsilon, a.epsilon, a.options.Epsilon.Float64(), a.epsilon.Float64(), reports)
	d.Set("reports", max(reports, 1))
	for i, f := range a.asked {
		of := fmt.Sprintf("attribute_%d_", i+1)
		d.Set(of+"protocol", f.Protocol())
		d.Set(of+"categories", f.Values())
		d.Set(of+"epsilon", f.options.Epsilon)
		d.Set(of+"variance", a.Variance(i, 0)/d.reports)
	}
	d.Set("event", a.Event())
	return d
}

// Error returns an α such that the raw share of any one value of any attribute is within α of
// the true one, but with probability beta. Of Sample, whose attributes are told by a random
// number of respondents, none is known.
func (a *Attributes) Error(respondents int64, beta *big.Rat) (worst float64, err error) {
	if a.options.Division == Sample {
		return 0, parameter("how many respondents tell an attribute by sample is random: no error is known beforehand")
	}
	for _, f := range a.asked {
		if a.options.Division == Fake {
			f = a.mixed(f)
		}
		e, err := f.Error(respondents, beta)
		if err != nil {
			return 0, err
		}
		worst = max(worst, e)
	}
	return worst, nil
}

// Respondents returns the least number of them for an Error of at most alpha.
func (a *Attributes) Respondents(alpha, beta *big.Rat) (int64, error) {
	if alpha == nil || alpha.Sign() <= 0 {
		return 0, parameter("alpha is not positive")
	}
	most := near(alpha)
	return leastCount(func(n int64) (bool, error) {
		e, err := a.Error(n, beta)
		return e <= most, err
	})
}

// An AttributesTally adds up reports.
type AttributesTally struct {
	of      *Attributes
	tallies []*Tally
	reports int64
}

// Reports is how many reports were counted.
func (t *AttributesTally) Reports() int64 { return t.reports }

// NewTally returns an empty tally.
func (a *Attributes) NewTally() *AttributesTally {
	t := &AttributesTally{of: a}
	for _, f := range a.asked {
		if a.options.Division == Fake {
			f = a.mixed(f)
		}
		t.tallies = append(t.tallies, f.NewTally())
	}
	return t
}

// mixed is an attribute's protocol with the channel of Fake: told with probability 1/d,
// otherwise uniform.
func (a *Attributes) mixed(f *Frequency) *Frequency {
	c := f.kernel.channel()
	part := big.NewRat(1, int64(len(a.asked)))
	fake := times(not(part), big.NewRat(1, int64(f.options.Values)))
	through := func(p *big.Rat) *big.Rat { return plus(times(part, p), fake) }
	m := *f
	m.kernel = repeatedKernel{f.kernel, plainChannel(through(c.hit), through(c.miss))}
	return &m
}

// Add counts a report. It refuses one that the division does not make.
func (t *AttributesTally) Add(reports []Report) error {
	if len(reports) != len(t.tallies) {
		return fmt.Errorf("%w: it has %d attributes, and not %d", ErrReport, len(reports), len(t.tallies))
	}
	told := 0
	for i, r := range reports {
		if r == nil {
			continue
		}
		told++
		if err := t.tallies[i].of.form.check(r); err != nil {
			return fmt.Errorf("attribute %d: %w", i+1, err)
		}
	}
	if want := len(reports); told != want && (t.of.options.Division != Sample || told != 1) || t.of.options.Division == Sample && told != 1 {
		return fmt.Errorf("%w: it tells %d attributes", ErrReport, told)
	}
	for i, r := range reports {
		if r == nil {
			continue
		}
		if err := t.tallies[i].Add(r); err != nil {
			return err
		}
	}
	t.reports++
	return nil
}

// Estimate returns the shares of an attribute's values. By Sample they are those of the
// respondents who told it, a random part of all: intervals hold for that part.
func (t *AttributesTally) Estimate(attribute int, o EstimateOptions) (*Estimates, error) {
	if attribute < 0 || attribute >= len(t.tallies) {
		return nil, parameter("there is no such attribute")
	}
	return t.tallies[attribute].Estimate(o)
}
