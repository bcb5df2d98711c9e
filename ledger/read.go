package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/privacy/plan"
)

// A Balance is what a domain has and has spent.
type Balance struct {
	DomainBudget
	// Limit is the budget in the terms of its measure: for zcdp, the rho that
	// epsilon and delta allow, and the delta of selection; and so on.
	Limit, Spent, Remaining filter.Amounts
	Order                   *big.Rat // of rdp; nil with other measures
	Uncommitted             int64    // reservations without an answer: spent all the same
	Suspended               bool

	filter filter.Filter
	left   filter.Total
}

// Implies returns what Remaining amounts to in the measures that it is valid in: as
// (epsilon, delta), and as rho where the measure implies zCDP.
func (b Balance) Implies() (filter.Amounts, error) { return b.filter.Implies(b.left) }

// Balance returns a domain's balance, after all that is durable now.
func (l *Ledger) Balance(ctx context.Context, id string) (_ Balance, err error) {
	defer wrap(&err, "read balance")
	d, err := l.domain(ctx, l.db, id)
	if err != nil {
		return Balance{}, err
	}
	last, err := l.chain.last(ctx, l.reads, id)
	if err != nil {
		return Balance{}, err
	}
	if known, ok := l.balances.Load(id); ok && known.(*balanced).at == last.hash {
		return known.(*balanced).Balance, nil
	}
	s, err := last.state()
	if err != nil {
		return Balance{}, err
	}
	f := d.filter
	left := s.Spent.Left(f.Budget())
	order, _ := filter.Order(f)
	b := Balance{DomainBudget: d.DomainBudget, Order: order, Limit: f.Amounts(f.Budget()), Spent: f.Amounts(s.Spent),
		Remaining: f.Amounts(left), Uncommitted: s.Uncommitted, Suspended: s.Suspended, filter: f, left: left}
	l.balances.Store(id, &balanced{b, last.hash})
	return b, nil
}

// balanced is a domain's balance after a record: read from it once, as it is asked for with
// every statement. The record's hash is that of the chain up to it.
type balanced struct {
	Balance
	at digest
}

// Domains returns the domains in the order in which they were entered.
func (l *Ledger) Domains(ctx context.Context) (_ []DomainBudget, err error) {
	defer wrap(&err, "read domains")
	var out []DomainBudget
	err = l.each(ctx, l.db, "WHERE r.kind = 'domain'", func(r *record, e *entry) error {
		d, err := r.asDomain()
		out = append(out, d.DomainBudget)
		return err
	})
	return out, err
}

// An Entry is one record, for the owner to read.
type Entry struct {
	Seq         int64
	Kind        string // create, anchor, moved, arrived, domain, guard, reserve, commit, suspend, acknowledge, access, version, rule, ask, grant, deny
	Time        time.Time
	Domain      string
	User        *User // of the operating system, that wrote the record; nil if it is not known
	Analyst     string
	Statement   string
	Parameters  json.RawMessage
	Certificate json.RawMessage
	Events      []privacy.Event
	Delta       privacy.Delta
	Charge      filter.Amounts
	Spent       filter.Amounts // by the domain, after this record
	Reservation int64          // that a commit or a suspension is about
	Sharpens    int64          // of a reservation: the one whose answer its answer is averaged with; 0: none
	Precision   *Precision     // of a reservation that sharpens: what its answer serves as
	Committed   bool           // of a reservation: its answer is stored
	Note        string
	Why         string    // of a version: the owner's reason
	Guards      []Guarded // of a domain or a guard: what is guarded from here on
	Holders     []string  // of a reservation: whose quotas it counts against
	Rule        *Rule     // of a rule
	Approval    int64     // of a reservation, a grant or a denial: the approval's record
	Canonical   string    // of an ask: what the owner is shown
	Hash        []byte    // of the chain, after this record
}

// A Precision is that of an average: of an answer that is charged so much, released by such events.
type Precision struct {
	Charge filter.Amounts  `json:"charge"`
	Events []privacy.Event `json:"events"`
}

// History returns all records, the oldest first.
func (l *Ledger) History(ctx context.Context) (_ []Entry, err error) {
	defer wrap(&err, "read history")
	var out []Entry
	at := map[int64]int{} // where the reservations are
	err = l.each(ctx, l.db, "", func(r *record, e *entry) error {
		h, err := l.told(ctx, r, e)
		if err != nil {
			return err
		}
		switch i, known := at[r.ref]; {
		case r.kind == kindReserve:
			at[r.seq] = len(out)
		case r.kind == kindCommit && known:
			out[i].Committed, h.Time = true, out[i].Time
		}
		out = append(out, h)
		return nil
	})
	return out, err
}

// told is a record, for the owner to read. It does not know whether it has a commit.
func (l *Ledger) told(ctx context.Context, r *record, e *entry) (h Entry, err error) {
	h = Entry{Seq: r.seq, Kind: r.kind, Time: e.Time, Domain: r.domain, User: e.User, Analyst: e.Analyst, Statement: e.Statement,
		Parameters: e.Parameters, Certificate: e.Certificate, Delta: e.Delta, Reservation: r.ref, Sharpens: e.Sharpens, Note: e.Note, Why: e.Why,
		Holders: e.Holders, Rule: e.Rule, Canonical: e.Canonical, Hash: r.hash[:]}
	if r.domain != "" && e.State != nil {
		d, err := l.domain(ctx, l.db, r.domain)
		if err != nil {
			return h, err
		}
		h.Spent = d.filter.Amounts(e.State.Spent)
		if e.Charge != nil {
			h.Charge = d.filter.Amounts(*e.Charge)
		}
		if p := e.Precision; p != nil {
			h.Precision = &Precision{Charge: d.filter.Amounts(p.Charge)}
			if h.Precision.Events, err = e.released(); err != nil {
				return h, fmt.Errorf("%w: record %d: %v", ErrTampered, r.seq, err)
			}
		}
	}
	switch r.kind {
	case kindReserve, kindGrant, kindDeny:
		h.Reservation, h.Approval = 0, r.ref
	case kindAsk:
		d, err := l.domain(ctx, l.db, e.Domain)
		if err != nil {
			return h, err
		}
		h.Domain = e.Domain
		if e.Charge != nil {
			h.Charge = d.filter.Amounts(*e.Charge)
		}
	}
	if e.Budget != nil {
		h.Guards = e.Budget.Guards
	}
	if h.Events, err = e.events(); err != nil {
		return h, fmt.Errorf("%w: record %d: %v", ErrTampered, r.seq, err)
	}
	return h, nil
}

func (e *entry) events() ([]privacy.Event, error) {
	return decoded(e.Events)
}

func decoded(events []json.RawMessage) ([]privacy.Event, error) {
	var out []privacy.Event
	for _, data := range events {
		event, err := plan.UnmarshalEvent(data)
		if err != nil {
			return nil, err
		}
		out = append(out, event)
	}
	return out, nil
}

// records is what all records can be read from.
type records interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}

// together is how many records one statement reads. A statement ends before anybody looks at what
// it has read: a database gives each a time, which must be enough for a ledger of any length on a
// machine with any other work.
const together = 256

// answersTogether is the same of records with their answers, which may be long.
const answersTogether = 16

// each calls f with every record that a condition picks, in order.
//
// It reads them in pages, each of which may see a later state than the one before. Together they
// are one state all the same, that of the last page: records are appended one after the other, none
// is changed, and no page begins before a record that another has passed.
func (l *Ledger) each(ctx context.Context, q records, where string, f func(*record, *entry) error, args ...any) error {
	if where == "" {
		where = "WHERE TRUE"
	}
	text := "SELECT " + columns + " FROM records r " + where + " AND r.seq > ? ORDER BY r.seq LIMIT ?"
	for last := int64(0); ; {
		page, err := l.read(ctx, q, text, append(slices.Clip(args), last, together)...)
		if err != nil {
			return err
		}
		for _, r := range page {
			l.decoded.Add(1)
			e, err := r.entry()
			if err != nil {
				return err
			}
			if err := f(r, e); err != nil {
				return err
			}
			last = r.seq
		}
		if len(page) < together {
			return nil
		}
	}
}

// read reads the records of one statement, and checks their hashes.
func (l *Ledger) read(ctx context.Context, q records, text string, args ...any) (page []*record, err error) {
	rows, err := q.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, storage(err)
	}
	defer rows.Close()
	for rows.Next() {
		r, err := l.chain.scan(rows)
		if err != nil {
			return nil, err
		}
		page = append(page, r)
	}
	return page, storage(rows.Err())
}
