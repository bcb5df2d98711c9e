package ledger

import (
	"context"
	"errors"

	"github.com/discreet-dp/discreet/internal/snapshot"
)

// Backup copies the ledger, as it is at one moment, to a file that there is not, verifies
// the copy whole, and returns how many records it has. Nobody waits for it. The copy is of
// the same key, and has no anchor: put in the ledger's place it is an older copy as soon as
// one record has been added since, which the ledger's anchor shows.
func (l *Ledger) Backup(ctx context.Context, path string) (records int64, err error) {
	defer wrap(&err, "back up ledger to %s", path)
	if _, ok := l.store.(*file); !ok {
		return 0, errors.New("the records are in a database: copy that with its own tools")
	}
	err = snapshot.Take(ctx, l.db, path, func(part string) (err error) {
		c, err := open(ctx, part, Options{Key: l.chain.key})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.disconnect()) }()
		// As the ledger has it: readers and the writer do not wait for each other.
		if _, err := c.db.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
			return storage(err)
		}
		if err := c.Verify(ctx); err != nil {
			return err
		}
		return storage(c.db.QueryRowContext(ctx, "SELECT max(seq) FROM records").Scan(&records))
	})
	return records, err
}
