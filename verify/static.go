package verify

import (
	"context"
	"go/types"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/sensitivity"
	"github.com/discreet-dp/discreet/verify/internal/source"
)

// syntax is all that was loaded, for the rules that read it.
func syntax(loaded []*source.Package) (all []*sensitivity.Package) {
	for _, p := range loaded {
		all = append(all, &sensitivity.Package{Path: p.Path, Fset: p.Fset, Files: p.Files, Types: p.Types, Info: p.Info})
	}
	return all
}

// static tries the rules of sensitivity and of static cost, which need no search and
// no certificate: they are applied anew each time. It reports whether all that is
// claimed is proved, or refuted; otherwise nothing is.
//
// Rules read syntax, and small inputs are evaluated by the lowered program: what the two
// read apart would have to be the same fault twice to prove a wrong claim. A sensitivity
// that small inputs refute needs no rules. Where proofs are only checked, as a certificate
// is, the rules are the checker, and what they prove is not evaluated.
func (d *decision) static(ctx context.Context) bool {
	fn, ok := d.unit.Info.Defs[d.unit.Decl.Name].(*types.Func)
	if !ok {
		return false
	}
	before, proved := d.result, true
	if len(d.unit.Claim.Sensitivities) > 0 {
		if !d.options.Check && d.moved(ctx) {
			return true
		}
		proved = d.ruled(d.syntax.Check(ctx, fn.FullName(), d.unit.Claim))
		if !proved && d.options.Check && d.moved(ctx) {
			return true
		}
	}
	if proved && d.unit.Claim.Cost != nil {
		proved = d.ruled(d.syntax.Cost(ctx, fn.FullName(), d.unit.Claim).Ending(d.unit.Function, d.unit.Claim, source.TellingPanic))
	}
	if !proved {
		before.Problems = d.result.Problems
		d.result = before
		return false
	}
	if !d.options.Check && searchable(d.unit) {
		ruled := d.result
		d.result = before
		if d.soon(ctx) {
			return true
		}
		d.result = ruled
	}
	d.result.Problems = nil
	return true
}

// ruled records what rules established.
func (d *decision) ruled(r sensitivity.Result) bool {
	fset := d.unit.Fset
	if !r.Proved {
		why := r.Note
		if len(r.Refusals) > 0 {
			why = r.Refusals[0].Reason
			if hint := r.Refusals[0].Hint; hint != "" {
				why += " (" + hint + ")"
			}
		}
		d.try("rules of sensitivity and cost", why)
		for _, refusal := range r.Refusals {
			at := fset.Position(refusal.Pos)
			d.result.Problems = append(d.result.Problems, Problem{
				Kind: Unproved, File: at.Filename, Line: at.Line, Column: at.Column, Text: refusal.Reason, Hint: refusal.Hint,
			})
		}
		return false
	}
	d.result.Verdict, d.result.Over, d.result.Note = Proved, Over(r.Over), r.Note
	if len(r.Uses) > 0 {
		slices.Sort(r.Uses)
		d.note("by the claims, which are proved, of " + strings.Join(slices.Compact(r.Uses), ", "))
	}
	d.result.LeastCost = r.Inferred
	for _, s := range r.Steps {
		at := fset.Position(s.Pos)
		step := Step{Kind: Argument, Line: at.Line, Text: s.Text}
		if at.Filename != d.result.File {
			step.File = at.Filename
		}
		d.result.Proof = append(d.result.Proof, step)
	}
	return true
}

// searchable reports whether a claim is one that proofs and counterexamples are
// searched for: of a cost, with a body that was read.
func searchable(u *source.Unit) bool {
	return u.Function != nil && u.Claim.Cost != nil
}

// pure reports whether a claim is of a pure cost.
func pure(c *claim.Claim) bool { return c.Cost != nil && c.Cost.Measure == claim.Pure }
