package noise

import (
	"context"
	"math"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
)

// maxRanges bounds the bins of mwem, which asks about all ranges of them.
const maxRanges = 200

func mwemNoise() *command.Command {
	c := &command.Command{
		UsageLine: "mwem --edges X,Y,... | --bins A,B,... --rounds T --epsilon E --domain DOMAIN -f FILE",
		Short:     "a histogram that answers all ranges of its bins well (multiplicative weights)",
		Long: `Each value is a line; the bins are public and in order, at most 200. In each of T
rounds the range of bins that the histogram so far answers worst is measured, and the
histogram corrected. Counts are not whole. A unit has at most --max-rows values.`,
		Examples: [2]string{
			"discreet noise mwem --domain patient --edges 0,10,20,30,40,50,60,70,80 --rounds 5 --epsilon 0.5 -f ages.txt",
			"discreet noise mwem --domain patient --bins mon,tue,wed,thu,fri --rounds 3 --max-rows 2 --epsilon 0.5 --json -f days.txt",
		},
	}
	var n noising
	var bins bins
	n.define(c, bins.values())
	n.definePure(&c.Flags)
	bins.define(&c.Flags)
	var o mechanism.MWEMOptions
	var rounds int64
	c.Flags.Func("rounds", "the number of rounds `T`", count(&rounds))
	c.Flags.Func("max-rows", "a unit has at most `R` values (default 1)", count(&o.MaxRows))
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if err := bins.check(); err != nil {
			return err
		}
		if rounds == 0 {
			return command.Missing("the number of rounds", "--rounds T")
		}
		if err := n.read(ctx, t, args); err != nil {
			return err
		}
		if err := bins.sortIn(n.values); err != nil {
			return err
		}
		o.Cells, o.Rounds = len(bins.labels), int(min(rounds, math.MaxInt32))
		if o.Cells > maxRanges {
			return diagnostic.New("D142", diagnostic.Span{}, "%d bins are more than %d", o.Cells, maxRanges)
		}
		for from := range o.Cells {
			for to := from; to < o.Cells; to++ {
				o.Queries = append(o.Queries, cells(from, to))
			}
		}
		var err error
		if o.Epsilon, err = n.epsilon(); err != nil {
			return err
		}
		return n.run(ctx, t, func(population) (*draw, error) {
			m, err := mechanism.NewMWEM(o)
			if err != nil {
				return nil, err
			}
			d := &draw{event: m.Event(), answer: noised{Mechanism: "mwem", Labels: bins.labels}}
			d.release = func(bits noise.Bits, to *noised) error {
				weights, err := m.Release(bits, bins.counts())
				for _, w := range weights {
					to.Values = append(to.Values, terminal.JSONNumber(w))
				}
				return err
			}
			return d, nil
		})
	}
	return c
}

// cells are the cells of a range.
func cells(from, to int) (set []int) {
	for i := from; i <= to; i++ {
		set = append(set, i)
	}
	return set
}
