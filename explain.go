package discreet

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/privacy"
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

// A Certificate says in words what the analysis found.
type Certificate struct {
	Domain     string               `json:"domain"`
	Neighbours string               `json:"neighbours"`
	Releases   []ReleaseCertificate `json:"releases"`
	// Stages are what is computed between releases: a release's plan reads number i, from 0, as "stage i".
	Stages []StageCertificate `json:"stages,omitempty"`
}

// A StageCertificate describes what is computed from releases, or from public rows alone, before other releases
// are made. Its rows are constants there.
type StageCertificate struct {
	Plan string `json:"plan"`
	// Releases are the numbers of those that it depends on, from 1; none of public rows.
	Releases []int `json:"releases"`
	// Rows is how many there are, where they are public.
	Rows int `json:"rows,omitempty"`
}

// A ReleaseCertificate describes one release of a statement.
type ReleaseCertificate struct {
	Plan             string   `json:"plan"` // the unit-preserving rows that are aggregated
	MaxGroupsPerUnit int64    `json:"max_groups_per_unit"`
	MaxRowsPerGroup  int64    `json:"max_rows_per_group,omitempty"`
	Words            []string `json:"words"`
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

// describe puts the certificate into words.
func (s *statement) describe(compiled *compiled) Certificate {
	c := Certificate{Releases: []ReleaseCertificate{}}
	d := s.certificate.Domain
	if d == nil {
		return c
	}
	c.Domain, c.Neighbours = d.ID, d.Neighbours.String()
	for number, r := range s.certificate.Releases {
		c.Releases = append(c.Releases, ReleaseCertificate{Plan: plan.Format(r.Input),
			MaxGroupsPerUnit: r.MaxGroups, MaxRowsPerGroup: r.MaxRows, Words: s.words(number)})
	}
	for i, stage := range s.certificate.Stages {
		described := StageCertificate{Plan: plan.Format(stage.Plan), Releases: []int{}, Rows: len(compiled.known[i])}
		for _, number := range stage.Releases {
			described.Releases = append(described.Releases, number+1)
		}
		c.Stages = append(c.Stages, described)
	}
	return c
}

func (s *statement) words(number int) []string {
	r, d := s.certificate.Releases[number], s.certificate.Domain
	var w []string
	say := func(format string, args ...any) { w = append(w, fmt.Sprintf(format, args...)) }
	say("every row aggregated here belongs to one unit of domain %q and depends on that unit's rows and public data alone", d.ID)
	for _, t := range mapped(r.Input) {
		seen := "record"
		if t.Mapping.ByUnit {
			seen = "unit's records"
		}
		say("the rows of %q are what code %.16s makes of each %s of %q, seen alone: at most %s, with values clamped and keys from the list", t.Name,
			t.Mapping.Code, seen, t.Mapping.Of.Name, diagnostic.Count(t.Mapping.Outputs, "row"))
	}
	for _, i := range stability.StagesOf(r.Input) {
		if stage := s.certificate.Stages[i]; stage.Public() {
			say("stage %d are public rows with their numbers, read before anything is charged: they are constants here", i)
		} else {
			say("stage %d is made of %s, before this is released: its values, noise and all, are constants here, and the guarantee holds for each that they can be", i,
				numbered("release", stage.Releases))
		}
	}
	for _, text := range s.autoWords(r) {
		say("%s", text)
	}
	for _, c := range derived(r) {
		say("%s is derived, in each row alone: %s", c.Name, c.Is.Text)
	}
	for _, t := range limitedTables(r.Input) {
		if !r.Kept {
			say("a unit has at most %s in %q, the same for every statement", diagnostic.Count(t.MaxUnitRows, "row"), t.Name)
		}
	}
	switch {
	case r.OneRow:
		say("a unit has at most one row by construction")
	case r.Kept:
		say("a unit has at most %s in %q, which the owner has kept once, the same for every statement: all of them count, in whatever groups", diagnostic.Count(max(r.Rows, r.MaxRows), "row"), limitedTables(r.Input)[0].Name)
	case r.Within != nil:
		names := make([]string, len(r.Within))
		for i, k := range r.Within {
			names[i] = s.keyName(k)
		}
		say("a unit keeps rows in at most %s of (%s), chosen at random, the same for all grouping sets; a group here is made of such groups, and a unit may have all of its own in one",
			diagnostic.Count(r.MaxGroups, "group"), strings.Join(names, ", "))
	case len(r.Keys) == 0:
		say("there is one group")
	case r.Chosen && len(r.Keys) == 1 && r.MaxGroups == r.Candidates():
		say("a unit may have rows of every value")
	default:
		say("a unit keeps rows in at most %s, chosen at random", diagnostic.Count(r.MaxGroups, "group"))
	}
	if r.MaxRows > 0 && !r.OneRow && !r.Kept {
		say("and at most %s in each, chosen at random", diagnostic.Count(r.MaxRows, "row"))
	}
	switch {
	case r.Private:
		say("groups are published if enough units are in them, decided privately")
	case r.Chosen:
		say("one of the %d values of the public domain of %s is published%s, chosen by the counts of all, and no count is", r.Candidates(), chosenColumn(r),
			map[bool]string{true: " for each combination of the other keys' public domains"}[len(r.Keys) > 1])
	case len(r.Keys) == 1 && r.Keys[0].Numbered != nil:
		say("every group that public rows name is published, empty ones too: they are numbered, and the number is the key")
	case len(r.Keys) > 0:
		names := make([]string, len(r.Keys))
		for i, k := range r.Keys {
			names[i] = s.keyName(k)
		}
		say("every group of the public domain of (%s) is published, empty ones too", strings.Join(names, ", "))
	}
	change, moved := "adding or removing", func(c stability.Component) *big.Int { return c.PerGroup }
	if d.Neighbours == privacy.ReplaceOne {
		change, moved = "replacing", stability.Component.Spread
	}
	if r.Chosen {
		say("%s: %s one unit changes the count of each value by at most %v, %s", chosenColumn(r), change, r.Components[0].PerGroup,
			map[bool]string{true: "all of them in one direction", false: "some up and some down"}[d.Neighbours == privacy.AddRemove])
		switch {
		case len(r.Keys) == 1:
		case r.Kept:
			say("all choices together tell as much of a unit as one would with all of its rows")
		default:
			say("a unit plays a part in %s at most", diagnostic.Count(r.Choices(), "choice"))
		}
	}
	for a, g := range r.Aggregates {
		for _, i := range g.Components {
			comp := r.Components[i]
			where := "in a group"
			if r.Kept && d.Neighbours == privacy.AddRemove {
				where = "in all groups together"
			}
			say("%s: %s one unit changes its %s by at most %v %s", s.shown(number, a), change, componentWord(comp.Kind), *float(moved(comp), comp.Grid), where)
		}
	}
	return w
}

// bounds are those of a statement's releases of rows that are kept once.
func (s *statement) bounds() string {
	var all []string
	for _, r := range s.certificate.Releases {
		limited := limitedTables(r.Input)
		if len(limited) == 0 || r.OneRow || len(r.Components) == 0 {
			continue
		}
		of := fmt.Sprintf("%s, with %s of a unit in each, chosen for the statement", diagnostic.Count(r.MaxGroups, "group"), diagnostic.Count(r.MaxRows, "row"))
		switch {
		case r.Kept:
			of = fmt.Sprintf("%s of a unit in %q, kept once, in whatever groups", diagnostic.Count(r.Rows, "row"), limited[0].Name)
		case r.MaxRows == 0:
			of = fmt.Sprintf("%s of a unit, chosen for the statement", diagnostic.Count(r.MaxGroups, "group"))
		case len(r.Bounding()) == 0:
			of = fmt.Sprintf("%s of a unit, chosen for the statement", diagnostic.Count(r.MaxRows, "row"))
		}
		if !slices.Contains(all, of) {
			all = append(all, of)
		}
	}
	return strings.Join(all, "; ")
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

// keyName is the name by which a reader knows a key; of one without a name it is the expression as written.
func (s *statement) keyName(k stability.Key) string {
	at, unnamed := k.Expr.Place(), k.Name == "key" // as bind calls it, or by its function
	switch e := k.Expr.(type) {
	case *plan.Ref:
		return k.Name
	case *plan.Call:
		unnamed = k.Name == string(e.Function)
	}
	column := slices.ContainsFunc(s.certificate.Post.Columns(), func(c plan.Column) bool { return c.Name == k.Name })
	if !unnamed || column || at.Start >= at.End || at.End > len(s.text) {
		return k.Name
	}
	return strings.Join(strings.Fields(s.text[at.Start:at.End]), " ")
}

// numbered names things by their numbers, from 1.
func numbered(noun string, all []int) string {
	parts := make([]string, len(all))
	for i, n := range all {
		parts[i] = strconv.Itoa(n + 1)
	}
	if len(all) == 1 {
		return noun + " " + parts[0]
	}
	return noun + "s " + strings.Join(parts, ", ")
}

// derived are the derived columns on which a release depends, by name.
func derived(r *stability.Release) []*catalog.Column {
	var exprs []plan.Expr
	for _, k := range r.Keys {
		exprs = append(exprs, k.Expr)
	}
	for _, c := range r.Components {
		exprs = append(exprs, c.Arg, c.Filter)
	}
	all := slices.Collect(maps.Keys(plan.Used(r.Input, exprs...)))
	all = slices.DeleteFunc(all, func(c *catalog.Column) bool { return c.Is == nil })
	slices.SortFunc(all, func(a, b *catalog.Column) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Is.Text, b.Is.Text))
	})
	return all
}

// mapped are the mapped tables that n reads.
func mapped(n plan.Node) (all []*catalog.Table) {
	if s, ok := n.(*plan.Scan); ok && s.Table.Mapping != nil {
		return []*catalog.Table{s.Table}
	}
	for _, in := range n.Inputs() {
		for _, t := range mapped(in) {
			if !slices.Contains(all, t) {
				all = append(all, t)
			}
		}
	}
	return all
}

func componentWord(k stability.ComponentKind) string {
	switch k {
	case stability.Rows:
		return "count"
	case stability.Units:
		return "count of units"
	case stability.Distinct:
		return "count of distinct values"
	case stability.Tree:
		return "number of rows at each level of the tree"
	case stability.Squares:
		return "sum of squared distances from the middle of the bounds"
	}
	return "sum"
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

// limitedTables are the tables that are declared with a number of rows a unit, each once.
func limitedTables(n plan.Node) (all []*catalog.Table) {
	if s, ok := n.(*plan.Scan); ok && s.Table.MaxUnitRows > 0 {
		return []*catalog.Table{s.Table}
	}
	for _, in := range n.Inputs() {
		for _, t := range limitedTables(in) {
			if !slices.Contains(all, t) {
				all = append(all, t)
			}
		}
	}
	return all
}
