// Package local is the command local: respondents who randomize their own answers, and what
// their reports say of all of them.
package local

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"

	collect "github.com/discreet-dp/discreet/collect/local"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/failure"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// Command is discreet local.
func Command() *command.Command {
	c := &command.Command{
		UsageLine: "local VERB PROTOCOL [flags]",
		For:       command.Anyone,
		Short:     "respondents randomize their own answers: nobody else needs to be trusted",
		Long: `In the local model each respondent's own device randomizes the answer. What leaves it is a
report that is epsilon-DP by itself, whoever collects it. The price is accuracy: the
error of a share falls with the root of the number of respondents, where a trusted
curator's falls with the number.

describe says what a protocol is worth, before anybody is asked. report turns values
into reports, on the respondent's side; answer does so for one respondent, under a
budget. estimate turns reports into shares or means,
with intervals. simulate asks invented respondents.

Protocols for one of --categories K or --values A,B,...: grr sue oue olh fastlh she the
subset hadamard hadamard-response rappor cms hcms, and best, which is the one of least
variance. For a number from --lower to --upper: duchi piecewise hybrid, and squarewave
for its distribution. For a vector of --dimension D numbers from -1 to 1: privunit. For
strings that nobody can list: pem, treehist. For the same question in each of --epochs C:
l-grr, l-oue, dbitflip.

--attribute NAME=A,B,... asks for several values at once: give it for each. --ranges asks
for one of values that have an order, so that ranges and quantiles are more exact.`,
		Examples: [2]string{
			"discreet local describe best --epsilon 1 --categories 100 --reports 10000",
			"discreet local report oue --epsilon 1 --values A,B,AB,0 -f answers.csv | discreet local estimate oue --epsilon 1 --values A,B,AB,0",
		},
		Verbs: []*command.Command{describe(), report(), answer(), estimate(), simulate()},
	}
	for _, v := range c.Verbs {
		v.Of = c.Name()
		v.Words = protocols()
		v.Values = map[string][]string{"post": posts}
	}
	c.Run = func(_ context.Context, t *terminal.Terminal, _ []string) error {
		c.WriteHelp(t.Err)
		return failure.ErrUsageShown
	}
	return c
}

func protocols() (names []string) {
	for _, p := range slices.Concat(collect.Frequencies(), collect.Numbers(), []collect.Protocol{collect.PrivUnit}, collect.Discoveries(), collect.Repetitions()) {
		names = append(names, string(p))
	}
	return names
}

// An asking is what the flags say of a question, which respondents and collector must have
// alike.
type asking struct {
	command    *command.Command
	epsilon    privacy.Epsilon
	categories int
	values     []string
	o          collect.FrequencyOptions
	lower      *float64
	upper      *float64
	cells      int
	dimension  int
	length     int
	top        int
	attributes []attribute
	divide     collect.Division
	ranges     bool
	branches   int
	epochs     int
	again      [2]*big.Rat // probabilities of repeated reports: of a 1, and of a 0
	json       bool
}

func (a *asking) define(c *command.Command) {
	a.command = c
	fs := &c.Flags
	fs.Func("epsilon", "a report reveals at most `E`; of rappor, all reports of one value together", func(text string) (err error) {
		if a.epsilon, err = privacy.ParseEpsilon(text); err == nil && a.epsilon.Sign() == 0 {
			err = errors.New("want a number above 0: with 0 a report says nothing")
		}
		return err
	})
	fs.Func("categories", "the values are 0 to `K`-1; of privunit, the dimension", within(&a.categories, 1, collect.MaxValues))
	fs.Func("values", "the values are `A,B,...`", command.List(&a.values))
	fs.Func("lower", "numbers are at least `L` (default -1)", finite(&a.lower))
	fs.Func("upper", "and at most `U` (default 1)", finite(&a.upper))
	fs.Func("cells", "of squarewave: the distribution has `N` cells (default 64)", within(&a.cells, 2, 4096))
	fs.Func("dimension", "of privunit: vectors of `D` numbers", within(&a.dimension, 1, 4096))
	fs.Func("length", "of pem and treehist: `N` bytes of a string count (default 6)", within(&a.length, 1, 7))
	fs.Func("top", "of pem and treehist: look for `N` strings (default 16)", within(&a.top, 1, 4096))
	fs.Func("bits", "of rappor: a filter of `N` bits (default 128); of dbitflip: a respondent tells so many of the bits (default all)", within(&a.o.Bits, 2, 1<<16))
	fs.Func("hashes", "of rappor: `H` hash functions (default 2)", within(&a.o.Hashes, 1, 16))
	fs.Func("cohorts", "of rappor: `N` cohorts (default 64)", within(&a.o.Cohorts, 1, 1<<16))
	fs.Func("rows", "of cms, hcms and treehist: a sketch of `N` rows (default 1024; of treehist 64)", within(&a.o.Rows, 1, 1<<16))
	fs.Func("columns", "of cms, hcms and treehist: `N` columns (default 1024)", within(&a.o.Columns, 2, 1<<16))
	fs.StringVar(&a.o.Salt, "salt", "", "of rappor, cms, hcms and treehist: a public `TEXT` that names the hash functions")
	fs.Func("attribute", "ask for the attribute `NAME=A,B,...` of these values, beside others; its column has its name", a.addAttribute)
	fs.Func("divide", "epsilon among attributes: `split|sample|fake` (default sample): a part for each, all for one, or that among fake values", func(text string) error {
		return command.OneOf((*string)(&a.divide), text, divisions)
	})
	fs.BoolVar(&a.ranges, "ranges", false, "the values have an order: ask for ranges of them, by a hierarchy")
	fs.Func("branches", "of --ranges: a range has `B` parts (default 4)", within(&a.branches, 2, 1024))
	fs.Func("epochs", "of l-grr, l-oue and dbitflip: a respondent takes part in `C` epochs (default 1), each of which costs epsilon", within(&a.epochs, 1, 1_000_000))
	fs.Func("one", "of l-grr and l-oue: a report tells the memoised answer with probability `P` (default 3/4)", chance(&a.again[0]))
	fs.Func("zero", "of l-oue: it tells a 0 as 1 with probability `P` (default 1/2)", chance(&a.again[1]))
	fs.BoolVar(&a.json, "json", false, "print JSON")
}

func within(to *int, least, most int) func(string) error {
	return func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			return fmt.Errorf("want a whole number from %d to %d", least, most)
		}
		*to = n
		return nil
	}
}

func finite(to **float64) func(string) error {
	return func(text string) error {
		r, err := numeric.ParseDecimal(text)
		if err != nil {
			return err
		}
		f, _ := r.Float64()
		*to = &f
		return nil
	}
}

// protocol reads the argument.
func (a *asking) protocol(args []string) (collect.Protocol, error) {
	switch {
	case len(args) == 0:
		return "", command.Missing("the protocol", "one of "+strings.Join(protocols(), " "))
	case len(args) > 1:
		return "", diagnostic.New("D113", diagnostic.Span{}, "an argument too many: %q", terminal.Printable(args[1])).Try("discreet %s", a.command.Line())
	case !slices.Contains(protocols(), args[0]):
		d := diagnostic.New("D190", diagnostic.Span{}, "there is no protocol %q", terminal.Printable(args[0])).
			Try("they are %s", strings.Join(protocols(), " "))
		if near := diagnostic.Nearest(args[0], protocols()); near != "" {
			d.Try("did you mean %s?", near)
		}
		return "", d
	}
	return collect.Protocol(args[0]), nil
}

// survey makes the protocol that the flags describe.
func (a *asking) survey(p collect.Protocol) (survey, error) {
	if a.epsilon.Sign() == 0 {
		return nil, command.Missing("the epsilon of a report", "--epsilon E")
	}
	s, err := a.make(p)
	return s, refusal(err)
}

// refusal gives a package's error its form.
func refusal(err error) error {
	var d *diagnostic.Diagnostic
	switch {
	case err == nil, errors.As(err, &d):
		return err
	case errors.Is(err, collect.ErrNoReports):
		return diagnostic.New("D192", diagnostic.Span{}, "there are no reports, so that nothing can be estimated").
			Try("-f names their file, and --column its column")
	case errors.Is(err, collect.ErrParameter):
		return diagnostic.New("D191", diagnostic.Span{}, "%s", strings.TrimPrefix(err.Error(), collect.ErrParameter.Error()+": ")).
			Because("no theorem covers these parameters, or no such randomizer exists").Try("discreet help local lists the protocols and what each needs")
	}
	return err
}

func (a *asking) make(p collect.Protocol) (survey, error) {
	if err := a.together(p); err != nil {
		return nil, err
	}
	switch {
	case a.attributes != nil:
		return a.makeAttributes(p)
	case a.ranges:
		return a.makeRanges(p)
	case slices.Contains(collect.Repetitions(), p):
		return a.makeRepeats(p)
	case p == collect.PrivUnit:
		d := max(a.dimension, a.categories)
		if d == 0 {
			d = 2
		}
		v, err := collect.NewVector(collect.VectorOptions{Dimension: d, Epsilon: a.epsilon})
		if err != nil {
			return nil, err
		}
		return &vectors{v, v.NewTally(), d}, nil
	case slices.Contains(collect.Discoveries(), p):
		x, err := collect.NewStrings(collect.StringsOptions{Protocol: p, Epsilon: a.epsilon, Length: a.length, Top: a.top,
			Rows: a.o.Rows, Columns: a.o.Columns, Salt: a.o.Salt})
		if err != nil {
			return nil, err
		}
		return &texts{x, x.NewTally(), x.Length(), x.Top()}, nil
	case slices.Contains(collect.Numbers(), p):
		o := collect.NumberOptions{Protocol: p, Epsilon: a.epsilon, Lower: -1, Upper: 1, Cells: a.cells}
		if a.lower != nil {
			o.Lower = *a.lower
		}
		if a.upper != nil {
			o.Upper = *a.upper
		}
		n, err := collect.NewNumber(o)
		if err != nil {
			return nil, err
		}
		return &numbers{n, n.NewTally(), o}, nil
	}
	labels, err := a.labels()
	if err != nil {
		return nil, err
	}
	a.o.Protocol, a.o.Epsilon, a.o.Values = p, a.epsilon, len(labels)
	f, err := collect.NewFrequency(a.o)
	if err != nil {
		return nil, err
	}
	index, err := indexOf(labels)
	if err != nil {
		return nil, err
	}
	return &frequencies{f, f.NewTally(), labels, index}, nil
}

// indexOf is where each value stands.
func indexOf(labels []string) (map[string]int, error) {
	index := make(map[string]int, len(labels))
	for i, l := range labels {
		if _, twice := index[l]; twice || l == "" {
			return nil, diagnostic.New("D191", diagnostic.Span{}, "a value is empty or named twice").Try("name each value once with --values, or of an attribute with --attribute")
		}
		index[l] = i
	}
	return index, nil
}

func (a *asking) labels() ([]string, error) {
	switch {
	case a.values != nil && a.categories != 0:
		return nil, diagnostic.New("D115", diagnostic.Span{}, "--values and --categories exclude each other")
	case a.values != nil:
		return a.values, nil
	}
	k := a.categories
	if k == 0 {
		k = 2
	}
	labels := make([]string, k)
	for i := range labels {
		labels[i] = strconv.Itoa(i)
	}
	return labels, nil
}

// A source is where records come from.
type source struct {
	file   string
	column string
}

func (s *source) define(fs *flag.FlagSet, what, column string) {
	fs.StringVar(&s.file, "f", "", "read "+what+" from `FILE`, CSV or JSON lines (default standard input)")
	fs.StringVar(&s.column, "column", column, "in the column `NAME` (default "+column+"); a file of one column needs no header")
}

// open returns the records' text and its name.
func (s *source) open(t *terminal.Terminal) (in io.ReadCloser, name string, err error) {
	if s.file == "" || s.file == "-" {
		return io.NopCloser(t.In), "standard input", nil
	}
	f, err := os.Open(s.file)
	if err != nil {
		return nil, "", workplace.Unreadable(s.file, err)
	}
	return f, s.file, nil
}

// A certainty is how sure intervals are to be.
type certainty struct{ text string }

func (c *certainty) define(fs *flag.FlagSet) {
	fs.Func("confidence", "`C` of the intervals, between 0 and 1 (default 0.95)", func(text string) error {
		r, err := numeric.ParseDecimal(text)
		if err != nil || r.Sign() <= 0 || r.Cmp(big.NewRat(1, 1)) >= 0 {
			return errors.New("want a number between 0 and 1")
		}
		c.text = text
		return nil
	})
}

// beta is one minus the confidence, exactly.
func (c *certainty) beta() *big.Rat {
	r := big.NewRat(19, 20)
	if c.text != "" {
		r, _ = numeric.ParseDecimal(c.text) // read before
	}
	return r.Sub(big.NewRat(1, 1), r)
}

func (c *certainty) confidence() float64 {
	f, _ := new(big.Rat).Sub(big.NewRat(1, 1), c.beta()).Float64()
	return f
}
