package ledger

import (
	"context"
	"database/sql"
	"errors"
	"testing"
)

func repeating(of string) Request {
	r := ask("0.1")
	r.Repetition = []byte(of)
	return r
}

// answered asks, and commits the answer where something was charged.
func (l *Ledger) answered(t testing.TB, r Request, answer string) *Reservation {
	t.Helper()
	res, err := l.Reserve(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	if res.Answer == nil {
		if err := l.Commit(ctx, res, []byte(answer)); err != nil {
			t.Fatal(err)
		}
	}
	return res
}

// A repetition of the same analyst, domain, digest and version of the data gets the newest
// stored answer and is charged nothing; what differs in one of them is charged.
func TestRepetitionIsNotChargedAgain(t *testing.T) {
	l, path := create(t, Options{Anchor: t.TempDir() + "/anchor"})
	other := must(Open(ctx, path, Options{Anchor: l.anchor.path}))
	defer other.Close()
	l.answered(t, repeating("a"), "first")
	asked := func(f func(*Request)) Request { r := repeating("a"); f(&r); return r }
	for _, step := range []struct {
		name    string
		request Request
		stored  string // "": charged
	}{
		{"the same", repeating("a"), "first"},
		{"another time", asked(func(r *Request) { r.Now = now.AddDate(1, 0, 0) }), "first"},
		{"written differently", asked(func(r *Request) { r.Statement = "select count(*) from visits" }), "first"},
		{"another digest", repeating("b"), ""},
		{"another analyst", asked(func(r *Request) { r.Analyst = "bob" }), ""},
		{"without a digest", ask("0.1"), ""},
		{"with a new key", asked(func(r *Request) { r.IdempotencyKey = "k" }), "first"},
		{"fresh", asked(func(r *Request) { r.Fresh = true }), ""},
		{"after a fresh one", repeating("a"), "fresh"},
		{"of another analyst, again", asked(func(r *Request) { r.Analyst = "bob" }), "another analyst"},
	} {
		before := must(l.Balance(ctx, "patient")).Spent.Epsilon
		res := other.answered(t, step.request, step.name)
		spent := !must(l.Balance(ctx, "patient")).Spent.Epsilon.Equal(before)
		if string(res.Answer) != step.stored || spent != (step.stored == "") {
			t.Errorf("%s: answer %q, spent %v", step.name, res.Answer, spent)
		}
		read, err := l.Repeated(ctx, step.request.Analyst, "patient", step.request.Repetition)
		want := step.stored
		if want == "" && step.request.Repetition != nil {
			want = step.name
		}
		if err != nil || string(read) != want {
			t.Errorf("%s: read %q, %v", step.name, read, err)
		}
	}
	if read, err := l.Repeated(ctx, "ann", "visitor", []byte("a")); read != nil || err != nil {
		t.Errorf("in another domain: %q, %v", read, err)
	}
	l.verifyOrFail(t)
}

// A new version of the data ends all repetitions, also of what was reserved before it and
// answered after it: nobody knows which data it saw.
func TestVersionEndsRepetitions(t *testing.T) {
	l, _ := create(t, Options{})
	if v := must(l.Version(ctx)); v != (Version{}) {
		t.Errorf("a new ledger's version: %v", v)
	}
	l.answered(t, repeating("a"), "old")
	late := must(l.Reserve(ctx, repeating("late")))
	v, err := l.NewVersion(ctx, "April", "a new extract", now)
	if at := must(l.Version(ctx)); err != nil || at != v || at.Name != "April" || at.Why != "a new extract" || !at.Time.Equal(now) {
		t.Errorf("version %v, recorded as %v, %v", at, v, err)
	}
	if err := l.Commit(ctx, late, []byte("between")); err != nil {
		t.Fatal(err)
	}
	for _, of := range []string{"a", "late"} {
		if res := l.answered(t, repeating(of), "new"); res.Answer != nil {
			t.Errorf("%s: got %q of the version before", of, res.Answer)
		}
		if res := l.answered(t, repeating(of), ""); string(res.Answer) != "new" {
			t.Errorf("%s: got %q", of, res.Answer)
		}
	}
	history := must(l.History(ctx))
	if e := history[v.Record-1]; e.Kind != "version" || e.Note != "April" || e.Why != "a new extract" {
		t.Errorf("in the history: %+v", e)
	}
	l.verifyOrFail(t)
}

// What was reserved and never answered is no answer: a repetition is charged anew.
func TestUnansweredRepetitionIsCharged(t *testing.T) {
	l, _ := create(t, Options{})
	for range 3 {
		if res := must(l.Reserve(ctx, repeating("a"))); res.Answer != nil {
			t.Errorf("an answer %q of nothing", res.Answer)
		}
	}
	if b := must(l.Balance(ctx, "patient")); b.Spent.Epsilon.String() != "0.3" {
		t.Errorf("three reservations cost %v", b.Spent.Epsilon)
	}
}

// Where the caller asks for it, a key whose request was never answered is refused, and
// nothing is charged.
func TestUnfinishedKeyIsRefused(t *testing.T) {
	l, _ := create(t, Options{})
	r := ask("0.1")
	r.IdempotencyKey, r.RefuseUnfinished = "k", true
	first := must(l.Reserve(ctx, r))
	if _, err := l.Reserve(ctx, r); !errors.Is(err, ErrUnfinished) {
		t.Errorf("an unfinished key: %v", err)
	}
	if b := must(l.Balance(ctx, "patient")); b.Spent.Epsilon.String() != "0.1" {
		t.Errorf("the refusal cost %v", b.Spent.Epsilon)
	}
	if err := l.Commit(ctx, first, []byte("42")); err != nil {
		t.Fatal(err)
	}
	if again := must(l.Reserve(ctx, r)); string(again.Answer) != "42" {
		t.Errorf("a finished key: %q", again.Answer)
	}
}

// An answer that another process committed, and did not live to put on the anchor, leaves
// only when the anchor has it.
func TestRepetitionWaitsForTheAnchor(t *testing.T) {
	l, _ := create(t, Options{Anchor: t.TempDir() + "/anchor"})
	res := must(l.Reserve(ctx, repeating("a")))
	if err := l.do(ctx, false, func(ctx context.Context, b *batch) error { // as Commit, without its anchor
		return b.commit(ctx, res.ID, pending{domain: res.Domain, repetition: repetition("ann", "patient", []byte("a"))}, []byte("42"), digestOf([]byte("42")))
	}); err != nil {
		t.Fatal(err)
	}
	if a, err := l.Repeated(ctx, "ann", "patient", []byte("a")); a != nil || err != nil {
		t.Errorf("left before the anchor: %q, %v", a, err)
	}
	if again := must(l.Reserve(ctx, repeating("a"))); string(again.Answer) != "42" {
		t.Errorf("got %q", again.Answer)
	}
	if at := must(l.anchor.read()); at.seq != res.ID+1 {
		t.Errorf("it left, and the anchor is at %d", at.seq)
	}
	if a := must(l.Repeated(ctx, "ann", "patient", []byte("a"))); string(a) != "42" {
		t.Errorf("after it: %q", a)
	}
}

// Whoever edits the records cannot make an answer that of another request, or of another
// version, without that Verify sees it.
func TestEditedRepetitions(t *testing.T) {
	bobs := repetition("bob", "patient", []byte("a"))
	for name, edit := range map[string]func(*sql.DB) error{
		"answer edited": statement(`UPDATE records SET answer = x'37' WHERE kind = 'commit'`),
		"key edited": func(db *sql.DB) error {
			_, err := db.Exec(`UPDATE records SET key = ? WHERE kind = 'commit'`, bobs)
			return err
		},
		"version deleted":     statement(`DELETE FROM records WHERE kind = 'version'`),
		"version of a domain": forgeChain(record{kind: kindVersion, domain: "patient"}, entry{Time: now}),
		"version with state":  forgeChain(record{kind: kindVersion}, entry{Time: now, State: &state{}}),
	} {
		l, path := create(t, Options{})
		l.answered(t, repeating("a"), "42")
		must(l.NewVersion(ctx, "", "", now))
		l.answered(t, repeating("b"), "43")
		l.Close()
		forge(t, path, edit)
		l, err := Open(ctx, path, Options{})
		if err == nil {
			err = l.Verify(ctx)
			l.Close()
		}
		if !errors.Is(err, ErrTampered) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A commit whose key is of another request than its reservation's, with a right hash.
func TestForgedRepetitionKey(t *testing.T) {
	l, path := create(t, Options{})
	open := must(l.Reserve(ctx, repeating("a")))
	s := must(l.chain.lastState(ctx, l.db, "patient"))
	s.Uncommitted--
	l.Close()
	forge(t, path, forgeChain(record{kind: kindCommit, domain: "patient", ref: open.ID, key: repetition("bob", "patient", []byte("a")), answer: []byte("7")},
		entry{Answer: digestOf([]byte("7")), State: s}))
	l = must(Open(ctx, path, Options{}))
	if err := l.Verify(ctx); !errors.Is(err, ErrTampered) {
		t.Errorf("verify: %v", err)
	}
	l.Close()
}

func BenchmarkRepeated(b *testing.B) {
	l, _ := create(b, Options{Anchor: b.TempDir() + "/anchor"})
	l.answered(b, repeating("a"), "an answer")
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if a, err := l.Repeated(ctx, "ann", "patient", []byte("a")); a == nil || err != nil {
				b.Fatal(err)
			}
		}
	})
}
