package discreet

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/internal/rewrite"
)

// An Explanation says what a statement would reveal, cost and be worth. It is
// made from public parameters: it costs nothing and touches no private data.
type Explanation struct {
	Columns    []Column `json:"columns"`
	Confidence float64  `json:"confidence"`
	// Cost is what is charged; of a statement that a pilot prices, the pilot's.
	Cost Cost `json:"cost"`
	// AtMost is the most that a statement costs that a pilot prices, pilot and answer together.
	AtMost        *Spend          `json:"at_most,omitempty"`
	Remaining     *Remaining      `json:"remaining,omitempty"` // now; absent without a ledger
	Mechanisms    []Mechanism     `json:"mechanisms"`
	Certificate   Certificate     `json:"certificate"`
	ExpectedError []ExpectedError `json:"expected_error"`
	// Bounds are those of a unit's rows where both rows that are kept once and bounds for each statement could bound them: the ones
	// by which noise errs less. Instead is what the statement would cost and be worth by the others.
	Bounds    string   `json:"bounds,omitempty"`
	Instead   *Instead `json:"instead,omitempty"`
	EngineSQL []string `json:"engine_sql"`
	// StageSQL computes the certificate's stages, each before a release that reads it, in a database that has
	// what was released and public tables alone. In EngineSQL a row of NULLs stands for them.
	StageSQL []string `json:"stage_sql,omitempty"`
	PostSQL  string   `json:"post_sql,omitempty"`
	Kept     []string `json:"kept,omitempty"`
	// Reused says that a stored answer serves: asked now, the statement is charged nothing, and Cost is
	// what it is charged otherwise.
	Reused    bool     `json:"reused,omitempty"`
	Notes     []string `json:"notes,omitempty"`
	Statement string   `json:"statement"`
}

// An ExpectedError is how far a value lies from the one without noise, at
// most, with the explanation's confidence.
type ExpectedError struct {
	Column string  `json:"column"`
	Error  float64 `json:"error"`
	// AssumedCount is, for averages and variances, the number of values that
	// the group is assumed to count: the error falls with it.
	AssumedCount int64 `json:"assumed_count,omitempty"`
	// Of is, for a column that is computed of one released value in another way than by adding and multiplying constants, that value: Error is the value's.
	Of string `json:"of,omitempty"`
	// Behind says that Error is of a choice: by how many rows another value may be before the one that is shown.
	Behind bool `json:"behind,omitempty"`
}

// An Instead says of a statement what it would cost and be worth by other bounds.
type Instead struct {
	Bounds        string          `json:"bounds"`
	Cost          Cost            `json:"cost"`
	ExpectedError []ExpectedError `json:"expected_error"`
}

// UnmarshalJSON reads what is written of it.
func (i *Instead) UnmarshalJSON(data []byte) error {
	type plain Instead
	in := struct {
		*plain
		Cost charged `json:"cost"`
	}{plain: (*plain)(i)}
	err := json.Unmarshal(data, &in)
	if err == nil {
		i.Cost, err = in.Cost.read()
	}
	if err != nil {
		return fmt.Errorf("read explanation: %w", err)
	}
	return nil
}

// UnmarshalJSON reads what is written of an explanation, as a holder of a federation sends it.
func (e *Explanation) UnmarshalJSON(data []byte) error {
	type plain Explanation
	in := struct {
		*plain
		Columns []column `json:"columns"`
		Cost    charged  `json:"cost"`
	}{plain: (*plain)(e)}
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("read explanation: %w", err)
	}
	var err error
	if e.Cost, err = in.Cost.read(); err != nil {
		return fmt.Errorf("read explanation: %w", err)
	}
	if e.Columns, err = readColumns(in.Columns); err != nil {
		return fmt.Errorf("read explanation: %w", err)
	}
	return nil
}

// assumedCount is for what size of group explain states the error of averages.
const assumedCount = 1000

// Explain analyses a statement without answering it. It needs neither engine
// nor ledger, but for public domains that a table lists; with a ledger it says
// what remains.
func (db *Database) Explain(ctx context.Context, sql string, o *QueryOptions) (*Explanation, error) {
	return db.ExplainTo(ctx, sql, o, Payer{})
}

// asked are the queries that an engine is asked.
func (c *compiled) asked() (all []engine.Query) {
	for _, q := range slices.Concat(append(slices.Clone(c.trees), c.queries)...) {
		if q.SQL != "" {
			all = append(all, q)
		}
	}
	return all
}

// explanation explains a statement that was planned.
func (db *Database) explanation(ctx context.Context, s *statement, c *compiled) (_ *Explanation, err error) {
	e := &Explanation{Columns: s.columns(), EngineSQL: []string{}, ExpectedError: []ExpectedError{}, Mechanisms: s.mechanisms(), Certificate: s.describe(c), Kept: s.post.Kept,
		Notes: s.notes(), PostSQL: c.post, Statement: s.text}
	e.Confidence, _ = s.confidence.Float64()
	if s.pilot != nil {
		e.AtMost = &s.pilot.cap
		e.Notes = append(e.Notes, "cost, noise and error are those of a pilot, which is charged first; what the answer costs follows from it, and both together stay within the bound")
	}
	for i, q := range c.queries {
		if q.SQL != "" {
			e.EngineSQL = append(e.EngineSQL, q.SQL)
		}
		for _, tree := range c.trees[i] {
			e.EngineSQL = append(e.EngineSQL, tree.SQL)
		}
	}
	for _, stage := range c.stages {
		e.StageSQL = append(e.StageSQL, stage.sql)
	}
	if e.ExpectedError, err = s.expectedErrors(); err != nil {
		return nil, err
	}
	if s.instead != nil {
		e.Bounds = s.bounds()
		e.Instead = &Instead{Bounds: s.instead.bounds()}
		if e.Instead.ExpectedError, err = s.instead.expectedErrors(); err != nil {
			return nil, err
		}
		if e.Instead.Cost, err = s.instead.cost(); err != nil {
			return nil, refusal(err)
		}
	}
	if l, ok := db.config.Engine.(engine.Laid); ok {
		laid, err := l.Layout(ctx, c.asked())
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil { // what an engine cannot say now is left out
			e.Notes = append(e.Notes, laid...)
		}
	}
	if e.Cost, err = s.cost(); err != nil {
		return nil, refusal(err)
	}
	if d := s.certificate.Domain; d != nil && db.config.Ledger != nil {
		balance, err := db.config.Ledger.Balance(ctx, d.ID)
		if err != nil {
			return nil, fmt.Errorf("read balance: %w", err)
		}
		left := remaining(filter.Measure(d.Measure), balance.Remaining)
		e.Remaining = &left
	}
	return e, nil
}

// InsteadWords say by which bounds the statement errs less than by which, how much, and what that takes.
func (e *Explanation) InsteadWords() []string {
	if e.Instead == nil {
		return nil
	}
	words := []string{e.Bounds + ": it errs no more than by " + e.Instead.Bounds}
	for _, x := range e.Instead.ExpectedError {
		what := "may be %.4g off"
		if x.Behind {
			what = "may have %.4g rows less than another value"
		}
		column := x.Column
		if x.Of != "" {
			column = fmt.Sprintf("%s, of which %s is computed,", x.Of, x.Column)
		}
		words = append(words, fmt.Sprintf("by the latter %s "+what, column, x.Error))
	}
	cost := func(c Cost) string { return shortly(c.Positive(), numeric.CeilDigits) }
	if other := cost(e.Instead.Cost); other != cost(e.Cost) {
		words = append(words, fmt.Sprintf("by the latter it costs %s, in place of %s", other, cost(e.Cost)))
	}
	return append(words, "over a prepared table rows kept once take some half as long again as a plain grouping, rows chosen for the statement up to ten times as long; "+
		"max_rows_contributed or max_groups_contributed in OPTIONS names one")
}

// expectedErrors states the half widths of the intervals.
func (s *statement) expectedErrors() ([]ExpectedError, error) {
	out := []ExpectedError{}
	beta := new(big.Rat).Sub(big.NewRat(1, 1), s.confidence)
	for number, r := range s.design.Releases {
		if r.Chosen {
			reach, err := r.Choice.Reach(beta)
			if err != nil {
				return nil, err
			}
			out = append(out, ExpectedError{Column: chosenColumn(r.Release), Error: reach, Behind: true})
		}
		for i, g := range r.Aggregates {
			e := ExpectedError{Column: s.shown(number, i)}
			width, err := r.ExpectedWidth(g, beta, assumedCount)
			if err != nil {
				return nil, err
			}
			if len(g.Components) > 1 || r.Noise[g.Components[0]].Shape.Levels > 0 {
				e.AssumedCount = assumedCount
			}
			e.Error = width
			if of, ok := s.post.Shown[rewrite.Source{Release: number, Column: len(r.Keys) + i}]; ok && of.Times != nil {
				times, _ := of.Times.Float64()
				e.Error *= math.Abs(times)
			} else if ok {
				e.Of = g.Name
			}
			out = append(out, e)
		}
	}
	return out, nil
}
