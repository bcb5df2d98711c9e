package shuffle

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/discreet-dp/discreet/collect/local"
	"github.com/discreet-dp/discreet/collect/shuffle"
	"github.com/discreet-dp/discreet/collect/shuffle/process"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
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
		UsageLine: "simulate [--set NAME=VALUE] [-f FILE]",
		Private:   true,
		Short:     "try a question on the answers of a file, beside the local and the central model",
		Long: `Reads an answer a line, 0 to K-1, and prints the true counts, what shuffled reports say, and
what the local model and a trusted curator would, each with the epsilon that the
certificate has for the last shuffler. It prints private counts: it is for data whose
owner looks at them.`,
		Examples: [2]string{"discreet shuffle simulate --set answers=2 -f answers.txt", "seq 0 3 | discreet shuffle simulate"},
	}
	question := settings(c)
	file := c.Flags.String("f", "", "read answers from `FILE`")
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
		certificate, err := p.Certify(ctx)
		if err != nil {
			return err
		}
		in, err := input(t, *file)
		if err != nil {
			return err
		}
		defer in.Close()
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
		return diagnostic.New("D193", diagnostic.Span{}, "line %d is no answer from 0 to %d", r.n+1, r.p.Answers-1)
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

func (r *trial) show(t *terminal.Terminal) error {
	shuffled, err := r.p.Estimate(r.told, max(r.n, 1), 0.05)
	if err != nil {
		return diagnostic.New("D232", diagnostic.Span{}, "%v", err)
	}
	alone, err := r.tally.Estimate(local.EstimateOptions{})
	if err != nil {
		return err
	}
	// Replacing one answer moves two counts by one.
	central, err := noise.NewDiscreteLaplace(new(big.Rat).Quo(big.NewRat(2, 1), r.epsilon.Rat()))
	if err != nil {
		return err
	}
	var rows [][]string
	var off [3]float64
	for v, count := range r.truth {
		z, err := central.Int64(r.bits)
		if err != nil {
			return err
		}
		each := [3]float64{shuffled.Counts[v], alone.Raw[v] * float64(r.n), float64(count + z)}
		row := []string{strconv.Itoa(v), strconv.FormatInt(count, 10)}
		for i, x := range each {
			row = append(row, number(x))
			off[i] += (x - float64(count)) * (x - float64(count)) / float64(len(r.truth))
		}
		rows = append(rows, row)
	}
	columns("answer", rows, "truth", "shuffled", "local", "central").Write(t.Out)
	fmt.Fprintf(t.Out, "off by %.4g shuffled, %.4g local (%s), %.4g central (root mean square), at epsilon %s\n",
		math.Sqrt(off[0]), math.Sqrt(off[1]), r.local.Protocol(), math.Sqrt(off[2]), atMost(r.epsilon.Float64()))
	return nil
}
