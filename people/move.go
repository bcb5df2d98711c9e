package people

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/ledger"
)

// Move copies the accounts of a ledger that was moved to where the ledger is now: from a file
// into a database, or back. Whose passwords and tokens count says the chain, which has moved.
// It may be done again; it refuses a destination that has accounts of another file.
func Move(ctx context.Context, from, to string) (err error) {
	defer wrap(&err, "move accounts from %s to %s", ledger.Named(from), ledger.Named(to))
	source, _, err := open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	dest, tables, err := open(to)
	if err != nil {
		return err
	}
	defer dest.Close()
	tx, err := dest.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, tables); err != nil {
		return err
	}
	var secret, other []byte
	if err := source.QueryRowContext(ctx, "SELECT secret FROM file").Scan(&secret); err != nil {
		return err
	}
	switch err := tx.QueryRowContext(ctx, "SELECT secret FROM file").Scan(&other); {
	case errors.Is(err, sql.ErrNoRows):
		if err := copyRows(ctx, source, tx, "SELECT format, iterations, secret FROM file", "INSERT INTO file (format, iterations, secret) VALUES (?, ?, ?)", 3); err != nil {
			return err
		}
	case err != nil:
		return err
	case string(secret) != string(other):
		return fmt.Errorf("%w: there are accounts already", ledger.ErrExists)
	}
	for _, t := range []struct {
		from, to string
		columns  int
	}{
		{"SELECT digest, account, salt, iterations, stored, server FROM passwords",
			"INSERT INTO passwords (digest, account, salt, iterations, stored, server) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (digest) DO NOTHING", 6},
		{"SELECT id, account, hash FROM tokens", "INSERT INTO tokens (id, account, hash) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING", 3},
		{"SELECT place, at FROM places", "INSERT INTO places (place, at) VALUES (?, ?) ON CONFLICT (place) DO NOTHING", 2},
	} {
		if err := copyRows(ctx, source, tx, t.from, t.to, t.columns); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func copyRows(ctx context.Context, from *sql.DB, to *sql.Tx, read, write string, columns int) error {
	rows, err := from.QueryContext(ctx, read)
	if err != nil {
		return err
	}
	defer rows.Close()
	values, places := make([]any, columns), make([]any, columns)
	for i := range values {
		places[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return err
		}
		if _, err := to.ExecContext(ctx, write, values...); err != nil {
			return err
		}
	}
	return rows.Err()
}
