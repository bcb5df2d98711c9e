package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/internal/sqlparse"
)

const queryPlan = "QUERY PLAN"

// explain is EXPLAIN: what a question would reveal, cost and be worth. It is free.
func (s *session) explain(ctx context.Context, st *prepared, c sqlparse.Explain, values []parameterValue) (*result, error) {
	asJSON := false
	for _, o := range c.Options {
		value := strings.ToLower(strings.Join(o.Values, ""))
		on := value != "false" && value != "off" && value != "0"
		switch o.Name {
		case "analyze", "analyse":
			if on {
				return nil, fail("0A000", "EXPLAIN ANALYZE is not supported").
					reason("it would run the statement, and that costs what EXPLAIN says").hint("leave ANALYZE out")
			}
		case "format":
			switch value {
			case "text":
			case "json":
				asJSON = true
			default:
				return nil, fail("22023", fmt.Sprintf("EXPLAIN writes text or json, not %q", clip(value)))
			}
		case "verbose", "costs", "settings", "buffers", "wal", "timing", "summary", "generic_plan":
		default:
			return nil, unknownOption("EXPLAIN", o)
		}
	}
	at := st.inner(c.Query)
	if s.server.options.Catalog.Answers(at.text) {
		return texts("EXPLAIN", queryPlan, "Answered from the catalog: it reveals and costs nothing."), nil
	}
	o, err := s.wishes()
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		if i < len(st.oids) {
			v.oid = st.oids[i]
		}
		p, err := v.read(s.types)
		if err != nil {
			return nil, fail("22P03", fmt.Sprintf("incorrect data in bind parameter %d", i+1)).reason(err.Error())
		}
		o.Parameters = append(o.Parameters, p)
	}
	e, err := s.server.options.Gateway.Explain(ctx, s.asker, at.text, o)
	if err != nil {
		return nil, in(ctx, err, at)
	}
	if asJSON {
		text, err := json.MarshalIndent(e, "", "  ")
		if err != nil {
			return nil, fmt.Errorf("write explanation: %w", err)
		}
		return texts("EXPLAIN", queryPlan, string(text)), nil
	}
	return texts("EXPLAIN", queryPlan, explanation(e)...), nil
}

// explanation says in lines what EXPLAIN answers.
func explanation(e *discreet.Explanation) (lines []string) {
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if e.Certificate.Domain == "" {
		say("Protects: nobody, it reads public tables alone")
	} else {
		say("Protects: every unit of domain %s, %s", e.Certificate.Domain, e.Certificate.Neighbours)
	}
	for _, r := range e.Certificate.Releases {
		say("Release of:")
		for line := range strings.Lines(strings.TrimSpace(r.Plan)) {
			say("  %s", strings.TrimRight(line, "\n"))
		}
		say("Because:")
		for _, w := range r.Words {
			say("  %s", w)
		}
	}
	for i, stage := range e.Certificate.Stages {
		say("Stage %d:", i)
		for line := range strings.Lines(strings.TrimSpace(stage.Plan)) {
			say("  %s", strings.TrimRight(line, "\n"))
		}
	}
	say("Cost: %s", amounts(e.Cost.Amounts))
	if e.Remaining != nil {
		say("Left: %s", e.Remaining)
	}
	for _, m := range e.Mechanisms {
		name := m.Column
		if m.Part != "" {
			name += " (" + m.Part + ")"
		}
		say("Noise: %s: %s of scale %.4g, sensitivity %.4g", name, m.Noise(), m.Scale, m.Sensitivity)
	}
	percent := strconv.FormatFloat(100*e.Confidence, 'g', 4, 64)
	for _, x := range e.ExpectedError {
		line := fmt.Sprintf("Expected error: %s: at most %.4g with %s%% confidence", x.Column, x.Error, percent)
		if x.Of != "" {
			line = fmt.Sprintf("Expected error: %s: computed of %s, which is off by at most %.4g with %s%% confidence", x.Column, x.Of, x.Error, percent)
		}
		if x.Behind {
			line = fmt.Sprintf("Expected error: %s: another value has at most %.4g rows more, with %s%% confidence", x.Column, x.Error, percent)
		}
		if x.AssumedCount > 0 {
			line += fmt.Sprintf(", in a group of %d values; less in larger ones", x.AssumedCount)
		}
		lines = append(lines, line)
	}
	for _, w := range e.InsteadWords() {
		say("Bounds: %s", w)
	}
	if len(e.Kept) > 0 {
		say("Kept by: %s: chosen by noisy values, so shown values lean to the side that was kept", strings.Join(e.Kept, ", "))
	}
	for _, n := range e.Notes {
		say("Note: %s", n)
	}
	return lines
}

// amounts names what a charge consists of.
func amounts(a filter.Amounts) string {
	var parts []string
	for _, p := range a.Positive() {
		parts = append(parts, p.Name+" "+numeric.Decimal(p.Amount.Rat(), numeric.CeilDigits))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}
