package discreet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/privacy/plan"
)

// A withheld answer was charged, and is larger than the owner lets one be. The ledger keeps
// what was released in its place: the post-processing may be run on it again, by the same
// statement, for nothing, and gives the answer once the owner lets it be so large.
//
// What is kept is bounded by the noisy values that a statement may release; what a
// post-processing makes of them is not, as where it joins public tables.
type withheld struct {
	Released    []*Answer `json:"released"` // their columns and rows alone
	Cost        Cost      `json:"cost"`
	Fingerprint []byte    `json:"fingerprint"` // of what was asked
	Average     *average  `json:"average,omitempty"`
}

// An average says with what a released one was averaged: of its noise, and of what its cost is for.
type average struct {
	Of     int64           `json:"of"` // the record
	Events []privacy.Event `json:"events"`
}

func (s *Statement) withhold(tables []releasedTable, cost Cost, x *ledger.Sharpened) withheld {
	w := withheld{Released: make([]*Answer, len(tables)), Cost: cost, Fingerprint: s.fingerprint[:]}
	if x != nil {
		w.Average = &average{x.Reservation, x.Released}
	}
	for i, t := range tables {
		w.Released[i] = &Answer{Rows: t.rows}
		for _, c := range t.columns {
			w.Released[i].Columns = append(w.Released[i].Columns, Column{Name: c.Name, Type: c.Type})
		}
	}
	return w
}

// isWithheld tells what a ledger keeps in place of an answer from an answer.
func isWithheld(stored []byte) bool { return bytes.HasPrefix(stored, []byte(`{"released":`)) }

// answerWithheld answers a statement from what was released for it before. Under an
// idempotency key that can be the release of what the same text asked by another catalog:
// with this statement's post-processing and bounds it would make no answer to either. Without
// a key the ledger has found the release by the statement's fingerprint, so that one of an
// older version, which does not name it, is of this statement too.
func (s *Statement) answerWithheld(ctx context.Context, stored []byte, why string) (*Answer, error) {
	var w struct {
		Released []*Answer `json:"released"`
		Cost     struct {
			Cost
			Events []json.RawMessage `json:"events"` // those that the statement's plan has
		} `json:"cost"`
		Fingerprint []byte `json:"fingerprint"`
		Average     *struct {
			Of     int64             `json:"of"`
			Events []json.RawMessage `json:"events"`
		} `json:"average"`
	}
	if err := json.Unmarshal(stored, &w); err != nil {
		return nil, fmt.Errorf("read stored release: %w", err)
	}
	older := len(w.Fingerprint) == 0 && s.options.IdempotencyKey == ""
	if !older && !bytes.Equal(w.Fingerprint, s.fingerprint[:]) {
		return nil, refusal(ledger.ErrIdempotencyKey)
	}
	if len(w.Released) < len(s.planned.certificate.Releases) { // not all was released: see errStage
		return nil, withheldStage()
	}
	tables := make([]releasedTable, len(w.Released))
	for i, r := range w.Released {
		tables[i].rows = r.Rows
		for _, c := range r.Columns {
			tables[i].columns = append(tables[i].columns, engine.Column{Name: c.Name, Type: c.Type})
		}
	}
	planned, notes := *s.planned, []string{why}
	charged := planned.charged(w.Cost.Amounts)
	if w.Average != nil {
		x := &ledger.Sharpened{Reservation: w.Average.Of}
		for _, raw := range w.Average.Events {
			e, err := plan.UnmarshalEvent(raw)
			if err != nil {
				return nil, fmt.Errorf("read stored release: %w", err)
			}
			x.Released = append(x.Released, e)
		}
		rest, averaged, err := planned.averaged(x)
		if err != nil {
			return nil, err
		}
		planned.design, charged.Events, notes = averaged, rest.Events, []string{averageNote(x), why}
	}
	a, err := s.db.answer(ctx, &planned, s.compiled, tables)
	if errors.Is(err, engine.ErrTooLarge) {
		return nil, withheldAnswer()
	}
	if err != nil {
		return nil, s.db.unavailable(err)
	}
	a.Cost = charged
	a.Reused, a.Notes = true, append(a.Notes, notes...)
	return a, nil
}

// notAgain says when a repetition of what was charged is free.
const notAgain = "with an idempotency key, by a server, or on a version of the data that the owner has named, the same statement is not charged again"

func withheldAnswer() error {
	return tooLarge(boundedBytes+"; it was charged once; what was released for it is stored, and "+notAgain,
		"the owner may raise [limits] answer: then the same statement is answered from what is stored. Another one, for fewer rows or columns, is charged anew")
}

func withheldStage() error {
	return tooLarge(errStage.Error()+"; it was charged, and "+notAgain,
		"keep fewer of its groups, by WHERE or HAVING, or group by keys with a public domain: then it is known before the charge")
}

const boundedBytes = "the owner bounds the bytes of an answer"

// tooLarge refuses an answer that is larger than the owner lets one be. How large it is
// follows from what was released and what is public, so that it is no failure for want of
// resources: those may depend on private data, and suspend a domain.
func tooLarge(why, hint string) error {
	return refusal(diagnostic.New("D221", diagnostic.Span{}, "the answer is larger than answers may be").
		Because("%s", why).Try("%s", hint))
}
