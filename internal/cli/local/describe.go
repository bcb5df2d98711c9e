package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"

	collect "github.com/discreet-dp/discreet/collect/local"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
)

func describe() *command.Command {
	c := &command.Command{
		UsageLine: "describe PROTOCOL --epsilon E [--categories K] [--reports N]",
		Short:     "what a protocol is worth: probabilities, variance, how many respondents an error takes",
		Long: `Prints the protocol's numbers in the literature's names. certified is a bound of the
exact law that is drawn, rounded up, and at most epsilon. Variances are of an estimate
from --reports N reports (default 1): var_f0 of a value that nobody has, var_f01 of
one that a tenth has; for numbers in the range from -1 to 1. Ten digits are shown, of
bounds rounded up; --json has all.

--error A adds how many respondents make an estimate off by at most A with the
confidence; with --reports in place of --epsilon, the least epsilon for that.`,
		Examples: [2]string{
			"discreet local describe olh --epsilon 2 --categories 100 --json",
			"discreet local describe oue --categories 20 --reports 50000 --error 0.01",
		},
	}
	var a asking
	var reports int64
	var off *big.Rat
	var sure certainty
	a.define(c)
	sure.define(&c.Flags)
	c.Flags.Func("reports", "variances are of an estimate from `N` reports (default 1)", count(&reports))
	c.Flags.Func("error", "how many respondents an error of at most `A` takes", func(text string) (err error) {
		if off, err = numeric.ParseDecimal(text); err == nil && off.Sign() <= 0 {
			err = errors.New("want a positive number")
		}
		return err
	})
	c.Run = func(_ context.Context, t *terminal.Terminal, args []string) error {
		t.JSON = a.json
		p, err := a.protocol(args)
		if err != nil {
			return err
		}
		if a.epsilon.Sign() == 0 && off != nil && reports > 0 {
			if !slices.Contains(collect.Frequencies(), p) || a.attributes != nil || a.ranges {
				return diagnostic.New("D191", diagnostic.Span{}, "the least epsilon can be computed for protocols of one of k values only").Try("give --epsilon E, without --reports")
			}
			labels, err := a.labels()
			if err != nil {
				return err
			}
			a.o.Protocol, a.o.Values = p, len(labels)
			if a.epsilon, err = collect.EpsilonFor(a.o, reports, off, sure.beta()); err != nil {
				return refusal(err)
			}
		}
		s, err := a.survey(p)
		if err != nil {
			return err
		}
		d := s.describe(reports)
		if off != nil {
			n, err := s.respondents(off, sure.beta())
			if err != nil {
				return refusal(err)
			}
			d.Set("error", json.Number(numeric.FormatRat(off)))
			d.Set("respondents", n)
		} else if reports > 0 {
			e, err := s.off(reports, sure.beta())
			switch {
			case errors.Is(err, errUnknown):
			case err != nil:
				return refusal(err)
			default:
				d.Set("error", e)
			}
		}
		if a.json {
			return t.WriteJSON(d)
		}
		width := 0
		for _, name := range d.Names {
			width = max(width, len(name))
		}
		for _, name := range d.Names {
			t.Print(fmt.Sprintf("%-*s  %s", width, name, shown(d.Values[name])), width+2)
		}
		return nil
	}
	return c
}

// longNumber has more digits than anybody reads.
var longNumber = regexp.MustCompile(`\d+/\d{11,}|\d*\.\d{11,}`)

// shown is a value for people: of exact bounds, which can have forty digits, ten, rounded up.
// JSON has all.
func shown(x any) string {
	if f, ok := x.(float64); ok {
		return strconv.FormatFloat(f, 'g', 10, 64)
	}
	return longNumber.ReplaceAllStringFunc(fmt.Sprint(x), func(number string) string {
		exact, ok := new(big.Rat).SetString(number)
		if !ok {
			return number
		}
		return numeric.FormatRat(terminal.Up(exact, 10))
	})
}

func count(to *int64) func(string) error {
	return func(text string) error {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 || n > 1e12 {
			return errors.New("want a whole number from 1 to 1e12")
		}
		*to = n
		return nil
	}
}
