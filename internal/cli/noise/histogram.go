package noise

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

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
)

func histogramNoise() *command.Command {
	c := &command.Command{
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
	n.DefineConfidence(&c.Flags, "`C` of the intervals, between 0 and 1 (default 0.95)")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
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
				Noise: name, Scale: terminal.JSONNumber(m.Noise().ScaleIn(big.NewRat(1, 1))), Accuracy: json.Number(all.String())}}
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

func stabilityHistogramNoise() *command.Command {
	c := &command.Command{
		UsageLine: "stability-histogram --epsilon E --delta D --domain DOMAIN [--max-bins M] -f FILE",
		Short:     "how many units have each of the values that nobody listed beforehand",
		Long: `Each value is a line, and counts once for each of its units: a unit has each value
once, and at most --max-bins of them. Values of few units are not shown: a noisy
count must reach a threshold. With --rho in place of --epsilon the noise is Gaussian.`,
		Examples: [2]string{
			"discreet noise stability-histogram --domain patient --epsilon 0.5 --delta 1e-8 -f diagnoses.txt",
			"discreet noise stability-histogram --domain patient --rho 0.01 --delta 1e-8 --max-bins 3 --json -f diagnoses.txt",
		},
	}
	var n noising
	var keys []string
	n.define(c, texts(&keys))
	n.defineGaussian(&c.Flags, "spend `E`, with --delta")
	n.DefineConfidence(&c.Flags, "`C` of the error, between 0 and 1 (default 0.95)")
	o := mechanism.SelectionOptions{MaxGroups: 1}
	c.Flags.Func("max-bins", "a unit has at most `M` of the values (default 1)", count(&o.MaxGroups))
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if err := n.read(ctx, t, args); err != nil {
			return err
		}
		o.Epsilon, o.Rho, o.Delta = n.Spend.Epsilon, n.Spend.Rho, n.Spend.Delta
		switch {
		case o.Epsilon.Sign() > 0 && o.Rho.Sign() > 0:
			return twoCosts()
		case o.Epsilon.Sign() == 0 && o.Rho.Sign() == 0:
			return noCost("--epsilon E or --rho R, and --delta D")
		case o.Delta.Sign() == 0:
			return diagnostic.New("D143", diagnostic.Span{}, "values that nobody listed cost a delta too").
				Because("it is the probability that a value of one unit shows").Try("--delta 1e-8")
		}
		return n.run(ctx, t, func(p population) (*draw, error) {
			o.Neighbours = p.Neighbours
			m, err := mechanism.NewStabilityHistogram[string](o)
			if err != nil {
				return nil, err
			}
			off, err := m.Bound(p.beta)
			if err != nil {
				return nil, err
			}
			d := &draw{event: m.Event(), answer: noised{Mechanism: "stability_histogram", Accuracy: json.Number(off.String()), Unit: "each",
				Threshold: json.Number(m.Threshold().String()),
				Notes:     []string{"a value is shown if its noisy count reaches " + m.Threshold().String() + "; counts near that are biased upwards"}}}
			d.release = func(bits noise.Bits, to *noised) error {
				shown, err := m.Count(bits, keys)
				to.Labels, to.Values = []string{}, []json.Number{}
				for _, s := range shown {
					to.Labels = append(to.Labels, s.Key)
					to.Values = append(to.Values, json.Number(big.NewInt(s.Count).String()))
				}
				return err
			}
			return d, nil
		})
	}
	return c
}

// bins are public labels or intervals, and for each private row the number of its bin.
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
		return command.Missing("the list of bins", "--bins A,B,... or --edges X,Y,...")
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

// counts are how many rows are in each bin.
func (b *bins) counts() []int64 {
	counts := make([]int64, len(b.labels))
	for _, bin := range b.rows {
		if bin >= 0 && bin < len(counts) {
			counts[bin]++
		}
	}
	return counts
}
