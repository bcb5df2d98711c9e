package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math/big"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/privacy"
)

var (
	ctx = context.Background()
	now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func eps(s string) privacy.Epsilon { return must(privacy.ParseEpsilon(s)) }
func del(s string) privacy.Delta   { return must(privacy.ParseDelta(s)) }

func pureEvent(epsilon string) []privacy.Event {
	return []privacy.Event{privacy.Pure{Epsilon: eps(epsilon)}}
}

var (
	patient = DomainBudget{ID: "patient", Measure: filter.Pure, Epsilon: eps("1")}
	visitor = DomainBudget{ID: "visitor", Measure: filter.ZCDP, Epsilon: eps("3"), Delta: del("1e-7"), SelectionDelta: del("5e-8"),
		Neighbours: privacy.ReplaceOne}
	both = []DomainBudget{patient, visitor}
)

// fresh is a place where no ledger is: a file in a folder of its own, or a database where the
// suite runs on one (see TestSuiteOnPostgres).
func fresh(t testing.TB) string {
	t.Helper()
	if server := os.Getenv(onServer); server != "" {
		return suiteDatabase(t, server)
	}
	return filepath.Join(t.TempDir(), "discreet.ledger")
}

// chosen says whether an edit of records is made here: each is in a file, and in a database, where
// to make a ledger takes long and the same code reads the records, one in share; with
// DISCREET_SOAK each.
func chosen(name string, share uint32) bool {
	return os.Getenv(onServer) == "" || os.Getenv("DISCREET_SOAK") != "" || crc32.ChecksumIEEE([]byte(name))%share == 0
}

// create makes a ledger in a fresh place.
func create(t testing.TB, o Options) (*Ledger, string) {
	t.Helper()
	path := fresh(t)
	if o.Domains == nil {
		o.Domains = both
	}
	o.Now = now
	l, err := Create(ctx, path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, path
}

func ask(epsilon string) Request {
	return Request{Domain: "patient", Analyst: "ann", Statement: "SELECT count(*) FROM visits", Events: pureEvent(epsilon), Now: now}
}

func (l *Ledger) verifyOrFail(t testing.TB) {
	t.Helper()
	if err := l.Verify(ctx); err != nil {
		t.Errorf("verify: %v", err)
	}
}

func TestReserveUntilExhausted(t *testing.T) {
	l, _ := create(t, Options{})
	for i := range 10 {
		r, err := l.Reserve(ctx, ask("0.1"))
		if err != nil {
			t.Fatalf("reservation %d: %v", i+1, err)
		}
		if r.Charge.Epsilon.String() != "0.1" || r.Answer != nil {
			t.Errorf("reservation %d charges %v", i+1, r.Charge)
		}
	}
	_, err := l.Reserve(ctx, ask("1e-30"))
	var exhausted *ExhaustedError
	if !errors.Is(err, ErrExhausted) || !errors.As(err, &exhausted) || exhausted.Left.Epsilon.Sign() != 0 || exhausted.Asked.Epsilon.String() != "1e-30" {
		t.Errorf("of nothing left: %v", err)
	}
	b, err := l.Balance(ctx, "patient")
	if err != nil || b.Spent.Epsilon.String() != "1" || b.Remaining.Epsilon.Sign() != 0 || b.Uncommitted != 10 || b.Limit.Epsilon.String() != "1" {
		t.Errorf("balance %+v, %v", b, err)
	}
	if b, err = l.Balance(ctx, "visitor"); err != nil || b.Spent.Rho.Sign() != 0 || b.Limit.Delta.String() != "5e-8" {
		t.Errorf("the other domain's balance %+v, %v", b, err)
	}
	l.verifyOrFail(t)
}

// A refused request changes nothing, and does not end the budget for others.
func TestRefusedRequests(t *testing.T) {
	l, _ := create(t, Options{})
	change := func(f func(*Request)) Request { r := ask("0.1"); f(&r); return r }
	for name, tc := range map[string]struct {
		request Request
		want    error
	}{
		"more than there is": {ask("1.0000000000000000000000000000000000000001"), ErrExhausted},
		"absurdly much":      {ask("1000000"), ErrExhausted},
		"unknown domain":     {change(func(r *Request) { r.Domain = "doctor" }), ErrUnknownDomain},
		"no domain":          {change(func(r *Request) { r.Domain = "" }), ErrUnknownDomain},
		"no events":          {change(func(r *Request) { r.Events = nil }), nil},
		"a missing event":    {change(func(r *Request) { r.Events = []privacy.Event{nil} }), nil},
		"a zero event":       {change(func(r *Request) { r.Events = []privacy.Event{privacy.Pure{}} }), nil},
		"negative noise": {change(func(r *Request) {
			r.Events = []privacy.Event{privacy.Laplace{Scale: big.NewRat(-1, 1), Sensitivity: big.NewRat(1, 1)}}
		}), nil},
		"no noise": {change(func(r *Request) {
			r.Events = []privacy.Event{privacy.Laplace{Scale: new(big.Rat), Sensitivity: big.NewRat(1, 1)}}
		}), nil},
		"noise beyond words": {change(func(r *Request) {
			r.Events = []privacy.Event{privacy.Laplace{Scale: new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 1<<14)), Sensitivity: big.NewRat(1, 1)}}
		}), nil},
		"Gaussian under pure": {change(func(r *Request) {
			r.Events = []privacy.Event{privacy.Gaussian{Variance: big.NewRat(1, 1), SensitivitySquared: big.NewRat(1, 1)}}
		}), filter.ErrUnsupported},
		"no time":        {change(func(r *Request) { r.Now = time.Time{} }), nil},
		"bad text":       {change(func(r *Request) { r.Analyst = "\xff" }), nil},
		"bad parameters": {change(func(r *Request) { r.Parameters = json.RawMessage("{") }), nil},
	} {
		if _, err := l.Reserve(ctx, tc.request); err == nil || tc.want != nil && !errors.Is(err, tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if b, err := l.Balance(ctx, "patient"); err != nil || b.Spent.Epsilon.Sign() != 0 {
		t.Errorf("refusals cost %v, %v", b.Spent, err)
	}
	if _, err := l.Reserve(ctx, ask("1")); err != nil {
		t.Errorf("after refusals: %v", err)
	}
	l.verifyOrFail(t)
}

// Attack F1: clients that all ask at once.
func TestFiftyClientsOnABudgetForTen(t *testing.T) {
	l, path := create(t, Options{})
	other, err := Open(ctx, path, Options{Domains: both})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	var admitted, exhausted atomic.Int64
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			client := []*Ledger{l, other}[i%2]
			switch r, err := client.Reserve(ctx, ask("0.1")); {
			case err == nil:
				admitted.Add(1)
				if err := client.Commit(ctx, r, []byte("42")); err != nil {
					t.Errorf("commit: %v", err)
				}
			case errors.Is(err, ErrExhausted):
				exhausted.Add(1)
			default:
				t.Errorf("reserve: %v", err)
			}
		})
	}
	wg.Wait()
	if admitted.Load() != 10 || exhausted.Load() != 40 {
		t.Errorf("%d of 50 admitted, %d refused, want 10 and 40", admitted.Load(), exhausted.Load())
	}
	if b := must(l.Balance(ctx, "patient")); b.Uncommitted != 0 || b.Spent.Epsilon.String() != "1" {
		t.Errorf("balance %+v", b)
	}
	l.verifyOrFail(t)
}

func TestIdempotencyKeys(t *testing.T) {
	l, _ := create(t, Options{})
	keyed := func(f func(*Request)) Request {
		r := ask("0.1")
		r.IdempotencyKey, r.Parameters = "k", json.RawMessage(`{"confidence":0.95}`)
		if f != nil {
			f(&r)
		}
		return r
	}
	first, err := l.Reserve(ctx, keyed(nil))
	if err != nil {
		t.Fatal(err)
	}
	// Not committed: the first stays spent, and a retry charges anew.
	second, err := l.Reserve(ctx, keyed(nil))
	if err != nil || second.Answer != nil || second.ID == first.ID || second.Remaining.Epsilon.String() != "0.8" {
		t.Fatalf("retry of an uncommitted request: %+v, %v", second, err)
	}
	if err := l.Commit(ctx, second, []byte("the answer")); err != nil {
		t.Fatal(err)
	}
	third, err := l.Reserve(ctx, keyed(nil))
	if err != nil || string(third.Answer) != "the answer" || third.Charge.Epsilon.Sign() != 0 || third.Remaining.Epsilon.String() != "0.8" {
		t.Errorf("retry of a committed request: %+v, %v", third, err)
	}
	// The first answer that was committed is the answer, for good.
	if err := l.Commit(ctx, first, []byte("another")); err != nil {
		t.Fatal(err)
	}
	if third, err = l.Reserve(ctx, keyed(nil)); err != nil || string(third.Answer) != "the answer" {
		t.Errorf("after another commit: %q, %v", third.Answer, err)
	}
	for name, f := range map[string]func(*Request){
		"statement":  func(r *Request) { r.Statement = "SELECT 1" },
		"parameters": func(r *Request) { r.Parameters = json.RawMessage(`{"confidence":0.9}`) },
		"domain":     func(r *Request) { r.Domain = "visitor" },
	} {
		if _, err := l.Reserve(ctx, keyed(f)); !errors.Is(err, ErrIdempotencyKey) {
			t.Errorf("another %s under the same key: %v", name, err)
		}
	}
	// Another analyst's key is another key: nobody learns that it was used.
	if r, err := l.Reserve(ctx, keyed(func(r *Request) { r.Analyst = "bob" })); err != nil || r.Answer != nil {
		t.Errorf("another analyst's request: %+v, %v", r, err)
	}
	// A stored answer costs nothing, so neither exhaustion nor suspension matter.
	if err := l.Suspend(ctx, "patient", 0, "out of memory", now); err != nil {
		t.Fatal(err)
	}
	if r, err := l.Reserve(ctx, keyed(nil)); err != nil || string(r.Answer) != "the answer" {
		t.Errorf("stored answer of a suspended domain: %+v, %v", r, err)
	}
	l.verifyOrFail(t)
}

func TestCommit(t *testing.T) {
	l, _ := create(t, Options{})
	r := must(l.Reserve(ctx, ask("0.1")))
	for name, bad := range map[string]*Reservation{
		"unknown":           {ID: r.ID + 1, Domain: "patient"},
		"of another domain": {ID: r.ID, Domain: "visitor"},
		"not a reservation": {ID: 1, Domain: ""},
	} {
		if err := l.Commit(ctx, bad, []byte("x")); err == nil {
			t.Errorf("%s reservation is committed", name)
		}
	}
	if err := l.Commit(ctx, r, nil); err != nil {
		t.Errorf("an empty answer: %v", err)
	}
	if err := l.Commit(ctx, r, []byte("x")); !errors.Is(err, ErrExists) {
		t.Errorf("a second commit: %v", err)
	}
	l.verifyOrFail(t)
}

func TestSuspension(t *testing.T) {
	l, path := create(t, Options{})
	r := must(l.Reserve(ctx, ask("0.1")))
	if err := l.Suspend(ctx, "patient", r.ID, "out of memory", now); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Reserve(ctx, ask("0.1")); !errors.Is(err, ErrSuspended) {
		t.Errorf("a suspended domain: %v", err)
	}
	visit := ask("0.1")
	visit.Domain = "visitor"
	if _, err := l.Reserve(ctx, visit); err != nil {
		t.Errorf("another domain: %v", err)
	}
	// Suspension outlives the process.
	l.Close()
	l = must(Open(ctx, path, Options{}))
	defer l.Close()
	if b := must(l.Balance(ctx, "patient")); !b.Suspended || b.Spent.Epsilon.String() != "0.1" {
		t.Errorf("balance %+v", b)
	}
	if _, err := l.Reserve(ctx, ask("0.1")); !errors.Is(err, ErrSuspended) {
		t.Errorf("a suspended domain, opened again: %v", err)
	}
	if err := l.Acknowledge(ctx, "patient", "more memory", now); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Reserve(ctx, ask("0.1")); err != nil {
		t.Errorf("after the owner acknowledged: %v", err)
	}
	if err := l.Suspend(ctx, "doctor", 0, "", now); !errors.Is(err, ErrUnknownDomain) {
		t.Errorf("suspend an unknown domain: %v", err)
	}
	l.verifyOrFail(t)
}

// An access is in the history, durably, and neither charges nor changes anything: not
// a suspended domain either.
func TestAccess(t *testing.T) {
	l, path := create(t, Options{})
	must(l.Reserve(ctx, ask("0.1")))
	if err := l.Suspend(ctx, "patient", 0, "out of memory", now); err != nil {
		t.Fatal(err)
	}
	before := must(l.Balance(ctx, "patient"))
	if err := l.Access(ctx, "patient", "olga", "audit sensitivity: SELECT sum(cost) FROM visits", now); err != nil {
		t.Fatal(err)
	}
	l.Close()
	l = must(Open(ctx, path, Options{}))
	defer l.Close()
	after := must(l.Balance(ctx, "patient"))
	if after.Spent.Epsilon.Cmp(before.Spent.Epsilon) != 0 || !after.Suspended || after.Uncommitted != before.Uncommitted {
		t.Errorf("%+v became %+v", before, after)
	}
	h := must(l.History(ctx))
	e := h[len(h)-1]
	if e.Kind != "access" || e.Domain != "patient" || e.Analyst != "olga" || e.Statement != "audit sensitivity: SELECT sum(cost) FROM visits" || !e.Time.Equal(now) {
		t.Errorf("entry %+v", e)
	}
	for name, err := range map[string]error{
		"nobody": l.Access(ctx, "patient", "", "a look", now), "for nothing": l.Access(ctx, "patient", "olga", "", now),
		"at no time": l.Access(ctx, "patient", "olga", "a look", time.Time{}), "not UTF-8": l.Access(ctx, "patient", "olga", "\xff", now),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := l.Access(ctx, "doctor", "olga", "a look", now); !errors.Is(err, ErrUnknownDomain) {
		t.Errorf("an unknown domain: %v", err)
	}
	if n := len(must(l.History(ctx))); n != len(h) {
		t.Errorf("%d records more", n-len(h))
	}
	l.verifyOrFail(t)
}

// The budget belongs to the domain: neither a missing domain nor another budget
// is taken from the catalog.
func TestCatalogAgainstLedger(t *testing.T) {
	l, path := create(t, Options{})
	for name, tc := range map[string]struct {
		domain DomainBudget
		want   error
	}{
		"the same":           {patient, nil},
		"unknown":            {DomainBudget{ID: "doctor", Measure: filter.Pure, Epsilon: eps("1")}, ErrUnknownDomain},
		"more epsilon":       {DomainBudget{ID: "patient", Measure: filter.Pure, Epsilon: eps("2")}, ErrBudgetDiffers},
		"less epsilon":       {DomainBudget{ID: "patient", Measure: filter.Pure, Epsilon: eps("0.5")}, ErrBudgetDiffers},
		"another measure":    {DomainBudget{ID: "patient", Measure: filter.Approx, Epsilon: eps("1")}, ErrBudgetDiffers},
		"another relation":   {DomainBudget{ID: "patient", Measure: filter.Pure, Epsilon: eps("1"), Neighbours: privacy.ReplaceOne}, ErrBudgetDiffers},
		"another delta":      {DomainBudget{ID: "visitor", Measure: filter.ZCDP, Epsilon: eps("3"), Delta: del("1e-6"), SelectionDelta: del("5e-8"), Neighbours: privacy.ReplaceOne}, ErrBudgetDiffers},
		"another split of δ": {DomainBudget{ID: "visitor", Measure: filter.ZCDP, Epsilon: eps("3"), Delta: del("1e-7"), SelectionDelta: del("4e-8"), Neighbours: privacy.ReplaceOne}, ErrBudgetDiffers},
	} {
		if err := l.Check(ctx, []DomainBudget{tc.domain}); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v", name, err)
		}
		opened, err := Open(ctx, path, Options{Domains: []DomainBudget{tc.domain}})
		if !errors.Is(err, tc.want) {
			t.Errorf("open with %s: %v", name, err)
		}
		if err == nil {
			opened.Close()
		}
	}
}

func TestAddDomain(t *testing.T) {
	l, path := create(t, Options{})
	other := must(Open(ctx, path, Options{}))
	defer other.Close()
	doctor := DomainBudget{ID: "doctor", Measure: filter.Pure, Epsilon: eps("0.5")}
	if err := l.AddDomain(ctx, doctor, now); err != nil {
		t.Fatal(err)
	}
	if err := l.AddDomain(ctx, doctor, now); !errors.Is(err, ErrExists) {
		t.Errorf("twice: %v", err)
	}
	if err := l.AddDomain(ctx, DomainBudget{ID: "x"}, now); err == nil {
		t.Error("a domain without a budget is added")
	}
	r := ask("0.5")
	r.Domain = "doctor"
	if _, err := other.Reserve(ctx, r); err != nil {
		t.Errorf("a process that was there before: %v", err)
	}
	if _, err := l.Reserve(ctx, r); !errors.Is(err, ErrExhausted) {
		t.Errorf("the new budget is spent: %v", err)
	}
	if ds := must(l.Domains(ctx)); len(ds) != 3 || ds[2].ID != "doctor" || !ds[1].equal(visitor) {
		t.Errorf("domains %v", ds)
	}
	l.verifyOrFail(t)
}

func TestHistory(t *testing.T) {
	l, _ := create(t, Options{})
	r := ask("0.25")
	r.Certificate, r.Parameters = json.RawMessage(`{"l0":1}`), json.RawMessage(`[1]`)
	first := must(l.Reserve(ctx, r))
	must(l.Reserve(ctx, ask("0.25")))
	if err := l.Commit(ctx, first, []byte("7")); err != nil {
		t.Fatal(err)
	}
	if err := l.Suspend(ctx, "patient", first.ID, "disk full", now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	h, err := l.History(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range h {
		got = append(got, fmt.Sprintf("%d %s %s committed=%v spent=%v", e.Seq, e.Kind, e.Domain, e.Committed, e.Spent.Epsilon))
	}
	want := []string{
		"1 create  committed=false spent=0",
		"2 domain patient committed=false spent=0",
		"3 domain visitor committed=false spent=0",
		"4 reserve patient committed=true spent=0.25",
		"5 reserve patient committed=false spent=0.5",
		"6 commit patient committed=false spent=0.5",
		"7 suspend patient committed=false spent=0.5",
	}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Errorf("history is\n%q, want\n%q", got, want)
			break
		}
	}
	e := h[3]
	if e.Analyst != "ann" || e.Statement != r.Statement || string(e.Certificate) != `{"l0":1}` || !e.Time.Equal(now) ||
		len(e.Events) != 1 || e.Events[0].String() != "pure(0.25)" || e.Charge.Epsilon.String() != "0.25" {
		t.Errorf("entry %+v", e)
	}
	if h[6].Note != "disk full" || h[6].Reservation != first.ID {
		t.Errorf("entry %+v", h[6])
	}
}

func TestClosed(t *testing.T) {
	l, _ := create(t, Options{})
	l.Close()
	if _, err := l.Reserve(ctx, ask("0.1")); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed ledger: %v", err)
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	l, _ = create(t, Options{})
	if _, err := l.Reserve(canceled, ask("0.1")); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled context: %v", err)
	}
}
