package ledger

import (
	"context"
	"sync"
	"time"
)

// clockHolds is for how long the database's time is carried on by this machine's before it is
// asked again.
const clockHolds = 5 * time.Second

// Clock returns the clock by which whoever uses the ledger reads expiries, hours and windows. Of
// a ledger in a database it is the database's, one for all servers: asked every few seconds
// and carried on by the steps of the local one. Where the database does not answer, nothing can
// be charged, and the last step goes on. Of a file it is the local one.
func (l *Ledger) Clock(local func() time.Time) func() time.Time {
	if _, ok := l.store.(*database); !ok {
		return local
	}
	var mu sync.Mutex
	var ours, theirs time.Time
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		before := local()
		if ours.IsZero() || before.Sub(ours) > clockHolds || before.Before(ours) {
			ctx, done := context.WithTimeout(context.Background(), 2*time.Second)
			defer done()
			var now time.Time
			err := l.db.QueryRowContext(ctx, "SELECT clock_timestamp()").Scan(&now)
			after := local()
			switch {
			case err == nil: // at the latest: what has expired there has expired here
				ours, theirs = before, now
			case ours.IsZero():
				return after
			default: // it is asked again a while later
				theirs, ours = theirs.Add(after.Sub(ours)), after
			}
			before = after
		}
		return theirs.Add(before.Sub(ours))
	}
}
