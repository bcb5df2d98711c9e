package process

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/shuffle"
)

// An outbox has what respondents' devices must not lose until the first shuffler has
// acknowledged their envelopes: what their tokens are made of, by which who reads it could tell
// whose a token is, and the envelopes. What is deleted is overwritten.
type outbox struct{ db *sql.DB }

// kept is what the outbox has of a respondent.
type kept struct {
	code           string // its digest; "" of a code that stands twice, of which nothing is kept
	seed, envelope []byte
}

func openOutbox(ctx context.Context, s *cluster.Station) (*outbox, error) {
	db, err := database(ctx, s, "CREATE TABLE IF NOT EXISTS outbox (code TEXT PRIMARY KEY, seed BLOB NOT NULL, envelope BLOB) WITHOUT ROWID")
	if err != nil {
		return nil, err
	}
	return &outbox{db}, nil
}

// begin has a seed for each respondent: the one that is there, with the envelope that was made, or
// a new one. It is on stable storage when begin returns.
func (b *outbox) begin(ctx context.Context, answers []Answer) ([]kept, error) {
	all := make([]kept, len(answers))
	err := in(ctx, b.db, func(tx *sql.Tx) error {
		seen := map[string]bool{}
		for i, a := range answers {
			seed, err := shuffle.NewTokenSeed()
			if err != nil {
				return err
			}
			all[i] = kept{code: CodeDigest(a.Code), seed: seed}
			if seen[all[i].code] { // the issuer refuses it other tokens
				all[i].code = ""
				continue
			}
			seen[all[i].code] = true
			if _, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO outbox (code, seed) VALUES (?, ?)", all[i].code, seed); err != nil {
				return err
			}
			if err := tx.QueryRowContext(ctx, "SELECT seed, envelope FROM outbox WHERE code = ?", all[i].code).Scan(&all[i].seed, &all[i].envelope); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("keep what tokens are made of: %w", err)
	}
	return all, nil
}

// keep stores envelopes before they are sent, and forgets who has none: the issuer refused him
// tokens. Of two who prepare the same at once, the first envelope stays.
func (b *outbox) keep(ctx context.Context, all []kept) error {
	if err := in(ctx, b.db, func(tx *sql.Tx) error {
		for i, k := range all {
			switch {
			case k.code == "":
			case k.envelope == nil:
				if _, err := tx.ExecContext(ctx, "DELETE FROM outbox WHERE code = ? AND envelope IS NULL", k.code); err != nil {
					return err
				}
			default:
				if _, err := tx.ExecContext(ctx, "UPDATE outbox SET envelope = coalesce(envelope, ?) WHERE code = ?", k.envelope, k.code); err != nil {
					return err
				}
				err := tx.QueryRowContext(ctx, "SELECT envelope FROM outbox WHERE code = ?", k.code).Scan(&all[i].envelope)
				if err == sql.ErrNoRows { // another process has delivered it
					all[i].envelope, err = nil, nil
				}
				if err != nil {
					return err
				}
			}
		}
		return nil
	}); err != nil {
		return fmt.Errorf("keep envelopes: %w", err)
	}
	return nil
}

// end forgets what was acknowledged.
func (b *outbox) end(ctx context.Context, all []kept) error {
	if err := in(ctx, b.db, func(tx *sql.Tx) error {
		for _, k := range all {
			if _, err := tx.ExecContext(ctx, "DELETE FROM outbox WHERE code = ?", k.code); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return fmt.Errorf("forget what was delivered: %w", err)
	}
	return nil
}
