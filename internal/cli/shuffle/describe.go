package shuffle

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"

	"github.com/discreet-dp/discreet/collect/local"
	"github.com/discreet-dp/discreet/collect/shuffle"
	"github.com/discreet-dp/discreet/collect/shuffle/process"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plot"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

func describe() *command.Command {
	c := &command.Command{
		UsageLine: "describe [--set NAME=VALUE] [--reports N] [--json]",
		For:       command.Anyone,
		Short:     "what a question guarantees, and how exact its answer is",
		Long: `The guarantee follows from the settings alone. The error is the standard deviation of the
count of an answer that nobody has, of --reports respondents (a batch, if not given).`,
		Examples: [2]string{"discreet shuffle describe --set answers=2 --set epsilon=4 --set batch=10000", "discreet shuffle describe --set fakes=4 --set epsilon=8 --json"},
	}
	question := settings(c)
	reports := c.Flags.Int64("reports", 0, "the error is of `N` respondents")
	wantJSON := c.Flags.Bool("json", false, "print JSON")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if err := command.None(c, args); err != nil {
			return err
		}
		p, err := question()
		if err != nil {
			return err
		}
		n := *reports
		if n == 0 {
			n = int64(p.Batch)
		}
		if n < 1 {
			return diagnostic.New("D112", diagnostic.Span{}, "--reports %d: want 1 or more", n)
		}
		certificate, err := p.Certify(ctx)
		if err != nil {
			return err
		}
		deviation := p.Deviation(n, 0)
		if *wantJSON {
			return t.WriteJSON(map[string]any{"question": p.Question, "certificate": certificate, "reports": n, "deviation": deviation, "bytes": p.FirstSize()})
		}
		guarantee(t, certificate)
		fmt.Fprintf(t.Out, "a count of %d respondents is off by %.4g (standard deviation)\n", n, deviation)
		if p.Crowds != nil {
			fmt.Fprintf(t.Out, "hop-2 waits for %d respondents and withholds up to %d of each crowd; where fewer than %d are left, all are withheld\n", p.Waiting(), p.MostDropped(), p.Batch)
		}
		fmt.Fprintf(t.Out, "a report has %d bytes\n", p.FirstSize())
		return nil
	}
	return c
}

func simulate() *command.Command {
	c := &command.Command{
		UsageLine: "simulate [--set NAME=VALUE] [-f FILE] [--plot FILE]",
		Private:   true,
		Short:     "try a question on the answers of a file, beside the local and the central model",
		Long: `Reads an answer a line, 0 to K-1, and prints the true counts, what shuffled reports say, and
what the local model and a trusted curator would, each with the epsilon that the
certificate has for the last shuffler. It prints private counts: it is for data whose
owner looks at them. --plot draws the three errors against epsilon instead, where
bundles have an epsilon of 1, 2, ... 8 by themselves.`,
		Examples: [2]string{"discreet shuffle simulate --set answers=2 -f answers.txt", "seq 0 3 | discreet shuffle simulate"},
	}
	question := settings(c)
	file := c.Flags.String("f", "", "read answers from `FILE`")
	draw := c.Flags.String("plot", "", "draw errors into `FILE`.svg, or - here")
	c.PrintsTables()
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if err := command.None(c, args); err != nil {
			return err
		}
		p, err := question()
		if err != nil {
			return err
		}
		if p.Kind != shuffle.Histogram {
			return diagnostic.New("D232", diagnostic.Span{}, "simulate is of a histogram").Try("--set kind=histogram")
		}
		if err := terminal.CheckPlot(*draw, true); err != nil {
			return err
		}
		certificate, err := p.Certify(ctx)
		if err != nil {
			return err
		}
		in, err := input(t, *file)
		if err != nil {
			return err
		}
		defer in.Close()
		if *draw != "" {
			return curve(ctx, t, p, in, *draw)
		}
		tried, err := newTrial(p, certificate.Claims[0].Epsilon)
		if err != nil {
			return err
		}
		if err := answers(ctx, in, p, tried.add); err != nil {
			return err
		}
		return tried.show(t)
	}
	return c
}

// A trial asks the same answers in three models, with the same ε. (The shuffled one has a δ
// beside it.)
type trial struct {
	p       *shuffle.Protocol
	epsilon privacy.Epsilon
	bits    *noise.Stream
	truth   []int64
	told    []int64
	local   *local.Frequency
	tally   *local.Tally
	n       int64
}

func newTrial(p *shuffle.Protocol, epsilon float64) (*trial, error) {
	e, err := privacy.EpsilonFromFloat(epsilon)
	if err != nil {
		return nil, err
	}
	f, err := local.NewFrequency(local.FrequencyOptions{Protocol: local.Best, Values: p.Answers, Epsilon: e})
	if err != nil {
		return nil, err
	}
	return &trial{p: p, epsilon: e, bits: noise.NewStream(noise.System()), truth: make([]int64, p.Answers), told: make([]int64, p.Answers), local: f, tally: f.NewTally()}, nil
}

func (r *trial) add(a process.Answer) error {
	if a.Answer < 0 || a.Answer >= r.p.Answers {
		return notAnAnswer(r.n, r.p)
	}
	messages, err := r.p.Respond(r.bits, a.Answer)
	if err != nil {
		return err
	}
	for _, m := range messages {
		r.told[m]++
	}
	report, err := r.local.Randomize(r.bits, a.Answer)
	if err != nil {
		return err
	}
	if err := r.tally.Add(report); err != nil {
		return err
	}
	r.truth[a.Answer]++
	r.n++
	return nil
}

// curve draws the errors of the three models against epsilon, on the same answers.
func curve(ctx context.Context, t *terminal.Terminal, p *shuffle.Protocol, in io.Reader, path string) error {
	var all []int
	if err := answers(ctx, in, p, func(a process.Answer) error {
		if a.Answer < 0 || a.Answer >= p.Answers {
			return notAnAnswer(int64(len(all)), p)
		}
		all = append(all, a.Answer)
		return nil
	}); err != nil {
		return err
	}
	const most = 8
	step, done := t.Progress(ctx, "asking", most*len(all))
	defer done()
	var lines plot.Family
	for e := range most {
		q := p.Question
		var err error
		if q.Epsilon, err = privacy.NewEpsilon(big.NewRat(int64(e+1), 1)); err != nil {
			return err
		}
		of, err := shuffle.New(q)
		if err != nil {
			return err
		}
		certificate, err := of.Certify(ctx)
		if err != nil {
			return err
		}
		x := certificate.Claims[0].Epsilon
		tried, err := newTrial(of, x)
		if err != nil {
			return err
		}
		for _, a := range all {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := tried.add(process.Answer{Answer: a}); err != nil {
				return err
			}
			step()
		}
		off, _, err := tried.errors()
		if err != nil {
			return err
		}
		for i, model := range []string{"shuffled", "local", "a trusted curator"} {
			lines.Add(model, false, x, off[i])
		}
	}
	done()
	return t.Draw(plot.Plot{Title: fmt.Sprintf("errors of counts, %d respondents", len(all)),
		X: plot.Axis{Label: "epsilon", Log: true}, Y: plot.Axis{Label: "root mean square error", Log: true}, Lines: lines.All()}, path, true)
}

func notAnAnswer(before int64, p *shuffle.Protocol) error {
	return diagnostic.New("D193", diagnostic.Span{}, "line %d is no answer from 0 to %d", before+1, p.Answers-1)
}

// errors returns the root mean square of the errors by model, shuffled, local and central, and the
// rows of a table.
func (r *trial) errors() (off [3]float64, rows [][]string, err error) {
	shuffled, err := r.p.Estimate(r.told, max(r.n, 1), 0.05)
	if err != nil {
		return off, nil, diagnostic.New("D232", diagnostic.Span{}, "%v", err)
	}
	alone, err := r.tally.Estimate(local.EstimateOptions{})
	if err != nil {
		return off, nil, err
	}
	// Replacing one answer moves two counts by one.
	central, err := noise.NewDiscreteLaplace(new(big.Rat).Quo(big.NewRat(2, 1), r.epsilon.Rat()))
	if err != nil {
		return off, nil, err
	}
	for v, count := range r.truth {
		z, err := central.Int64(r.bits)
		if err != nil {
			return off, nil, err
		}
		each := [3]float64{shuffled.Counts[v], alone.Raw[v] * float64(r.n), float64(count + z)}
		row := []string{strconv.Itoa(v), strconv.FormatInt(count, 10)}
		for i, x := range each {
			row = append(row, number(x))
			off[i] += (x - float64(count)) * (x - float64(count)) / float64(len(r.truth))
		}
		rows = append(rows, row)
	}
	for i := range off {
		off[i] = math.Sqrt(off[i])
	}
	return off, rows, nil
}

func (r *trial) show(t *terminal.Terminal) error {
	off, rows, err := r.errors()
	if err != nil {
		return err
	}
	columns("answer", rows, "truth", "shuffled", "local", "central").Write(t.Out)
	fmt.Fprintf(t.Out, "off by %.4g shuffled, %.4g local (%s), %.4g central (root mean square), at epsilon %s\n",
		off[0], off[1], r.local.Protocol(), off[2], atMost(r.epsilon.Float64()))
	return nil
}
