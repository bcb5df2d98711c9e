package ledger

import (
	"context"
	"errors"

	"github.com/discreet-dp/discreet/filter"
)

// Register charges a request and stores its answer in one transaction, for an answer
// that is known before: what does not come of private data, such as the name of what
// was paid for. When it returns nil, both are on stable storage and on the anchor.
//
// With an idempotency key it is a register that is written once: the first request
// with the key is charged and its answer stored; every later one, by whomever, gets
// the stored answer in Reservation.Answer and is charged nothing. A crash leaves
// charge and answer, or neither. A request without events reveals nothing and is
// charged nothing: a value that is only to be kept.
func (l *Ledger) Register(ctx context.Context, r Request, answer []byte) (_ *Reservation, err error) {
	defer wrap(&err, "register")
	d, err := l.domain(ctx, l.db, r.Domain)
	if err != nil {
		return nil, err
	}
	p, err := r.prepareRegister(d.filter)
	if err != nil {
		return nil, err
	}
	var out *Reservation
	err = l.do(ctx, true, func(ctx context.Context, b *batch) error {
		made, err := b.reserve(ctx, r, p)
		if err != nil {
			return err
		}
		if made.Answer == nil {
			p := pending{domain: made.Domain, repetition: repetition(r.Analyst, r.Domain, r.Repetition)}
			if err := b.commit(ctx, made.ID, p, answer, digestOf(answer)); err != nil {
				b.failed = err // a charge without its answer must not stay
				return err
			}
		}
		out = made
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Registered returns the answer that Register stored for the request's idempotency key,
// or nil if there is none. It charges and writes nothing.
func (l *Ledger) Registered(ctx context.Context, r Request) (answer []byte, err error) {
	defer wrap(&err, "read register")
	d, err := l.domain(ctx, l.db, r.Domain)
	if err != nil {
		return nil, err
	}
	p, err := r.prepareRegister(d.filter)
	if err != nil {
		return nil, err
	}
	if p.scope == nil {
		return nil, errors.New("no idempotency key")
	}
	err = l.do(ctx, false, func(ctx context.Context, b *batch) error {
		var err error
		answer, _, err = b.replay(ctx, p, false)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

func (r Request) prepareRegister(f filter.Filter) (prepared, error) {
	p, err := r.prepare(f, len(r.Events) == 0)
	if p.scope != nil {
		p.scope = digestOf([]byte("register"), []byte(r.IdempotencyKey)) // not the analyst's own: everybody's
	}
	return p, err
}
