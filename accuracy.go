package discreet

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/internal/stability"
)

// An Accuracy is the error that each value of an answer may have against the bounded truth (what
// the statement says of the rows that the catalog's bounds keep), with the statement's confidence for
// each. The zero value asks for none.
type Accuracy struct {
	// Error is above 0: in the value's own unit, or, where Relative, a part of the value, such
	// as 0.02.
	Error    *big.Rat
	Relative bool
}

// IsZero reports whether a asks for nothing.
func (a Accuracy) IsZero() bool { return a.Error == nil }

// String is the form that ParseAccuracy reads; "" of the zero value.
func (a Accuracy) String() string {
	switch {
	case a.IsZero():
		return ""
	case a.Relative:
		return numeric.FormatRat(new(big.Rat).Mul(a.Error, big.NewRat(100, 1))) + "%"
	}
	return numeric.FormatRat(a.Error)
}

// ParseAccuracy reads "150", an error in the value's own unit, or "2%", a part of the value.
func ParseAccuracy(text string) (Accuracy, error) {
	number, relative := strings.CutSuffix(strings.TrimSpace(text), "%")
	bad := func(why string) (Accuracy, error) {
		if r := []rune(text); len(r) > 40 {
			text = string(r[:40]) + "..."
		}
		return Accuracy{}, refusal(diagnostic.New("D260", diagnostic.Span{}, "%q is no accuracy", text).Because("%s", why).
			Try("write the error that values may have, such as 150, or a part of them, such as 2%%"))
	}
	r, err := numeric.ParseDecimal(strings.TrimSpace(number))
	switch {
	case err != nil:
		return bad(err.Error())
	case r.Sign() <= 0:
		return bad("nothing is exact: an error is above 0")
	case relative && r.Cmp(big.NewRat(100, 1)) >= 0:
		return bad("a part of the value is below 100%")
	}
	if relative {
		r.Mul(r, big.NewRat(1, 100))
	}
	return Accuracy{Error: r, Relative: relative}, nil
}

// pilotShare is the part of the bound that a pilot spends.
func pilotShare() *big.Rat { return big.NewRat(1, 10) }

// A pilotPlan is what a statement needs that a pilot prices.
type pilotPlan struct {
	accuracy Accuracy
	cap      Spend // of pilot and answer together
	why      string
}

func (p *pilotPlan) twice() *diagnostic.Diagnostic {
	return diagnostic.New("D261", diagnostic.Span{}, "this error has no price that is known beforehand").
		Because("%s, so that a pilot would be charged first and the answer after it; what is charged twice is admitted twice, and only discreet query and programs do that", p.why).
		Try("ask for an absolute error of counts and sums, or name a cost")
}

// price finds what an accuracy costs, or what its pilot does.
func (db *Database) price(s *statement, o *QueryOptions) error {
	refuse := func(message, why, hint string) error {
		return diagnostic.New("D260", diagnostic.Span{}, "%s", message).Because("%s", why).Try("%s", hint)
	}
	switch {
	case o.Accuracy.IsZero():
		return refuse("a bound of the cost without an accuracy", "it bounds what an accuracy costs", "give an accuracy, or name the cost itself")
	case o.Accuracy.Error.Sign() <= 0:
		return refuse("an accuracy of no error", "nothing is exact", "give an error above 0")
	case s.spend.Epsilon.Sign() > 0 || s.spend.Rho.Sign() > 0:
		return refuse("both a cost and an accuracy are given", "either follows from the other", "give one of them; the cost of an accuracy can be bounded")
	}
	c := s.certificate
	if c.Domain == nil || len(c.Releases) == 0 {
		return nil // nothing is charged
	}
	rho := c.Domain.Measure == string(filter.ZCDP) || c.Domain.Measure == string(filter.RDP)
	if rho && o.AtMost.Epsilon.Sign() > 0 || !rho && o.AtMost.Rho.Sign() > 0 {
		return diagnostic.New("D071", diagnostic.Span{}, "the bound is in another measure than the cost").
			Because("domain %q accounts in measure %q", c.Domain.ID, c.Domain.Measure).
			Try("give the bound in %s", map[bool]string{true: "rho", false: "epsilon"}[rho])
	}
	if stage := c.Dependent(); stage != nil {
		return diagnostic.New("D261", stage.Plan.Place(), "the error of a release that depends on another has no price").
			Because("the cost would be split among both, and how near the first must be is not what the accuracy says").
			Try("name a cost; or ask in two statements, and use the first answer as a constant")
	}
	delta := s.spend.Delta
	if delta.Sign() == 0 && !o.NoDefault {
		delta = db.config.Catalog.Spend.Delta
	}
	needs, err := s.priced(o.Accuracy)
	if err != nil {
		return err
	}
	if needs == "" {
		found, err := release.Price(c, delta, o.Weights, release.Within(o.Accuracy.Error, s.beta()))
		if err != nil {
			return tooDear(err, "")
		}
		s.spend, s.weights, s.ownSelection = Spend(found.Spend), found.Weights, found.OwnSelection
		return nil
	}
	most := o.AtMost
	if most.Epsilon.Sign() == 0 && most.Rho.Sign() == 0 && !o.NoDefault {
		of := db.config.Catalog.Spend
		if rho {
			most.Rho = of.Rho
		} else {
			most.Epsilon = of.Epsilon
		}
	}
	if o.NoDefault && most.Epsilon.Sign() == 0 && most.Rho.Sign() == 0 { // a server's door
		return (&pilotPlan{why: needs}).twice()
	}
	if most.Epsilon.Sign() == 0 && most.Rho.Sign() == 0 {
		return refuse("what this accuracy costs has no bound", needs+", so that what it costs is known only after a pilot",
			"say what pilot and answer may cost at most: --at-most-rho, or --at-most-epsilon")
	}
	if o.IdempotencyKey != "" {
		return refuse("an idempotency key with an accuracy that needs a pilot", needs+", so that it is charged twice, and a key is of one charge",
			"leave the key out, or name a cost")
	}
	most.Delta = delta
	s.spend = most.times(pilotShare())
	s.pilot = &pilotPlan{accuracy: o.Accuracy, cap: most, why: needs}
	return nil
}

func (s *statement) beta() *big.Rat { return new(big.Rat).Sub(big.NewRat(1, 1), s.confidence) }

// priced says why the statement's accuracy needs a pilot, or nothing where its price is known. It
// refuses what has none.
func (s *statement) priced(a Accuracy) (needs string, err error) {
	refuse := func(at diagnostic.Span, message, why, hint string) error {
		return diagnostic.New("D261", at, "%s", message).Because("%s", why).Try("%s", hint)
	}
	if a.Relative {
		needs = "a relative error depends on the value"
	}
	sets := slices.IndexFunc(s.certificate.Releases, func(r *stability.Release) bool { return r.Sets != nil })
	if s.consistent && sets >= 0 {
		return "", refuse(s.certificate.Releases[sets].Span, "the error of grouping sets that are made to add up has no price", "what each value is moved by depends on the others",
			"leave --consistent out, or name a cost")
	}
	values := 0
	for _, r := range s.certificate.Releases {
		for _, g := range r.Aggregates {
			values++
			switch kind := r.Components[g.Components[0]].Kind; {
			case kind == stability.Tree || len(g.Components) > 2:
				return "", refuse(g.Span, fmt.Sprintf("the error of %s has no price", g.Function), "it depends on how values are spread, which no pilot bounds",
					"name a cost; explain says what its error would be")
			case len(g.Components) > 1 && needs == "":
				needs = "the error of an average depends on how many values there are"
			}
		}
	}
	for i, c := range s.certificate.Post.Columns() {
		if s.post.Columns[i].Noisy && !s.shownAlone(s.certificate.Post, i) {
			return "", refuse(diagnostic.Span{}, fmt.Sprintf("column %s is computed from noisy values", c.Name), "its error is another than that of each value",
				"ask for the values themselves, and compute with them")
		}
	}
	if values == 0 {
		return "", refuse(diagnostic.Span{}, "the statement has no value whose error could be priced", "groups that are chosen privately have none",
			"name a cost")
	}
	for _, r := range s.certificate.Releases {
		if len(r.Sums) > 0 && needs != "" {
			return "", refuse(r.Span, "this error has no price in grouping sets that are sums of noisy values", needs+", and a pilot bounds values that have noise of their own",
				"ask for an absolute error of counts and sums, or for each set in a statement of its own")
		}
		if r.Private && needs != "" {
			return "", refuse(r.Span, "this error has no price in groups that are chosen privately", needs+", and the groups of a pilot are not those of the answer",
				"group by keys with a public domain, ask for an absolute error of counts and sums, or name a cost")
		}
	}
	return needs, nil
}

// shownAlone reports whether a column of the post-processing is one released value as it is, or that of a grouping set which is the
// sum of such.
func (s *statement) shownAlone(n plan.Node, column int) bool {
	switch n := n.(type) {
	case *plan.Released:
		return true
	case *plan.Project:
		if of, ok := n.Input.(*plan.Aggregate); ok && s.certificate.Summed(of) {
			return true
		}
		ref, ok := n.Exprs[column].(*plan.Ref)
		return ok && s.shownAlone(n.Input, ref.Index)
	case *plan.Filter:
		return s.shownAlone(n.Input, column)
	case *plan.Window:
		return column < len(n.Input.Columns()) && s.shownAlone(n.Input, column)
	case *plan.Sort:
		return s.shownAlone(n.Input, column)
	case *plan.Limit:
		return s.shownAlone(n.Input, column)
	case *plan.Union: // of grouping sets, say: each branch's values are its own
		return !slices.ContainsFunc(n.Branches, func(b plan.Node) bool { return !s.shownAlone(b, column) })
	case *plan.Join:
		if left := len(n.Left.Columns()); n.Kind != plan.Inner && n.Kind != plan.Cross {
			return false
		} else if column >= left {
			return s.shownAlone(n.Right, column-left)
		}
		return s.shownAlone(n.Left, column)
	}
	return false
}

func tooDear(err error, why string) error {
	if err != nil && !errors.Is(err, release.ErrTooDear) {
		return err
	}
	if err != nil {
		why = fmt.Sprintf("not even a cost of %d reaches it", release.MaxSpend)
	}
	return diagnostic.New("D262", diagnostic.Span{}, "this accuracy costs too much").Because("%s", why).
		Try("allow a larger error, a smaller confidence, fewer values or coarser groups; explain says what an error costs")
}

// keptTables are a pilot's: its salts, by which the answer is of the same bounded rows, and its
// noisy tables. They live as long as the question.
type keptTables struct {
	salts  []int64
	tables []*release.Table
}

// salt is the one of release i: the pilot's, or a new one.
func (k *keptTables) salt(i int, drawn int64) int64 {
	switch {
	case k == nil:
		return drawn
	case i < len(k.salts):
		return k.salts[i]
	}
	k.salts = append(k.salts, drawn)
	return drawn
}

func (k *keptTables) table(t *release.Table) {
	if k != nil {
		k.tables = append(k.tables, t)
	}
}

// answerByPilot charges and answers a pilot, prices the answer by it, and charges and answers that.
//
// Both are releases of the same bounded rows: the salt that chooses them is the pilot's, which
// depends on no data. Given it, each release costs what its events say, whatever the second is
// decided by, and the filter adds the two up. The second is asked only if both together stay
// within the bound, and only if the pilot is not near enough itself.
//
// That holds though the owner declares a version of the data between them: neighbours are whole sequences of versions, both releases are
// charged in full, and one salt bounds what a unit adds to each. But the pilot says nothing of the value in the new version, so that the error that was asked for is promised by nothing.
// So the second is refused, before it is charged, where a version was declared since the pilot began; and told as what it is where one was declared while its rows were read.
func (s *Statement) answerByPilot(ctx context.Context) (*Answer, error) {
	plan := s.planned.pilot
	s.kept = &keptTables{}
	s.options.Repeat, s.options.Reuse, s.question, s.relations = false, false, nil, nil // the answer is priced by the pilot's tables, which no books keep
	if len(s.planned.design.Events) == 0 || s.db.config.Ledger == nil {
		return s.Answer(ctx, Payer{})
	}
	begun, err := s.db.config.Ledger.Version(ctx)
	if err != nil {
		return nil, fmt.Errorf("answer by pilot: %w", err)
	}
	pilot, err := s.Answer(ctx, Payer{})
	if err != nil {
		return nil, err
	}
	near := (&release.Pilot{Tables: s.kept.tables}).Within(plan.accuracy.Error, plan.accuracy.Relative, s.planned.beta())
	enough, err := near(s.planned.design)
	if err != nil {
		return nil, err
	}
	if reached(enough) {
		pilot.Notes = append(pilot.Notes, "the pilot is as near as was asked for: nothing more was charged")
		return pilot, nil
	}
	after := func(err error, why string) error {
		d := tooDear(err, why)
		var found *diagnostic.Diagnostic
		if errors.As(d, &found) {
			found.Because("%s; the pilot was charged, and its answer is in the history", strings.TrimSuffix(found.Why, "."))
		}
		return refusal(in(d, s.planned.text))
	}
	rest := plan.cap.times(new(big.Rat).Sub(big.NewRat(1, 1), pilotShare()))
	found, err := release.Price(s.planned.certificate, rest.Delta, s.options.Weights, near)
	if errors.Is(err, release.ErrTooDear) {
		return nil, after(nil, fmt.Sprintf("by a pilot at a cost of %s a value may be too near 0, or a group too small, for any cost to reach it", s.planned.spend))
	}
	if err != nil {
		return nil, after(err, "")
	}
	if spend := Spend(found.Spend); rest.lacks(spend) {
		return nil, after(nil, fmt.Sprintf("by a pilot it costs %s beside the pilot's %s, and at most %s may be spent", spend, s.planned.spend, plan.cap))
	}
	planned := *s.planned
	planned.spend, planned.weights, planned.pilot = Spend(found.Spend), found.Weights, nil
	if planned.design, err = release.NewDesign(planned.certificate, found); err != nil {
		return nil, refusal(in(err, planned.text))
	}
	second, err := s.db.finish(&Statement{db: s.db, options: s.options, planned: &planned, compiled: s.compiled,
		kept: &keptTables{salts: s.kept.salts}})
	if err != nil {
		return nil, err
	}
	version, err := s.db.config.Ledger.Version(ctx)
	if err != nil {
		return nil, fmt.Errorf("answer by pilot: %w", err)
	}
	if version.Record != begun.Record {
		return nil, refusal(in(diagnostic.New("D263", diagnostic.Span{}, "a version of the data was declared while the answer was computed").
			Because("the pilot is of the version before, and says nothing of what the answer's error would be; the pilot was charged, and its answer is in the history").
			Try("ask again: of this version it has a pilot of its own"), s.planned.text))
	}
	a, err := second.Answer(ctx, Payer{})
	if err != nil {
		return nil, err
	}
	if version, err = s.db.config.Ledger.Version(ctx); err != nil {
		return nil, fmt.Errorf("answer by pilot: %w", err)
	}
	if version.Record != begun.Record {
		a.Notes = append(a.Notes, "a version of the data was declared while this was computed, so that the pilot may be of the version before: the error may be larger than was asked for; the intervals hold")
	}
	cost := pilot.Cost
	a.Pilot = &cost
	a.Notes = append(a.Notes, fmt.Sprintf("a pilot cost %s, and the answer, priced by it, what stands as its cost", s.planned.spend))
	return a, nil
}

func reached(parts []*big.Rat) bool {
	for _, p := range parts {
		if p == nil || p.Cmp(big.NewRat(1, 1)) > 0 {
			return false
		}
	}
	return true
}
