package sensitivity

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/claim"
)

// A Step is something that a proof rests on, for people.
type Step struct {
	Pos  token.Pos
	Text string
}

// A Result is what is established about a claim. A claim that is not proved is not
// refuted: the rules may be too weak to see it.
type Result struct {
	Proved bool
	// Inferred is the sensitivity to each claimed input, or the cost; an upper bound.
	Inferred string
	// Over is the numbers of which the result speaks, as verify.Over.
	Over     string
	Note     string
	Refusals []Refusal
	Plan     *Plan
	Steps    []Step
	// Uses are the functions whose own claims were taken as true.
	Uses []string
}

// Error is a refusal as an error.
func (r *Refusal) Error() string { return r.Reason }

var errUnknown = errors.New("the function is not of the program")

// Check holds the claims of sensitivity of a function against what is inferred.
func (p *Program) Check(ctx context.Context, fn string, c *claim.Claim) (r Result) {
	r = Result{Proved: true, Over: "integers"}
	d, ok := p.funcs[fn]
	if !ok {
		return r.refused(errUnknown)
	}
	defer func() { r.place(d) }()
	var texts []string
	for _, s := range c.Sensitivities {
		var inputs []Input
		for _, adj := range c.Adjacent {
			in := adjacentInput(adj)
			if in.Name == s.Input && !in.One {
				in.Norm = s.Norm // where one element differs, all norms are the same
			}
			inputs = append(inputs, in)
		}
		for _, t := range c.Sensitivities {
			if !slices.ContainsFunc(inputs, func(x Input) bool { return x.Name == t.Input }) {
				inputs = append(inputs, Input{Name: t.Input, Norm: s.Norm})
			}
		}
		a, _, out, err := p.run(ctx, fn, c, inputs, false)
		if err != nil {
			return r.refused(err)
		}
		if whole := wholeResults(d.fn.Signature()) && wholeInput(d.fn.Signature(), s.Input); !whole || a.reals {
			r.Over = "reals"
		}
		b := out[norms[s.Norm]][s.Input]
		claimed, err := a.reading(nil).expression(s.Most)
		switch {
		case err != nil:
			return r.refused(err)
		case b.infinite != nil:
			r.Proved = false
			why := *b.infinite
			if why.Pos == token.NoPos {
				why.Pos = d.decl.Pos()
			}
			r.Refusals = append(r.Refusals, why)
			texts = append(texts, s.Input+": infinite")
			continue
		}
		texts = append(texts, s.Input+": "+b.most.String())
		if !a.isNonneg(claimed.sub(b.most)) {
			r.Proved = false
			r.Refusals = append(r.Refusals, Refusal{d.decl.Pos(), fmt.Sprintf("the sensitivity to %s is at most %s, which is not known to be at most %s%s", s.Input, b.most, claimed, excess(b.most, claimed)), "//dp:sensitivity " + s.Input + " = " + b.most.String()})
		}
	}
	r.Inferred = strings.Join(texts, ", ")
	r.Note = "by sensitivity typing: distances of inputs go through every statement"
	return r
}

func adjacentInput(adj claim.Adjacency) Input {
	in := Input{Name: adj.Input.Name}
	switch adj.Relation {
	case claim.Bag:
		in.Bag = true
	case claim.Each:
		in.Norm = claim.LInf
	case claim.One:
		in.One = true
	}
	return in
}

func wholeResults(sig *types.Signature) bool {
	for i := range sig.Results().Len() {
		if !wholeType(sig.Results().At(i).Type()) {
			return false
		}
	}
	return true
}

func wholeInput(sig *types.Signature, name string) bool {
	for i := range sig.Params().Len() {
		if v := sig.Params().At(i); v.Name() == name {
			return wholeType(v.Type())
		}
	}
	return false
}

// wholeType reports whether a type's distance is a count: integers, and records.
func wholeType(t types.Type) bool {
	if isNamed(t, "dataset", "Dataset") {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return wholeType(u.Elem())
	case *types.Array:
		return wholeType(u.Elem())
	case *types.Map:
		return wholeType(u.Elem())
	case *types.Basic:
		return u.Info()&types.IsFloat == 0
	case *types.Struct:
		for i := range u.NumFields() {
			if !wholeType(u.Field(i).Type()) {
				return false
			}
		}
	}
	return true
}

// place gives refusals of the function as a whole its position.
func (r *Result) place(d declared) {
	for i := range r.Refusals {
		if !r.Refusals[i].Pos.IsValid() {
			r.Refusals[i].Pos = d.decl.Pos()
		}
	}
}

func (r Result) refused(err error) Result {
	r.Proved = false
	var why *Refusal
	if !errors.As(err, &why) {
		why = &Refusal{Reason: err.Error()}
	}
	r.Refusals = append(r.Refusals, *why)
	r.Note = why.Reason
	if why.Hint != "" {
		r.Note += " (" + why.Hint + ")"
	}
	return r
}
