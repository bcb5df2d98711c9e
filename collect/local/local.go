// Package local randomizes answers at each respondent, so that nobody else needs to be trusted, and
// estimates shares and means of all respondents from their reports.
//
// A report is some public coins, uniform whatever the answer is, and a reply. Given the
// coins, the law of the reply is finite and exact: its probabilities are rationals, and
// Epsilon is a bound, rounded up, of the logarithm of the largest ratio that any two answers
// give any reply. (SHE alone adds noise over all integers; its law is that of package noise.)
//
// It guarantees that a report is Epsilon-DP when the respondent's answer is replaced by any
// other, and that intervals hold at their probability for any answers of any number of
// respondents who follow the protocol.
//
// It does not guarantee that respondents follow it, hide who responds or when, or count how
// often somebody is asked: several reports of one respondent add up (see [Memo] for the
// forms that are meant to be asked again).
package local

import (
	"errors"
	"fmt"
	"iter"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// ErrParameter is wrapped by the refusal of parameters that no protocol has.
var ErrParameter = errors.New("bad parameter")

// ErrNoReports says that nothing was counted from which to estimate. It wraps ErrParameter.
var ErrNoReports = fmt.Errorf("%w: there are no reports", ErrParameter)

// ErrReport is wrapped by the refusal of a report that the protocol does not make.
var ErrReport = errors.New("bad report")

// A Protocol is a way to ask.
type Protocol string

// The protocols for one of k values.
const (
	GRR              Protocol = "grr"               // the value itself, or another one
	SUE              Protocol = "sue"               // a bit for each value, both kinds flipped alike
	OUE              Protocol = "oue"               // a bit for each value, zeros kept more often
	OLH              Protocol = "olh"               // a hash of the value, by a function of one's own
	FastLH           Protocol = "fastlh"            // a hash of the value, by one of a few functions
	SHE              Protocol = "she"               // a noisy number for each value
	THE              Protocol = "the"               // whether each of these is above a threshold
	Subset           Protocol = "subset"            // a few values, the true one probably among them
	Hadamard         Protocol = "hadamard"          // one bit: a coefficient of the Hadamard transform
	HadamardResponse Protocol = "hadamard-response" // a point of the Hadamard matrix
	RAPPOR           Protocol = "rappor"            // a Bloom filter, flipped for good and for each report
	CMS              Protocol = "cms"               // a row of a sketch, every bit of it flipped
	HCMS             Protocol = "hcms"              // one bit of the Hadamard transform of such a row
	Best             Protocol = "best"              // the one of least variance
)

// Frequencies are the protocols for one of k values.
func Frequencies() []Protocol {
	return []Protocol{GRR, SUE, OUE, OLH, FastLH, SHE, THE, Subset, Hadamard, HadamardResponse, RAPPOR, CMS, HCMS, Best}
}

// A Report is what a respondent says: the coins, then the reply. What its words mean, the
// protocol says.
type Report []uint64

// FrequencyOptions say what is asked, and how.
type FrequencyOptions struct {
	// Protocol is one of Frequencies. Required.
	Protocol Protocol
	// Values is the number k of values, which are 0 to k−1; at least 2. Required.
	Values int
	// Epsilon is what a report may reveal, at most 64; of RAPPOR, what all reports of one
	// value may together. Required.
	Epsilon privacy.Epsilon

	// Of RAPPOR: Bits of the filter (128), Hashes in it (2), and Cohorts (64).
	Bits, Hashes, Cohorts int
	// Of the sketches: Rows (1024) and Columns (1024, a power of two of HCMS).
	Rows, Columns int
	// Salt names the public hash functions of RAPPOR and the sketches. Who estimates needs the
	// one that respondents had.
	Salt string
}

// Frequency asks each respondent for one of k values, and estimates what share of them have
// each. It is immutable and safe for concurrent use.
type Frequency struct {
	options FrequencyOptions
	kernel  kernel
	form    form
	epsilon privacy.Epsilon
	event   privacy.Event
	why     string // of Best
}

// A kernel is what a protocol does with a value, given the coins of the report.
type kernel interface {
	// form is that of a report. Its coins are uniform and independent of the value.
	form() form
	// reply appends a random reply to the report, which holds the coins.
	reply(s *noise.Stream, r Report, value int) (Report, error)
	// channel is what a report says of a value.
	channel() channel
	// counter counts reports.
	counter() counter
	// ratio is the greatest ratio of the probabilities of a reply; nil if the law is not finite.
	ratio() *big.Rat
	// parameters are the numbers by which the literature knows the protocol.
	parameters(d *Description)
}

// A finite kernel has a law that can be written down.
type finite interface {
	// law yields every reply to a value with its probability, given the coins.
	law(coins Report, value int) iter.Seq2[Report, *big.Rat]
}

// A counter adds up reports that have been checked.
type counter interface {
	add(r Report)
	// scores are how many reports speak for each value, times the channel's weight.
	scores() []float64
	merge(other counter)
}

// MaxEpsilon is the greatest epsilon: more hides nothing.
const MaxEpsilon = 64

// MaxValues is the greatest number of values.
const MaxValues = 1 << 24

// NewFrequency returns the protocol with the given options.
func NewFrequency(o FrequencyOptions) (*Frequency, error) {
	if err := checkEpsilon(o.Epsilon); err != nil {
		return nil, err
	}
	if o.Values < 2 || o.Values > MaxValues {
		return nil, fmt.Errorf("%w: the number of values is not between 2 and %d", ErrParameter, MaxValues)
	}
	f := &Frequency{options: o}
	if o.Protocol == Best {
		chosen, why, err := best(o)
		if err != nil {
			return nil, err
		}
		o.Protocol, f.why = chosen, why
		f.options = o
	}
	var err error
	switch o.Protocol {
	case GRR:
		f.kernel, err = newGRR(o.Values, o.Epsilon)
	case SUE, OUE:
		f.kernel = newUnary(o.Protocol, o.Values, o.Epsilon)
	case THE:
		f.kernel = newThreshold(o.Values, o.Epsilon)
	case OLH:
		f.kernel, err = newOLH(o.Values, o.Epsilon)
	case FastLH:
		f.kernel, err = newFastLH(o.Values, o.Epsilon)
	case SHE:
		f.kernel, err = newSHE(o.Values, o.Epsilon)
	case Subset:
		f.kernel = newSubset(o.Values, o.Epsilon)
	case Hadamard:
		f.kernel = newHadamard(o.Values, o.Epsilon)
	case HadamardResponse:
		f.kernel = newHadamardResponse(o.Values, o.Epsilon)
	case RAPPOR:
		f.kernel, err = newRAPPOR(o)
	case CMS, HCMS:
		f.kernel, err = newSketch(o)
	default:
		err = fmt.Errorf("%w: there is no protocol %q for one of k values", ErrParameter, o.Protocol)
	}
	if err != nil {
		return nil, err
	}
	f.form = f.kernel.form()
	f.epsilon = o.Epsilon
	if r := f.kernel.ratio(); r != nil {
		if f.epsilon, err = certified(r, o.Epsilon); err != nil {
			return nil, fmt.Errorf("%s: %w", o.Protocol, err)
		}
	}
	f.event = replaceOne(f.epsilon)
	if g, ok := f.kernel.(*grr); ok {
		f.event = g.response.Event()
	}
	return f, nil
}

func checkEpsilon(e privacy.Epsilon) error {
	if e.Sign() <= 0 || e.Rat().Cmp(big.NewRat(MaxEpsilon, 1)) > 0 {
		return fmt.Errorf("%w: epsilon is missing or above %d", ErrParameter, MaxEpsilon)
	}
	if e.Rat().Cmp(big.NewRat(1, 1_000_000)) < 0 {
		return fmt.Errorf("%w: epsilon is below 1e-6, where reports say nothing", ErrParameter)
	}
	return nil
}

// replaceOne is the event of a report of which only ε is known. It holds when an answer is
// replaced: who responds is not hidden.
func replaceOne(e privacy.Epsilon) privacy.Event {
	return privacy.Under{Neighbours: privacy.ReplaceOne, Event: privacy.Pure{Epsilon: e}}
}

// certified returns ln(ratio), rounded up to 40 digits, and refuses a law that exceeds what
// was asked for.
func certified(ratio *big.Rat, asked privacy.Epsilon) (privacy.Epsilon, error) {
	if ratio.Cmp(numeric.Of(asked.Rat()).Exp().Lo()) > 0 {
		return privacy.Epsilon{}, errors.New("the law as drawn exceeds epsilon")
	}
	up := numeric.CeilDigits(numeric.Of(ratio).Log().Hi(), 40)
	if up.Cmp(asked.Rat()) > 0 { // by rounding alone
		return asked, nil
	}
	return privacy.NewEpsilon(up)
}

// Protocol is the one that is used: of Best, the one that was chosen.
func (f *Frequency) Protocol() Protocol { return f.options.Protocol }

// Values is the number of values.
func (f *Frequency) Values() int { return f.options.Values }

// Epsilon is what one report reveals at most, rounded up to 40 digits.
func (f *Frequency) Epsilon() privacy.Epsilon { return f.epsilon }

// Event is what one report reveals. Of reports that are shuffled it is the event inside.
func (f *Frequency) Event() privacy.Event { return f.event }

// Randomize returns a report of the value. A value that is none of the k is replaced by a
// random one, so that every input has a report.
func (f *Frequency) Randomize(s *noise.Stream, value int) (Report, error) {
	other, err := s.Index(f.options.Values) // drawn in any case
	if err != nil {
		return nil, fmt.Errorf("randomize answer: %w", err)
	}
	if value < 0 || value >= f.options.Values {
		value = other
	}
	r, err := f.form.toss(s)
	if err == nil {
		r, err = f.kernel.reply(s, r, value)
	}
	if err != nil {
		return nil, fmt.Errorf("randomize answer: %w", err)
	}
	return r, nil
}

// Law yields each report of a value that has the given coins, with its probability given
// them; nothing if the law is not finite. The number of reports can be exponential in that of
// the values.
func (f *Frequency) Law(coins Report, value int) iter.Seq2[Report, *big.Rat] {
	k, ok := f.kernel.(finite)
	if !ok || value < 0 || value >= f.options.Values || len(coins) != len(f.form.coins) {
		return func(func(Report, *big.Rat) bool) {}
	}
	return k.law(slices.Clone(coins), value)
}

// Coins returns how many values each coin of a report has.
func (f *Frequency) Coins() []uint64 { return slices.Clone(f.form.coins) }

// Format writes a report as text: its numbers in decimals, and its bits, the first of which
// is the highest, in hexadecimal digits, with a blank between any two.
func (f *Frequency) Format(r Report) string { return f.form.format(r) }

// Parse reads what Format writes, and refuses what is no report of the protocol.
func (f *Frequency) Parse(text string) (Report, error) { return f.form.parse(text) }
