package journal_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/discreet-dp/discreet/people/journal"
)

// A server notes who signs in; an auditor reads it.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "discreet.ledger"+journal.Suffix)
	j, err := journal.Open(ctx, journal.Options{Path: path, Now: time.Now})
	if err != nil {
		panic(err)
	}
	j.Note(journal.Event{Kind: "sign-in", Account: "anna", Door: "postgres"})
	if err := j.Close(); err != nil {
		panic(err)
	}
	err = journal.Read(ctx, path, func(r journal.Record) error {
		fmt.Println(r.Record, r.Kind, r.Account)
		return nil
	})
	if err != nil {
		panic(err)
	}
	// Output: 1 sign-in anna
}
