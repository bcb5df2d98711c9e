package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
)

// A request that no answer serves may need less than all that it asks: an answer to the same question on the same version,
// which is less precise, and noise beside it. Then it is charged what is released now, and what it is answered is made
// of both. The theorem is adaptive composition: what was released before was charged for, in its own record, whoever paid, and what is released now is charged in this one,
// whatever is made of them (Bun and Steinke 2016, Lemma 2.3; of Rényi curves Mironov 2017, Proposition 1). Two who sharpen one answer at a time have released two
// things beside it, and both are charged.
//
// Who asks says what has to be released (Request.Sharpens). It is found and charged in one transaction, so that no version begins between them. A
// limit is held against what the request asks as a whole, and against what was charged for the answer; whoever is over one, approved or not, gets what there would be without the answer.
//
// What is released now has to be of the version that the answer is of. Rows are read after the charge, so that the average is committed only where no version was
// declared since (Commit): what is charged stays charged, as for any answer that does not come. No privacy depends on that, but what an average says does.

// mostAveraged bounds how many answers are read, under the lock, until one can be averaged.
const mostAveraged = 5

// precision is what an average serves as: an answer that was charged so much, released by such events.
type precision struct {
	Charge filter.Total      `json:"charge"`
	Events []json.RawMessage `json:"events"`
}

// precision is what a reservation's answer serves and is held against limits as; nil where nothing was charged.
func (e *entry) precision() *filter.Total {
	if e.Precision != nil {
		return &e.Precision.Charge
	}
	return e.Charge
}

// released are the events of what the answer says.
func (e *entry) released() ([]privacy.Event, error) {
	if e.Precision != nil {
		return decoded(e.Precision.Events)
	}
	return e.events()
}

// A Sharpened answer is a stored one that is averaged with what is released now.
type Sharpened struct {
	Reservation int64
	Released    []privacy.Event // its own events
	Events      []privacy.Event // what is released now
	Answer      []byte
}

// sharper is what a request is charged in place of all that it asks.
type sharper struct {
	Sharpened
	prepared
}

// sharpened finds the stored answer that it costs least to sharpen to what a request asks; nil where there is none.
func (b *batch) sharpened(ctx context.Context, r Request, d domain, p prepared) (*sharper, error) {
	if r.Sharpens == nil || r.Averages == nil || r.Keeps == "" || r.Question == nil || r.Fresh || r.Free || r.IdempotencyKey != "" || b.l.format < formatOfAverages {
		return nil, nil
	}
	found, err := b.l.read(ctx, b.sql, answersOf, question(r.Domain, r.Question), maxServing)
	if err != nil || len(found) == 0 {
		return nil, b.note(err)
	}
	s, err := b.abide(ctx, r)
	if err != nil { // refused where it would be without an answer
		return nil, b.failed
	}
	if s != nil && s.within(r.Holders, d, p.charge) != nil {
		return nil, nil
	}
	var all []*sharper
	for _, of := range found {
		e, err := of.entry()
		if err != nil {
			return nil, b.note(err)
		}
		if e.Keeps != r.Keeps || e.Charge == nil || e.Request != nil || e.Precision != nil || s != nil && s.within(r.Holders, d, *e.Charge) != nil { // an average has other noise than its events say
			continue
		}
		events, err := e.events()
		if err != nil {
			return nil, b.note(err)
		}
		next := &sharper{Sharpened{Reservation: of.seq, Released: events, Events: r.Sharpens(events)}, p}
		if len(next.Events) == 0 {
			continue
		}
		if err := next.price(next.Events, r.Delta, d.filter, false); err != nil { // what cannot be charged is not released
			continue
		}
		if next.charge.Within(p.charge) && !next.charge.Equal(p.charge) {
			all = append(all, next)
		}
	}
	slices.SortStableFunc(all, func(a, b *sharper) int {
		switch {
		case a.charge.Equal(b.charge):
			return 0
		case a.charge.Within(b.charge):
			return -1
		}
		return 1
	})
	for _, x := range all[:min(len(all), mostAveraged)] {
		commit, answer, err := b.l.chain.stored(b.sql.QueryRowContext(ctx, "SELECT "+columns+", coalesce(r.answer, '') FROM records r WHERE r.kind = 'commit' AND r.ref = ?", x.Reservation))
		if err != nil {
			return nil, b.note(err)
		}
		if commit != nil && r.Averages(answer) {
			b.shown = max(b.shown, commit.seq)
			x.Answer = answer
			return x, nil
		}
	}
	return nil, nil
}

// noVersionSince refuses with ErrVersion where a version was declared after a record.
func (b *batch) noVersionSince(ctx context.Context, seq int64) error {
	var version int64
	if err := b.sql.QueryRowContext(ctx, lastVersion).Scan(&version); err != nil {
		return b.note(storage(err))
	}
	if version > seq {
		return fmt.Errorf("%w, by record %d", ErrVersion, version)
	}
	return nil
}

// A keptAnswer is what Verify knows of a reservation on the current version whose answer can be sharpened.
type keptAnswer struct {
	key      []byte // of its question
	keeps    string
	events   []privacy.Event
	charge   filter.Total
	answered bool
}

// sharpens checks what a reservation says of the answer that it sharpens: when it was made, its books had that answer to the same question on the same version, of rows that are
// kept alike, and whoever asked might be told both; and the average is as precise as the noise of both makes it.
func (v *verifier) sharpens(r *record, e *entry, d domain, now []privacy.Event) error {
	if e.Sharpens == 0 && e.Precision == nil {
		if v.version != 0 && e.Keeps != "" && e.Question != nil && e.Request == nil {
			v.kept[r.seq] = &keptAnswer{key: r.key, keeps: e.Keeps, events: now, charge: *e.Charge}
		}
		return nil
	}
	of := v.kept[e.Sharpens]
	if of == nil || !of.answered || e.Precision == nil || e.Request != nil || e.Keeps != of.keeps || !bytes.Equal(r.key, of.key) || v.l.format < formatOfAverages {
		return errors.New("it sharpens no answer to its question")
	}
	asked, err := e.released()
	if err != nil {
		return err
	}
	charge, err := d.filter.Charge(asked, e.Delta)
	if err != nil {
		return err
	}
	if !charge.Equal(e.Precision.Charge) {
		return errors.New("what it serves as does not cost what it says")
	}
	if !averages(of.events, now, asked) {
		return errors.New("its average is of another precision than it says")
	}
	if err := v.standing.within(e.Holders, d, charge); err != nil {
		return err
	}
	return v.standing.within(e.Holders, d, of.charge)
}

// averages reports whether the averages of what two lists of events release, each number weighted by one over the variance of its noise, have the noise
// of a third list: all of it discrete Gaussian, at one sensitivity, with variances u, v and w of which 1/w = 1/u + 1/v. Then the third costs in rho what the others do together
// (the theorem stands in internal/release, average.go).
func averages(released, now, asked []privacy.Event) bool {
	if len(asked) == 0 || len(released) != len(asked) || len(now) != len(asked) {
		return false
	}
	for i := range asked {
		u, first := released[i].(privacy.DiscreteGaussian)
		v, second := now[i].(privacy.DiscreteGaussian)
		w, third := asked[i].(privacy.DiscreteGaussian)
		if !first || !second || !third || u.SensitivitySquared.Cmp(w.SensitivitySquared) != 0 || v.SensitivitySquared.Cmp(w.SensitivitySquared) != 0 {
			return false
		}
		both := new(big.Rat).Inv(u.Variance)
		if both.Add(both, new(big.Rat).Inv(v.Variance)).Cmp(new(big.Rat).Inv(w.Variance)) != 0 {
			return false
		}
	}
	return true
}
