package verify

import (
	"context"
	"go/types"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
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

// byRules reports whether rules decide. Where private data may make a run panic, of which
// they say nothing, one of two neighbours may show it by that: this is looked for first.
func (d *decision) byRules(ctx context.Context, hints []program.Pair) bool {
	before := d.result
	if !d.static() {
		return false
	}
	if d.partial && searchable(d.unit) && pure(d.unit.Claim) {
		proved := d.result
		d.result = before
		if d.refute(ctx, hints) {
			return true
		}
		d.result = proved
	}
	d.result.Problems = nil
	return true
}

// static tries the rules of sensitivity and of static cost, which need no search and
// no certificate: they are applied anew each time. It reports whether all that is
// claimed is proved.
func (d *decision) static() bool {
	fn, ok := d.unit.Info.Defs[d.unit.Decl.Name].(*types.Func)
	if !ok {
		return false
	}
	proved := true
	if len(d.unit.Claim.Sensitivities) > 0 {
		proved = d.ruled(d.syntax.Check(fn.FullName(), d.unit.Claim))
	}
	if proved && d.unit.Claim.Cost != nil {
		proved = d.ruled(d.syntax.Cost(fn.FullName(), d.unit.Claim))
	}
	return proved
}

// ruled records what rules established.
func (d *decision) ruled(r sensitivity.Result) bool {
	fset := d.unit.Fset
	if !r.Proved {
		d.tried = append(d.tried, "rules of sensitivity and cost: "+r.Note)
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
	d.partial = d.partial || len(r.Partial) > 0
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
