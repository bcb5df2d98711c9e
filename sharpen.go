package discreet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
)

// A statement that asks for more precision than a stored answer to the same question has pays for the difference, where both can be averaged: books keep the
// salts of such an answer, by which the same rows are kept again. Why it costs no more stands in package ledger (sharpen.go), what is published in
// internal/release (average.go). A salt stands in the books alone: no answer, explanation or history has it.

// averages reports whether the statement can sharpen an answer, and its own be sharpened: it adds up in rho, its noise is of the kind that an average keeps,
// and what is asked again of the same engine finds the same rows.
func (s *Statement) averages() bool {
	planned, db := s.planned, s.db
	d := planned.certificate.Domain
	if d == nil || db.config.Engine == nil || s.question == nil || planned.free || planned.pilot != nil || !s.options.Accuracy.IsZero() || engine.Keeps(db.config.Engine) == "" {
		return false
	}
	m := filter.Measure(d.Measure)
	if slices.ContainsFunc(s.releases, func(r *release.Comparable) bool { return !r.Stored() }) { // nobody reads such an answer in vain
		return false
	}
	return (m == filter.ZCDP || m == filter.RDP) &&
		planned.certificate.Dependent() == nil && len(planned.certificate.Stages) == 0 && planned.design.Averages()
}

// sharpen says in a request what it takes to sharpen stored answers.
func (s *Statement) sharpen(r *ledger.Request) {
	if !s.versioned.Load() || !s.averages() {
		return
	}
	r.Keeps = engine.Keeps(s.db.config.Engine) // of one name the same rows are kept by a salt
	r.Sharpens = func(released []privacy.Event) []privacy.Event {
		rest := s.planned.design.Rest(released)
		if rest == nil {
			return nil
		}
		return rest.Events
	}
	r.Averages = func(answer []byte) bool {
		_, err := s.averaged(answer)
		return err == nil
	}
}

// averaged reads what is kept of an answer that can be sharpened.
func (s *Statement) averaged(stored []byte) (*keptAnswer, error) {
	var k struct {
		Tables []*release.Stored `json:"tables"`
		Salts  []int64           `json:"salts"`
	}
	if isWithheld(stored) {
		return nil, errors.New("read stored release: the answer was withheld")
	}
	if err := json.Unmarshal(stored, &k); err != nil {
		return nil, fmt.Errorf("read stored release: %w", err)
	}
	if n := len(s.planned.design.Releases); len(k.Tables) != n || len(k.Salts) != n {
		return nil, errors.New("read stored release: it has no salts")
	}
	for _, t := range k.Tables {
		if t == nil {
			return nil, errors.New("read stored release: it is not stored")
		}
	}
	return &keptAnswer{Tables: k.Tables, Salts: k.Salts}, nil
}

// sharpened releases what was charged, and returns the average of it and the stored answer, and the statement with the noise that this has.
func (s *Statement) sharpened(ctx context.Context, x *ledger.Sharpened) (*statement, []releasedTable, error) {
	planned := *s.planned
	kept, err := s.averaged(x.Answer)
	if err != nil {
		return &planned, nil, err
	}
	rest, averaged, err := planned.averaged(x)
	if err != nil {
		return &planned, nil, err
	}
	beside, fresh := planned, &keptTables{salts: kept.Salts}
	beside.design = rest
	if _, err := s.db.release(ctx, &beside, s.compiled, fresh); err != nil {
		return &planned, nil, err
	}
	bits, published := entropy.New(), make([]*release.Table, len(fresh.tables))
	for i, t := range fresh.tables {
		if published[i], err = averaged.Average(i, kept.Tables[i], t, bits); err != nil {
			return &planned, nil, err
		}
	}
	planned.design = averaged
	tables, err := planned.tables(published)
	return &planned, tables, err
}

func averageNote(x *ledger.Sharpened) string {
	return fmt.Sprintf("this is the average of what record %d has released and of new noise over the same rows; the new noise alone was charged", x.Reservation)
}

// averaged are the designs of what is released beside a stored answer and of the average.
func (s *statement) averaged(x *ledger.Sharpened) (rest, averaged *release.Design, err error) {
	if rest = s.design.Rest(x.Released); rest == nil {
		return nil, nil, errors.New("average stored release: it has other noise")
	}
	averaged, err = s.design.Averaged(x.Released, rest)
	return rest, averaged, err
}

// explainSharpened says of an explanation what is charged where a stored answer is sharpened.
func (s *Statement) explainSharpened(e *Explanation, found *ledger.Found) (*Explanation, error) {
	planned, x := *s.planned, found.Sharpens
	var err error
	if _, planned.design, err = planned.averaged(x); err != nil {
		return nil, err
	}
	e.Bounds, e.Instead = "", nil // which of both is sharpened is decided
	asked, m := e.Cost, filter.Measure(planned.certificate.Domain.Measure)
	e.Cost = Cost{Amounts: found.Charge, Events: x.Events}
	e.Mechanisms = planned.mechanisms()
	if e.ExpectedError, err = planned.expectedErrors(); err != nil {
		return nil, err
	}
	e.Notes = append(e.Notes, fmt.Sprintf("record %d answers this less precisely: it is sharpened for %v, in place of %v", found.Reservation, remaining(m, found.Charge), remaining(m, asked.Amounts)))
	return e, nil
}
