package verify

import (
	"context"
	"encoding/json"

	"github.com/discreet-dp/discreet/verify/internal/rank"
	"github.com/discreet-dp/discreet/verify/internal/ratio"
	"github.com/discreet-dp/discreet/verify/internal/replay"
	"github.com/discreet-dp/discreet/verify/internal/tally"
)

// counted is the decision on a function of counts.
func (d *decision) counted(t *tally.Tally) *decision {
	unit, one := *d.unit, *d
	unit.Function, unit.Claim = t.Function, t.Claim
	one.unit, one.found, one.tried = &unit, nil, nil
	one.result.Proof = nil
	for _, l := range t.Loops {
		one.result.Proof = append(one.result.Proof, Step{
			Kind: Argument, Line: d.unit.Fset.Position(l.Pos).Line,
			Text: "what is added for a record depends on that and on public values alone: a sum over the multiset moves by what one record adds",
		})
	}
	return &one
}

// tally proves a function of records as one of their counts. It reports whether it could.
func (d *decision) tally(ctx context.Context, t *tally.Tally) bool {
	one := d.counted(t)
	f, c := t.Function, t.Claim
	var why error
	if ratio.Applies(f, c) {
		var o *ratio.Outcome
		if o, why = ratio.Prove(ctx, f, c); why == nil {
			one.result.Verdict, one.result.LeastCost = Proved, o.Least
			one.compared(&o.Certificate)
			why = one.store(replay.Ratio, o.Certificate)
		}
	}
	if one.found == nil {
		if ranking, err := rank.Prove(ctx, one.subject(replay.Rank), c); err == nil {
			one.rank(ranking)
		}
	}
	if one.found == nil {
		one.align(ctx)
	}
	if one.found == nil {
		if why != nil {
			one.try("ratios of probabilities", why.Error())
		}
		for _, tried := range one.tried {
			d.try("counts in the place of records, "+tried.by, tried.why...)
		}
		return false
	}
	proof := replay.Round{Kind: one.found.Kind, Proof: one.found.Proof}
	d.recount(one)
	if err := d.store(replay.Tally, proof); err != nil {
		d.try("counts in the place of records", err.Error())
		return false
	}
	return true
}

// recount takes over what was decided on a function of counts.
func (d *decision) recount(one *decision) {
	unit, found, tried := d.unit, d.found, d.tried
	*d = *one
	d.unit, d.found, d.tried, d.result.Problems = unit, found, tried, nil
}

// recounted records a stored proof by counts.
func (d *decision) recounted(text json.RawMessage) error {
	var proof replay.Round
	if err := json.Unmarshal(text, &proof); err != nil {
		return replay.ErrWrong
	}
	t, ok := tally.Of(d.unit.Function, d.unit.Claim)
	if !ok {
		return replay.ErrWrong
	}
	one := d.counted(t)
	if err := one.accepted(proof.Kind, proof.Proof); err != nil {
		return err
	}
	d.recount(one)
	return nil
}
