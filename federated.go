package discreet

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/additive"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/sqltype"
)

// An Offer is what one holder of a federation says of a statement before anything is charged:
// how its certificate bounds what a unit moves. It is made of declarations alone.
type Offer struct {
	Domain     string `json:"domain"`
	Neighbours string `json:"neighbours"`
	Measure    string `json:"measure"` // in which the domain is charged
	// Elsewhere says that units of the domain may have rows at other holders too.
	Elsewhere bool             `json:"units_elsewhere,omitempty"`
	Releases  []OfferedRelease `json:"releases"`
}

// An OfferedRelease is one release: integers over complete groups, component by component.
type OfferedRelease struct {
	Keys       []OfferedKey       `json:"keys"`
	Groups     int                `json:"groups"`
	MaxGroups  int64              `json:"max_groups_per_unit"`
	MaxRows    int64              `json:"max_rows_per_group"`
	Components []OfferedComponent `json:"components"`
	Aggregates []OfferedAggregate `json:"aggregates"`
}

// An OfferedKey is a key's complete public domain, by its digest.
type OfferedKey struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Values int    `json:"values"`
	Digest []byte `json:"digest"`
}

// An OfferedComponent says what one integer counts, in which unit, and how far a unit moves
// it in a group. Numbers are fractions in decimal.
type OfferedComponent struct {
	Kind     string `json:"kind"`
	Grid     string `json:"grid"`
	ArgGrid  string `json:"argument_grid"`
	Center   string `json:"center"`
	Shift    uint   `json:"shift"`
	PerGroup string `json:"per_group"`
}

// An OfferedAggregate says how an aggregate is computed of components.
type OfferedAggregate struct {
	Function   string `json:"function"`
	Type       string `json:"type"`
	Components []int  `json:"components"`
	Lower      string `json:"lower"`
	Upper      string `json:"upper"`
}

// maxShared bounds the integers of a federated statement: a party gets some 24 bytes of each.
const maxShared = 500_000

// maxDigits bounds the text of a sensitivity in an offer.
const maxDigits = 400

// Offer is what the statement's holder says of it to a federation. It refuses what cannot be
// added up over holders.
func (s *Statement) Offer() (*Offer, error) {
	c := s.planned.certificate
	if len(s.planned.design.Events) == 0 {
		return nil, s.notFederated(diagnostic.Span{}, "the statement asks nothing of private tables",
			"there is nothing to share or to hide", "ask one holder: discreet query without --federation")
	}
	if stage := c.Dependent(); stage != nil {
		return nil, s.notFederated(stage.Plan.Place(), "a release depends on another",
			"the holders would have to release one, and read it, before they share the other", "ask in two statements, and use the first answer as a constant")
	}
	o := &Offer{Domain: c.Domain.ID, Neighbours: c.Domain.Neighbours.String(), Measure: c.Domain.Measure, Elsewhere: c.Domain.UnitsElsewhere}
	values := 0
	for i, r := range c.Releases {
		if len(r.Keys) == 1 && r.Keys[0].Numbered != nil {
			return nil, s.notFederated(r.Span, "the groups are those that public rows name",
				"the holders' public tables may differ, and their groups would be others", "group by keys with a public domain, in a statement of their own")
		}
		if err := s.addsUp(r); err != nil {
			return nil, err
		}
		groups := r.MaxGroups
		if r.Kept { // all rows in one group move the farthest: see stability's Distances
			groups = 1
		}
		out := OfferedRelease{Keys: []OfferedKey{}, Groups: 1, MaxGroups: groups, MaxRows: r.MaxRows, Components: []OfferedComponent{}, Aggregates: []OfferedAggregate{}}
		for j, k := range r.Keys {
			domain := s.compiled.domains[i][j]
			if len(domain) == 0 {
				return nil, s.notFederated(r.Span, "a grouping key's public domain has no values",
					"there would be no group, and nothing to share", "declare the key's values")
			}
			out.Keys = append(out.Keys, OfferedKey{k.Name, k.Expr.Type().String(), len(domain), digestValues(domain)})
			out.Groups *= len(domain) // bounded when the statement was compiled
		}
		for _, comp := range r.Components {
			center := comp.Center
			if center == nil {
				center = new(big.Int)
			}
			out.Components = append(out.Components, OfferedComponent{Kind: componentKinds[comp.Kind], Grid: comp.Grid.RatString(), ArgGrid: comp.ArgGrid.RatString(),
				Center: center.String(), Shift: comp.Shift, PerGroup: comp.PerGroup.String()})
		}
		for _, g := range r.Aggregates {
			a := OfferedAggregate{Function: fmt.Sprint(g.Function), Type: g.Type.String(), Components: g.Components}
			if g.Lower != nil {
				a.Lower, a.Upper = g.Lower.RatString(), g.Upper.RatString()
			}
			out.Aggregates = append(out.Aggregates, a)
		}
		o.Releases = append(o.Releases, out)
		if values += out.Groups * max(1, len(out.Components)); values > maxShared {
			return nil, s.notFederated(r.Span, fmt.Sprintf("the answer would have more than %d noisy values", maxShared),
				"each is shared among the parties by every holder", "group by fewer or coarser keys")
		}
	}
	return o, nil
}

var componentKinds = map[stability.ComponentKind]string{stability.Rows: "rows", stability.Sum: "sum", stability.Squares: "squares",
	stability.PartialSum: "partial sum", stability.Units: "units", stability.Distinct: "distinct values", stability.Tree: "tree"}

func (s *Statement) notFederated(at diagnostic.Span, message, why, hint string) error {
	return refusal(in(diagnostic.New("D240", at, "%s", message).Because("%s", why).Try("%s", hint), s.planned.text))
}

// addsUp refuses a release whose exact values over all holders are not the sums of theirs, or
// whose groups no holder may tell another.
func (s *Statement) addsUp(r *stability.Release) error {
	elsewhere := s.planned.certificate.Domain.UnitsElsewhere
	if r.Private {
		return s.notFederated(r.Span, "a grouping key has no public domain",
			"which groups a holder has is private, and the groups of a federation are the same at each", "each holder declares the key's values as a public domain")
	}
	if r.Chosen {
		return s.notFederated(r.Span, fmt.Sprintf("%s cannot be chosen over holders", chosenColumn(r)),
			"a choice is made by counts that nobody has", "ask for the counts as well: approx_top_count(x, 1)")
	}
	for _, comp := range r.Components {
		switch {
		case comp.Kind == stability.Tree:
			return s.notFederated(r.Span, "a quantile cannot be read over holders",
				"its tree of counts would have to be shared whole", "count by range, GROUP BY width_bucket(x, low, high, n), or ask each holder by itself")
		case comp.Kind == stability.Distinct:
			return s.notFederated(r.Span, "count(DISTINCT ...) cannot be added up over holders",
				"a value that two holders have would count twice", "count rows, or ask each holder by itself")
		case comp.Kind == stability.Units && elsewhere:
			return s.notFederated(r.Span, "units cannot be counted over holders that share them",
				"a unit at two holders would count twice", "count rows, or ask each holder by itself")
		}
	}
	if elsewhere && !rowByRow(r.Input) {
		return s.notFederated(r.Span, "a join of private tables, or a value of a unit's rows together, at holders that share units",
			"no holder has all rows of a unit, so that each would compute something else than the statement says",
			"ask for counts and sums of rows, or ask each holder by itself")
	}
	return nil
}

// rowByRow reports whether each row of a relation comes of one private row and of public ones.
func rowByRow(n plan.Node) bool {
	private := 0
	switch n := n.(type) {
	case *plan.Scan:
		return n.Table.Mapping == nil || !n.Table.Mapping.ByUnit
	case *plan.Aggregate, *plan.Window, *plan.Limit:
		return len(scans(n, nil)) == 0 || !readsPrivate(n)
	case *plan.Join:
		for _, in := range n.Inputs() {
			if readsPrivate(in) {
				private++
			}
		}
	}
	if private > 1 {
		return false
	}
	return !slices.ContainsFunc(n.Inputs(), func(in plan.Node) bool { return !rowByRow(in) })
}

func readsPrivate(n plan.Node) bool {
	if s, ok := n.(*plan.Scan); ok {
		return !s.Table.Public
	}
	return slices.ContainsFunc(n.Inputs(), readsPrivate)
}

// JoinOffers is what the parties' noise has to hide of the holders of these names together.
//
// Theorem. If all rows of a unit lie at one holder, the totals of two neighbouring federations
// differ by what one holder's do: by at most the largest holder's distance. If they may lie at
// several, removing the unit changes each holder's values, and by the triangle inequality the
// totals by at most the sum of their distances, in L1 and in L2. With the most groups of any
// holder as L0, and the largest, or the sum, of what a unit moves in a group, both follow from
// stability.Release's theorem.
//
// Where a unit is replaced, by one at another holder perhaps, what counts is not negative at any
// holder, so that W = M, and its distances M·min(2·L0, G) in L1 and M·√min(2·L0, G) in L2 grow
// with M and with L0: what was said holds of them. A sum's distances just double: its bounds are the
// holder's own, so that W of two holders together can be more than that of each.
//
// It refuses holders whose values mean different things.
func JoinOffers(names []string, offers []*Offer) (*Offer, error) {
	if len(offers) == 0 || len(names) != len(offers) || slices.Contains(offers, nil) {
		return nil, errors.New("join offers: no holder, or one without an offer")
	}
	first := offers[0]
	for i, o := range offers {
		if what := o.differs(first); what != "" {
			return nil, refusal(diagnostic.New("D241", diagnostic.Span{}, "the holders %s and %s do not declare the same", names[0], names[i]).
				Because("they differ in %s, so that their values cannot be added up", what).
				Try("their owners agree on it; bounds of rows and groups may differ"))
		}
	}
	joint := &Offer{Neighbours: first.Neighbours, Measure: first.Measure}
	for _, o := range offers {
		joint.Elsewhere = joint.Elsewhere || o.Elsewhere
	}
	for i := range first.Releases {
		r := first.Releases[i]
		r.Components = slices.Clone(r.Components)
		for j := range r.Components {
			together := new(big.Int)
			for _, o := range offers {
				text := o.Releases[i].Components[j].PerGroup
				if len(text) > maxDigits { // to read it takes time that grows faster than it
					return nil, errors.New("join offers: a sensitivity is too long")
				}
				moved, ok := new(big.Int).SetString(text, 10)
				switch {
				case !ok || moved.Sign() <= 0:
					return nil, errors.New("join offers: a sensitivity is not positive")
				case joint.Elsewhere:
					together.Add(together, moved)
				case moved.Cmp(together) > 0:
					together = moved
				}
			}
			r.Components[j].PerGroup = together.String()
		}
		for _, o := range offers {
			if o.Releases[i].MaxGroups < 1 {
				return nil, errors.New("join offers: a unit counts in no group")
			}
			r.MaxGroups = max(r.MaxGroups, o.Releases[i].MaxGroups)
			r.MaxRows = max(r.MaxRows, o.Releases[i].MaxRows)
		}
		joint.Releases = append(joint.Releases, r)
	}
	return joint, nil
}

// differs names what two offers must agree on and do not; "" if they agree.
func (o *Offer) differs(from *Offer) string {
	switch {
	case o.Neighbours != from.Neighbours:
		return "the neighbouring relation"
	case o.Measure != from.Measure:
		return "the measure of the budget"
	case len(o.Releases) != len(from.Releases):
		return "what is released"
	}
	for i, r := range o.Releases {
		of := from.Releases[i]
		switch {
		case !reflect.DeepEqual(r.Keys, of.Keys) || r.Groups != of.Groups:
			return "the public domain of a grouping key"
		case len(r.Components) != len(of.Components) || !reflect.DeepEqual(r.Aggregates, of.Aggregates):
			return "the bounds or the type of a column that is aggregated"
		}
		for j, c := range r.Components {
			same := of.Components[j]
			same.PerGroup = c.PerGroup // that may differ
			if c != same {
				return "the bounds or the type of a column that is aggregated"
			}
		}
	}
	return ""
}

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
