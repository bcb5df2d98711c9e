package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	collect "github.com/discreet-dp/discreet/collect/local"
	"github.com/discreet-dp/discreet/collect/local/client"
	"github.com/discreet-dp/discreet/internal/cli/failure"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/noise"
)

// divisions are the ways to divide epsilon among attributes.
var divisions = []string{string(collect.Split), string(collect.Sample), string(collect.Fake)}

// An attribute is one of several that are asked for at once.
type attribute struct {
	name   string
	labels []string
}

func (a *asking) addAttribute(text string) error {
	name, values, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return errors.New("want NAME=A,B and so on")
	}
	if slices.ContainsFunc(a.attributes, func(x attribute) bool { return x.name == name }) {
		return fmt.Errorf("attribute %s is named twice", name)
	}
	a.attributes = append(a.attributes, attribute{name, strings.Split(values, ",")})
	return nil
}

// chance reads a probability.
func chance(to **big.Rat) func(string) error {
	return func(text string) error {
		r, err := numeric.ParseRat(text)
		if err != nil || r.Sign() < 0 || r.Cmp(big.NewRat(1, 1)) >= 0 {
			return errors.New("want a number from 0 to below 1, as 0.75 or 3/4")
		}
		*to = r
		return nil
	}
}

// columns are those of a record: of one value, or of attributes.
func (a *asking) columns(one string) []string {
	if a.attributes == nil {
		return []string{one}
	}
	var names []string
	for _, x := range a.attributes {
		names = append(names, x.name)
	}
	return names
}

// together refuses flags that exclude each other or that the protocol does not have: what is
// ignored would be believed.
func (a *asking) together(p collect.Protocol) error {
	repeated := slices.Contains(collect.Repetitions(), p)
	exclude := func(one, other string) error {
		return diagnostic.New("D115", diagnostic.Span{}, "%s and %s exclude each other", one, other)
	}
	of := func(flag, what string) error {
		return diagnostic.New("D115", diagnostic.Span{}, "%s is of %s", flag, what).Try("discreet help local %s", a.command.Name())
	}
	switch {
	case a.attributes != nil && (a.values != nil || a.categories != 0):
		return exclude("--attribute", "--values or --categories")
	case a.attributes != nil && a.ranges:
		return exclude("--attribute", "--ranges")
	case (a.attributes != nil || a.ranges) && !slices.Contains(collect.Frequencies(), p):
		return of("--attribute or --ranges", "protocols for one of k values")
	case a.divide != "" && a.attributes == nil:
		return of("--divide", "several attributes (--attribute)")
	case a.branches != 0 && !a.ranges:
		return of("--branches", "ranges (--ranges)")
	case (a.values != nil || a.categories != 0) && slices.Contains(collect.Discoveries(), p):
		return of("--values or --categories", "protocols for one of k values: strings are found, and not listed")
	case (a.epochs != 0 || a.again[0] != nil) && !repeated:
		return of("--epochs or --one", "questions that are asked again: l-grr, l-oue, dbitflip")
	case a.again[0] != nil && p == collect.DBitFlip:
		return of("--one", "l-grr and l-oue")
	case a.again[1] != nil && p != collect.LongOUE:
		return of("--zero", "l-oue")
	}
	return nil
}

// attributed asks for several attributes.
type attributed struct {
	*collect.Attributes
	tally  *collect.AttributesTally
	divide collect.Division
	of     []attribute
	index  []map[string]int
}

func (a *asking) makeAttributes(p collect.Protocol) (survey, error) {
	o := collect.AttributesOptions{Division: a.divide, Epsilon: a.epsilon, Protocol: p}
	if o.Division == "" {
		o.Division = collect.Sample
	}
	if p == collect.Best {
		o.Protocol = "" // of fake, grr
	}
	s := &attributed{divide: o.Division, of: a.attributes}
	for _, x := range a.attributes {
		index, err := indexOf(x.labels)
		if err != nil {
			return nil, err
		}
		s.index, o.Values = append(s.index, index), append(o.Values, len(x.labels))
	}
	var err error
	if s.Attributes, err = collect.NewAttributes(o); err != nil {
		return nil, err
	}
	s.tally = s.NewTally()
	return s, nil
}

func (s *attributed) describe(reports int64) *collect.Description { return s.Describe(reports) }
func (s *attributed) respondents(alpha, beta *big.Rat) (int64, error) {
	return s.Respondents(alpha, beta)
}
func (s *attributed) off(n int64, beta *big.Rat) (float64, error) {
	if s.divide == collect.Sample {
		return 0, errUnknown
	}
	return s.Error(n, beta)
}
func (s *attributed) wants() string  { return "a value of each attribute" }
func (s *attributed) reports() int64 { return s.tally.Reports() }

func (s *attributed) report(bits *noise.Stream, value string) (string, bool, error) {
	fields := strings.Split(value, between)
	at := make([]int, len(s.of))
	for i, index := range s.index {
		at[i] = -1
		if i < len(fields) {
			if v, ok := index[fields[i]]; ok {
				at[i] = v
			}
		}
	}
	r, err := s.Randomize(bits, at)
	return s.Format(r), true, err
}

func (s *attributed) add(report string) error {
	r, err := s.Parse(report)
	if err != nil {
		return err
	}
	return s.tally.Add(r)
}

// label is a row's value.
func (x attribute) label(i int) string { return x.name + "=" + x.labels[i] }

// rows have intervals for each value; those that hold together hold over all attributes.
func (s *attributed) rows(o collect.EstimateOptions, post string) (rows []row, err error) {
	if post == "ibu" {
		return nil, diagnostic.New("D191", diagnostic.Span{}, "iterated Bayes is of one attribute").Try("--post simplex")
	}
	if o.Together && o.Beta != nil {
		o.Beta = new(big.Rat).Quo(o.Beta, big.NewRat(int64(len(s.of)), 1))
	}
	for i, x := range s.of {
		e, err := s.tally.Estimate(i, o)
		if err != nil {
			return nil, err
		}
		labels := make([]string, len(x.labels))
		for j := range labels {
			labels[j] = x.label(j)
		}
		rows = append(rows, processed(e, labels, post)...)
	}
	return rows, nil
}

// errUnknown is of an error that nothing bounds before anybody is asked.
var errUnknown = errors.New("no error is known beforehand")

// variance is that of the raw share of a row's value from one report.
func (s *attributed) variance(label string, share float64) float64 {
	for i, x := range s.of {
		for j := range x.labels {
			if x.label(j) == label {
				return s.Variance(i, share)
			}
		}
	}
	return 0
}

// ranged asks for ranges of values in an order.
type ranged struct {
	*collect.Hierarchy
	tally  *collect.HierarchyTally
	labels []string
	index  map[string]int
	shares [][2]int // wanted: from a value to another
}

func (a *asking) makeRanges(p collect.Protocol) (survey, error) {
	labels, err := a.labels()
	if err != nil {
		return nil, err
	}
	index, err := indexOf(labels)
	if err != nil {
		return nil, err
	}
	h, err := collect.NewHierarchy(collect.HierarchyOptions{Protocol: p, Values: len(labels), Branches: a.branches, Epsilon: a.epsilon})
	if err != nil {
		return nil, err
	}
	return &ranged{Hierarchy: h, tally: h.NewTally(), labels: labels, index: index}, nil
}

func (s *ranged) describe(reports int64) *collect.Description { return s.Describe(reports) }
func (s *ranged) respondents(_, _ *big.Rat) (int64, error) {
	return 0, diagnostic.New("D191", diagnostic.Span{}, "how many respondents tell a level is random: no error is known beforehand").
		Try("describe without --error has the variance; simulate --ranges tries it")
}

func (s *ranged) off(int64, *big.Rat) (float64, error) { return 0, errUnknown }
func (s *ranged) wants() string                        { return "a value" }
func (s *ranged) reports() int64                       { return s.tally.Reports() }

func (s *ranged) report(bits *noise.Stream, value string) (string, bool, error) {
	i, ok := s.index[value]
	if !ok {
		i = -1
	}
	r, err := s.Randomize(bits, i)
	return s.Format(r), true, err
}

func (s *ranged) add(report string) error {
	r, err := s.Parse(report)
	if err != nil {
		return err
	}
	return s.tally.Add(r)
}

// want reads A..B, values of a range, both ends in it.
func (s *ranged) want(text string) error {
	from, to, ok := strings.Cut(text, "..")
	lo, first := s.index[from]
	hi, last := s.index[to]
	if !ok || !first || !last || lo > hi {
		return diagnostic.New("D191", diagnostic.Span{}, "%q is no range of the values", text).Try("--share A..B: two of the values, in their order")
	}
	s.shares = append(s.shares, [2]int{lo, hi + 1})
	return nil
}

// rows are quantiles, without intervals, and the shares that are wanted, or of every value, whose
// intervals hold together.
func (s *ranged) rows(o collect.EstimateOptions, post string) (rows []row, err error) {
	if post != "" && post != "raw" {
		return nil, diagnostic.New("D191", diagnostic.Span{}, "shares of ranges are raw").Try("leave out --post")
	}
	r, err := s.tally.Ranges(o.Beta)
	if err != nil {
		return nil, err
	}
	for _, q := range quartiles {
		rows = append(rows, row{value: quantile(q), estimate: s.place(r.Quantile(q))})
	}
	for _, w := range s.wanted() {
		raw, low, high := r.Share(w[0], w[1])
		rows = append(rows, row{value: s.label(w), estimate: raw, low: &low, high: &high})
	}
	return rows, nil
}

// place is a value that is a number, or the place of one that is none.
func (s *ranged) place(i int) float64 {
	if x, ok := readNumber(s.labels[i]); ok {
		return x
	}
	return float64(i)
}

// wanted are the ranges whose shares are printed.
func (s *ranged) wanted() [][2]int {
	if s.shares != nil {
		return s.shares
	}
	each := make([][2]int, len(s.labels))
	for i := range each {
		each[i] = [2]int{i, i + 1}
	}
	return each
}

func (s *ranged) label(w [2]int) string {
	if w[1] > w[0]+1 {
		return s.labels[w[0]] + ".." + s.labels[w[1]-1]
	}
	return s.labels[w[0]]
}

// repeats asks the same question in each of several epochs. Its reports are those of one epoch.
type repeats struct {
	*collect.Repeated
	tally  *collect.Tally
	labels []string
	index  map[string]int
}

func (a *asking) makeRepeats(p collect.Protocol) (survey, error) {
	labels, err := a.labels()
	if err != nil {
		return nil, err
	}
	index, err := indexOf(labels)
	if err != nil {
		return nil, err
	}
	o := collect.RepeatedOptions{Protocol: p, Values: len(labels), Epsilon: a.epsilon, Epochs: max(a.epochs, 1), One: a.again[0], Zero: a.again[1]}
	if p == collect.DBitFlip {
		o.Bits = a.o.Bits
	}
	r, err := collect.NewRepeated(o)
	if err != nil {
		return nil, err
	}
	return &repeats{r, r.NewTally(), labels, index}, nil
}

func (s *repeats) describe(reports int64) *collect.Description { return s.Describe(reports) }
func (s *repeats) respondents(alpha, beta *big.Rat) (int64, error) {
	return s.Respondents(alpha, beta)
}
func (s *repeats) off(n int64, beta *big.Rat) (float64, error) { return s.Error(n, beta) }
func (s *repeats) wants() string                               { return "a value" }
func (s *repeats) reports() int64                              { return s.tally.Reports() }

// at is the place of a value, or -1: a random one.
func (s *repeats) at(value string) int {
	if i, ok := s.index[value]; ok {
		return i
	}
	return -1
}

// repetition is how a respondent of this value answers, whose memos a ledger keeps.
func (s *repeats) repetition(value string) client.Repetition {
	read := func(text []byte) (*collect.Memo, error) {
		m := &collect.Memo{}
		if err := json.Unmarshal(text, m); err != nil {
			return nil, fmt.Errorf("read the stored memo: %w", err)
		}
		return m, nil
	}
	return client.Repetition{
		Begin: func(bits *noise.Stream) ([]byte, error) {
			m, err := s.Begin(bits)
			if err != nil {
				return nil, failure.Undrawn()
			}
			return json.Marshal(m)
		},
		Memoise: func(bits *noise.Stream, begun []byte) ([]byte, error) {
			m, err := read(begun)
			if err != nil {
				return nil, err
			}
			if _, err := s.Report(bits, m, 0, s.at(value)); err != nil {
				return nil, failure.Undrawn()
			}
			return json.Marshal(m)
		},
		Tell: func(bits *noise.Stream, memo []byte) (string, error) {
			m, err := read(memo)
			if err != nil {
				return "", err
			}
			r, err := s.Report(bits, m, m.Epoch, 0) // it has an answer: the value does not count
			if err != nil {
				return "", failure.Undrawn()
			}
			return s.Format(r), nil
		},
	}
}

// report is the first of a respondent who keeps no memo.
func (s *repeats) report(bits *noise.Stream, value string) (string, bool, error) {
	r, err := s.Report(bits, s.Enrol(), 0, s.at(value))
	return s.Format(r), true, err
}

func (s *repeats) add(report string) error {
	r, err := s.Parse(report)
	if err != nil {
		return err
	}
	return s.tally.Add(r)
}

func (s *repeats) rows(o collect.EstimateOptions, post string) ([]row, error) {
	return sharesOf(s.tally, s.labels, o, post)
}
