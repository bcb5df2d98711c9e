//go:build unix

package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A ledger moves into a database and back with its whole chain, and each place that it has left
// is closed: for who opens it and for who has it open.
func TestMove(t *testing.T) {
	server := testServer(t)
	dir := t.TempDir()
	file, database, back := filepath.Join(dir, "ledger"), newTestDatabase(t, server), filepath.Join(dir, "back")
	key := newKey(t)
	options := func(name string) Options {
		return Options{Key: key, Anchor: filepath.Join(dir, name+".anchor"), Now: now}
	}
	o := options("file")
	o.Domains = both
	l := must(Create(ctx, file, o))
	defer l.Close()
	spend(t, l)
	l.answered(t, repeating("a"), "42")
	l.rule(t, allow(QuotaRule, "group:all", "0.5"))
	before := must(l.History(ctx))

	// A destination that is none is refused while nothing has happened.
	taken := filepath.Join(dir, "taken")
	if err := os.WriteFile(taken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Move(ctx, file, options("file"), taken, options("taken")); !errors.Is(err, ErrExists) {
		t.Errorf("to where a file is: %v", err)
	}
	if _, err := Move(ctx, file, options("file"), database, Options{Key: key, Now: now}); !errors.Is(err, ErrMissing) {
		t.Errorf("an anchored ledger to a place without an anchor: %v", err)
	}
	must(l.Reserve(ctx, ask("0.01"))) // it is not closed

	check := func(from string, of Options, to string, o Options) {
		t.Helper()
		m := must(Move(ctx, from, of, to, o))
		if _, err := Open(ctx, from, of); !errors.Is(err, ErrMoved) {
			t.Errorf("the place that it has left: %v", err)
		}
		if err := Anchor(ctx, from, Options{Key: key, Anchor: filepath.Join(dir, "x"), Now: now}); !errors.Is(err, ErrMoved) {
			t.Errorf("anchored anew where it has left: %v", err)
		}
		again := must(Move(ctx, from, of, to, o)) // as after a crash
		if again.Records != m.Records || string(again.Hash) != string(m.Hash) {
			t.Errorf("again: %v, %v", again, m)
		}
		if _, err := Move(ctx, from, of, filepath.Join(dir, "elsewhere"), options("elsewhere")); !errors.Is(err, ErrMoved) {
			t.Errorf("to two places: %v", err)
		}
		there := must(Open(ctx, to, o))
		defer there.Close()
		after := must(there.History(ctx))
		for i, e := range before {
			if string(e.Hash) != string(after[i].Hash) {
				t.Fatalf("record %d has another hash", e.Seq)
			}
		}
		if r := must(there.Reserve(ctx, repeating("a"))); string(r.Answer) != "42" {
			t.Errorf("the stored answer is gone: %+v", r)
		}
		must(there.Reserve(ctx, ask("0.01")))
		there.verifyOrFail(t)
	}
	check(file, options("file"), database, options("database"))
	if _, err := l.Reserve(ctx, ask("0.01")); !errors.Is(err, ErrMoved) {
		t.Errorf("who had it open: %v", err)
	}
	check(database, options("database"), back, options("back"))
}

// A crash after the source is closed leaves a ledger that nobody can charge, and the same move
// goes on.
func TestMoveInterrupted(t *testing.T) {
	server := testServer(t)
	dir := t.TempDir()
	file, database := filepath.Join(dir, "ledger"), newTestDatabase(t, server)
	of, o := Options{Now: now}, Options{Anchor: filepath.Join(dir, "anchor"), Now: now}
	l := must(Create(ctx, file, Options{Domains: both, Now: now}))
	spend(t, l)
	l.Close()
	do(t, database, "CREATE FUNCTION public.no() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END'",
		"CREATE EVENT TRIGGER no ON ddl_command_start EXECUTE FUNCTION public.no()")
	if _, err := Move(ctx, file, of, database, o); err == nil {
		t.Fatal("moved into a database that takes no tables")
	}
	if _, err := Open(ctx, file, of); !errors.Is(err, ErrMoved) {
		t.Errorf("the source of a move that was interrupted: %v", err)
	}
	if _, err := Open(ctx, database, o); !errors.Is(err, ErrMissing) {
		t.Errorf("its destination: %v", err)
	}
	do(t, database, "DROP EVENT TRIGGER no")
	must(Move(ctx, file, of, database, o))
	moved := must(Open(ctx, database, o))
	defer moved.Close()
	if b := must(moved.Balance(ctx, "patient")); !b.Spent.Epsilon.Equal(eps("0.3")) {
		t.Errorf("spent %v", b.Spent.Epsilon)
	}
}

// A crash after the destination has all records, and before it has its anchor.
func TestMoveWithoutItsAnchor(t *testing.T) {
	server := testServer(t)
	dir := t.TempDir()
	file, database := filepath.Join(dir, "ledger"), newTestDatabase(t, server)
	of, o := Options{Now: now}, Options{Anchor: filepath.Join(dir, "anchor"), Now: now}
	must(Create(ctx, file, Options{Domains: both, Now: now})).Close()
	must(Move(ctx, file, of, database, o))
	if err := os.Remove(o.Anchor); err != nil {
		t.Fatal(err)
	}
	must(Move(ctx, file, of, database, o))
	must(Open(ctx, database, o)).Close()
}
