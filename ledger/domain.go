package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

func (l *Ledger) loadDomains(ctx context.Context) error {
	rows, err := l.db.QueryContext(ctx, "SELECT "+columns+" FROM records r WHERE r.kind = 'domain'")
	if err != nil {
		return storage(err)
	}
	defer rows.Close()
	for rows.Next() {
		r, err := l.chain.scan(rows)
		if err != nil {
			return err
		}
		d, err := r.asDomain()
		if err != nil {
			return err
		}
		l.domains[d.ID] = d
	}
	return storage(rows.Err())
}

// asDomain returns the domain that r enters.
func (r *record) asDomain() (domain, error) {
	e, err := r.entry()
	if err != nil {
		return domain{}, err
	}
	if e.Budget == nil || e.Budget.ID != r.domain {
		return domain{}, fmt.Errorf("%w: record %d enters no domain", ErrTampered, r.seq)
	}
	f, err := e.Budget.filter()
	if err != nil {
		return domain{}, fmt.Errorf("%w: record %d: %v", ErrTampered, r.seq, err)
	}
	d := *e.Budget
	d.Guards = nil // they may change: the last record tells
	return domain{d, f}, nil
}

// domain returns a domain's budget: from memory, since it never changes, or,
// where it was added after this Ledger was opened, from its record.
func (l *Ledger) domain(ctx context.Context, q querier, id string) (domain, error) {
	if d, ok := l.domains[id]; ok {
		return d, nil
	}
	r, err := l.chain.scan(q.QueryRowContext(ctx, "SELECT "+columns+" FROM records r WHERE r.domain = ? AND r.kind = 'domain'", id))
	if errors.Is(err, sql.ErrNoRows) {
		return domain{}, fmt.Errorf("domain %q: %w", id, ErrUnknownDomain)
	} else if err != nil {
		return domain{}, err
	}
	return r.asDomain()
}

// lastState returns the state after a domain's last record.
func (c chain) lastState(ctx context.Context, q querier, id string) (*state, error) {
	r, err := c.last(ctx, q, id)
	if err != nil {
		return nil, err
	}
	return r.state()
}

// lastOfDomain finds a domain's last record.
const lastOfDomain = "SELECT " + columns + " FROM records r WHERE r.domain = ? ORDER BY r.seq DESC LIMIT 1"

// last returns a domain's last record.
func (c chain) last(ctx context.Context, q querier, id string) (*record, error) {
	r, err := c.scan(q.QueryRowContext(ctx, lastOfDomain, id))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("%w: domain %q has no records", ErrTampered, id)
	}
	return r, err
}

// state returns the state after a record of a domain.
func (r *record) state() (*state, error) {
	e, err := r.entry()
	if err != nil {
		return nil, err
	}
	if e.State == nil {
		return nil, fmt.Errorf("%w: record %d has no state", ErrTampered, r.seq)
	}
	return e.State, nil
}
