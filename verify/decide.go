package verify

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/certificate"
	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/exact"
	"github.com/discreet-dp/discreet/verify/internal/prove"
	"github.com/discreet-dp/discreet/verify/internal/rank"
	"github.com/discreet-dp/discreet/verify/internal/ratio"
	"github.com/discreet-dp/discreet/verify/internal/replay"
	"github.com/discreet-dp/discreet/verify/internal/rounds"
	"github.com/discreet-dp/discreet/verify/internal/sensitivity"
	"github.com/discreet-dp/discreet/verify/internal/source"
	"github.com/discreet-dp/discreet/verify/internal/tally"
)

// A decision is the way to the verdict on one function.
type decision struct {
	unit    *source.Unit
	syntax  *sensitivity.Program
	assumed *sensitivity.Program
	options Options
	solver  bool // z3 may be started
	cvc5    bool
	result  Result
	found   *certificate.Entry
	tried   []attempt
	// postponed says that nothing is known before what is called has a verdict.
	postponed bool
}

// decide sets the result, and found if there is a proof to store.
func (d *decision) decide(ctx context.Context, stored *certificate.Entry) {
	u := d.unit
	if u.Claim == nil {
		d.result.Claim = said(u)
		d.refused(Directive)
		return
	}
	d.result.Claim = u.Claim.Text
	if d.vacuous(ctx) {
		return
	}
	if searchable(u) && len(u.Claim.Sensitivities) == 0 {
		over, note := source.Exactness(u.Function, u.Claim)
		d.result.Over, d.result.Note = Over(over), note
		if d.priceless(ctx) {
			return
		}
		if stored != nil && !d.options.Fresh {
			repeat := d.replay
			if stored.Kind == replay.Counterexample || stored.Kind == replay.Samples {
				repeat = d.repeat
			}
			err := repeat(ctx, stored)
			if err == nil {
				return
			}
			d.problem(Certificate, err.Error(), "verify without --check searches for a proof anew")
		}
	}
	// Rules decide at once where nothing has to be searched for; where something has, they
	// come after the search for couplings, of which a reader learns more.
	if !searchable(u) || !pure(u.Claim) || len(u.Claim.Sensitivities) > 0 || d.options.Check {
		if d.static(ctx) {
			return
		}
	}
	switch {
	case d.waits(ctx):
	case len(u.Refusals) > 0:
		d.refused(Outside)
	case d.options.Check:
		if stored == nil {
			d.problem(Certificate, "no proof is stored", "verify without --check searches for one")
		}
		d.result.Note = "no stored proof holds"
	case searchable(u) && len(u.Claim.Sensitivities) == 0:
		d.search(ctx)
	default:
		d.open()
	}
}

// said is the text of a claim that was refused.
func said(u *source.Unit) string {
	var lines []string
	for _, c := range u.Decl.Doc.List {
		if line, ok := strings.CutPrefix(c.Text, "//dp:"); ok {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// vacuous finds claims that speak of no inputs: requirements that contradict each other prove
// anything.
func (d *decision) vacuous(ctx context.Context) bool {
	ok, err := exact.Inhabited(ctx, d.unit.Function, d.unit.Claim)
	if err != nil || ok {
		return false
	}
	d.result.Verdict = Vacuous
	d.problem(Directive, "no inputs were found that meet what is required and may have neighbours: the claim says nothing",
		"loosen //dp:requires and //dp:adjacent until there are some")
	d.result.Note = "not judged: " + d.result.Problems[0].Text
	return true
}

// priceless refuses a claim whose cost is no number at some inputs that it allows: of these it
// says nothing. Others may refute it.
func (d *decision) priceless(ctx context.Context) bool {
	in, err := exact.Priceless(d.unit.Function, d.unit.Claim)
	if err != nil || in == nil {
		return false
	}
	if d.soon(ctx) {
		return true
	}
	at := d.unit.Position
	for _, c := range d.unit.Decl.Doc.List {
		if strings.HasPrefix(c.Text, "//dp:cost") {
			at = d.unit.Fset.Position(c.Pos())
		}
	}
	var all []string
	for name, v := range values(d.unit.Function, in) {
		all = append(all, fmt.Sprintf("%s = %v", name, v))
	}
	slices.Sort(all)
	d.result.Problems = append(d.result.Problems, Problem{
		Kind: Directive, File: at.Filename, Line: at.Line, Column: at.Column,
		Text: "the cost: it is no number at " + strings.Join(all, ", "), Hint: "exclude these inputs by //dp:requires",
	})
	d.result.Note = "not read: " + d.result.Problems[0].Text
	return true
}

// refused records why the function was not read.
func (d *decision) refused(kind ProblemKind) {
	for _, r := range d.unit.Refusals {
		d.result.Problems = append(d.result.Problems, problem(r, kind))
	}
	d.result.Note = "not read"
	if len(d.unit.Refusals) > 0 {
		d.result.Note += ": " + d.unit.Refusals[0].What
	}
}

func (d *decision) problem(kind ProblemKind, text, hint string) {
	at := d.unit.Position
	d.result.Problems = append(d.result.Problems, Problem{Kind: kind, File: at.Filename, Line: at.Line, Column: at.Column, Text: text, Hint: hint})
}

// note adds a sentence to the note.
func (d *decision) note(text string) {
	if d.result.Note != "" {
		text = d.result.Note + ". " + text
	}
	d.result.Note = text
}

// replay accepts a stored proof, or says why not. It starts no solver. Of what is
// stored only the claim itself is known to be proved: a least cost below it is not
// repeated from anybody's text.
func (d *decision) replay(ctx context.Context, e *certificate.Entry) error {
	u := d.unit
	if err := replay.Check(ctx, u.Function, u.Claim, e); err != nil {
		return err
	}
	if err := d.accepted(e.Kind, e.Proof); err != nil {
		return err
	}
	if cost := u.Claim.Cost; cost.Measure == claim.Pure && e.LeastCost == cost.Epsilon.String() {
		d.result.LeastCost = e.LeastCost
	}
	d.found = e
	return nil
}

// accepted records the steps of a proof that was checked.
func (d *decision) accepted(kind string, proof json.RawMessage) error {
	d.result.Verdict = Proved
	switch kind {
	case replay.Ratio:
		var c ratio.Certificate
		if err := json.Unmarshal(proof, &c); err != nil {
			return fmt.Errorf("decode certificate: %w", err)
		}
		d.compared(&c)
	case replay.Rank:
		var c rank.Certificate
		if err := json.Unmarshal(proof, &c); err != nil {
			return fmt.Errorf("decode certificate: %w", err)
		}
		d.ranked(&c)
	case replay.Rounds:
		if err := d.repeated(proof); err != nil {
			return err
		}
	case replay.Tally:
		if err := d.recounted(proof); err != nil {
			return err
		}
	case replay.Alignment, replay.Fused, replay.Shares:
		c, err := prove.Decode(proof)
		if err != nil {
			return err
		}
		d.aligned(kind, c)
	}
	return nil
}

// store keeps a proof for the file of certificates.
func (d *decision) store(kind string, proof any) error {
	text, err := json.Marshal(proof)
	if err != nil {
		return fmt.Errorf("encode certificate: %w", err)
	}
	d.found = &certificate.Entry{
		Program: replay.Hash(d.unit.Function, d.unit.Claim), Claim: d.unit.Claim.Text, Kind: kind, Proof: text,
		Verdict: string(d.result.Verdict), Over: string(d.result.Over), LeastCost: d.result.LeastCost, Note: d.result.Note,
	}
	return nil
}

// search looks for a proof, and for a counterexample if there is none.
func (d *decision) search(ctx context.Context) {
	f, c := d.unit.Function, d.unit.Claim
	if r, ok := rounds.Of(f, c); ok && (d.soon(ctx) || d.round(ctx, r)) {
		return
	}
	if ratio.Applies(f, c) {
		o, err := ratio.Prove(ctx, f, c)
		if err == nil {
			d.result.Verdict, d.result.LeastCost = Proved, o.Least
			d.compared(&o.Certificate)
			err = d.store(replay.Ratio, o.Certificate)
		}
		if err == nil {
			return
		}
		d.try("ratios of probabilities", err.Error())
		if ratio.Finite(f) && d.soon(ctx) {
			return
		}
	}
	ranking, err := rank.Prove(ctx, d.subject(replay.Rank), c)
	if err == nil && !ranking.Plain && (d.soon(ctx) || d.rank(ranking)) {
		return
	}
	hints := d.align(ctx)
	if d.found != nil {
		return
	}
	if err == nil && ranking.Plain && (d.soon(ctx) || d.rank(ranking)) {
		return
	}
	if err != nil && rank.Applies(f, c) {
		d.try("the order of noisy values", err.Error())
	}
	if pure(c) && d.static(ctx) {
		return
	}
	if t, ok := tally.Of(f, c); ok && (d.soon(ctx) || d.tally(ctx, t)) {
		return
	}
	if !d.refute(ctx, hints) {
		d.open()
	}
}

// rank takes a proof by the order of noisy values. It reports whether it is stored.
func (d *decision) rank(o *rank.Outcome) bool {
	d.result.Verdict, d.result.LeastCost = Proved, o.Certificate.Cost
	d.ranked(&o.Certificate)
	err := d.store(replay.Rank, o.Certificate)
	if err != nil {
		d.try("the order of noisy values", err.Error())
	}
	return err == nil
}

// ranked records the steps of a proof by the order of noisy values. On a grid some may be
// equal, which the proof leaves out.
func (d *decision) ranked(c *rank.Certificate) {
	if d.result.Over == Grid {
		d.result.Over, d.result.Note = Reals, "equal noisy values are left out, which have no probability among real numbers: this says nothing of the compiled floats"
	}
	for _, s := range c.Steps {
		d.result.Proof = append(d.result.Proof, Step{Kind: Argument, Line: s.Line, Text: s.Text})
	}
}

// soon looks for a counterexample among small inputs: at once where a function only tosses
// coins, or runs rounds, and couplings are searched for in vain for seconds; and beside
// rules, which nothing else checks.
func (d *decision) soon(ctx context.Context) bool {
	within, cancel := context.WithTimeout(ctx, d.options.Timeout/10)
	defer cancel()
	x, _, err := exact.Refute(within, d.unit.Function, d.unit.Claim, nil, exact.Search{Budget: 300, Workers: d.options.Workers})
	if err != nil || x == nil {
		return false
	}
	d.refuted(Refuted, x)
	d.keep(replay.Counterexample, x)
	return true
}

// compared records the steps of a proof by ratios.
func (d *decision) compared(c *ratio.Certificate) {
	for _, s := range c.Steps {
		d.result.Proof = append(d.result.Proof, Step{Kind: Argument, Line: s.Line, Text: s.Text})
	}
}
