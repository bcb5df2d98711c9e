package ledger

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/pgsql"
)

// Commit stores the answer of a reservation. When it returns nil, charge and
// answer are on stable storage and on the anchor, and the answer may leave. After
// an error it must not: the charge stays, and a repetition charges anew. It refuses with ErrVersion an
// average whose parts may be of two versions of the data.
func (l *Ledger) Commit(ctx context.Context, r *Reservation, answer []byte) (err error) {
	defer wrap(&err, "commit")
	digest := digestOf(answer)
	return l.do(ctx, true, func(ctx context.Context, b *batch) error {
		p, err := b.unanswered(ctx, r.Domain, r.ID)
		if err != nil {
			return err
		}
		if r.Sharpens != nil {
			if err := b.noVersionSince(ctx, r.ID); err != nil {
				return err
			}
		}
		return b.commit(ctx, r.ID, p, answer, digest)
	}, pgsql.Statement{Text: reservationOf, Args: []any{r.ID, r.Domain}}, pgsql.Statement{Text: answeredBy, Args: []any{r.ID}}, pgsql.Statement{Text: lastOfDomain, Args: []any{r.Domain}})
}

// reservationOf finds a reservation of a domain, and answeredBy says whether it has an answer.
const (
	reservationOf = "SELECT " + columns + " FROM records r WHERE r.seq = ? AND r.kind = 'reserve' AND r.domain = ?"
	answeredBy    = "SELECT EXISTS (SELECT 1 FROM records WHERE kind = 'commit' AND ref = ?)"
)

// unanswered returns a reservation that has no answer yet, and refuses all others.
func (b *batch) unanswered(ctx context.Context, domain string, id int64) (p pending, err error) {
	p, ok := b.open[id]
	if !ok {
		p, ok = b.known.pending(id)
	}
	if ok && p.domain == domain && !p.answered {
		return p, nil
	}
	of, err := b.reserved(ctx, domain, id)
	if err != nil {
		return p, err
	}
	var committed bool
	err = b.sql.QueryRowContext(ctx, answeredBy, id).Scan(&committed)
	if err != nil {
		return p, b.note(storage(err))
	}
	if committed {
		return p, fmt.Errorf("reservation %d: its answer %w", id, ErrExists)
	}
	return pending{domain: domain, repetition: of.repetition(domain)}, nil
}

// commit appends the answer of a reservation that has none.
func (b *batch) commit(ctx context.Context, reservation int64, p pending, answer, digest []byte) error {
	err := b.change(ctx, &record{kind: kindCommit, domain: p.domain, key: p.repetition, ref: reservation, answer: answer},
		entry{Answer: digest}, func(s *state) { s.Uncommitted-- })
	if err == nil && b.open != nil {
		p.answered = true
		b.open[reservation] = p
	}
	return err
}
