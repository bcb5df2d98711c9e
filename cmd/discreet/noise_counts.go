package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/big"
	"sort"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
)

func quantileNoise() *Command {
	c := &Command{
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
	var n noising
	var xs []float64
	n.define(c, floats(&xs))
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
			o.Quantiles, names = append(o.Quantiles, q), append(names, jsonNumber(f))
		}
		return nil
	})
	c.Flags.Func("lower", "the least candidate `L`", exactNumber(&o.Lower))
	c.Flags.Func("upper", "the largest candidate `U`", exactNumber(&o.Upper))
	c.Flags.Func("step", "from candidate to candidate: `S`", exactNumber(&o.Step))
	c.Flags.Func("max-rows", "a unit has at most `R` values (default 1)", count(&o.MaxRows))
	n.defineConfidence(&c.Flags, "`C` of the error, between 0 and 1 (default 0.95)")
	c.Run = func(ctx context.Context, t *terminal, args []string) error {
		if err := n.read(ctx, t, args); err != nil {
			return err
		}
		for _, given := range []struct {
			r    *big.Rat
			flag string
		}{{o.Lower, "--lower L"}, {o.Upper, "--upper U"}, {o.Step, "--step S"}} {
			if given.r == nil {
				return missing("what the candidates are", given.flag)
			}
		}
		var err error
		if o.Epsilon, err = n.epsilon(); err != nil {
			return err
		}
		return n.run(ctx, t, func(p population) (*draw, error) {
			o.Neighbours = p.Neighbours
			m, err := mechanism.NewQuantile(o)
			if err != nil {
				return nil, err
			}
			// How many values there are is private. The bound for one quantile does not
			// depend on it, and that for several hardly up to a million.
			ranks, err := m.Bound(int64(min(len(names)-1, 1))<<20, p.beta)
			if err != nil {
				return nil, err
			}
			d := &draw{event: m.Event(), answer: noised{Mechanism: "quantile", Quantiles: names, Accuracy: jsonNumber(ranks), Unit: "ranks"}}
			if len(names) > 1 {
				d.answer.Notes = append(d.answer.Notes, "the error is that among up to 1048576 values")
			}
			d.release = func(bits noise.Bits, to *noised) error {
				chosen, err := m.Choose(bits, xs)
				for _, x := range chosen {
					to.Values = append(to.Values, jsonNumber(x))
				}
				to.single()
				return err
			}
			return d, nil
		})
	}
	return c
}

func histogramNoise() *Command {
	c := &Command{
		UsageLine: "histogram --bins A,B,... | --edges X,Y,... --epsilon E --domain DOMAIN -f FILE",
		Short:     "how many values are in each of several public bins",
		Long: `Each value is a line; the bins are public, and each is printed, also if it is empty.
Values in no bin are left out. With --edges bins are numbers from one edge up to
below the next. A unit is in at most --max-bins bins, in each of them with at most
--max-rows values. With --epsilon alone the noise is discrete Laplace; with --rho,
or with --epsilon and --delta, discrete Gaussian.`,
		Examples: [2]string{
			"discreet noise histogram --domain patient --bins ER,ICU,Surgery --epsilon 0.5 -f departments.txt",
			"discreet noise histogram --domain patient --edges 0,18,65,120 --max-bins 2 --rho 0.01 --json -f ages.txt",
		},
	}
	var n noising
	var bins bins
	n.define(c, bins.values())
	n.defineGaussian(&c.Flags, "spend `E`; with --delta the noise is Gaussian")
	var o mechanism.HistogramOptions
	bins.define(&c.Flags)
	c.Flags.Func("max-bins", "a unit is in at most `M` bins (default 1)", count(&o.MaxBins))
	c.Flags.Func("max-rows", "and has at most `R` values in each (default 1)", count(&o.MaxRows))
	n.defineConfidence(&c.Flags, "`C` of the intervals, between 0 and 1 (default 0.95)")
	c.Run = func(ctx context.Context, t *terminal, args []string) error {
		if err := bins.check(); err != nil {
			return err
		}
		if err := n.read(ctx, t, args); err != nil {
			return err
		}
		if err := bins.sortIn(n.values); err != nil {
			return err
		}
		o.Bins = len(bins.labels)
		var err error
		name := "discrete gaussian"
		if s := n.Spend; s.Epsilon.Sign() > 0 && s.Delta.Sign() == 0 && s.Rho.Sign() == 0 {
			o.Epsilon, name = s.Epsilon, "discrete laplace"
		} else if o.Rho, err = n.gaussianRho(); err != nil {
			return err
		}
		return n.run(ctx, t, func(p population) (*draw, error) {
			o.Neighbours = p.Neighbours
			m, err := mechanism.NewHistogram(o)
			if err != nil {
				return nil, err
			}
			all, err := m.Bound(p.beta)
			if err != nil {
				return nil, err
			}
			each, err := m.Noise().Bound(p.beta)
			if err != nil {
				return nil, err
			}
			d := &draw{event: m.Event(), delta: n.Spend.Delta, answer: noised{Mechanism: "histogram", Labels: bins.labels,
				Noise: name, Scale: jsonNumber(m.Noise().ScaleIn(big.NewRat(1, 1))), Accuracy: json.Number(all.String())}}
			d.release = func(bits noise.Bits, to *noised) error {
				counts, err := m.Count(bits, bins.rows)
				for _, x := range counts {
					to.interval(big.NewInt(x), each)
				}
				return err
			}
			return d, nil
		})
	}
	return c
}

// bins are public labels or intervals, and the private rows as numbers of bins.
type bins struct {
	labels []string
	edges  []float64
	given  []string // private, until the labels are known
	rows   []int
}

func (b *bins) define(fs *flag.FlagSet) {
	fs.Func("bins", "the bins are the values `A,B,...`", func(text string) error {
		for label := range strings.SplitSeq(text, ",") {
			b.labels = append(b.labels, strings.TrimSpace(label))
		}
		return nil
	})
	fs.Func("edges", "the bins are the numbers between `X,Y,...`, ascending", func(text string) error {
		for edge := range strings.SplitSeq(text, ",") {
			edge = strings.TrimSpace(edge)
			x, err := strconv.ParseFloat(edge, 64)
			if err != nil || !decimalText.MatchString(edge) {
				return errors.New("want numbers")
			}
			if n := len(b.edges); n > 0 && x <= b.edges[n-1] {
				return errors.New("the edges do not ascend")
			}
			b.edges = append(b.edges, x)
		}
		return nil
	})
}

// values keeps the private rows; whether they are numbers is known later.
func (b *bins) values() *privateValues {
	return texts(&b.given)
}

func (b *bins) check() error {
	switch {
	case b.labels != nil && b.edges != nil:
		return diagnostic.New("D115", diagnostic.Span{}, "--bins and --edges exclude each other")
	case b.labels == nil && b.edges == nil:
		return missing("what the bins are", "--bins A,B,... or --edges X,Y,...")
	}
	return nil
}

// sortIn puts the rows into the bins.
func (b *bins) sortIn(v *privateValues) error {
	number := map[string]int{}
	for i := range len(b.edges) - 1 {
		b.labels = append(b.labels, fmt.Sprintf("[%v, %v)", b.edges[i], b.edges[i+1]))
	}
	for i, label := range b.labels {
		if _, twice := number[label]; twice || label == "" {
			return diagnostic.New("D142", diagnostic.Span{}, "a bin is empty or named twice")
		}
		number[label] = i
	}
	for i, text := range b.given {
		bin, ok := number[text]
		if b.edges != nil {
			x, err := strconv.ParseFloat(text, 64)
			if err != nil || !decimalText.MatchString(text) {
				v.what = "a finite number"
				return v.unreadable(i + 1)
			}
			bin, ok = sort.Search(len(b.edges), func(i int) bool { return b.edges[i] > x })-1, true
		}
		if ok {
			b.rows = append(b.rows, bin)
		}
	}
	return nil
}
