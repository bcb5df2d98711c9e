package local

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	collect "github.com/discreet-dp/discreet/collect/local"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plot"
)

func estimate() *command.Command {
	c := &command.Command{
		UsageLine: "estimate PROTOCOL --epsilon E --values A,B,... | --categories K [-f FILE]",
		Short:     "reports in, shares or means out, with intervals",
		Long: `Reads reports, CSV or JSON lines with the column report, or one a line, as they come, and
prints CSV: value,estimate,low,high. All flags that shape reports must be those that the
respondents had.

Estimates are raw: without bias, so that shares may be negative. Intervals hold for each
value with the confidence, or with --together for all at once (Bonferroni), whatever the
respondents' values are, provided that they follow the protocol. What --post processes
further, and distributions, have none. With --ranges quantiles come first, without intervals
(of values that are no numbers, their places); the intervals of shares hold all at once.`,
		Examples: [2]string{
			"discreet local estimate grr --epsilon 1 --values yes,no -f reports.csv",
			"discreet local estimate olh --epsilon 2 --categories 100 --together --confidence 0.99 --plot shares.svg -f reports.csv",
		},
	}
	var a asking
	var from source
	var sure certainty
	var together bool
	var post, draw string
	var shares []string
	a.define(c)
	from.define(&c.Flags, "reports", "report")
	sure.define(&c.Flags)
	c.Flags.BoolVar(&together, "together", false, "all intervals hold at once with the confidence")
	c.Flags.Func("post", "process shares: `raw|clip|norm-sub|simplex|ibu` (default raw)", func(text string) error {
		return command.OneOf(&post, text, posts)
	})
	c.Flags.Func("share", "of --ranges: print the share of the values from `A..B`; may be given again (default each value's)", func(text string) error {
		shares = append(shares, text)
		return nil
	})
	c.Flags.StringVar(&draw, "plot", "", "draw the estimates into `FILE`.svg, or - here")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		t.JSON = a.json
		p, err := a.protocol(args)
		if err != nil {
			return err
		}
		s, err := a.survey(p)
		if err != nil {
			return err
		}
		if err := wantShares(s, shares); err != nil {
			return err
		}
		if err := terminal.CheckPlot(draw, false); err != nil {
			return err
		}
		in, name, err := from.open(t)
		if err != nil {
			return err
		}
		defer in.Close()
		var done atomic.Int64
		stop := t.Watch(ctx, func() string { return fmt.Sprintf("%d reports", done.Load()) })
		defer stop()
		line, err := eachRecord(ctx, in, []string{from.column}, func(text string) error {
			done.Add(1)
			return s.add(text)
		})
		if err != nil && ctx.Err() == nil {
			d := diagnostic.New("D192", diagnostic.Span{}, "line %d of %s is not a report of %s", line, name, p).
				Try("the flags must be those that respondents had; --column names the column of a file with a header")
			if errors.Is(err, collect.ErrReport) {
				d.Because("%s", strings.TrimPrefix(err.Error(), collect.ErrReport.Error()+": "))
			}
			return d
		} else if err != nil {
			return err
		}
		rows, err := s.rows(collect.EstimateOptions{Beta: sure.beta(), Together: together}, post)
		if err != nil {
			return refusal(err)
		}
		stop()
		if draw != "" {
			if err := t.Draw(drawing(rows, p, s.reports(), sure.confidence(), together), draw, false); err != nil {
				return err
			}
		}
		if a.json {
			return writeJSON(t, rows, p, s.reports(), sure.confidence())
		}
		return writeCSV(t, rows)
	}
	return c
}

// wantShares has a hierarchy print the shares of ranges.
func wantShares(s survey, shares []string) error {
	of, ok := s.(*ranged)
	if !ok && shares != nil {
		return diagnostic.New("D115", diagnostic.Span{}, "--share is of --ranges")
	}
	for _, text := range shares {
		if err := of.want(text); err != nil {
			return err
		}
	}
	return nil
}

func writeCSV(t *terminal.Terminal, rows []row) error {
	w := csv.NewWriter(t.Out)
	w.Write([]string{"value", "estimate", "low", "high"}) //nolint:errcheck // Error below
	for _, r := range rows {
		w.Write([]string{r.value, digits(&r.estimate), digits(r.low), digits(r.high)}) //nolint:errcheck // Error below
	}
	w.Flush()
	return w.Error()
}

func digits(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'g', 8, 64)
}

type estimated struct {
	Value    string   `json:"value"`
	Estimate float64  `json:"estimate"`
	Low      *float64 `json:"low"`
	High     *float64 `json:"high"`
}

func writeJSON(t *terminal.Terminal, rows []row, p collect.Protocol, reports int64, confidence float64) error {
	out := make([]estimated, len(rows))
	for i, r := range rows {
		out[i] = estimated{r.value, r.estimate, r.low, r.high}
	}
	return t.WriteJSON(struct {
		Protocol   collect.Protocol `json:"protocol"`
		Reports    int64            `json:"reports"`
		Confidence float64          `json:"confidence"`
		Estimates  []estimated      `json:"estimates"`
	}{p, reports, confidence, out})
}

// drawing is of estimates with error bars.
func drawing(rows []row, p collect.Protocol, reports int64, confidence float64, together bool) plot.Estimates {
	e := plot.Estimates{Title: fmt.Sprintf("%d reports by %s", reports, p), Quantities: []plot.Quantity{{Label: "estimate"}}}
	for _, r := range rows {
		mark := plot.Estimate{Value: r.estimate, Range: plot.Unknown(), Text: strconv.FormatFloat(r.estimate, 'g', 4, 64)}
		if r.low != nil {
			mark.Range = plot.Range{Low: *r.low, High: *r.high}
		}
		e.Groups = append(e.Groups, r.value)
		e.Quantities[0].Marks = append(e.Quantities[0].Marks, []plot.Estimate{mark})
	}
	each := "each"
	if together {
		each = "all at once"
	}
	e.Notes = []string{fmt.Sprintf("Whiskers: intervals of confidence %v, %s.", confidence, each)}
	return e
}
