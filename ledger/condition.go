package ledger

import (
	"context"
)

// A Condition is how a ledger is kept.
type Condition struct {
	Bytes    int64 // of its file, with what was not moved into it yet
	Anchored bool
	Keyed    bool
}

// Condition returns how the ledger is kept, for its owner. Verify says whether it holds.
func (l *Ledger) Condition(ctx context.Context) (c Condition, err error) {
	defer wrap(&err, "look at ledger")
	c.Anchored, c.Keyed = l.anchor != nil, l.chain.key != nil
	c.Bytes, err = l.store.bytes(ctx, l.db)
	return c, err
}
