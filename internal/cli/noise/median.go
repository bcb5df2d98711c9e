package noise

import (
	"context"
	"encoding/json"
	"flag"
	"math/big"
	"math/bits"
	"strings"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// An aggregating turns many private values into one number of a range.
type aggregating struct {
	noising
	xs                 []float64
	lower, upper, step *big.Rat
	rows               int64
}

func (n *aggregating) define(c *command.Command) {
	n.noising.define(c, floats(&n.xs))
	c.Flags.Func("lower", "the least candidate `L`; values are clamped to it", exactNumber(&n.lower))
	c.Flags.Func("upper", "the largest candidate `U`; values are clamped to it", exactNumber(&n.upper))
	c.Flags.Func("step", "from candidate to candidate: `S`", exactNumber(&n.step))
}

func (n *aggregating) defineRows(fs *flag.FlagSet) {
	fs.Func("max-rows", "a unit has at most `R` values (default 1)", count(&n.rows))
}

// ready reads the values and checks the candidates.
func (n *aggregating) ready(ctx context.Context, t *terminal.Terminal, args []string) error {
	if err := n.read(ctx, t, args); err != nil {
		return err
	}
	for _, given := range []struct {
		r    *big.Rat
		flag string
	}{{n.lower, "--lower L"}, {n.upper, "--upper U"}, {n.step, "--step S"}} {
		if given.r == nil {
			return command.Missing("the range of candidates", given.flag)
		}
	}
	return nil
}

func quantileNoise() *command.Command {
	c := &command.Command{
		UsageLine: "quantile --lower L --upper U --step S --epsilon E --domain DOMAIN -f FILE",
		Short:     "the median or other quantiles of many values: no outlier moves them",
		Long: `One of the public candidates L, L+S, ... up to U, more likely the closer its rank is
to the quantile's (exponential mechanism). Several quantiles are sought in each
other's halves, so that m of them cost log2(m+1) times what one costs. Values
outside of the bounds count as the bounds. How many values there are is private; a
unit has at most --max-rows of them.`,
		Examples: [2]string{
			"discreet noise quantile --domain patient --lower 0 --upper 120 --step 1 --epsilon 0.5 -f ages.txt",
			"discreet noise quantile --domain patient --quantile 0.25,0.5,0.75 --lower 0 --upper 5000 --step 0.01 --epsilon 1 --max-rows 3 -f costs.txt",
		},
	}
	var n aggregating
	n.define(c)
	n.defineRows(&c.Flags)
	n.definePure(&c.Flags)
	o := mechanism.QuantileOptions{Quantiles: []*big.Rat{big.NewRat(1, 2)}}
	names := []json.Number{"0.5"}
	c.Flags.Func("quantile", "which: `Q,...` between 0 and 1, ascending (default 0.5)", func(text string) error {
		o.Quantiles, names = nil, nil
		for part := range strings.SplitSeq(text, ",") {
			q, err := numeric.ParseRat(strings.TrimSpace(part))
			if err != nil {
				return err
			}
			f, _ := q.Float64()
			o.Quantiles, names = append(o.Quantiles, q), append(names, terminal.JSONNumber(f))
		}
		return nil
	})
	n.DefineConfidence(&c.Flags, "`C` of the error, between 0 and 1 (default 0.95)")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if err := n.ready(ctx, t, args); err != nil {
			return err
		}
		o.Lower, o.Upper, o.Step, o.MaxRows = n.lower, n.upper, n.step, n.rows
		// Each of L levels has the bounded range ε/L: L·(ε/L)²/8-zCDP together.
		var err error
		if o.Epsilon, err = n.epsilonOf(8 * int64(bits.Len(uint(len(names))))); err != nil {
			return err
		}
		return n.run(ctx, t, func(p population) (*draw, error) {
			o.Neighbours = p.Neighbours
			m, err := mechanism.NewQuantile(o)
			if err != nil {
				return nil, err
			}
			// The number of values is private. The bound for one quantile does not
			// depend on it, and that for several hardly does up to a million.
			ranks, err := m.Bound(int64(min(len(names)-1, 1))<<20, p.beta)
			if err != nil {
				return nil, err
			}
			d := &draw{event: m.Event(), answer: noised{Mechanism: "quantile", Quantiles: names, Accuracy: terminal.JSONNumber(ranks), Unit: "ranks"}}
			if len(names) > 1 {
				d.answer.Notes = append(d.answer.Notes, "the error is that among up to 1048576 values")
			}
			d.release = func(source noise.Bits, to *noised) error {
				chosen, err := m.Choose(source, n.xs)
				for _, x := range chosen {
					to.Values = append(to.Values, terminal.JSONNumber(x))
				}
				to.single()
				return err
			}
			return d, nil
		})
	}
	return c
}

func smoothMedianNoise() *command.Command {
	c := &command.Command{
		UsageLine: "smooth-median --lower L --upper U --step S --epsilon E --domain DOMAIN -f FILE",
		Short:     "the median of values that crowd around it: noise as their smooth sensitivity",
		Long: `The noise is in proportion to how far one unit can move the median of these values,
or of values near to them; quantile mostly serves better. Values outside of the bounds
count as the bounds. How many values there are is private; a unit has at most
--max-rows of them. How far off it is depends on the values and is not told.`,
		Examples: [2]string{
			"discreet noise smooth-median --domain patient --lower 0 --upper 120 --step 1 --epsilon 0.5 -f ages.txt",
			"discreet noise smooth-median --domain patient --lower 0 --upper 5000 --step 0.01 --epsilon 1 --max-rows 3 --json -f costs.txt",
		},
	}
	var n aggregating
	n.define(c)
	n.defineRows(&c.Flags)
	n.definePure(&c.Flags)
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if err := n.ready(ctx, t, args); err != nil {
			return err
		}
		epsilon, err := n.epsilon()
		if err != nil {
			return err
		}
		return n.run(ctx, t, func(population) (*draw, error) {
			m, err := mechanism.NewSmoothMedian(mechanism.SmoothMedianOptions{Lower: n.lower, Upper: n.upper, Step: n.step, MaxRows: n.rows, Epsilon: epsilon})
			if err != nil {
				return nil, err
			}
			return one("smooth_median", m.Event(), func(bits noise.Bits) (float64, error) { return m.Release(bits, n.xs) }), nil
		})
	}
	return c
}

// one is the release of a single number, without an error bound.
func one(name string, event privacy.Event, release func(noise.Bits) (float64, error)) *draw {
	return &draw{event: event, answer: noised{Mechanism: name}, release: func(bits noise.Bits, to *noised) error {
		x, err := release(bits)
		to.Value = terminal.JSONNumber(x)
		return err
	}}
}

func proposeTestReleaseNoise() *command.Command {
	c := &command.Command{
		UsageLine: "propose-test-release --bound B --lower L --upper U --step S --epsilon E --delta D --domain DOMAIN -f FILE",
		Short:     "the median, if a unit moves it by no more than a bound in these data; or none",
		Long: `The proposal is that one unit moves the median of values like these by at most the
bound. It is tested privately, and if it holds the median is released with noise for
that bound; if not, the answer is none. The cost is the same. Values outside of
--lower and --upper count as these. How many values there are is private; a unit has
at most --max-rows of them.`,
		Examples: [2]string{
			"discreet noise propose-test-release --domain patient --bound 1 --lower 0 --upper 120 --step 1 --epsilon 0.5 --delta 1e-8 -f ages.txt",
			"discreet noise propose-test-release --domain patient --bound 10 --lower 0 --upper 5000 --step 0.01 --epsilon 1 --delta 1e-8 --json -f costs.txt",
		},
	}
	var n aggregating
	n.define(c)
	n.defineRows(&c.Flags)
	n.DefineConfidence(&c.Flags, "`C` of the error, between 0 and 1 (default 0.95)")
	c.Flags.Func("epsilon", "spend `E`, with --delta", workplace.Amount(&n.Spend.Epsilon, privacy.ParseEpsilon))
	c.Flags.Func("delta", "spend `D`, with --epsilon", workplace.Amount(&n.Spend.Delta, privacy.ParseDelta))
	var bound *big.Rat
	c.Flags.Func("bound", "one unit moves the median by at most `B`, it is proposed", exactNumber(&bound))
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if bound == nil {
			return command.Missing("the proposed bound", "--bound B")
		}
		if err := n.ready(ctx, t, args); err != nil {
			return err
		}
		switch s := n.Spend; {
		case s.Epsilon.Sign() == 0 && s.Delta.Sign() == 0:
			return noCost("--epsilon E and --delta D")
		case s.Epsilon.Sign() == 0 || s.Delta.Sign() == 0:
			return diagnostic.New("D143", diagnostic.Span{}, "a test that may be wrong costs an epsilon and a delta").Try("give --epsilon E and --delta D")
		}
		return n.run(ctx, t, func(p population) (*draw, error) {
			m, err := mechanism.NewProposeTestRelease(mechanism.ProposeTestReleaseOptions{Lower: n.lower, Upper: n.upper, Step: n.step,
				Bound: bound, MaxRows: n.rows, Epsilon: n.Spend.Epsilon, Delta: n.Spend.Delta})
			if err != nil {
				return nil, err
			}
			off, err := m.Bound(p.beta)
			if err != nil {
				return nil, err
			}
			d := &draw{event: m.Event(), answer: noised{Mechanism: "propose_test_release", Accuracy: terminal.JSONNumber(off)}}
			d.release = func(bits noise.Bits, to *noised) error {
				x, passed, err := m.Median(bits, n.xs)
				if to.Passed = &passed; passed {
					to.Value = terminal.JSONNumber(x)
				}
				return err
			}
			return d, nil
		})
	}
	return c
}
