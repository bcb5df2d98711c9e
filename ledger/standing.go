package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/filter"
)

// A standing is what the chain says of holders and approvals, up to a record: which rules
// hold, what each holder has spent, which statements wait for the owner. It is a function
// of the records alone. The writer keeps one, adds its own records as it appends them, and
// reads those of other processes in the transaction in which it decides; Verify makes
// another from the beginning.
type standing struct {
	seq       int64 // of the last record that was added
	lastRule  int64
	served    []byte                // the digest of the catalog by which a server answers; the last one
	rules     map[string]Rule       // by their keys
	spent     map[held]filter.Total // by holders
	approvals map[int64]*approval   // by their records
	asked     map[string]*approval  // by what they bind: the last one
	pending   map[string]int        // by analysts
}

// held is what a holder has spent of.
type held struct{ holder, domain string }

func newStanding() *standing {
	return &standing{rules: map[string]Rule{}, spent: map[held]filter.Total{}, approvals: map[int64]*approval{}, asked: map[string]*approval{}, pending: map[string]int{}}
}

// add adds one record, the next one or one behind which only such stand as say nothing of
// holders.
func (s *standing) add(r *record, e *entry) error {
	s.seq = r.seq
	switch r.kind {
	case kindRule:
		if e.Rule == nil {
			return fmt.Errorf("%w: record %d is no rule", ErrTampered, r.seq)
		}
		s.lastRule = r.seq
		if e.Rule.Name == catalogRule {
			var word CatalogWord
			if err := json.Unmarshal(e.Rule.Body, &word); err != nil {
				return fmt.Errorf("%w: record %d: %v", ErrTampered, r.seq, err)
			}
			if !word.Accepted {
				s.served = word.Digest
			}
		}
		s.rules[string(r.key)] = *e.Rule
	case kindReserve:
		if e.Charge == nil {
			return fmt.Errorf("%w: record %d charges nothing", ErrTampered, r.seq)
		}
		for _, h := range e.Holders {
			of := held{h, r.domain}
			s.spent[of] = s.spent[of].Add(*e.Charge)
		}
		if r.ref != 0 {
			return s.decide(r.ref, Used, r.seq)
		}
	case kindAsk:
		a := &approval{id: r.seq, analyst: e.Analyst, status: Pending}
		s.approvals[r.seq], s.asked[string(r.key)] = a, a
		s.pending[a.analyst]++
	case kindGrant:
		return s.decide(r.ref, Granted, r.seq)
	case kindDeny:
		return s.decide(r.ref, Denied, r.seq)
	}
	return nil
}

// standingKinds are those that add looks at.
const standingKinds = "('rule', 'reserve', 'ask', 'grant', 'deny')"

// catchUp adds the records after the last one that was added, up to a head.
func (s *standing) catchUp(ctx context.Context, l *Ledger, q records, head int64) error {
	if s.seq >= head {
		return nil
	}
	if err := l.each(ctx, q, "WHERE r.seq > ? AND r.seq <= ? AND r.kind IN "+standingKinds, s.add, s.seq, head); err != nil {
		return err
	}
	s.seq = head
	return nil
}

// warm reads a standing outside of the writer's transaction, the first time that one is
// needed: a long chain takes seconds.
func (l *Ledger) warm(ctx context.Context) error {
	l.warming.Lock()
	defer l.warming.Unlock()
	if l.warmed.Load() {
		return nil
	}
	var head int64
	if err := l.db.QueryRowContext(ctx, "SELECT max(seq) FROM records").Scan(&head); err != nil {
		return storage(err)
	}
	s := newStanding()
	if err := s.catchUp(ctx, l, l.db, head); err != nil {
		return err
	}
	err := l.do(ctx, false, func(context.Context, *batch) error { l.standing = s; return nil })
	l.warmed.Store(err == nil)
	return err
}

// current returns the standing after all records of the batch so far.
func (b *batch) current(ctx context.Context) (*standing, error) {
	if b.l.standing == nil { // it was dropped since warm
		b.l.standing = newStanding()
	}
	if err := b.l.standing.catchUp(ctx, b.l, b.sql, b.head.seq); err != nil {
		b.l.standing = nil
		return nil, b.note(err)
	}
	return b.l.standing, nil
}

// An Allowance is how much of a domain a holder may spend, in the domain's measure: the
// amount that is the measure's own, and a delta; without one, the domain's.
type Allowance struct{ filter.Amounts }

// MarshalJSON writes the amounts that are not zero.
func (a Allowance) MarshalJSON() ([]byte, error) {
	out := map[string]any{}
	for _, p := range a.Positive() {
		out[allowanceNames[p.Name]] = p.Amount
	}
	return json.Marshal(out)
}

// allowanceNames are the names of Amounts in JSON.
var allowanceNames = map[string]string{"epsilon": "epsilon", "delta": "delta", "rho": "rho", "epsilon^2": "epsilon_squared", "renyi": "renyi", "mu^2": "mu_squared"}

// total returns the most that the rule's holder may spend, or nil where the rule is lifted.
func (r Rule) total(d domain) (*filter.Total, error) {
	if r.Lifted() {
		return nil, nil
	}
	var a Allowance
	if err := json.Unmarshal(r.Body, &a.Amounts); err != nil {
		return nil, fmt.Errorf("%s of %s: %w", r.Name, r.Subject, err)
	}
	own := a.In(d.Measure)
	if own[0].Amount.Sign() <= 0 {
		return nil, fmt.Errorf("%s of %s: %w: domain %q is counted in %s, of which it says nothing", r.Name, r.Subject, ErrMeasure, d.ID, own[0].Name)
	}
	if len(a.Positive()) > len(own) || len(a.Positive()) == len(own) && a.Delta.Sign() == 0 && len(own) > 1 {
		return nil, fmt.Errorf("%s of %s: %w: domain %q is counted in %s alone", r.Name, r.Subject, ErrMeasure, d.ID, own[0].Name)
	}
	t := a.Total(d.Measure)
	if a.Delta.Sign() == 0 {
		t.Delta = d.filter.Budget().Delta
	}
	return &t, nil
}

// ErrMeasure: a quota or a limit is not in the measure of its domain.
var ErrMeasure = errors.New("it is in another measure")

// allowed returns what a rule lets a holder spend of a domain, or nil if there is none.
func (s *standing) allowed(name, holder string, d domain) (*filter.Total, error) {
	r, ok := s.rules[string(Rule{Subject: holder, Name: name, Object: d.ID}.key())]
	if !ok {
		return nil, nil
	}
	t, err := r.total(d)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrTampered, err)
	}
	return t, nil
}

// admit refuses a charge that some holder may not spend.
func (s *standing) admit(holders []string, d domain, charge filter.Total) error {
	for _, h := range holders {
		quota, err := s.allowed(QuotaRule, h, d)
		if err != nil {
			return err
		}
		spent := s.spent[held{h, d.ID}]
		if quota != nil && !spent.Add(charge).Within(*quota) {
			return &QuotaError{Holder: h, Domain: d.ID, Measure: d.Measure, Asked: d.filter.Amounts(charge), Left: d.filter.Amounts(spent.Left(*quota))}
		}
	}
	return nil
}

// within refuses a charge that needs an approval.
func (s *standing) within(holders []string, d domain, charge filter.Total) error {
	for _, h := range holders {
		limit, err := s.allowed(LimitRule, h, d)
		if err != nil {
			return err
		}
		if limit != nil && !charge.Within(*limit) {
			return &LimitError{Holder: h, Domain: d.ID, Measure: d.Measure, Asked: d.filter.Amounts(charge), Limit: d.filter.Amounts(*limit)}
		}
	}
	return nil
}

// A Holding is what a holder may spend of a domain, and has spent.
type Holding struct {
	Holder, Domain string
	Measure        filter.Measure
	Spent          filter.Amounts
	// Quota is nil where no rule gives one: the domain's budget alone decides.
	Quota *filter.Amounts
	Left  filter.Amounts // of the quota
	Limit *filter.Amounts
}

// Holding returns what a holder may spend of a domain, after all that is durable now.
func (l *Ledger) Holding(ctx context.Context, holder, of string) (h Holding, err error) {
	defer wrap(&err, "read quota")
	d, err := l.domain(ctx, l.db, of)
	if err != nil {
		return h, err
	}
	if err := l.warm(ctx); err != nil {
		return h, err
	}
	err = l.do(ctx, false, func(ctx context.Context, b *batch) error {
		s, err := b.current(ctx)
		if err != nil {
			return err
		}
		spent := s.spent[held{holder, of}]
		h = Holding{Holder: holder, Domain: of, Measure: d.Measure, Spent: d.filter.Amounts(spent)}
		quota, err := s.allowed(QuotaRule, holder, d)
		if err != nil {
			return err
		}
		limit, err := s.allowed(LimitRule, holder, d)
		if err != nil {
			return err
		}
		if quota != nil {
			q := d.filter.Amounts(*quota)
			h.Quota, h.Left = &q, d.filter.Amounts(spent.Left(*quota))
		}
		if limit != nil {
			a := d.filter.Amounts(*limit)
			h.Limit = &a
		}
		return nil
	})
	return h, err
}

// ErrQuota: the charge fits the domain's budget, and not what a holder may spend of it;
// see QuotaError.
var ErrQuota = errors.New("the quota does not suffice")

// A QuotaError says whose quota did not suffice, what was asked and what it has left. It
// wraps ErrQuota.
type QuotaError struct {
	Holder, Domain string
	Measure        filter.Measure
	Asked, Left    filter.Amounts
}

func (e *QuotaError) Error() string {
	return fmt.Sprintf("domain %q: %s: %v: asked %s, left %s", e.Domain, e.Holder, ErrQuota, amounts(e.Measure, e.Asked), amounts(e.Measure, e.Left))
}

// Unwrap returns ErrQuota.
func (e *QuotaError) Unwrap() error { return ErrQuota }

// ErrLimit: the statement costs more than a holder may spend on one, and no owner has
// granted it; see LimitError.
var ErrLimit = errors.New("the statement needs an owner's approval")

// A LimitError says whose limit it was, what was asked and what the limit is. It wraps
// ErrLimit.
type LimitError struct {
	Holder, Domain string
	Measure        filter.Measure
	Asked, Limit   filter.Amounts
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("domain %q: %s: %v: asked %s, the limit of a statement is %s", e.Domain, e.Holder, ErrLimit, amounts(e.Measure, e.Asked), amounts(e.Measure, e.Limit))
}

// Unwrap returns ErrLimit.
func (e *LimitError) Unwrap() error { return ErrLimit }

// ErrRulesChanged: a rule was recorded after Request.Rules. Nothing was charged; whoever
// looks at the rules again may ask again.
var ErrRulesChanged = errors.New("rules changed since they were looked at")
