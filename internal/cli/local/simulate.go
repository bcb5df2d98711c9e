package local

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

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
are spread over the lower half of the range, those of a vector's i-th coordinate over an i-th
of it), and prints value,truth,estimate,low,high.
Standard error says how far off the shares are, how far they were expected to be, and how
far those of a trusted curator with the same epsilon would be (a histogram with discrete
Laplace noise). --plot draws the three against epsilon, or with --against reports against
the number of respondents.

Of pem and treehist the respondents have 24 strings. What is not found counts as a share of
0: that is off by all of the share where it is too small to stand out, or below the --top.

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
	var draw, against string
	var shares []string
	a.define(c)
	from.define(&c.Flags, "public values", "value")
	sure.define(&c.Flags)
	c.Flags.Func("reports", "ask `N` respondents (default 10000)", count(&reports))
	c.Flags.StringVar(&draw, "plot", "", "draw errors into `FILE`.svg, or - here")
	c.Flags.Func("against", "of --plot: against `epsilon|reports` (default epsilon)", func(text string) error {
		return command.OneOf(&against, text, []string{"epsilon", "reports"})
	})
	c.Flags.Func("share", "of --ranges: of the values from `A..B`; may be given again (default each value's)", func(text string) error {
		shares = append(shares, text)
		return nil
	})
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		t.JSON = a.json
		p, err := a.protocol(args)
		if err != nil {
			return err
		}
		if err := terminal.CheckPlot(draw, false); err != nil {
			return err
		}
		var crowd population
		if from.file != "" {
			named := a.values
			if crowd, err = a.read(ctx, t, &from); err != nil {
				return err
			}
			if slices.Contains(collect.Discoveries(), p) {
				a.values = named // their values are nobody's to list
			}
		} else if reports == 0 {
			reports = 10_000
		}
		if against != "" && draw == "" {
			return command.Missing("where to draw", "--plot FILE.svg")
		}
		s, err := a.survey(p)
		if err != nil {
			return err
		}
		if err := wantShares(s, shares); err != nil {
			return err
		}
		if from.file == "" {
			if crowd, err = a.invent(s, reports); err != nil {
				return err
			}
		}
		if draw != "" {
			return a.curve(ctx, t, p, crowd, shares, draw, against)
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
	line, err := eachRecord(ctx, in, a.columns(from.column), func(value string) error {
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
			Try("--column names the column of a file with a header, --attribute each of several; a file of one column needs none")
	}
	if a.values == nil && a.categories == 0 && a.attributes == nil {
		a.values = p.values
	}
	return p, err
}

// invent makes a population whose shares fall as 1/rank.
func (a *asking) invent(s survey, n int64) (p population, err error) {
	var weights []float64
	switch s := s.(type) {
	case *frequencies:
		p.values, weights = falling(s.labels)
	case *repeats:
		p.values, weights = falling(s.labels)
	case *ranged:
		p.values, weights = falling(s.labels)
	case *attributed:
		p.values, weights = []string{""}, []float64{1}
		for i, x := range s.of {
			if len(p.values)*len(x.labels) > 1<<16 {
				return p, diagnostic.New("D191", diagnostic.Span{}, "too many combinations of values to invent").Try("-f FILE: public values")
			}
			labels, shares := falling(x.labels)
			var values []string
			var all []float64
			for j, before := range p.values {
				for k, label := range labels {
					if i > 0 {
						label = before + between + label
					}
					values, all = append(values, label), append(all, weights[j]*shares[k])
				}
			}
			p.values, weights = values, all
		}
	case *vectors:
		for i := range 101 {
			coordinates := make([]string, s.dimension)
			for j := range coordinates {
				coordinates[j] = strconv.FormatFloat((float64(i)/100-1)/float64(j+1), 'g', -1, 64)
			}
			p.values, weights = append(p.values, strings.Join(coordinates, " ")), append(weights, 1)
		}
	case *texts:
		var words []string
		for i := range 24 {
			words = append(words, strings.Repeat(string(rune('a'+i)), min(s.length, 3)))
		}
		p.values, weights = falling(words)
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

// falling are weights of 1, 1/2, 1/3 and so on.
func falling(labels []string) ([]string, []float64) {
	weights := make([]float64, len(labels))
	for i := range weights {
		weights[i] = 1 / float64(i+1)
	}
	return labels, weights
}

// some are n of the population, with nearly the same shares.
func (p population) some(n int64) population {
	out := population{values: p.values, all: n}
	var reached, before int64
	for _, c := range p.counts {
		reached += c
		upTo := int64(math.Round(float64(reached) / float64(p.all) * float64(n)))
		out.counts = append(out.counts, upTo-before)
		before = upTo
	}
	return out
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

// truths are the shares, the mean or the quantiles.
func (p population) truths(s survey) map[string]float64 {
	out := map[string]float64{}
	for i, v := range p.values {
		share := float64(p.counts[i]) / float64(p.all)
		switch s := s.(type) {
		case *numbers:
			x, _ := readNumber(v)
			out["mean"] += share * x
		case *vectors:
			x, _ := s.read(v)
			for j, c := range x {
				out[strconv.Itoa(j)] += share * min(max(c, -1), 1)
			}
		case *texts:
			out[s.known(v)] += share
		case *attributed:
			for j, field := range strings.Split(v, between) {
				out[s.of[j].name+"="+field] += share
			}
		default:
			out[v] += share
		}
	}
	if s, ok := s.(*ranged); ok {
		sums := map[string]float64{}
		for _, w := range s.wanted() {
			sum := 0.0
			for _, label := range s.labels[w[0]:w[1]] {
				sum += out[label]
			}
			sums[s.label(w)] = sum
		}
		for _, q := range quartiles {
			at, upTo := 0, 0.0
			for at = range s.labels {
				if upTo += out[s.labels[at]]; upTo >= q {
					break
				}
			}
			sums[quantile(q)] = s.place(at)
		}
		return sums
	}
	return out
}

// errors returns the root of the mean square of the rows' errors, and what it was expected to
// be: here, and of a trusted curator, whose histogram has a sensitivity of 2 when an answer is
// replaced (of several attributes, of 2 each), and whose mean one of the range.
func (p population) errors(s survey, rows []row, epsilon float64) (got, told, central float64) {
	truths, n := p.truths(s), float64(p.all)
	noise := 8 / (epsilon * epsilon * n * n) // of a share, its variance
	counted := 0.0
	if s, ok := s.(*texts); ok {
		return s.errors(truths, rows, p.all, noise)
	}
	for _, r := range rows {
		switch s.(type) {
		case *numbers, *ranged:
			if r.low == nil {
				continue // quantiles and cells
			}
		}
		truth := truths[r.value]
		got += (r.estimate - truth) * (r.estimate - truth)
		counted++
		switch s := s.(type) {
		case *frequencies:
			told, central = told+s.Variance(truth)/n, central+noise
		case *repeats:
			told, central = told+s.Variance(truth)/n, central+noise
		case *attributed:
			d := float64(len(s.of))
			told, central = told+s.variance(r.value, truth)/n, central+d*d*noise
		case *ranged:
			w := s.wanted()[int(counted)-1]
			off := s.Deviation(w[0], w[1], p.all)
			told, central = told+off*off, central+float64(w[1]-w[0])*noise
		case *vectors: // a curator's noise hides 2 in each coordinate
			d := float64(s.dimension)
			told, central = told+s.Variance(truth)/n, central+d*d*noise
		case *numbers:
			half := (s.o.Upper - s.o.Lower) / 2
			told, central = told+max(s.Variance(0), s.Variance(1))*half*half/n, central+noise*half*half
		}
	}
	return math.Sqrt(got / counted), math.Sqrt(told / counted), math.Sqrt(central / counted)
}

// errors are those of the strings that respondents have, and of others that were found. What does not stand
// out was expected to be off by all of its share.
func (x *texts) errors(truths map[string]float64, rows []row, n int64, noise float64) (got, told, central float64) {
	estimates := map[string]float64{}
	for _, r := range rows {
		estimates[r.value] = r.estimate
	}
	least, _ := x.Error(n, nil)
	ordered := slices.Sorted(maps.Values(truths))
	if over := len(ordered) - x.top; over > 0 {
		least = max(least, ordered[over]) // no more are looked for
	}
	deviation, _ := x.Error(n, nil)
	deviation /= 4 // what is found stands out by four
	add := func(text string, truth float64) {
		off := estimates[text] - truth
		got, central = got+off*off, central+noise
		if truth < least {
			told += truth * truth
		} else {
			told += deviation * deviation
		}
	}
	for text, truth := range truths {
		add(text, truth)
	}
	counted := len(truths)
	for text := range estimates {
		if _, known := truths[text]; !known {
			add(text, 0)
			counted++
		}
	}
	mean := func(sum float64) float64 { return math.Sqrt(sum / float64(counted)) }
	return mean(got), mean(told), mean(central)
}

// found says how many of the strings were.
func (x *texts) found(truths map[string]float64, rows []row, n int64) string {
	right := 0
	for _, r := range rows {
		if _, ok := truths[r.value]; ok {
			right++
		}
	}
	least, _ := x.Error(n, nil)
	return fmt.Sprintf("found %d of %d strings, and %d that nobody has; a share of %.3g stands out, by four standard deviations", right, len(truths), len(rows)-right, least)
}

func (a *asking) tell(t *terminal.Terminal, s survey, p population, rows []row) error {
	truths := p.truths(s)
	got, told, central := p.errors(s, rows, a.epsilon.Float64())
	if a.json {
		type shown struct {
			Value    string   `json:"value"`
			Truth    *float64 `json:"truth"`
			Estimate float64  `json:"estimate"`
			Low      *float64 `json:"low"`
			High     *float64 `json:"high"`
		}
		out := make([]shown, len(rows))
		for i, r := range rows {
			out[i] = shown{r.value, nil, r.estimate, r.low, r.high}
			if x, ok := truths[r.value]; ok {
				out[i].Truth = &x
			}
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
	if x, ok := s.(*texts); ok {
		t.Say("%s", x.found(truths, rows, p.all))
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

// curve draws errors against epsilon, or against the number of respondents.
func (a *asking) curve(ctx context.Context, t *terminal.Terminal, p collect.Protocol, crowd population, shares []string, path, against string) error {
	var lines plot.Family
	at := func(x float64, crowd population) error {
		s, err := a.survey(p)
		if err != nil {
			return err
		}
		if err := wantShares(s, shares); err != nil {
			return err
		}
		if err := crowd.ask(ctx, t, s); err != nil {
			return err
		}
		rows, err := s.rows(collect.EstimateOptions{}, "raw")
		if err != nil {
			return refusal(err)
		}
		got, told, central := crowd.errors(s, rows, a.epsilon.Float64())
		lines.Add("local, expected", false, x, told)
		lines.Add("local, as it came", true, x, got)
		lines.Add("a trusted curator", false, x, central)
		return nil
	}
	title, axis := fmt.Sprintf("error of %s, %d respondents", p, crowd.all), "epsilon"
	if against == "reports" {
		title, axis = fmt.Sprintf("error of %s at epsilon %v", p, a.epsilon), "respondents"
		var sizes []int64
		for n := crowd.all; n >= 50 && len(sizes) < 6 || len(sizes) == 0; n /= 4 {
			sizes = append(sizes, n)
		}
		for _, n := range slices.Backward(sizes) {
			if err := at(float64(n), crowd.some(n)); err != nil {
				return err
			}
		}
	} else {
		asked := a.epsilon
		for _, text := range []string{"0.25", "0.5", "1", "2", "4", "8"} {
			r, err := numeric.ParseDecimal(text)
			if err != nil {
				return err
			}
			if a.epsilon, err = privacy.NewEpsilon(r); err != nil {
				return err
			}
			if err := at(a.epsilon.Float64(), crowd); err != nil {
				return err
			}
		}
		a.epsilon = asked
	}
	return t.Draw(plot.Plot{Title: title, X: plot.Axis{Label: axis, Log: true}, Y: plot.Axis{Label: "root mean square error", Log: true}, Lines: lines.All()}, path, false)
}
