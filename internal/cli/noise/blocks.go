package noise

import (
	"context"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
)

func sampleAndAggregateNoise() *command.Command {
	c := &command.Command{
		UsageLine: "sample-and-aggregate --of NAME --blocks B --lower L --upper U --step S --epsilon E --domain DOMAIN -f FILE",
		Short:     "a mean, a median or a deviation, of values that have no bounds",
		Long: `Values, one of each unit, are put into blocks at random; the function is computed on
each, and the results are aggregated privately: by their median, or with --by mean by
their mean. Bounds are wanted of the results and not of the values.`,
		Examples: [2]string{
			"discreet noise sample-and-aggregate --domain patient --of mean --blocks 100 --lower 0 --upper 5000 --step 1 --epsilon 0.5 -f costs.txt",
			"discreet noise sample-and-aggregate --domain patient --of stddev --by mean --blocks 100 --lower 0 --upper 500 --step 1 --rho 0.01 --json -f costs.txt",
		},
	}
	var n aggregating
	n.define(c)
	n.definePure(&c.Flags)
	n.DefineConfidence(&c.Flags, "`C` of the error, between 0 and 1 (default 0.95)")
	var of, by string
	var blocks int64
	c.Flags.Func("of", "compute the `mean|median|variance|stddev` of each block", func(text string) error {
		return command.OneOf(&of, text, []string{"mean", "median", "variance", "stddev"})
	})
	c.Flags.Func("by", "aggregate the results by their `median|mean` (default median)", func(text string) error {
		return command.OneOf(&by, text, []string{"median", "mean"})
	})
	c.Flags.Func("blocks", "the number of blocks `B`", count(&blocks))
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		switch {
		case of == "":
			return command.Missing("the function to compute", "--of mean|median|variance|stddev")
		case blocks == 0:
			return command.Missing("the number of blocks", "--blocks B")
		}
		if err := n.ready(ctx, t, args); err != nil {
			return err
		}
		o := mechanism.SampleAggregateOptions[float64]{Blocks: int(min(blocks, math.MaxInt32)), Compute: computed[of],
			Lower: n.lower, Upper: n.upper, Step: n.step, Mean: by == "mean"}
		if o.Mean && n.Spend.Rho.Sign() > 0 {
			if n.Spend.Epsilon.Sign() > 0 {
				return twoCosts()
			}
			o.Rho = n.Spend.Rho
		} else {
			var err error
			if o.Epsilon, err = n.epsilonOf(8); err != nil { // has bounded range ε, so ρ is ε²/8, as for a quantile
				return err
			}
		}
		return n.run(ctx, t, func(p population) (*draw, error) {
			m, err := mechanism.NewSampleAggregate(o)
			if err != nil {
				return nil, err
			}
			off, err := m.Bound(p.beta)
			if err != nil {
				return nil, err
			}
			d := one("sample_and_aggregate", m.Event(), func(bits noise.Bits) (float64, error) { return m.Release(bits, n.xs) })
			d.answer.Accuracy = terminal.JSONNumber(off)
			if !o.Mean {
				d.answer.Unit = "ranks of the blocks' results"
			}
			return d, nil
		})
	}
	return c
}

// computed are the functions of sample-and-aggregate. A block may be empty.
var computed = map[string]func([]float64) float64{
	"mean":     average,
	"median":   lowerMedian,
	"stddev":   func(xs []float64) float64 { return math.Sqrt(variance(xs)) },
	"variance": variance,
}

func average(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x / float64(len(xs)) // the sum itself may overflow
	}
	return sum
}

func variance(xs []float64) float64 {
	center := average(xs)
	sum := 0.0
	for _, x := range xs {
		sum += (x - center) * (x - center) / float64(len(xs))
	}
	return sum
}

func lowerMedian(xs []float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	slices.Sort(xs)
	return xs[(len(xs)-1)/2]
}
