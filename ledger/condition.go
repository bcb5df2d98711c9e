package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// A Condition is how a ledger is kept.
type Condition struct {
	Bytes    int64 // of its file, with what was not moved into it yet
	Anchored bool
	Keyed    bool
}

// Condition returns how the ledger is kept, for its owner. Verify says whether it holds.
func (l *Ledger) Condition() (c Condition, err error) {
	c.Anchored, c.Keyed = l.anchor != nil, l.chain.key != nil
	for _, file := range []string{l.path, l.path + "-wal"} {
		info, err := os.Stat(file)
		switch {
		case err == nil:
			c.Bytes += info.Size()
		case file == l.path || !errors.Is(err, fs.ErrNotExist):
			return c, fmt.Errorf("look at ledger: %w", err)
		}
	}
	return c, nil
}
