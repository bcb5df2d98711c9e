package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/discreet-dp/discreet/internal/pgsql"
)

// Servers of one ledger in a database can tell each other something: that a client of one has
// asked another to cancel what it runs. Such a word is no record. Whoever may connect to the
// database can hear and say words, so that none may hold a secret, and nothing that rests on
// them may be more than a convenience.

// wordsChannel is the database's channel for words.
const wordsChannel = "discreet_words"

// deafness is for how long at most a server hears nothing after the database is back.
const deafness = 5 * time.Second

// Tell says a word to all who Hear: of a ledger in a file, to nobody.
func (l *Ledger) Tell(ctx context.Context, word string) error {
	if _, ok := l.store.(*database); !ok {
		return nil
	}
	if _, err := l.db.ExecContext(ctx, "SELECT pg_notify(?, ?)", wordsChannel, word); err != nil {
		return fmt.Errorf("tell the other servers: %w", storage(err))
	}
	return nil
}

// Hear calls heard with each word that is told, by this ledger too, until ctx ends. What is told
// while the database is away is not heard. Of a ledger in a file it returns at once. ready, if
// it is not nil, is called each time that it begins to hear.
func (l *Ledger) Hear(ctx context.Context, ready func(), heard func(word string)) {
	d, ok := l.store.(*database)
	if !ok {
		return
	}
	if ready == nil {
		ready = func() {}
	}
	pause := 100 * time.Millisecond
	for ctx.Err() == nil {
		err := pgsql.Listen(ctx, d.url, settings("discreet words"), wordsChannel, func() { pause = 100 * time.Millisecond; ready() }, heard)
		if errors.Is(err, context.Canceled) {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, deafness)
	}
}
