package verify

import (
	"context"
	"errors"

	"github.com/discreet-dp/discreet/internal/smt"
	"github.com/discreet-dp/discreet/verify/internal/fuse"
	"github.com/discreet-dp/discreet/verify/internal/program"
	"github.com/discreet-dp/discreet/verify/internal/prove"
	"github.com/discreet-dp/discreet/verify/internal/replay"
	"github.com/discreet-dp/discreet/verify/internal/source"
)

// align searches for a proof by couplings. Without one it returns inputs that none of
// those it looked at survives.
func (d *decision) align(ctx context.Context) (hints []program.Pair) {
	if !d.solver {
		d.try(couplings, "they are searched for with z3, which is not there")
		return nil
	}
	within, cancel := context.WithTimeout(ctx, d.options.Timeout*2/3) // the rest is for counterexamples
	defer cancel()
	plain := d.subject(replay.Alignment)
	if fused := fuse.Rewrite(plain); fused != plain {
		half, cancel := context.WithTimeout(within, d.options.Timeout/3)
		defer cancel()
		o, err := prove.Prove(half, fused, d.unit.Claim, prove.Options{})
		if err == nil && o.Status == prove.Proved {
			d.coupled(ctx, replay.Fused, o)
			return nil
		}
	}
	if shares := d.subject(replay.Shares); shares != plain {
		half, cancel := context.WithTimeout(within, d.options.Timeout/3)
		defer cancel()
		o, err := prove.Prove(half, shares, d.unit.Claim, prove.Options{})
		if err == nil && o.Status == prove.Proved {
			d.coupled(ctx, replay.Shares, o)
			return nil
		}
	}
	return d.couple(within, ctx)
}

// subject is the function that a proof of a kind is of.
func (d *decision) subject(kind string) *program.Function {
	return replay.Subject(kind, d.unit.Function, d.unit.Claim)
}

// couple searches for a proof with the loops as they are.
func (d *decision) couple(within, ctx context.Context) (hints []program.Pair) {
	o, err := prove.Prove(within, d.subject(replay.Alignment), d.unit.Claim, prove.Options{})
	if at, ok := errors.AsType[*prove.Position](err); ok {
		p := d.unit.Fset.Position(at.Pos)
		d.result.Problems = append(d.result.Problems, Problem{Kind: Unproved, File: p.Filename, Line: p.Line, Column: p.Column, Text: at.Reason})
	}
	switch {
	case err != nil:
		d.try(couplings, err.Error())
		return nil
	case o.Status != prove.Proved:
		why := o.Tried
		if len(why) == 0 {
			why = []string{"no alignment was found"}
		}
		d.try(couplings, why...)
		return o.Candidates
	}
	d.coupled(ctx, replay.Alignment, o)
	return nil
}

// coupled records a proof by couplings.
func (d *decision) coupled(ctx context.Context, kind string, o *prove.Outcome) {
	d.result.Verdict, d.result.LeastCost = Proved, o.LeastCost
	d.secondOpinion(ctx, d.subject(kind), o.Certificate)
	d.aligned(kind, o.Certificate)
	if err := d.store(kind, o.Certificate); err != nil {
		d.try(couplings, err.Error())
	}
}

// aligned records the couplings of a certificate.
func (d *decision) aligned(kind string, c *prove.Certificate) {
	f := d.subject(kind)
	plain := d.subject(replay.Alignment)
	if plain != d.unit.Function {
		d.result.Proof = append(d.result.Proof, Step{Kind: Argument, Line: d.result.Line, Text: "noise that is multiplied by a positive number is drawn with its scale multiplied by it: the same law"})
	}
	if kind == replay.Shares {
		d.result.Proof = append(d.result.Proof, Step{Kind: Argument, Line: d.result.Line, Text: "what is left of a budget is counted as a share of it: dividing by what is positive changes no comparison"})
	}
	returns := fuse.Returns(plain)
	late := fuse.Late(returns)
	sums := fuse.Sums(late)
	set := fuse.Elements(sums)
	if kind == replay.Fused && returns != plain {
		d.result.Proof = append(d.result.Proof, Step{Kind: Argument, Line: d.result.Line, Text: "what the last cases return is put into a variable, and returned at the end"})
	}
	if kind == replay.Fused && late != returns {
		d.result.Proof = append(d.result.Proof, Step{Kind: Argument, Line: d.result.Line, Text: "noise that a sum begins with is drawn when the sum is made"})
	}
	if kind == replay.Fused && sums != late {
		d.result.Proof = append(d.result.Proof, Step{Kind: Argument, Line: d.result.Line, Text: "noise that is read only in sums with the elements of an input is added to them where it is drawn"})
	}
	if kind == replay.Fused && set != sums {
		d.result.Proof = append(d.result.Proof, Step{Kind: Argument, Line: d.result.Line, Text: "an element that was just set is read as what it was set to"})
	}
	if kind == replay.Fused && fuse.Loops(set) != set {
		d.result.Proof = append(d.result.Proof, Step{Kind: Argument, Line: d.result.Line, Text: "proved of a function with the same result: what one loop puts into a slice and the next reads in order is drawn and read in one loop, and a difference of one-sided noise is two-sided noise"})
	}
	draws := draws(f.Body)
	for _, o := range c.Orientations {
		for _, s := range o.Alignment {
			if d.result.Over == Grid && (s.Draw >= len(draws) || !source.WholeSteps(f, d.unit.Claim, draws[s.Draw], s.Expr)) {
				d.result.Over = Reals
				d.result.Note = "the shift " + s.Expr + " of " + s.Name + " need not be a multiple of its grid: this says nothing of the compiled floats"
			}
			shift := Shift{Draw: s.Name, Shift: s.Expr}
			if len(c.Orientations) > 1 {
				shift.Shift = o.Direction + ": " + s.Expr
			}
			if s.Draw < len(draws) {
				at := d.unit.Fset.Position(draws[s.Draw].Pos)
				shift.Line = at.Line
				if at.Filename != d.result.File {
					shift.File = at.Filename
				}
			}
			d.result.Alignment = append(d.result.Alignment, shift)
		}
	}
	steps, err := prove.Explain(f, d.unit.Claim, c)
	if err != nil {
		d.note(err.Error())
	}
	for _, s := range steps {
		d.result.Proof = append(d.result.Proof, Step{Kind: stepKinds[s.Kind], Line: s.Line, Text: s.Text})
	}
	if !d.options.Obligations {
		return
	}
	obligations, err := prove.Obligations(f, d.unit.Claim, c)
	if err != nil {
		d.note(err.Error())
	}
	for _, o := range obligations {
		d.result.Obligations = append(d.result.Obligations, Obligation(o))
	}
}

var stepKinds = map[prove.StepKind]StepKind{
	prove.Coupling: Coupling, prove.InvariantStep: Invariant, prove.Lockstep: Argument, prove.Conclusion: Argument,
}

// secondOpinion has cvc5, where it is installed, check a proof that our own checker has
// accepted. What it says of it is noted; the verdict does not rest on it.
func (d *decision) secondOpinion(ctx context.Context, f *program.Function, c *prove.Certificate) {
	if !d.cvc5 {
		return
	}
	if err := prove.CheckWith(ctx, smt.CVC5, smt.Options{}, f, d.unit.Claim, c); err != nil {
		d.note("cvc5 does not confirm the proof: " + err.Error())
	}
}

// draws are those of statements, in the order of the source.
func draws(list []program.Statement) (all []*program.Draw) {
	program.Each(list, func(s program.Statement) {
		if d, ok := s.(program.Draw); ok {
			all = append(all, &d)
		}
	})
	return all
}
