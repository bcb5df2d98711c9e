package local

import (
	"encoding/json"
	"fmt"
	"iter"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// The protocols for the same question again and again, beside RAPPOR.
const (
	LongGRR  Protocol = "l-grr"    // GRR for good, and GRR of its answer in each report
	LongOUE  Protocol = "l-oue"    // OUE for good, its bits flipped in each report
	DBitFlip Protocol = "dbitflip" // SUE for good, of a few bits that coins choose
)

// Repetitions are these protocols.
func Repetitions() []Protocol { return []Protocol{LongGRR, LongOUE, DBitFlip} }

// RepeatedOptions say what is asked again and again.
type RepeatedOptions struct {
	// Protocol is LongGRR, LongOUE or DBitFlip. Required.
	Protocol Protocol
	// Values is the number k of values. Required.
	Values int
	// Epsilon is what all reports of one epoch may reveal together. Required.
	Epsilon privacy.Epsilon
	// Epochs is how many epochs a respondent takes part in; it is public. Required.
	Epochs int
	// For LongGRR: the probability with which a report tells the memoised answer (3/4); otherwise
	// it tells one of the others. For LongOUE: with which it tells a 1 as 1 (3/4).
	One *big.Rat
	// For LongOUE: the probability with which it tells a 0 as 1 (1/2).
	Zero *big.Rat
	// Bits is how many of its bits a respondent of DBitFlip tells; all k if it is not given.
	Bits int
}

// Repeated asks each respondent the same question many times. An epoch's value is randomized once
// and memoised; each report of the epoch is made from that answer alone.
//
// Theorem (composition). The answers of c epochs are each ε-DP, and all reports, however many,
// are computed from them and coins: together they are cε-DP, for any two sequences of values.
// When epochs begin is public, so that a change of value does not show as one. (Where a new
// value is randomized when it comes, as is usual, reports tell when it came: of one answer
// throughout, reports that differ without fresh noise have probability 0, of two answers they
// have not. No bound holds then for sequences that change at different times. The loss of c new
// values is cε only among sequences that change at the same times.)
//
// A respondent who has used up all epochs goes on with the last answer: falling silent would
// tell that they are used up.
type Repeated struct {
	options  RepeatedOptions
	kernel   kernel // draws for good
	coins    []uint64
	one      chance // of LongOUE
	zero     chance
	again    *grrAgain
	told     channel
	epsilon  privacy.Epsilon // of an epoch
	reported form
	// estimated is what is told at last, as one question.
	estimated *Frequency
}

// grrAgain tells one of k answers with a probability that is given.
type grrAgain struct {
	k     int
	truth *big.Rat
}

// NewRepeated returns the protocol with the given options.
func NewRepeated(o RepeatedOptions) (*Repeated, error) {
	if err := checkEpsilon(o.Epsilon); err != nil {
		return nil, err
	}
	switch {
	case o.Values < 2 || o.Values > MaxValues:
		return nil, parameter("the number of values is not between 2 and %d", MaxValues)
	case o.Epochs < 1 || o.Epochs > 1_000_000:
		return nil, parameter("the number of epochs is not between 1 and 1000000")
	case o.Bits != 0 && (o.Protocol != DBitFlip || o.Bits < 1 || o.Bits > o.Values):
		return nil, parameter("the bits are not between 1 and the number of values, or not of dbitflip")
	}
	if o.One == nil {
		o.One = big.NewRat(3, 4)
	}
	if o.Zero == nil {
		o.Zero = half()
	}
	for _, p := range []*big.Rat{o.One, o.Zero} {
		if p.Sign() < 0 || p.Cmp(one()) >= 0 || p.Denom().BitLen() > places {
			return nil, parameter("a probability is not from 0 to below 1, or longer than %d bits", places)
		}
	}
	r := &Repeated{options: o}
	switch o.Protocol {
	case LongGRR:
		g, err := newGRR(o.Values, o.Epsilon)
		if err != nil {
			return nil, err
		}
		other := over(not(o.One), whole(o.Values-1))
		if o.One.Cmp(other) <= 0 {
			return nil, parameter("an answer is told with no more than the probability of another")
		}
		r.kernel, r.again = g, &grrAgain{o.Values, o.One}
		through := func(p *big.Rat) *big.Rat { return plus(times(p, o.One), times(not(p), other)) }
		r.told = plainChannel(through(g.truth()), through(g.lie()))
	case LongOUE:
		if o.One.Cmp(o.Zero) <= 0 {
			return nil, parameter("a 1 is told as 1 with no more than the probability of a 0")
		}
		u := newUnary(OUE, o.Values, o.Epsilon)
		r.kernel, r.one, r.zero = u, newChance(down(o.One)), newChance(down(o.Zero))
		r.told = chained(u.channel(), r.one.p, r.zero.p)
	case DBitFlip:
		u := newUnary(SUE, o.Values, o.Epsilon)
		r.kernel = &someBits{u, orElse(o.Bits, o.Values)}
		r.told = u.channel()
	default:
		return nil, fmt.Errorf("%w: there is no protocol %q for repeated questions", ErrParameter, o.Protocol)
	}
	r.reported = r.kernel.form()
	r.coins = r.reported.coins
	var err error
	if r.epsilon, err = certified(r.kernel.ratio(), o.Epsilon); err != nil {
		return nil, err
	}
	seen := r.told
	if d, ok := r.kernel.(*someBits); ok {
		// Over the coins too, a respondent's score for a value is 1 with probability (of/k)·hit
		// or (of/k)·miss.
		part := over(whole(d.of), whole(d.k))
		seen = plainChannel(times(part, seen.hit), times(part, seen.miss))
	}
	r.estimated = &Frequency{options: FrequencyOptions{Protocol: o.Protocol, Values: o.Values, Epsilon: o.Epsilon}, kernel: repeatedKernel{r.kernel, seen}, form: r.reported}
	return r, nil
}

// chained is the channel of a bit that is told once more.
func chained(c channel, one, zero *big.Rat) channel {
	through := func(p *big.Rat) *big.Rat { return plus(times(p, one), times(not(p), zero)) }
	return plainChannel(through(c.hit), through(c.miss))
}

// Epsilon is what all reports of a respondent reveal: that of an epoch, times the epochs.
func (r *Repeated) Epsilon() privacy.Epsilon {
	return r.epsilon.MulRat(whole(r.options.Epochs))
}

// Event is what all reports of a respondent reveal. It is reserved when a respondent enrols.
func (r *Repeated) Event() privacy.Event { return replaceOne(r.Epsilon()) }

// Variance is that of a raw share from one report of each respondent, where the true one is
// share.
func (r *Repeated) Variance(share float64) float64 {
	v := r.told.variance(share)
	if d, ok := r.kernel.(*someBits); ok {
		return v * float64(d.k) / float64(d.of)
	}
	return v
}

// A Memo is what a respondent keeps. A reader of it learns the memoised answers, and about the
// values no more than their ε allows. It is written and read as JSON. A respondent who loses it and
// begins anew pays anew.
type Memo struct {
	// Epoch is that of Answer; −1 before the first one.
	Epoch int `json:"epoch"`
	// Answer is the memoised one, after its coins.
	Answer Report `json:"answer"`
}

// Enrol returns the memo of a new respondent.
func (r *Repeated) Enrol() *Memo { return &Memo{Epoch: -1} }

// Begin returns the memo of a new respondent, with the coins that are for good. Where each epoch's
// memo is made of it, and kept by the epoch's number, epochs can be answered in any order.
func (r *Repeated) Begin(s *noise.Stream) (*Memo, error) {
	coins, err := r.reported.toss(s)
	if err != nil {
		return nil, fmt.Errorf("begin memo: %w", err)
	}
	return &Memo{Epoch: -1, Answer: coins}, nil
}

// Last is the epoch whose answer is told in the given one: itself, or the last one of all.
func (r *Repeated) Last(epoch int) int { return min(epoch, r.options.Epochs-1) }

// Report returns a report of an epoch, whose number is public and does not fall. The value
// counts when it is the epoch's first report; of an epoch beyond the last it does not.
// The memo must be durable before the report leaves: an answer that is drawn twice is paid once.
func (r *Repeated) Report(s *noise.Stream, m *Memo, epoch, value int) (Report, error) {
	if epoch < m.Epoch || epoch < 0 {
		return nil, parameter("the epoch has passed")
	}
	other, err := s.Index(r.options.Values)
	if err != nil {
		return nil, fmt.Errorf("randomize answer: %w", err)
	}
	if value < 0 || value >= r.options.Values {
		value = other
	}
	if now := min(epoch, r.options.Epochs-1); now > m.Epoch {
		coins := m.Answer // those of dbitflip are for good
		if coins == nil {
			coins, err = r.reported.toss(s)
		} else {
			coins = slices.Clone(coins[:len(r.coins)])
		}
		if err == nil {
			coins, err = r.kernel.reply(s, coins, value)
		}
		if err != nil {
			return nil, fmt.Errorf("randomize answer: %w", err)
		}
		m.Epoch, m.Answer = now, coins
	}
	if err := r.reported.check(m.Answer); err != nil {
		return nil, fmt.Errorf("the memo's answer: %w", err)
	}
	out, err := r.instant(s, m.Answer)
	if err != nil {
		return nil, fmt.Errorf("randomize answer: %w", err)
	}
	return out, nil
}

// instant makes a report from a memoised answer.
func (r *Repeated) instant(s *noise.Stream, answer Report) (Report, error) {
	switch {
	case r.again != nil:
		truth, err := noise.Bernoulli(s, r.again.truth)
		if err != nil {
			return nil, err
		}
		y, err := s.Below(uint64(r.again.k - 1))
		switch {
		case err != nil:
			return nil, err
		case truth:
			y = answer[0]
		case y >= answer[0]:
			y++
		}
		return Report{y}, nil
	case r.options.Protocol == LongOUE:
		out, ones := make(Report, len(answer)), make(Report, len(answer))
		if err := r.zero.fill(s, out, r.options.Values); err != nil {
			return nil, err
		}
		if err := r.one.fill(s, ones, r.options.Values); err != nil {
			return nil, err
		}
		for i, set := range answer {
			out[i] = out[i]&^set | ones[i]&set
		}
		return out, nil
	}
	return slices.Clone(answer), nil
}

// NewTally returns an empty tally of reports, one of each respondent. Its intervals hold as
// those of others; of DBitFlip, whose respondents tell a value's bit or not, they are wider.
func (r *Repeated) NewTally() *Tally { return r.estimated.NewTally() }

// Estimate returns the shares of values from one report of each respondent.
func (r *Repeated) Estimate(reports []Report, o EstimateOptions) (*Estimates, error) {
	t := r.NewTally()
	for _, report := range reports {
		if err := t.Add(report); err != nil {
			return nil, err
		}
	}
	return t.Estimate(o)
}

// Error is that of [Frequency.Error], from one report of each respondent.
func (r *Repeated) Error(respondents int64, beta *big.Rat) (float64, error) {
	return r.estimated.Error(respondents, beta)
}

// Respondents is that of [Frequency.Respondents], with one report each.
func (r *Repeated) Respondents(alpha, beta *big.Rat) (int64, error) {
	return r.estimated.Respondents(alpha, beta)
}

// Describe returns the numbers of the protocol. Variances are those of a raw share from one
// report of each of so many respondents.
func (r *Repeated) Describe(respondents int64) *Description {
	all := r.Epsilon()
	d := newDescription(r.options.Protocol, r.options.Epsilon, r.epsilon, r.options.Epsilon.Float64(), r.epsilon.Float64(), respondents)
	d.Set("epochs", r.options.Epochs)
	d.Set("all_epochs", json.Number(decimal(all.String(), all.Float64())))
	d.Set("categories", r.options.Values)
	d.Set("reports", max(respondents, 1))
	d.pair(r.estimated.kernel.channel())
	d.Set("variance", r.Variance(0)/d.reports)
	d.Set("event", r.Event())
	return d
}

// Format writes a report as [Frequency.Format] does.
func (r *Repeated) Format(report Report) string { return r.reported.format(report) }

// Parse reads what Format writes, and refuses what is no report of the protocol.
func (r *Repeated) Parse(text string) (Report, error) { return r.reported.parse(text) }

// repeatedKernel is a kernel with the channel of what is told at last.
type repeatedKernel struct {
	kernel
	told channel
}

func (k repeatedKernel) channel() channel { return k.told }

// someBits tells of of the bits of a unary encoding, which are coins (Ding, Kulkarni and
// Yekhanin 2017). Two values differ in two bits at most, so that the theorem of unary holds.
type someBits struct {
	*unary
	of int
}

// form: the i-th coin is the place of a value among those that are left.
func (d *someBits) form() form {
	f := form{bits: d.of}
	for i := range d.of {
		f.coins = append(f.coins, uint64(d.k-i))
	}
	return f
}

// chosen are the values whose bits a report has, in order: a shuffle that stops.
func (d *someBits) chosen(coins Report) []int {
	moved := map[int]int{}
	at := func(i int) int {
		if x, ok := moved[i]; ok {
			return x
		}
		return i
	}
	out := make([]int, d.of)
	for i := range out {
		j := i + int(coins[i])
		out[i] = at(j)
		moved[j] = at(i)
	}
	return out
}

func (d *someBits) reply(s *noise.Stream, r Report, value int) (Report, error) {
	words := make([]uint64, (d.of+63)/64)
	if err := d.q.fill(s, words, d.of); err != nil {
		return nil, err
	}
	truth, err := d.p.one(s)
	if err != nil {
		return nil, err
	}
	if i := slices.Index(d.chosen(r), value); i >= 0 {
		words[i/64] &^= 1 << (i % 64)
		if truth {
			words[i/64] |= 1 << (i % 64)
		}
	}
	return append(r, words...), nil
}

// somePlaces count of each value how many told its bit, and how many a 1.
type somePlaces struct {
	of         *someBits
	told, ones []float64
}

func (d *someBits) counter() counter {
	return &somePlaces{d, make([]float64, d.k), make([]float64, d.k)}
}

func (p *somePlaces) add(r Report) {
	bits := r[p.of.of:]
	for i, v := range p.of.chosen(r) {
		p.told[v]++
		p.ones[v] += float64(bits[i/64] >> (i % 64) & 1)
	}
}

func (p *somePlaces) scores() []float64 { return p.ones }

func (p *somePlaces) merge(other counter) {
	o := other.(*somePlaces)
	for v := range p.ones {
		p.told[v] += o.told[v]
		p.ones[v] += o.ones[v]
	}
}

func (d *someBits) law(coins Report, value int) iter.Seq2[Report, *big.Rat] {
	at := slices.Index(d.chosen(coins), value)
	return bitLaw(coins, d.of, func(i int) *big.Rat {
		if i == at {
			return d.p.p
		}
		return d.q.p
	})
}
