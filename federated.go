package discreet

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/additive"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/sqltype"
)

// A Sharing says how parties draw Gaussian noise together, where each adds a share of it: as Gaussian draws, the
// zero Sharing, or as Skellam draws.
type Sharing = mechanism.Sharing

// BySkellam shares Gaussian noise as Skellam draws.
const BySkellam = mechanism.BySkellam

// A Parties says who adds the noise of a federation: so many, of whom so many may collude.
type Parties struct {
	Number int `json:"number"`
	// Colluding is Number − 1 where each party adds the whole noise; with fewer, each adds a share of it.
	Colluding int `json:"colluding"`
	// Shares says how Gaussian noise is shared, where it is.
	Shares Sharing `json:"shares,omitempty"`
}

// A Joint is a statement of a federation as one of its holders answers it: with the noise that
// hides the units of all of them, drawn by parties.
type Joint struct {
	s       *Statement
	offers  []*Offer
	holders []string
	parties Parties
	ring    additive.Ring
}

// Joint designs the statement for a federation, of whose holders there are these offers, and
// for so many parties.
func (s *Statement) Joint(names []string, offers []*Offer, parties Parties) (*Joint, error) {
	if parties.Number < 2 || parties.Number > 100 || parties.Colluding < 1 || parties.Colluding >= parties.Number {
		return nil, errors.New("join federation: want 2 to 100 parties, of whom one to all but one may collude")
	}
	own, err := s.Offer()
	if err != nil {
		return nil, err
	}
	for _, o := range offers {
		if o != nil && len(o.Releases) > len(own.Releases) {
			return nil, errors.New("join federation: an offer has more releases than the statement")
		}
	}
	joint, err := JoinOffers(names, offers)
	if err != nil {
		return nil, err
	}
	if what := own.differs(joint); what != "" {
		return nil, fmt.Errorf("join federation: the offers are of another statement, or catalog: they differ in %s", what)
	}
	planned := *s.planned
	certificate := *planned.certificate
	certificate.Releases = make([]*stability.Release, len(planned.certificate.Releases))
	for i, r := range planned.certificate.Releases {
		wide := *r
		wide.Rows = 0 // another holder's units may have more
		wide.MaxGroups, wide.MaxRows = joint.Releases[i].MaxGroups, joint.Releases[i].MaxRows
		wide.Components = slices.Clone(r.Components)
		for j := range wide.Components {
			c := &wide.Components[j]
			c.PerGroup, _ = new(big.Int).SetString(joint.Releases[i].Components[j].PerGroup, 10)
			switch c.Width = nil; c.Kind {
			case stability.Rows, stability.Units, stability.Squares:
				c.Width = c.PerGroup
			}
		}
		certificate.Releases[i] = &wide
	}
	planned.certificate, planned.instead = &certificate, nil
	options := release.Options{Spend: release.Spend(planned.spend), Weights: s.options.Weights, Apart: true}
	if planned.design, err = release.NewDesign(&certificate, options); err != nil {
		return nil, refusal(in(err, planned.text))
	}
	groups := func(release int) int { return joint.Releases[release].Groups }
	if err := planned.design.Among(parties.Number, parties.Number-parties.Colluding, parties.Shares, filter.Measure(certificate.Domain.Measure), groups); err != nil {
		return nil, refusal(diagnostic.New("D074", diagnostic.Span{}, "the cost cannot be spent: %v", err).Try("have each party add the whole noise: a federation without colluding"))
	}
	reach, err := planned.design.Reach(len(offers))
	if err != nil {
		return nil, err
	}
	j := &Joint{offers: offers, holders: names, parties: parties}
	if j.ring, err = additive.Fit(reach); err != nil {
		return nil, refusal(diagnostic.New("D074", diagnostic.Span{}, "the cost cannot be spent: %v", err).Try("give a cost between 1e-9 and 1000"))
	}
	j.s = &Statement{db: s.db, options: s.options, planned: &planned, compiled: s.compiled}
	record := planned.record(s.compiled)
	if j.s.certificate, err = json.Marshal(record); err != nil {
		return nil, fmt.Errorf("encode certificate: %w", err)
	}
	if j.s.parameters, err = s.db.parameters(&planned, &s.options); err != nil {
		return nil, err
	}
	if j.s.fingerprint, err = planned.fingerprint(record, s.compiled); err != nil {
		return nil, err
	}
	return j, nil
}

// note says what of the noise the mechanisms' scales are.
func (p Parties) note() string {
	if p.Colluding == p.Number-1 {
		return fmt.Sprintf("each of %d parties added noise of the scale stated; intervals are of the noise of all together", p.Number)
	}
	note := fmt.Sprintf("any %d of %d parties together added noise of the scale stated, at least; intervals are of the noise of all together", p.Number-p.Colluding, p.Number)
	if p.Shares == mechanism.BySkellam {
		note += "; where it is Gaussian, it was drawn as Skellam noise, with 3 more of variance in units of the integers"
	}
	return note
}

// A PartyNoise is what each party adds to so many values that follow one another.
type PartyNoise struct {
	Distribution string `json:"distribution"` // "discrete_laplace", "discrete_gaussian" or "skellam"
	// Parameter is the scale of Laplace noise, or the variance of Gaussian or Skellam noise, in units of
	// the integers: a fraction in decimal.
	Parameter string `json:"parameter"`
	Values    int    `json:"values"`
	// Shares is, if not 0, how many parties add what is the whole noise together: of Laplace noise each
	// draws one of so many shares; the variance of Gaussian or Skellam noise is the party's own.
	Shares int `json:"shares,omitempty"`
}

// Noise is what each party has to add, in the order of the shares.
func (j *Joint) Noise() ([]PartyNoise, error) {
	var all []PartyNoise
	for i := range j.s.planned.design.Releases {
		r := &j.s.planned.design.Releases[i]
		for k := range r.Components {
			own, err := r.PartyLaw(k)
			if err != nil {
				return nil, err
			}
			n := PartyNoise{Distribution: r.Noise[k].Name, Values: j.offers[0].Releases[i].Groups}
			if own.Honest > 1 {
				n.Shares = own.Honest
			}
			switch {
			case own.Laplace != nil:
				n.Parameter = own.Laplace.RatString()
			case own.Skellam != nil:
				n.Distribution, n.Parameter = "skellam", own.Skellam.RatString()
			default:
				n.Parameter = own.Gaussian.RatString()
			}
			all = append(all, n)
		}
	}
	return all, nil
}

// Bits is the size of the ring over which values are shared: no total overflows it, but with
// probability 2^-80 for the noise of each value.
func (j *Joint) Bits() int { return j.ring.Bits }

// Explain says what the statement would cost at this holder and be worth, with the noise of all
// parties. It costs nothing and touches no private data. What the holder's engine would run is not
// in it.
func (j *Joint) Explain(ctx context.Context) (*Explanation, error) {
	e, err := j.s.db.explanation(ctx, j.s.planned, j.s.compiled)
	if err != nil {
		return nil, err
	}
	e.EngineSQL, e.Notes = []string{}, append(e.Notes, j.parties.note())
	return e, nil
}

// Cost is what the statement costs at this holder.
func (j *Joint) Cost() (Cost, error) { return j.s.Cost() }

// Domain is the id of the unit domain that pays.
func (j *Joint) Domain() string { return j.s.planned.certificate.Domain.ID }

// Canonical is the statement as it was understood.
func (j *Joint) Canonical() string { return j.s.Canonical() }

// Request is what the ledger is asked to reserve for a task: under its name, so that no task
// is charged twice, and none that was charged and lost is begun again.
func (j *Joint) Request(by Payer, task string) (ledger.Request, error) {
	r := j.s.Request(by)
	r.IdempotencyKey, r.RefuseUnfinished = "federation task "+task, true
	// An approval binds the statement of a federation, which no stored answer is for.
	// It binds with whom, too: other holders or parties are another statement.
	bound, err := json.Marshal(struct {
		Federation []byte
		Holders    []string
		Parties    Parties
	}{j.s.fingerprint[:], j.holders, j.parties})
	if err != nil {
		return r, fmt.Errorf("encode federation: %w", err)
	}
	digest := sha256.Sum256(bound)
	r.Repetition, r.Fresh = digest[:], true
	parameters, err := json.Marshal(struct {
		Parameters json.RawMessage `json:"parameters"`
		Task       string          `json:"federation_task"`
		Holders    []string        `json:"holders"`
		Parties    Parties         `json:"parties"`
	}{r.Parameters, task, j.holders, j.parties})
	if err != nil {
		return r, fmt.Errorf("encode parameters: %w", err)
	}
	r.Parameters = parameters
	return r, nil
}

// A Shared is what a holder hands to the parties, and what that cost.
type Shared struct {
	// Shares are the holder's exact values, a vector for each party, in their order. Any of
	// them but all are independent of the values and uniform.
	Shares    [][]byte
	Cost      Cost
	Remaining Remaining
}

// Share charges this holder's ledger for a task, once and for all, and splits what its engine
// answers. keep makes the shares durable before the ledger says that the task was answered: a
// task whose shares were lost is never answered again.
func (j *Joint) Share(ctx context.Context, by Payer, task string, keep func(*Shared) error) (*Shared, error) {
	db, planned := j.s.db, j.s.planned
	if db.config.Ledger == nil {
		return nil, errors.New("share: the database has no ledger")
	}
	if err := db.config.Catalog.Recheck(); err != nil {
		return nil, refusal(err)
	}
	request, err := j.Request(by, task)
	if err != nil {
		return nil, err
	}
	reservation, err := db.config.Ledger.Reserve(ctx, request)
	if err != nil {
		return nil, refusal(err)
	}
	if reservation.Answer != nil {
		return nil, refusal(fmt.Errorf("share: %w: its shares are gone", ledger.ErrUnfinished))
	}
	out := &Shared{Cost: planned.charged(reservation.Charge), Remaining: remaining(filter.Measure(planned.certificate.Domain.Measure), reservation.Remaining)}
	out.Shares, err = j.split(ctx)
	if err == nil {
		err = keep(out)
	}
	if by.Measured != nil {
		by.Measured()
	}
	if err != nil {
		db.suspend(planned, reservation, by, err)
		return nil, db.unavailable(err)
	}
	stored, err := json.Marshal(&Answer{Columns: planned.columns(), Rows: [][]sqltype.Value{}, Cost: out.Cost, Remaining: out.Remaining, Mechanisms: planned.mechanisms(),
		Notes: []string{"shared with the parties of a federation: this holder has no answer of its own"}, Statement: planned.text})
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	if err := db.config.Ledger.Commit(ctx, reservation, stored); err != nil {
		return nil, fmt.Errorf("commit answer: %w", err)
	}
	return out, nil
}

func (j *Joint) split(ctx context.Context) (_ [][]byte, err error) {
	bits := entropy.New()
	out, salts := make([][]byte, j.parties.Number), setSalts{}
	data, err := engine.Fixed(ctx, j.s.db.config.Engine, j.s.compiled.reads())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	for i, q := range j.s.compiled.queries {
		salt, err := bits.Uint64()
		if err != nil {
			return nil, err
		}
		q.Salt = salts.of(j.s.planned.certificate.Releases[i], int64(salt>>1))
		exact := engine.NewExact(nil)
		r := j.s.planned.design.Releases[i]
		if len(r.Components) > 0 {
			if exact, err = data.Exact(ctx, q); err != nil {
				return nil, err
			}
		}
		shares, err := r.Split(exact, j.s.compiled.domains[i], j.ring, j.parties.Number, bits)
		if err != nil {
			return nil, err
		}
		for p := range out {
			out[p] = append(out[p], shares[p]...)
		}
	}
	return out, nil
}

// Conclude makes the answer of the noisy totals: what the shares of all parties add up to. It
// is post-processing, and costs nothing. cost and left are what was charged where.
func (j *Joint) Conclude(ctx context.Context, totals []byte) (*Answer, error) {
	planned := j.s.planned
	values := 0
	for _, r := range j.offers[0].Releases {
		values += r.Groups * len(r.Components)
	}
	if err := j.ring.Check(totals, values); err != nil {
		return nil, fmt.Errorf("conclude: %w", err)
	}
	noisy, err := j.ring.Lift(totals)
	if err != nil {
		return nil, fmt.Errorf("conclude: %w", err)
	}
	published := make([]*release.Table, len(planned.design.Releases))
	for i := range planned.design.Releases {
		if published[i], noisy, err = planned.design.Releases[i].Totals(j.s.compiled.domains[i], noisy); err != nil {
			return nil, err
		}
	}
	tables, err := planned.tables(published)
	if err != nil {
		return nil, err
	}
	a, err := j.s.db.answer(ctx, planned, j.s.compiled, tables)
	if errors.Is(err, engine.ErrTooLarge) {
		return nil, tooLarge(boundedBytes+"; every holder was charged", "ask for fewer rows or columns")
	}
	if err != nil {
		return nil, j.s.db.unavailable(err)
	}
	if a.Cost, err = j.s.Cost(); err != nil {
		return nil, err
	}
	a.Notes = append(a.Notes, j.parties.note())
	return a, j.s.db.left(ctx, planned, a)
}
