package durable

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
)

var ctx = context.Background()

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func clock() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func pure(s string) []privacy.Event {
	return []privacy.Event{privacy.Pure{Epsilon: must(privacy.ParseEpsilon(s))}}
}

func create(t *testing.T) (*ledger.Ledger, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "discreet.ledger")
	domain := func(id string) ledger.DomainBudget {
		return ledger.DomainBudget{ID: id, Measure: filter.Pure, Epsilon: must(privacy.ParseEpsilon("1"))}
	}
	l, err := ledger.Create(ctx, path, ledger.Options{Domains: []ledger.DomainBudget{domain("patient"), domain("nurse")}, Now: clock()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, path
}

func open(t *testing.T, l *ledger.Ledger, domain string) *Budget {
	t.Helper()
	b, err := New(ctx, l, Options{Domain: domain, Analyst: "ada", Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func left(t *testing.T, b budget.Budget) string {
	t.Helper()
	a, err := b.Left(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return a.Epsilon.String()
}

// What a program spends outlives the process, and its answer stands in the history.
func TestSpendingIsDurable(t *testing.T) {
	l, path := create(t)
	b := open(t, l, "patient")
	r := budget.Release{Statement: "count", Events: pure("0.7")}
	if got, err := budget.Spend(ctx, b, r, func() (int, error) { return 42, nil }); got != 42 || err != nil {
		t.Fatal(got, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(ctx, path, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	b = open(t, l, "patient")
	if got := left(t, b); got != "0.3" {
		t.Errorf("%s is left", got)
	}
	_, err = b.Reserve(ctx, r)
	var e *budget.ExceededError
	if !errors.As(err, &e) || !errors.Is(err, budget.ErrExceeded) || !errors.Is(err, ledger.ErrExhausted) {
		t.Fatalf("an exhausted domain answers %v", err)
	}
	if e.Budget != "patient" || e.Asked.Epsilon.String() != "0.7" || e.Left.Epsilon.String() != "0.3" {
		t.Errorf("%+v", e)
	}
	h, err := l.History(ctx)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, entry := range h {
		found = found || entry.Statement == "count" && entry.Analyst == "ada" && entry.Committed
	}
	if !found {
		t.Errorf("the history has no record of the answer: %+v", h)
	}
}

func TestRefusals(t *testing.T) {
	l, _ := create(t)
	if _, err := New(ctx, l, Options{Domain: "unknown", Now: clock}); !errors.Is(err, ledger.ErrUnknownDomain) {
		t.Error(err)
	}
	if _, err := New(ctx, l, Options{Domain: "patient"}); err == nil {
		t.Error("a budget without a clock")
	}
	if _, err := New(ctx, nil, Options{Domain: "patient", Now: clock}); err == nil {
		t.Error("a budget without a ledger")
	}
	b := open(t, l, "patient")
	gauss := privacy.ZCDP{Rho: must(privacy.ParseRho("0.1"))}
	if _, err := b.Reserve(ctx, budget.Release{Events: []privacy.Event{gauss}}); !errors.Is(err, filter.ErrUnsupported) {
		t.Error(err)
	}
	if got := left(t, b); got != "1" {
		t.Errorf("refusals left %s", got)
	}
}

// A tree ends in the ledger: parts pay their maximum there, and a refusal by the
// ledger leaves the tree as it was.
func TestTreeOverALedger(t *testing.T) {
	l, _ := create(t)
	b := open(t, l, "patient")
	parts, err := budget.Partition(b, budget.PartitionOptions{Names: []string{"ER", "ICU"}, Spread: 1})
	if err != nil {
		t.Fatal(err)
	}
	half := budget.Release{Statement: "count", Events: pure("0.5")}
	for range 2 {
		for _, p := range parts {
			if _, err := p.Reserve(ctx, half); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := left(t, b); got != "0" {
		t.Errorf("two parts that spent 1 each leave %s", got)
	}
	_, err = parts[0].Reserve(ctx, half)
	if !errors.Is(err, ledger.ErrExhausted) || !strings.HasPrefix(err.Error(), `budget "patient/ER": `) {
		t.Error(err)
	}
	h, err := l.History(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if last := h[len(h)-1]; last.Statement != "patient/ER: count" {
		t.Errorf("the last record is of %q", last.Statement)
	}
}

// Two domains pay for one answer, or neither.
func TestTwoDomains(t *testing.T) {
	l, _ := create(t)
	patient, nurse := open(t, l, "patient"), open(t, l, "nurse")
	charge := func(a, b string) error {
		_, err := budget.ReserveAll(ctx, []budget.Charge{
			{Budget: patient, Release: budget.Release{Events: pure(a)}}, {Budget: nurse, Release: budget.Release{Events: pure(b)}},
		})
		return err
	}
	if err := charge("0.5", "1.5"); !errors.Is(err, budget.ErrExceeded) {
		t.Error(err)
	}
	if err := charge("0.5", "0.25"); err != nil {
		t.Error(err)
	}
	if left(t, patient) != "0.5" || left(t, nurse) != "0.75" {
		t.Errorf("%s and %s are left", left(t, patient), left(t, nurse))
	}
	// Twice the same domain is one release, refused as a whole.
	r := budget.Release{Events: pure("0.3")}
	if _, err := budget.ReserveAll(ctx, []budget.Charge{{Budget: patient, Release: r}, {Budget: patient, Release: r}}); !errors.Is(err, budget.ErrExceeded) {
		t.Error(err)
	}
	if got := left(t, patient); got != "0.5" {
		t.Errorf("a refusal left %s", got)
	}
}

// A register is written once, paid for once, and outlives the process.
func TestRegister(t *testing.T) {
	l, path := create(t)
	paid := budget.Release{Statement: "train", Events: pure("0.7")}
	for i, value := range []string{`"first"`, `"second"`} {
		if got, err := open(t, l, "patient").Register(ctx, "run/0", paid, []byte(value)); err != nil || string(got) != `"first"` {
			t.Errorf("use %d: %s, %v", i, got, err)
		}
		if got, err := open(t, l, "patient").Registered(ctx, "run/0", "train"); err != nil || string(got) != `"first"` {
			t.Errorf("read %d: %s, %v", i, got, err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		var err error
		if l, err = ledger.Open(ctx, path, ledger.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	defer l.Close()
	b := open(t, l, "patient")
	if got := left(t, b); got != "0.3" {
		t.Errorf("%s is left", got)
	}
	if got, err := b.Registered(ctx, "run/1", "train"); got != nil || err != nil {
		t.Error(got, err)
	}
	var e *budget.ExceededError
	if _, err := b.Register(ctx, "run/1", paid, []byte("1")); !errors.As(err, &e) {
		t.Error(err)
	}
	if _, err := b.Register(ctx, "", paid, []byte("1")); err == nil {
		t.Error("no key")
	}
	if _, err := b.Register(ctx, "run/2", budget.Release{}, nil); err == nil {
		t.Error("no value")
	}
}

// A register of what reveals nothing costs nothing, whatever the measure.
func TestFreeRegister(t *testing.T) {
	one, tenth := must(privacy.ParseEpsilon("1")), must(privacy.ParseDelta("0.1"))
	for _, measure := range []filter.Measure{filter.Pure, filter.Approx, filter.ZCDP, filter.Whitehouse, filter.RDP, filter.GDP} {
		d := ledger.DomainBudget{ID: "patient", Measure: measure, Epsilon: one}
		if measure != filter.Pure {
			d.Delta = tenth
		}
		l, err := ledger.Create(ctx, filepath.Join(t.TempDir(), "discreet.ledger"), ledger.Options{Domains: []ledger.DomainBudget{d}, Now: clock()})
		if err != nil {
			t.Fatal(err)
		}
		b := open(t, l, "patient")
		before := must(b.Left(ctx))
		if got, err := b.Register(ctx, "run/1", budget.Release{Statement: "checkpoint"}, []byte("1")); err != nil || string(got) != "1" {
			t.Errorf("%s: %s, %v", measure, got, err)
		}
		after := must(b.Left(ctx))
		if fmt.Sprint(after.In(measure)) != fmt.Sprint(before.In(measure)) {
			t.Errorf("%s: %v, then %v left", measure, before, after)
		}
		if err := l.Verify(ctx); err != nil {
			t.Error(err)
		}
		l.Close()
	}
}
