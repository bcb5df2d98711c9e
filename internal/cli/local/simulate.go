package local

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	collect "github.com/discreet-dp/discreet/collect/local"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/failure"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/internal/plot"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

func simulate() *command.Command {
	c := &command.Command{
		UsageLine: "simulate PROTOCOL --epsilon E --categories K --reports N | -f PUBLIC_FILE",
		Short:     "what estimates of invented respondents come to, beside the truth and a trusted curator",
		Long: `Asks invented respondents, of whose values a value's share falls as 1, 1/2, 1/3, ... (numbers
are spread over the lower half of the range), and prints value,truth,estimate,low,high.
Standard error says how far off the shares are, how far they were expected to be, and how
far those of a trusted curator with the same epsilon would be (a histogram with discrete
Laplace noise). --plot draws the three against epsilon.

With -f the respondents' values are those of a file, which must be public: the truth is
printed.`,
		Examples: [2]string{
			"discreet local simulate oue --epsilon 1 --categories 8 --reports 20000",
			"discreet local simulate best --epsilon 1 --categories 16 --reports 20000 --plot gap.svg",
		},
	}
	var a asking
	var from source
	var sure certainty
	var reports int64
	var draw string
	a.define(c)
	from.define(&c.Flags, "public values", "value")
	sure.define(&c.Flags)
	c.Flags.Func("reports", "ask `N` respondents (default 10000)", count(&reports))
	c.Flags.StringVar(&draw, "plot", "", "draw errors against epsilon into `FILE`.svg, or - here")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		t.JSON = a.json
		p, err := a.protocol(args)
		if err != nil {
			return err
		}
		if p == collect.PrivUnit || slices.Contains(collect.Discoveries(), p) {
			return diagnostic.New("D191", diagnostic.Span{}, "%s is not simulated", p).Try("report and estimate take values of your own")
		}
		if err := terminal.CheckPlot(draw, false); err != nil {
			return err
		}
		var crowd population
		if from.file != "" {
			if crowd, err = a.read(ctx, t, &from); err != nil {
				return err
			}
		} else if reports == 0 {
			reports = 10_000
		}
		s, err := a.survey(p)
		if err != nil {
			return err
		}
		if from.file == "" {
			if crowd, err = a.invent(s, reports); err != nil {
				return err
			}
		}
		if draw != "" {
			return a.curve(ctx, t, p, crowd, draw)
		}
		if err := crowd.ask(ctx, t, s); err != nil {
			return err
		}
		rows, err := s.rows(collect.EstimateOptions{Beta: sure.beta()}, "raw")
		if err != nil {
			return refusal(err)
		}
		return a.tell(t, s, crowd, rows)
	}
	return c
}

// A population is respondents' values, and how many have each.
type population struct {
	values []string
	counts []int64
	all    int64
}

// read counts the values of a public file.
func (a *asking) read(ctx context.Context, t *terminal.Terminal, from *source) (p population, err error) {
	in, name, err := from.open(t)
	if err != nil {
		return p, err
	}
	defer in.Close()
	index := map[string]int{}
	line, err := eachRecord(ctx, in, from.column, func(value string) error {
		i, ok := index[value]
		if !ok {
			i = len(p.values)
			index[value] = i
			p.values, p.counts = append(p.values, value), append(p.counts, 0)
		}
		p.counts[i]++
		p.all++
		return nil
	})
	if err != nil && ctx.Err() == nil {
		return p, diagnostic.New("D193", diagnostic.Span{}, "line %d of %s has no column %s", line, name, terminal.Printable(from.column)).
			Try("--column names the column of a file with a header; a file of one column needs none")
	}
	if a.values == nil && a.categories == 0 {
		a.values = p.values
	}
	return p, err
}

// invent makes a population whose shares fall as 1/rank.
func (a *asking) invent(s survey, n int64) (p population, err error) {
	var weights []float64
	switch s := s.(type) {
	case *frequencies:
		p.values = s.labels
		for i := range s.labels {
			weights = append(weights, 1/float64(i+1))
		}
	case *numbers:
		for i := range 101 {
			p.values = append(p.values, strconv.FormatFloat(s.o.Lower+(s.o.Upper-s.o.Lower)*float64(i)/200, 'g', -1, 64))
			weights = append(weights, 1)
		}
	}
	sum, before, reached := 0.0, int64(0), 0.0
	for _, w := range weights {
		sum += w
	}
	for _, w := range weights {
		reached += w
		upTo := int64(math.Round(float64(n) * reached / sum))
		p.counts = append(p.counts, upTo-before)
		before = upTo
	}
	p.all = n
	return p, nil
}

// ask has everybody report.
func (p population) ask(ctx context.Context, t *terminal.Terminal, s survey) error {
	step, done := t.Progress(ctx, "asking", int(p.all))
	defer done()
	bits := noise.NewStream(noise.System())
	for i, v := range p.values {
		for range p.counts[i] {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			text, readable, err := s.report(bits, v)
			switch {
			case err != nil:
				return failure.Undrawn()
			case !readable:
				return diagnostic.New("D193", diagnostic.Span{}, "%q is not %s", terminal.Printable(v), s.wants()).Try("--column names the column")
			}
			if err := s.add(text); err != nil {
				return err
			}
			step()
		}
	}
	return nil
}

// truths are the shares, or the mean.
func (p population) truths(s survey) map[string]float64 {
	out := map[string]float64{}
	for i, v := range p.values {
		share := float64(p.counts[i]) / float64(p.all)
		if _, ok := s.(*numbers); ok {
			x, _ := readNumber(v)
			out["mean"] += share * x
		} else {
			out[v] = share
		}
	}
	return out
}

// errors returns the root of the mean square of the rows' errors, and what it was expected to
// be: here, and of a trusted curator, whose histogram has a sensitivity of 2 when an answer is
// replaced, and whose mean one of the range.
func (p population) errors(s survey, rows []row, epsilon float64) (got, told, central float64) {
	truths, n := p.truths(s), 0.0
	for _, r := range rows {
		truth, ok := truths[r.value]
		if _, known := s.(*frequencies); !ok && !known {
			continue // quantiles and cells
		}
		got += (r.estimate - truth) * (r.estimate - truth)
		n++
		switch s := s.(type) {
		case *frequencies:
			told += s.Variance(truth) / float64(p.all)
		case *numbers:
			half := (s.o.Upper - s.o.Lower) / 2
			told += max(s.Variance(0), s.Variance(1)) * half * half / float64(p.all)
		}
	}
	sensitivity := 2.0
	if s, ok := s.(*numbers); ok {
		sensitivity = s.o.Upper - s.o.Lower
	}
	return math.Sqrt(got / n), math.Sqrt(told / n), math.Sqrt2 * sensitivity / epsilon / float64(p.all)
}

func (a *asking) tell(t *terminal.Terminal, s survey, p population, rows []row) error {
	truths := p.truths(s)
	got, told, central := p.errors(s, rows, a.epsilon.Float64())
	if a.json {
		type shown struct {
			Value    string   `json:"value"`
			Truth    float64  `json:"truth"`
			Estimate float64  `json:"estimate"`
			Low      *float64 `json:"low"`
			High     *float64 `json:"high"`
		}
		out := make([]shown, len(rows))
		for i, r := range rows {
			out[i] = shown{r.value, truths[r.value], r.estimate, r.low, r.high}
		}
		return t.WriteJSON(map[string]any{"reports": p.all, "estimates": out, "error": got, "expected_error": told, "central_error": central})
	}
	fmt.Fprintln(t.Out, "value,truth,estimate,low,high")
	for _, r := range rows {
		truth := ""
		if x, ok := truths[r.value]; ok {
			truth = digits(&x)
		}
		fmt.Fprintf(t.Out, "%s,%s,%s,%s,%s\n", quoted(r.value), truth, digits(&r.estimate), digits(r.low), digits(r.high))
	}
	t.Say("off by %.3g (root mean square), expected %.3g; a trusted curator's would be off by %.3g: %.3g times less",
		got, told, central, told/central)
	return nil
}

func quoted(value string) string {
	for _, c := range value {
		if c == ',' || c == '"' || c == '\n' {
			return strconv.Quote(value)
		}
	}
	return value
}

// curve draws errors against epsilon.
func (a *asking) curve(ctx context.Context, t *terminal.Terminal, p collect.Protocol, crowd population, path string) error {
	var lines plot.Family
	asked := a.epsilon
	for _, text := range []string{"0.25", "0.5", "1", "2", "4", "8"} {
		r, err := numeric.ParseDecimal(text)
		if err != nil {
			return err
		}
		if a.epsilon, err = privacy.NewEpsilon(r); err != nil {
			return err
		}
		s, err := a.survey(p)
		if err != nil {
			return err
		}
		if err := crowd.ask(ctx, t, s); err != nil {
			return err
		}
		rows, err := s.rows(collect.EstimateOptions{}, "raw")
		if err != nil {
			return refusal(err)
		}
		x := a.epsilon.Float64()
		got, told, central := crowd.errors(s, rows, x)
		lines.Add("local, expected", false, x, told)
		lines.Add("local, as it came", true, x, got)
		lines.Add("a trusted curator", false, x, central)
	}
	a.epsilon = asked
	return t.Draw(plot.Plot{Title: fmt.Sprintf("error of %s, %d respondents", p, crowd.all),
		X: plot.Axis{Label: "epsilon", Log: true}, Y: plot.Axis{Label: "root mean square error", Log: true}, Lines: lines.All()}, path, false)
}
