package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
)

// Reserve, compute, commit, answer: a charge is on the disk before private data are
// touched, and stays when the answer fails.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	one, err := privacy.ParseEpsilon("1")
	if err != nil {
		log.Fatal(err)
	}
	l, err := ledger.Create(ctx, filepath.Join(dir, "discreet.ledger"), ledger.Options{
		Domains: []ledger.DomainBudget{{ID: "patient", Measure: filter.Pure, Epsilon: one}},
		Now:     time.Now(),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()

	epsilon, err := privacy.ParseEpsilon("0.6")
	if err != nil {
		log.Fatal(err)
	}
	count := ledger.Request{
		Domain:    "patient",
		Analyst:   "ada",
		Statement: "how many visits",
		Events:    []privacy.Event{privacy.Pure{Epsilon: epsilon}},
		Now:       time.Now(),
	}
	r, err := l.Reserve(ctx, count)
	if err != nil {
		log.Fatal(err)
	}
	if err := l.Commit(ctx, r, []byte(`"about 4700"`)); err != nil {
		log.Fatal(err)
	}
	fmt.Println("left", r.Remaining.Epsilon)
	_, err = l.Reserve(ctx, count)
	fmt.Println(errors.Is(err, ledger.ErrExhausted), err)
	fmt.Println("the chain is whole:", l.Verify(ctx) == nil)
	// Output:
	// left 0.4
	// true reserve: domain "patient": the budget does not suffice: asked epsilon 0.6, left epsilon 0.4
	// the chain is whole: true
}
