package discreet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
)

// A statement is also answered from an answer to another one, where that has released all that it asks: other expressions over the
// same releases, some of their aggregates, sums over their groups, groups that a condition on a key picks. Such an answer is made of the
// noisy numbers that books keep beside each answer. What may be made of what stands in internal/stability (made.go), who may be told it in
// package ledger (reuse.go), and when it is as precise as what is asked at remake.

// A made statement is one that an answer to another has released: as it is where it is made of that.
type made struct {
	reservation int64
	statement   *statement
	remade      []*release.Remade
	from        []int // by release, the number of the other's
}

// makes are the ways to make a statement of stored answers: the most precise first, of those the newest.
func (s *Statement) makes(ctx context.Context) (all []*made, err error) {
	planned, db := s.planned, s.db
	if len(s.relations) == 0 || db.config.Ledger == nil {
		return nil, nil
	}
	known, version, err := db.shelf.look(ctx, db.config.Ledger, planned.certificate.Domain.ID)
	if err != nil {
		return nil, err
	}
	s.versioned.Store(version > 0)
	if s.options.Fresh {
		return nil, nil
	}
	tried, left := 0, mostLooked
	for _, a := range slices.Backward(known) {
		if slices.ContainsFunc(s.relations, func(r []byte) bool {
			return !slices.ContainsFunc(a.Relations, func(of []byte) bool { return bytes.Equal(r, of) })
		}) {
			continue
		}
		if tried++; tried > mostTried {
			break
		}
		if _, not := s.unmade.Load(a); not {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("look for stored answers: %w", err)
		}
		of := db.planEarlier(ctx, a)
		if of == nil {
			continue
		}
		before := left
		m, enough := s.remake(of, &left)
		s.looked.Add(int64(before - left))
		if !enough {
			break
		}
		if m == nil {
			s.unmade.Store(a, true)
			continue
		}
		m.reservation = a.Reservation
		all = append(all, m)
	}
	slices.SortStableFunc(all, func(a, b *made) int { return a.variance().Cmp(b.variance()) })
	return all, nil
}

// mostLooked bounds how many groups of stored releases are looked at for one statement, of all answers together.
const mostLooked = 10 * release.MostStored

// remake returns a statement as it is where it is made of what another has released, or nil where it cannot be, or would be less
// precise: a release that both have must have no wider noise, one by one (asPrecise), and a value that is made of
// others no greater variance, no wider interval and no fewer rows than what would be charged. What may cost nothing asks for no precision.
//
// What is told without a look at groups is asked first, of all releases, so that nothing is computed for a statement of which one cannot
// be made. left is how many groups may still be looked at; it is not enough where they are too many.
func (s *Statement) remake(of *replanned, left *int) (m *made, enough bool) {
	ways := make([][]way, len(s.releases))
	for i, r := range s.releases {
		for j, other := range of.releases {
			x := release.Remake(r, other)
			if x == nil || x.Release.Threshold != nil && s.planned.addsUp() { // what is shown has noise that is not 0 in the mean
				continue
			}
			if s.planned.free || x.Same() && asPrecise(other.Events, r.Events) || !x.Same() && x.CutsNoMore(r.Release) && x.MayBePrecise(r.Release) {
				ways[i] = append(ways[i], way{x, j, x.Release.TotalVariance()})
			}
		}
		if len(ways[i]) == 0 {
			return nil, true
		}
		slices.SortStableFunc(ways[i], func(a, b way) int { return a.least.Cmp(b.least) })
	}
	planned := *s.planned
	m = &made{statement: &planned}
	certificate, design := *planned.certificate, *planned.design
	certificate.Releases, design.Releases, design.Events = nil, nil, nil
	for i, r := range s.releases {
		best, enough := s.best(r, ways[i], left)
		if best == nil {
			return nil, enough
		}
		m.remade, m.from = append(m.remade, best.Remade), append(m.from, best.from)
		certificate.Releases, design.Releases = append(certificate.Releases, best.Release.Release), append(design.Releases, best.Release)
	}
	planned.certificate, planned.design, planned.remade = &certificate, &design, m.remade
	return m, true
}

// A way is one to make a release, of one with a number, whose variance is at least so much.
type way struct {
	*release.Remade
	from  int
	least *big.Float
}

// best returns the most precise way to make a release, or nil. Ways come by the variance that they have at least.
func (s *Statement) best(r *release.Comparable, ways []way, left *int) (best *way, enough bool) {
	for i := range ways {
		w := &ways[i]
		if best != nil && w.least.Cmp(best.least) >= 0 {
			break
		}
		if alike := slices.IndexFunc(ways[:i], func(other way) bool { return w.GroupAs(other.Remade) }); alike < 0 {
			if w.Cells() > *left {
				return nil, false
			}
			*left -= w.Cells()
			if !w.Group() {
				continue
			}
		}
		if !s.planned.free && !w.Same() {
			if precise, err := w.AsPrecise(r.Release, s.planned.beta()); err != nil || !precise { // what cannot be compared is not known to be
				continue
			}
		}
		if w.least = w.Release.TotalVariance(); best == nil || w.least.Cmp(best.least) < 0 {
			best = w
		}
	}
	return best, true
}

// variance compares ways to make one statement.
func (m *made) variance() *big.Float {
	sum := new(big.Float)
	for _, x := range m.remade {
		sum.Add(sum, x.Release.TotalVariance())
	}
	return sum
}

// A keptAnswer is what the ledger keeps of an answer.
type keptAnswer struct {
	answerJSON
	Tables []*release.Stored `json:"tables,omitempty"`
	Salts  []int64           `json:"salts,omitempty"` // of an answer that can be sharpened, by release
}

// stored are tables as the ledger keeps them; nil where nothing could be made of them.
func (k *keptTables) stored() (all []*release.Stored) {
	some := false
	for _, t := range k.tables {
		all = append(all, t.Store())
		some = some || all[len(all)-1] != nil
	}
	if !some {
		return nil
	}
	return all
}

// storedTables are the noisy tables beside a stored answer, by release.
type storedTables struct {
	Tables []*release.Stored `json:"tables"`
}

// tables are those of the statement's releases that a stored answer has.
func (m *made) tables(stored []byte) ([]releasedTable, error) {
	if isWithheld(stored) {
		return nil, errors.New("read stored release: the answer was withheld")
	}
	var s storedTables
	if err := json.Unmarshal(stored, &s); err != nil {
		return nil, fmt.Errorf("read stored release: %w", err)
	}
	published := make([]*release.Table, len(m.remade))
	for i, x := range m.remade {
		if m.from[i] >= len(s.Tables) {
			return nil, errors.New("read stored release: it is not stored")
		}
		var err error
		if published[i], err = x.Table(s.Tables[m.from[i]]); err != nil {
			return nil, err
		}
	}
	return m.statement.tables(published)
}

// offer says in a request of which stored answers the statement can be made. The tables of the one that is taken are in made.
func (s *Statement) offer(r *ledger.Request, all []*made, tables *[]releasedTable) {
	r.Makes = func(reservation int64, answer []byte) bool {
		m := wayOf(all, reservation)
		if m == nil {
			return false
		}
		t, err := m.tables(answer)
		*tables = t
		return err == nil
	}
	r.From = nil
	for _, m := range all {
		r.From = append(r.From, m.reservation)
	}
}

func wayOf(all []*made, reservation int64) *made {
	i := slices.IndexFunc(all, func(m *made) bool { return m.reservation == reservation })
	if i < 0 {
		return nil
	}
	return all[i]
}

// answerMade answers the statement by tables that were made for it.
func (s *Statement) answerMade(ctx context.Context, m *made, tables []releasedTable) (*Answer, error) {
	a, err := s.db.answer(ctx, m.statement, s.compiled, tables)
	if errors.Is(err, engine.ErrTooLarge) {
		return nil, tooLarge(boundedBytes+"; nothing was charged", "ask for fewer rows or columns, by LIMIT or HAVING")
	}
	if err != nil {
		return nil, s.db.unavailable(err)
	}
	a.Reused, a.Cost = true, Cost{Events: []privacy.Event{}}
	a.Notes = append(a.Notes, fmt.Sprintf("this is made of what record %d has released on this version of the data; nothing was charged", m.reservation))
	return a, nil
}

// otherWay is a statement that may cost nothing, bounded the other way and no way else. At (ε, δ) the stored answer was bounded by what erred less at
// its own cost, which nobody knows here.
func (s *statement) otherWay() *statement {
	other := *s.instead
	other.instead = nil
	return &other
}

// unpaid refuses a statement that may cost nothing, and that no stored answer serves.
func (s *Statement) unpaid() error {
	why := "no stored answer that may be told has released what the statement asks"
	if s.options.Free {
		if !s.versioned.Load() {
			why = "answers serve others once the owner has declared a version of the data"
		}
		return refusal(in(noneStored(why), s.planned.text))
	}
	_, err := release.NewDesign(s.planned.certificate, release.Options{})
	var d *diagnostic.Diagnostic
	if errors.As(err, &d) && s.versioned.Load() {
		d.Because("%s; and %s", d.Why, why)
	}
	return refusal(in(err, s.planned.text))
}

// noneStored refuses a statement of which was said that it may cost nothing.
func noneStored(why string) *diagnostic.Diagnostic {
	return diagnostic.New("D070", diagnostic.Span{}, "the statement may cost nothing, and no stored answer serves it").
		Because("%s", why).Try("ask at a cost")
}

// madeNotes say by which bounds a release was made that this one is made of.
func madeNotes(x *release.Remade) (notes []string) {
	r := x.Release
	if x.Same() || len(r.Components) == 0 {
		return nil
	}
	bound := "groups here are groups of a release that was made before"
	if x.Most > 1 {
		bound = fmt.Sprintf("a group here is made of up to %d groups of a release that was made before, whose noises add up", x.Most)
	}
	switch {
	case r.OneRow:
	case r.Kept:
		bound += fmt.Sprintf(": each unit counts with at most %s of %s, the same for every statement", diagnostic.Count(max(r.Rows, r.MaxRows), "row"), limitedTables(r.Input)[0].Name)
	case r.MaxRows > 0:
		bound += fmt.Sprintf(": each unit counted in at most %s of those, with at most %s in each", diagnostic.Count(r.MaxGroups, "group"), diagnostic.Count(r.MaxRows, "row"))
	default:
		bound += fmt.Sprintf(": each unit counted in at most %s of those", diagnostic.Count(r.MaxGroups, "group"))
	}
	return []string{bound + "; rows outside of its groups are left out; intervals do not cover what these bounds cut off"}
}
