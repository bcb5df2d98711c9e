package verify

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/ratio"
	"github.com/discreet-dp/discreet/verify/internal/replay"
	"github.com/discreet-dp/discreet/verify/internal/rounds"
)

// one is the decision on one round.
func (d *decision) one(r *rounds.Round) *decision {
	unit, one := *d.unit, *d
	unit.Function, unit.Claim = r.Function, r.Claim
	one.unit, one.found, one.tried = &unit, nil, nil
	one.result.Proof = []Step{{
		Kind: Argument, Line: d.unit.Fset.Position(r.Loop.Pos).Line,
		Text: fmt.Sprintf("sequential composition: each of at most %s rounds is a mechanism that may cost %s, and is given what those before it revealed", r.Count, share(r)),
	}}
	return &one
}

func share(r *rounds.Round) string {
	cost := r.Claim.Cost
	switch {
	case cost.Rho != nil:
		return cost.Rho.String()
	case cost.Delta != nil:
		return cost.Epsilon.String() + ", " + cost.Delta.String()
	}
	return cost.Epsilon.String()
}

// take takes over what was decided on one round, which is r.
func (d *decision) take(one *decision, r *rounds.Round) {
	unit, found, tried, least := d.unit, d.found, d.tried, one.result.LeastCost
	*d = *one
	d.unit, d.found, d.tried = unit, found, tried
	if cost := d.unit.Claim.Cost; cost.Measure == claim.Pure && least == r.Claim.Cost.Epsilon.String() {
		d.result.LeastCost = cost.Epsilon.String()
	} else if least != "" {
		d.result.LeastCost = fmt.Sprintf("%s * (%s)", r.Count, least)
	}
}

// round proves a loop by one of its rounds. It reports whether it could.
func (d *decision) round(ctx context.Context, r *rounds.Round) bool {
	within, cancel := context.WithTimeout(ctx, d.options.Timeout/6)
	defer cancel()
	one := d.one(r)
	again, rounds := rounds.Of(r.Function, r.Claim)
	switch {
	case rounds && one.round(within, again):
	case ratio.Applies(r.Function, r.Claim):
		o, err := ratio.Prove(within, r.Function, r.Claim)
		if err == nil {
			one.result.Verdict = Proved
			one.compared(&o.Certificate)
			err = one.store(replay.Ratio, o.Certificate)
		}
		if err != nil {
			one.found = nil
		}
	}
	if one.found == nil {
		one.align(within)
	}
	if one.found == nil {
		d.try("one round of the loop by itself")
		return false
	}
	proof := replay.Round{Kind: one.found.Kind, Proof: one.found.Proof}
	d.take(one, r)
	if err := d.store(replay.Rounds, proof); err != nil {
		d.try("one round of the loop by itself", err.Error())
		return false
	}
	return true
}

// repeated records a stored proof by rounds.
func (d *decision) repeated(text json.RawMessage) error {
	var proof replay.Round
	if err := json.Unmarshal(text, &proof); err != nil {
		return fmt.Errorf("decode certificate: %w", err)
	}
	r, ok := rounds.Of(d.unit.Function, d.unit.Claim)
	if !ok {
		return replay.ErrWrong
	}
	one := d.one(r)
	if err := one.accepted(proof.Kind, proof.Proof); err != nil {
		return err
	}
	d.take(one, r)
	return nil
}
