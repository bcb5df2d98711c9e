package discreet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// A statement is also answered from an answer to another one, where that has released all that it asks: other expressions over the
// same releases, some of their aggregates, sums over their groups, groups that a condition on a key picks. Such an answer is made of the
// noisy numbers that books keep beside each answer. What may be made of what stands in internal/stability (made.go), who may be told it in
// package ledger (reuse.go), and when it is as precise as what is asked at remake.

// A shelf knows the statements of the current version whose answers may serve others. It only finds them: each
// is planned again by its text, and is believed if that gives the question and the events that the ledger has of it.
type shelf struct {
	mu      sync.Mutex
	version int64
	domains map[string]*earlierOf
}

// earlierOf are a domain's, the newest last.
type earlierOf struct {
	last int64 // the newest record that was looked at
	all  []*earlier
}

type earlier struct {
	ledger.Asked
	compared atomic.Pointer[replanned] // nil until that has come to its end
}

// replanned is a statement as it was planned again.
type replanned struct {
	planned  *statement // nil if it is another now
	compiled *compiled
}

const (
	mostAsked = 200 // how many statements are known, the newest
	mostTried = 20  // of how many of the same relations an answer may be made, the newest
)

// look returns the statements that were charged to a domain on the current version, the newest last, and which record began it;
// 0 where the owner has declared none.
func (f *shelf) look(ctx context.Context, l *ledger.Ledger, domain string) ([]*earlier, int64, error) {
	f.mu.Lock()
	after := f.of(domain).last
	f.mu.Unlock()
	found, last, version, err := l.Asked(ctx, domain, after, mostAsked)
	if err != nil {
		return nil, 0, fmt.Errorf("look for stored answers: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if version > f.version {
		f.version, f.domains = version, nil
	}
	of := f.of(domain)
	for _, a := range slices.Backward(found) {
		if version == f.version && a.Reservation > of.last { // nobody else has found it meanwhile
			of.all = append(of.all, &earlier{Asked: a})
		}
	}
	if version == f.version {
		of.last = max(of.last, last)
	}
	if n := len(of.all) - mostAsked; n > 0 {
		of.all = slices.Clone(of.all[n:])
	}
	return of.all[:len(of.all):len(of.all)], version, nil
}

// of are a domain's statements. The shelf is locked.
func (f *shelf) of(domain string) *earlierOf {
	if f.domains == nil {
		f.domains = map[string]*earlierOf{}
	}
	if f.domains[domain] == nil {
		f.domains[domain] = &earlierOf{}
	}
	return f.domains[domain]
}

// planEarlier plans a statement again as it was asked; nil if it is another now. What failed, such as for a request that was cancelled, is tried
// again for the next.
func (db *Database) planEarlier(ctx context.Context, a *earlier) (*statement, *compiled) {
	known := a.compared.Load()
	if known == nil {
		planned, c, err := db.again(ctx, a.Asked)
		if err != nil || planned.certificate.Domain == nil {
			return nil, nil
		}
		question, err := planned.question(planned.record(c), c, db.guards[planned.certificate.Domain.ID])
		if err != nil {
			return nil, nil
		}
		known = &replanned{}
		same := slices.EqualFunc(planned.design.Events, a.Events, func(x, y privacy.Event) bool { return x.String() == y.String() })
		if same && bytes.Equal(question, a.Question) {
			known.planned, known.compiled = planned, c
		}
		a.compared.Store(known)
	}
	return known.planned, known.compiled
}

// again plans what the ledger has of a statement, by today's catalog.
func (db *Database) again(ctx context.Context, a ledger.Asked) (*statement, *compiled, error) {
	var p parameterRecord
	if err := json.Unmarshal(a.Parameters, &p); err != nil {
		return nil, nil, fmt.Errorf("read parameters: %w", err)
	}
	o := &QueryOptions{Spend: Spend{p.Epsilon, p.Delta, p.Rho}, Consistent: p.Consistent, Together: p.Together, NoDefault: true}
	number := func(text string) (*big.Rat, error) {
		r, ok := new(big.Rat).SetString(text)
		if !ok {
			return nil, errors.New("read parameters: no number")
		}
		return r, nil
	}
	confidence, err := number(p.Confidence)
	if err != nil {
		return nil, nil, err
	}
	o.Confidence, _ = confidence.Float64()
	for _, w := range p.Weights {
		weight, err := number(w)
		if err != nil {
			return nil, nil, err
		}
		o.Weights = append(o.Weights, weight)
	}
	for _, v := range p.Values {
		of := Parameter{Array: v.Array, Text: v.Text}
		if v.Type != "" {
			if of.Type, err = sqltype.Parse(v.Type); err != nil {
				return nil, nil, err
			}
		}
		o.Parameters = append(o.Parameters, of)
	}
	whole := db.Only(nil)
	planned, err := whole.prepare(a.Statement, o)
	if err != nil { // its text may say what it costs
		o.Spend = Spend{}
		if planned, err = whole.prepare(a.Statement, o); err != nil {
			return nil, nil, err
		}
	}
	c, err := whole.compile(ctx, planned)
	return planned, c, err
}

// relations are digests of the relations that a statement's releases aggregate; nil where no answer of another may serve, nor its own
// another.
func (s *statement) relations() (all [][]byte) {
	for _, r := range s.certificate.Releases {
		relation := r.Relation()
		if relation == "" {
			return nil
		}
		digest := sha256.Sum256([]byte(relation))
		if !slices.ContainsFunc(all, func(known []byte) bool { return bytes.Equal(known, digest[:16]) }) {
			all = append(all, digest[:16])
		}
	}
	return all
}

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
	tried := 0
	for _, a := range slices.Backward(known) {
		if slices.ContainsFunc(s.relations, func(r []byte) bool {
			return !slices.ContainsFunc(a.Relations, func(of []byte) bool { return bytes.Equal(r, of) })
		}) {
			continue
		}
		if tried++; tried > mostTried {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("look for stored answers: %w", err)
		}
		of, c := db.planEarlier(ctx, a)
		if of == nil {
			continue
		}
		if m := s.remake(of, c); m != nil {
			m.reservation = a.Reservation
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(a, b *made) int { return a.variance().Cmp(b.variance()) })
	return all, nil
}

// remake returns a statement as it is where it is made of what another has released, or nil where it cannot be, or would be less
// precise: a release that both have must have no wider noise, one by one (asPrecise), and a value that is made of
// others no greater variance, no wider interval and no fewer rows than what would be charged. What may cost nothing asks for no precision.
func (s *Statement) remake(of *statement, c *compiled) *made {
	planned := *s.planned
	m := &made{statement: &planned}
	certificate, design := *planned.certificate, *planned.design
	certificate.Releases, design.Releases, design.Events = nil, nil, nil
	for i := range s.planned.design.Releases {
		r := &s.planned.design.Releases[i]
		var best *release.Remade
		from := 0
		for j := range of.design.Releases {
			other := &of.design.Releases[j]
			x := release.Remake(r, other, s.compiled.domains[i], c.domains[j])
			if x == nil || x.Release.Threshold != nil && s.planned.addsUp() { // what is shown has noise that is not 0 in the mean
				continue
			}
			if !s.planned.free {
				precise := x.Same() && asPrecise(other.Events, r.Events)
				if !x.Same() {
					var err error
					precise, err = x.AsPrecise(r, s.planned.beta())
					precise = precise && err == nil && x.CutsNoMore(r) // what cannot be compared is not known to be
				}
				if !precise {
					continue
				}
			}
			if best == nil || x.Release.TotalVariance().Cmp(best.Release.TotalVariance()) < 0 {
				best, from = x, j
			}
		}
		if best == nil {
			return nil
		}
		m.remade, m.from = append(m.remade, best), append(m.from, from)
		certificate.Releases, design.Releases = append(certificate.Releases, best.Release.Release), append(design.Releases, best.Release)
	}
	planned.certificate, planned.design, planned.remade = &certificate, &design, m.remade
	return m
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

// freely returns the way in which a request would be answered now from what was released for another; nil where there is none.
func (s *Statement) freely(ctx context.Context, r ledger.Request) (*made, error) {
	ways, err := s.makes(ctx)
	if err != nil {
		return nil, err
	}
	var tables []releasedTable
	for _, m := range ways {
		s.offer(&r, []*made{m}, &tables)
		r.Question, r.Repetition = nil, nil
		free, err := s.db.config.Ledger.Free(ctx, r)
		if err != nil {
			return nil, fmt.Errorf("look for a stored answer: %w", err)
		}
		if free {
			return m, nil
		}
	}
	return nil, nil
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
		bound += fmt.Sprintf(": each unit counts with at most %s of %s, the same for every statement", count(r.Rows, "row"), limitedTables(r.Input)[0].Name)
	case r.MaxRows > 0:
		bound += fmt.Sprintf(": each unit counted in at most %s of those, with at most %s in each", count(r.MaxGroups, "group"), count(r.MaxRows, "row"))
	default:
		bound += fmt.Sprintf(": each unit counted in at most %s of those", count(r.MaxGroups, "group"))
	}
	return []string{bound + "; rows outside of its groups are left out; intervals do not cover what these bounds cut off"}
}
