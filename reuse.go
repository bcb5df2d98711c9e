package discreet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/privacy"
)

// An answer of the books serves another statement if both ask the same question, on the same
// version of the data, and the statement asks for no more precision. What that means, who may be
// told, and why it costs nothing stands in package ledger (reuse.go). Here is what two statements have
// in common that ask the same, and when noise is no wider.

// question digests what a statement asks, but for the amounts: all of its fingerprint that does not
// follow from them, and what the ledger guards, so that no answer about other data serves.
func (s *statement) question(r record, c *compiled, guard []byte) ([]byte, error) {
	r.Mechanisms = slices.Clone(r.Mechanisms)
	for i := range r.Mechanisms {
		r.Mechanisms[i].Scale, r.Mechanisms[i].RankBound, r.Mechanisms[i].CountBound, r.Mechanisms[i].Threshold = 0, 0, 0, 0
	}
	f, err := s.digest(r, c, nil, privacy.Delta{}, guard)
	return f[:], err
}

// asPrecise reports whether what was released by some events is in each of its parts as precise as
// by others: the same mechanism at the same sensitivity, by noise that is no wider. It refuses what it does not know.
func asPrecise(released, asked []privacy.Event) bool {
	return slices.EqualFunc(released, asked, func(released, asked privacy.Event) bool {
		switch r := released.(type) {
		case privacy.DiscreteLaplace:
			a, same := asked.(privacy.DiscreteLaplace)
			return same && r.Sensitivity.Cmp(a.Sensitivity) == 0 && r.Scale.Cmp(a.Scale) <= 0
		case privacy.DiscreteGaussian:
			a, same := asked.(privacy.DiscreteGaussian)
			return same && r.SensitivitySquared.Cmp(a.SensitivitySquared) == 0 && r.Variance.Cmp(a.Variance) <= 0
		case privacy.Repeat: // choices of one release
			a, same := asked.(privacy.Repeat)
			return same && r.Count == a.Count && asPrecise([]privacy.Event{r.Event}, []privacy.Event{a.Event})
		case privacy.Exponential: // of the same counts: a larger epsilon tells larger ones better from others
			a, same := asked.(privacy.Exponential)
			return same && r.Epsilon.Cmp(a.Epsilon) >= 0
		case privacy.NoisyMax:
			a, same := asked.(privacy.NoisyMax)
			return same && r.Epsilon.Cmp(a.Epsilon) >= 0
		case privacy.Selection: // a group's chance to be shown falls with neither
			a, same := asked.(privacy.Selection)
			return same && r.Epsilon.Cmp(a.Epsilon) >= 0 && r.Delta.Cmp(a.Delta) >= 0
		}
		return released.String() == asked.String()
	})
}

// serves reports whether an answer to the same question, by its events, serves the statement. What is kept in
// place of an answer that was too large can be read by an equal statement alone.
func (s *Statement) serves(events []privacy.Event, stored []byte) bool {
	if !asPrecise(events, s.planned.design.Events) {
		return false
	}
	if !isWithheld(stored) {
		return true
	}
	var w struct {
		Fingerprint []byte `json:"fingerprint"`
	}
	return json.Unmarshal(stored, &w) == nil && bytes.Equal(w.Fingerprint, s.fingerprint[:])
}

// served reads an answer of the books that serves the statement. It says what was released, by which
// noise and bounds, and nothing of the words in which it was asked for.
func (s *Statement) served(ctx context.Context, stored []byte) (*Answer, error) {
	const why = "the same was asked of this version of the data before: this is the stored answer, as precise as was asked for or more; nothing was charged"
	a, err := s.reuse(ctx, stored, why)
	if err != nil {
		return nil, err
	}
	a.Columns = s.planned.columns()
	a.Notes = append(append(s.planned.notes(), a.unbounded()...), why)
	a.Cost = Cost{Events: []privacy.Event{}}
	return a, nil
}

// ExplainTo is Explain for somebody under whose rules the statement would be charged: it says of a
// statement that the books answer, if whoever asks may be told so, that it costs nothing now.
func (db *Database) ExplainTo(ctx context.Context, sql string, o *QueryOptions, by Payer) (*Explanation, error) {
	if o == nil {
		o = &QueryOptions{}
	}
	p, err := db.prepare(ctx, sql, o)
	if err != nil {
		return nil, refusal(err)
	}
	return db.explainTo(ctx, p, o, by)
}

func (db *Database) explainTo(ctx context.Context, p *statement, o *QueryOptions, by Payer) (*Explanation, error) {
	c, err := db.compile(ctx, p)
	if err != nil {
		return nil, refusal(err)
	}
	e, err := db.explanation(ctx, p, c)
	if err != nil || db.config.Ledger == nil || len(p.design.Events) == 0 || p.pilot != nil || !p.free && (o.Fresh || !o.Repeat && !o.Reuse) {
		return e, err
	}
	s, err := db.finish(&Statement{db: db, options: *o, planned: p, compiled: c})
	if err != nil {
		return nil, err
	}
	ways, err := s.makes(ctx)
	if err != nil {
		return nil, err
	}
	r := s.Request(by)
	var tables []releasedTable
	s.offer(&r, ways, &tables)
	s.sharpen(&r)
	found, err := db.config.Ledger.Free(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("look for a stored answer: %w", err)
	}
	switch {
	case found == nil && p.free && p.instead != nil:
		return db.explainTo(ctx, p.otherWay(), o, by)
	case found == nil && p.free:
		return nil, s.unpaid()
	case found == nil:
		return e, nil
	case found.Sharpens != nil:
		return s.explainSharpened(e, found)
	case !found.Made:
		e.Reused = true
		e.Notes = append(e.Notes, "an answer to this is stored, as precise or more: asked now it costs nothing")
		return e, nil
	}
	m := wayOf(ways, found.Reservation)
	e.Bounds, e.Instead = "", nil
	e.Reused, e.Mechanisms = true, m.statement.mechanisms()
	if p.free { // nothing else would be released, nor asked of an engine
		e.EngineSQL, e.StageSQL = []string{}, nil
		for i := range e.Certificate.Releases {
			e.Certificate.Releases[i].Words = []string{fmt.Sprintf("it is made of noisy values that record %d has released, and of nothing else: it reveals nothing that they do not", m.reservation)}
		}
	}
	if e.ExpectedError, err = m.statement.expectedErrors(); err != nil {
		return nil, err
	}
	e.Notes = append(m.statement.notes(), fmt.Sprintf("record %d has released all of this, as noise, error and these notes say: asked now it costs nothing", m.reservation))
	return e, nil
}
