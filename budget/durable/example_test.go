package durable_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/budget/durable"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
)

// A program spends from a domain of a ledger. What it spent is still gone when the
// ledger is opened again.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "discreet.ledger")
	one, err := privacy.ParseEpsilon("1")
	if err != nil {
		log.Fatal(err)
	}
	patients := ledger.DomainBudget{ID: "patient", Measure: filter.Pure, Epsilon: one}
	l, err := ledger.Create(ctx, path, ledger.Options{Domains: []ledger.DomainBudget{patients}, Now: time.Now()})
	if err != nil {
		log.Fatal(err)
	}
	pays, err := durable.New(ctx, l, durable.Options{Domain: "patient", Analyst: "ada", Now: time.Now})
	if err != nil {
		log.Fatal(err)
	}
	quarter, err := privacy.ParseEpsilon("0.25")
	if err != nil {
		log.Fatal(err)
	}
	release := budget.Release{Statement: "count", Events: []privacy.Event{privacy.Pure{Epsilon: quarter}}}
	if _, err := budget.Spend(ctx, pays, release, func() (int, error) { return 42, nil }); err != nil {
		log.Fatal(err)
	}
	if err := l.Close(); err != nil {
		log.Fatal(err)
	}

	if l, err = ledger.Open(ctx, path, ledger.Options{}); err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	b, err := l.Balance(ctx, "patient")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("spent", b.Spent.Epsilon, "left", b.Remaining.Epsilon)
	// Output: spent 0.25 left 0.75
}
