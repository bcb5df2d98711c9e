package workplace

import (
	"context"
	"errors"
	"flag"
	"io"
	"io/fs"
	"math/big"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/cli/command"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
)

// A Statement is what the flags of explain and query say.
type Statement struct {
	discreet.QueryOptions
	File string
}

// Define defines the flags of a statement and its cost.
func (s *Statement) Define(fs *flag.FlagSet) {
	fs.StringVar(&s.File, "f", "", "read the statement from `FILE` (- for standard input)")
	s.DefineSpend(fs)
}

// DefineSpend defines the flags of what a statement costs.
func (s *Statement) DefineSpend(fs *flag.FlagSet) {
	fs.Func("epsilon", "spend `E`: pure, or approximate with --delta", Amount(&s.Spend.Epsilon, privacy.ParseEpsilon))
	fs.Func("delta", "spend `D` too; with --rho for groups that are privately selected", Amount(&s.Spend.Delta, privacy.ParseDelta))
	fs.Func("rho", "spend `R` of zero-concentrated differential privacy", Amount(&s.Spend.Rho, privacy.ParseRho))
	fs.Func("weights", "share the cost over the aggregates as `A,B,...` (default evenly)", func(text string) error {
		s.Weights = []*big.Rat{}
		for part := range strings.SplitSeq(text, ",") {
			w, err := numeric.ParseRat(strings.TrimSpace(part))
			if err != nil {
				return err
			}
			s.Weights = append(s.Weights, w)
		}
		return nil
	})
	fs.Func("accuracy", "spend the least at which each value is off by `ERROR` at most, such as 150 or 2%, with the confidence", func(text string) (err error) {
		if s.Accuracy, err = discreet.ParseAccuracy(text); err != nil {
			err = errors.New("it is no error that values may have, such as 150, or 2% of the value")
		}
		return err
	})
	fs.Func("at-most-epsilon", "refuse an accuracy that costs more than `E`", Amount(&s.AtMost.Epsilon, privacy.ParseEpsilon))
	fs.Func("at-most-rho", "refuse an accuracy that costs more than `R`", Amount(&s.AtMost.Rho, privacy.ParseRho))
	fs.BoolVar(&s.Consistent, "consistent", false, "show what data could have: no negative counts, nor ends of their intervals")
	fs.BoolVar(&s.Together, "together", false, "make intervals so wide that all of the answer hold at once")
	s.DefineConfidence(fs, "of the intervals, between 0 and 1 (default the catalog's, or 0.95): `C`")
}

// DefineConfidence defines --confidence.
func (s *Statement) DefineConfidence(fs *flag.FlagSet, usage string) {
	fs.Func("confidence", usage, func(text string) error {
		c, err := strconv.ParseFloat(text, 64)
		if err != nil || !(c > 0 && c < 1) {
			return diagnostic.New("D075", diagnostic.Span{}, "confidence %s is not between 0 and 1", text).
				Try("give something like 0.95")
		}
		s.Confidence = c
		return nil
	})
}

// DefineAsker adds the flags of who asks, for commands that charge.
func (s *Statement) DefineAsker(fs *flag.FlagSet) {
	s.DefineAnalyst(fs)
	fs.StringVar(&s.IdempotencyKey, "key", "", "a `KEY`: the same query with it returns the stored answer and pays once")
}

// DefineAnalyst defines --analyst.
func (s *Statement) DefineAnalyst(fs *flag.FlagSet) {
	fs.Func("analyst", "the `NAME` for the ledger's history (default the system's user)", func(name string) error {
		if !utf8.ValidString(name) {
			return errors.New("is not UTF-8")
		}
		s.Analyst = name
		return nil
	})
}

// Amount reads an amount of privacy loss that is to be spent.
func Amount[A interface{ Sign() int }](to *A, parse func(string) (A, error)) func(string) error {
	return func(text string) error {
		a, err := parse(text)
		if err == nil && a.Sign() == 0 {
			err = errors.New("an answer must cost more than 0")
		}
		*to = a
		return err
	}
}

// Text returns the statement: an argument, a file or standard input.
func (s *Statement) Text(ctx context.Context, c *command.Command, in io.Reader, args []string) (string, error) {
	switch {
	case s.File != "" && len(args) > 0:
		return "", diagnostic.New("D115", diagnostic.Span{}, "a statement as argument and -f exclude each other")
	case len(args) > 1:
		return "", diagnostic.New("D113", diagnostic.Span{}, "give one statement: %q comes after it", args[1]).
			Try("put the statement in quotes")
	case s.File == "-", len(args) == 1 && args[0] == "-":
		return readFrom(ctx, "standard input", in)
	case s.File != "":
		f, err := os.Open(s.File)
		if err != nil {
			return "", Unreadable(s.File, err)
		}
		defer f.Close()
		return readFrom(ctx, s.File, f)
	case len(args) == 0:
		return "", diagnostic.New("D113", diagnostic.Span{}, "no statement").Try("discreet %s", c.UsageLine)
	}
	return args[0], nil
}

// maxStatement is more than the parser admits, so that the parser refuses a statement that is
// too long.
const maxStatement = 1 << 20

// readFrom stops waiting when its caller does.
func readFrom(ctx context.Context, name string, r io.Reader) (string, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := io.ReadAll(io.LimitReader(r, maxStatement))
		done <- result{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case got := <-done:
		if got.err != nil {
			return "", Unreadable(name, got.err)
		}
		return string(got.text), nil
	}
}

// Unreadable refuses a file that the command line names and that cannot be read.
func Unreadable(name string, err error) error {
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	return diagnostic.New("D114", diagnostic.Span{}, "%s cannot be read: %v", name, err)
}

// DefaultAnalyst is the operating system's user who asks.
func DefaultAnalyst() string {
	u := command.WhoCalls().User
	if u.Caller != nil {
		u = u.Caller
	}
	return u.String()
}
