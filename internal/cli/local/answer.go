package local

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/budget/durable"
	collect "github.com/discreet-dp/discreet/collect/local"
	"github.com/discreet-dp/discreet/collect/local/client"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/failure"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// errFirst ends reading after the first record.
var errFirst = errors.New("the first record was read")

func answer() *command.Command {
	c := &command.Command{
		UsageLine: "answer PROTOCOL --question TEXT --asker NAME --domain DOMAIN --epsilon E ...",
		For:       command.Owner,
		Private:   true,
		Short:     "one respondent's answer to a question, under a budget of the respondent's own",
		Long: `Reads one value, as report does, and prints its report, charged to a domain of the
respondent's own ledger before it is printed. The same question, with the same flags, has
the same answer for good, and costs nothing more, by whomever it is asked; a new one that
the budget does not admit is refused (D076).

What was told to whom stands in the ledger: discreet budget shows it. The domain's relation
is replace-one: that somebody answers is not hidden.

A question that is asked again (l-grr, l-oue, dbitflip) charges all --epochs C with its
first answer. --epoch N says which epoch, from 0, it is now; the value counts when it is the
epoch's first, and from the last epoch on no more. The ledger remembers what was drawn.`,
		Examples: [2]string{
			"echo yes | discreet local answer grr --epsilon 0.5 --values yes,no --question 'Do you smoke?' --asker survey.example --domain me",
			"discreet local answer piecewise --epsilon 1 --lower 0 --upper 120 --question 'How old are you?' --asker survey.example --domain me -f age.txt --json",
		},
	}
	var a asking
	var from source
	var w workplace.Workplace
	var question, asker, domain string
	epoch := -1
	a.define(c)
	from.define(&c.Flags, "the value", "value")
	w.DefineLedger(&c.Flags, "the ledger's `FILE` (default discreet.ledger)")
	c.Flags.StringVar(&domain, "domain", "", "charge the ledger's domain `DOMAIN`")
	c.Flags.StringVar(&question, "question", "", "the question, in words: `TEXT`")
	c.Flags.StringVar(&asker, "asker", "", "who asks: `NAME`")
	c.Flags.Func("epoch", "of l-grr, l-oue and dbitflip: it is the epoch `N`, from 0", func(text string) (err error) {
		if epoch, err = strconv.Atoi(text); err != nil || epoch < 0 {
			err = errors.New("want a whole number, from 0")
		}
		return err
	})
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		t.JSON = a.json
		p, err := a.protocol(args)
		if err != nil {
			return err
		}
		repeated := slices.Contains(collect.Repetitions(), p)
		switch {
		case repeated && epoch < 0:
			return command.Missing("which epoch it is", "--epoch N")
		case !repeated && epoch >= 0:
			return diagnostic.New("D115", diagnostic.Span{}, "--epoch is of questions that are asked again: l-grr, l-oue, dbitflip")
		case question == "":
			return command.Missing("the question", "--question TEXT")
		case asker == "":
			return command.Missing("the name of the asker", "--asker NAME")
		case domain == "":
			return diagnostic.New("D140", diagnostic.Span{}, "no domain pays for this answer").
				Because("every new answer is charged to a domain of the respondent's ledger, before it leaves").
				Try("name it with --domain, and the ledger with --ledger; discreet ledger create makes one")
		}
		s, err := a.survey(p)
		if err != nil {
			return err
		}
		value, err := from.first(ctx, t, a.columns(from.column), s)
		if err != nil {
			return err
		}
		w.Resolve()
		if err := w.OpenLedger(ctx); err != nil {
			return err
		}
		defer w.Close()
		b, err := w.Ledger.Balance(ctx, domain)
		if err != nil {
			return err
		}
		if b.Neighbours != privacy.ReplaceOne {
			return diagnostic.New("D121", diagnostic.Span{}, "an answer is protected under replace-one alone").
				Because("domain %q has the relation %v", b.ID, b.Neighbours).Try(`a domain with neighbours = "replace-one"`)
		}
		book := func(analyst string) (client.Book, error) {
			return durable.New(ctx, w.Ledger, durable.Options{Domain: domain, Analyst: analyst, Now: time.Now})
		}
		answers, err := book("respondent")
		if err != nil {
			return err
		}
		clerk, err := client.New(client.Options{Answers: answers, Tellings: book, Bits: noise.System()})
		if err != nil {
			return err
		}
		form, err := a.form(string(p))
		if err != nil {
			return err
		}
		q := client.Question{Text: question, Form: form, Event: s.Event()}
		var told *client.Answer
		if of, ok := s.(*repeats); ok {
			told, err = clerk.Repeat(ctx, asker, q, of.Last(epoch), of.repetition(value))
		} else {
			told, err = clerk.Answer(ctx, asker, q, func(bits *noise.Stream) (string, error) {
				text, readable, err := s.report(bits, value)
				if err != nil || !readable {
					return "", failure.Undrawn()
				}
				return text, nil
			})
		}
		var exhausted *ledger.ExhaustedError
		if errors.As(err, &exhausted) {
			return exhausted
		} else if err != nil {
			return err
		}
		left, err := w.Ledger.Balance(ctx, domain)
		if err != nil {
			return err
		}
		spent := filter.Amounts{}
		if !told.Again {
			spent.Epsilon = s.Epsilon()
		}
		if a.json {
			return t.WriteJSON(map[string]any{"report": told.Report, "again": told.Again, "epsilon": spent.Epsilon,
				"remaining": terminal.InMeasure(left.Measure, left.Remaining)})
		}
		t.Print(told.Report, 0)
		if told.Again {
			t.Say("answered before: it costs nothing")
		} else {
			t.Say("cost: epsilon %v", spent.Epsilon)
		}
		t.Say("left: %s", terminal.AmountsText(terminal.InMeasure(left.Measure, left.Remaining), terminal.Down))
		return nil
	}
	return c
}

// first returns the first record's value, which must be one that can be told.
func (s *source) first(ctx context.Context, t *terminal.Terminal, columns []string, of survey) (value string, err error) {
	in, name, err := s.open(t)
	if err != nil {
		return "", err
	}
	defer in.Close()
	line, err := eachRecord(ctx, in, columns, func(text string) error {
		value = text
		return errFirst
	})
	// Whether it can be told is found out by a report that nobody sees.
	if errors.Is(err, errFirst) {
		if _, readable, drawn := of.report(noise.NewStream(noise.System()), value); drawn != nil {
			return "", failure.Undrawn()
		} else if readable {
			return value, nil
		}
	}
	return "", diagnostic.New("D193", diagnostic.Span{}, "line %d of %s is not %s", max(line, 1), name, of.wants()).
		Because("it is not shown because it is private; nothing was charged")
}

// form is all flags that decide what a report means.
func (a *asking) form(protocol string) (string, error) {
	var attributes []string
	for _, x := range a.attributes {
		attributes = append(attributes, x.name+"="+strings.Join(x.labels, ","))
	}
	rational := func(r *big.Rat) string {
		if r == nil {
			return ""
		}
		return r.RatString()
	}
	text, err := json.Marshal(struct {
		Protocol   string   `json:"protocol"`
		Epsilon    string   `json:"epsilon"`
		Categories int      `json:"categories,omitempty"`
		Values     []string `json:"values,omitempty"`
		Lower      *float64 `json:"lower,omitempty"`
		Upper      *float64 `json:"upper,omitempty"`
		Cells      int      `json:"cells,omitempty"`
		Dimension  int      `json:"dimension,omitempty"`
		Length     int      `json:"length,omitempty"`
		Bits       int      `json:"bits,omitempty"`
		Hashes     int      `json:"hashes,omitempty"`
		Cohorts    int      `json:"cohorts,omitempty"`
		Rows       int      `json:"rows,omitempty"`
		Columns    int      `json:"columns,omitempty"`
		Salt       string   `json:"salt,omitempty"`
		Attributes []string `json:"attributes,omitempty"`
		Divide     string   `json:"divide,omitempty"`
		Ranges     bool     `json:"ranges,omitempty"`
		Branches   int      `json:"branches,omitempty"`
		Epochs     int      `json:"epochs,omitempty"`
		One        string   `json:"one,omitempty"`
		Zero       string   `json:"zero,omitempty"`
	}{protocol, a.epsilon.String(), a.categories, a.values, a.lower, a.upper, a.cells, a.dimension, a.length,
		a.o.Bits, a.o.Hashes, a.o.Cohorts, a.o.Rows, a.o.Columns, a.o.Salt, attributes, string(a.divide), a.ranges, a.branches, a.epochs, rational(a.again[0]), rational(a.again[1])})
	return string(text), err
}
