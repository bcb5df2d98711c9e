//go:build unix

package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/pgsql"
)

// on makes a ledger in a database of a server, anchored, and returns how to open it.
func on(t *testing.T, server string) (*Ledger, string, Options) {
	t.Helper()
	u := newTestDatabase(t, server)
	o := Options{Domains: both, Anchor: filepath.Join(t.TempDir(), "anchor"), Now: now}
	l := must(Create(ctx, u, o))
	t.Cleanup(func() { l.Close() })
	return l, u, o
}

// do runs statements as the administrator.
func do(t *testing.T, u string, statements ...string) {
	t.Helper()
	db := must(pgsql.Open(u, pgsql.Settings{"search_path": "discreet"}))
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// number reads one.
func number(t *testing.T, u, query string) (n int64) {
	t.Helper()
	db := must(pgsql.Open(u, pgsql.Settings{"search_path": "discreet"}))
	defer db.Close()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// until waits for a condition that another process brings about.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 3000 {
		if done() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s did not come", what)
}

// What a session that stands still, or waits, is given: the server ends it.
func TestDatabaseSettings(t *testing.T) {
	server := testServer(t)
	l, u, _ := on(t, server)
	for name, want := range map[string]string{"idle_in_transaction_session_timeout": "20s", "lock_timeout": "10s", "statement_timeout": "15s", "search_path": "discreet"} {
		var have string
		if err := l.db.QueryRow("SELECT current_setting(?)", name).Scan(&have); err != nil || have != want {
			t.Errorf("%s is %s, %v", name, have, err)
		}
	}
	l.Close()
	// A server that does not sync, or that is written by another, is refused.
	for _, setting := range []string{"fsync", "full_page_writes"} {
		do(t, server, "ALTER SYSTEM SET "+setting+" = off", "SELECT pg_reload_conf()")
		until(t, "the setting", func() bool {
			return number(t, server, "SELECT count(*) FROM pg_settings WHERE name = '"+setting+"' AND setting = 'off'") == 1 || setting == "fsync"
		})
		if setting == "fsync" { // the command line's stays
			do(t, server, "ALTER SYSTEM RESET "+setting, "SELECT pg_reload_conf()")
			continue
		}
		if _, err := Open(ctx, u, Options{}); !errors.Is(err, ErrStorage) || !strings.Contains(err.Error(), "sync") {
			t.Errorf("%s off: %v", setting, err)
		}
		do(t, server, "ALTER SYSTEM RESET "+setting, "SELECT pg_reload_conf()")
	}
	if _, err := Open(ctx, strings.Replace(u, "test@", "test:secret@", 1)+"&port=1", Options{}); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a message with a password, or none: %v", err)
	}
	if _, err := Open(ctx, "postgres://u:secret@h:port/x", Options{}); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a message with a password, or none: %v", err)
	}
	if _, err := Open(ctx, "postgres://u:secret@db.example.org/x", Options{}); err == nil || !strings.Contains(err.Error(), "sslmode") || strings.Contains(err.Error(), "secret") {
		t.Errorf("a URL that does not say how the connection is protected: %v", err)
	}
	if _, err := Open(ctx, newTestDatabase(t, server), Options{}); !errors.Is(err, ErrMissing) {
		t.Errorf("an empty database: %v", err)
	}
	if _, err := Create(ctx, u, Options{Now: now}); !errors.Is(err, ErrExists) {
		t.Errorf("a second ledger in one database: %v", err)
	}
}

// Whoever can write the database can add what changes or hides records: such tables are
// refused.
func TestForeignTables(t *testing.T) {
	server := testServer(t)
	for _, edit := range []string{
		"ALTER TABLE discreet.records SET UNLOGGED",
		"ALTER TABLE discreet.records ENABLE ROW LEVEL SECURITY",
		"ALTER TABLE discreet.records ALTER COLUMN kind SET DEFAULT 'access'",
		"ALTER TABLE discreet.records ADD COLUMN more text",
		"ALTER TABLE discreet.records ALTER COLUMN domain DROP NOT NULL",
		"DROP INDEX discreet.records_commit",
		"CREATE INDEX more ON discreet.records (ref)",
		"CREATE RULE nothing AS ON INSERT TO discreet.records DO INSTEAD NOTHING",
		"CREATE FUNCTION discreet.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
		"CREATE FUNCTION public.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; CREATE TRIGGER t BEFORE INSERT ON discreet.records FOR EACH ROW EXECUTE FUNCTION public.f()",
		"CREATE TABLE discreet.more () INHERITS (discreet.records)",
		"CREATE VIEW discreet.more AS SELECT 1 AS one",
		"CREATE POLICY p ON discreet.records USING (false)",
		"ALTER TABLE discreet.head DROP CONSTRAINT head_pkey",
		"UPDATE discreet.head SET hash = ''",
		"UPDATE discreet.head SET seq = seq - 1",
		"DELETE FROM discreet.head",
		"INSERT INTO discreet.records SELECT seq + 1, kind, domain, key, ref, body, answer, hash FROM discreet.records ORDER BY seq DESC LIMIT 1",
	} {
		l, u, o := on(t, server)
		l.Close()
		do(t, u, edit)
		l, err := Open(ctx, u, o)
		if err == nil { // the head is looked at when somebody is charged
			_, err = l.Reserve(ctx, ask("0.1"))
			l.Close()
		}
		if !errors.Is(err, ErrTampered) {
			t.Errorf("%s: %v", edit, err)
		}
	}
}

// A wait for a replica that is cancelled commits on this server alone and says so in a warning.
// Such a charge is spent and not answered, and nothing that rests on it leaves before a later
// commit was confirmed.
func TestCommitWithAWarning(t *testing.T) {
	server := testServer(t)
	l, u, o := on(t, server)
	second := Options{Anchor: filepath.Join(t.TempDir(), "anchor"), Now: now}
	if err := Anchor(ctx, u, second); err != nil {
		t.Fatal(err)
	}
	other := must(Open(ctx, u, second))
	defer other.Close()
	first := must(l.Reserve(ctx, repeating("a")))

	do(t, server, "ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "SELECT pg_reload_conf()")
	until(t, "the wait", func() bool {
		return number(t, server, "SELECT count(*) FROM pg_settings WHERE name = 'synchronous_standby_names' AND setting = 'nobody'") == 1
	})
	canceled := func(f func() error) (err error) {
		t.Helper()
		done := make(chan error, 1)
		go func() { done <- f() }()
		until(t, "a commit that waits", func() bool {
			number(t, server, "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
			select {
			case err = <-done:
				return true
			default:
				return false
			}
		})
		return err
	}
	// The answer of the first is stored, on this server alone.
	if err := canceled(func() error { return l.Commit(ctx, first, []byte("42")) }); !errors.Is(err, ErrStorage) {
		t.Errorf("an answer that no replica has: %v", err)
	}
	if n := number(t, u, "SELECT count(*) FROM records WHERE kind = 'commit'"); n != 1 {
		t.Fatalf("%d answers in the database: the wait was not cancelled", n)
	}
	for name, of := range map[string]*Ledger{"this": l, "the other": other} {
		if answer, err := of.Repeated(ctx, "ann", "patient", []byte("a")); answer != nil || err != nil {
			t.Errorf("%s server shows an answer that no replica has: %q, %v", name, answer, err)
		}
		err := canceled(func() error { _, err := of.Reserve(ctx, repeating("a")); return err })
		if !errors.Is(err, ErrStorage) {
			t.Errorf("%s server answers by a stored answer that no replica has: %v", name, err)
		}
	}
	// While it is not known what an earlier commit has left, nobody is charged.
	records := number(t, u, "SELECT max(seq) FROM records")
	if err := canceled(func() error { _, err := l.Reserve(ctx, ask("0.1")); return err }); !errors.Is(err, ErrStorage) {
		t.Errorf("charged while in doubt: %v", err)
	}
	if n := number(t, u, "SELECT max(seq) FROM records"); n != records {
		t.Errorf("%d records after a refusal, %d before", n, records)
	}

	do(t, server, "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
	until(t, "the end of the wait", func() bool {
		return number(t, server, "SELECT count(*) FROM pg_settings WHERE name = 'synchronous_standby_names' AND setting = ''") == 1
	})
	if r := must(other.Reserve(ctx, repeating("a"))); string(r.Answer) != "42" {
		t.Errorf("the stored answer, once it is confirmed: %+v", r)
	}
	if string(must(other.Repeated(ctx, "ann", "patient", []byte("a")))) != "42" {
		t.Error("the stored answer is not shown once it is confirmed")
	}
	must(l.Reserve(ctx, ask("0.1")))
	l.verifyOrFail(t)
	// An owner who wants a replica is not served without one.
	o.Replicated = true
	wants := must(Open(ctx, u, o))
	defer wants.Close()
	if _, err := wants.Reserve(ctx, ask("0.1")); !errors.Is(err, ErrStorage) || !strings.Contains(err.Error(), "replica") {
		t.Errorf("charged without a replica: %v", err)
	}
}

// A way to a server that can be cut: before it has passed on the nth message of the client, or
// after, so that the reply is lost.
type cutWay struct {
	listener net.Listener
	to       string
	messages atomic.Int64
	at       atomic.Int64 // the message at which it is cut; 0: none
	after    atomic.Bool
	open     sync.Map
}

func cuttable(t *testing.T, u string) (*cutWay, string) {
	t.Helper()
	parsed := must(url.Parse(u))
	q := parsed.Query()
	w := &cutWay{to: filepath.Join(q.Get("host"), ".s.PGSQL.5432")}
	dir := t.TempDir()
	w.listener = must(net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432")))
	t.Cleanup(func() { w.listener.Close(); w.open.Range(func(c, _ any) bool { c.(net.Conn).Close(); return true }) })
	go func() {
		for {
			c, err := w.listener.Accept()
			if err != nil {
				return
			}
			go w.pass(c)
		}
	}()
	q.Set("host", dir)
	parsed.RawQuery = q.Encode()
	return w, parsed.String()
}

func (w *cutWay) pass(c net.Conn) {
	defer c.Close()
	s, err := net.Dial("unix", w.to)
	if err != nil {
		return
	}
	defer s.Close()
	w.open.Store(c, true)
	w.open.Store(s, true)
	var lost atomic.Bool
	go func() { // what the server says
		b := make([]byte, 1<<16)
		for {
			n, err := s.Read(b)
			if err != nil {
				c.Close()
				return
			}
			if lost.Load() {
				continue
			}
			if _, err := c.Write(b[:n]); err != nil {
				return
			}
		}
	}()
	b := make([]byte, 1<<16)
	for {
		n, err := c.Read(b)
		if err != nil {
			return
		}
		cut := w.messages.Add(1) == w.at.Load()
		if cut && !w.after.Load() {
			return
		}
		if cut {
			lost.Store(true)
		}
		if _, err := s.Write(b[:n]); err != nil {
			return
		}
		if cut { // the server has it, and answers nobody
			time.Sleep(50 * time.Millisecond)
			return
		}
	}
}

// The connection is lost at each step of a reservation and of its answer, before the server
// has the step and after: what was acknowledged is there once, what was not is spent at most
// once, and the server goes on.
func TestLostConnectionAtEachStep(t *testing.T) {
	server := testServer(t)
	l, direct, o := on(t, server)
	l.Close()
	way, u := cuttable(t, direct)
	acknowledged, cuts := 0, 0
	for step := int64(1); ; step++ {
		whole := 0
		for _, after := range []bool{false, true} {
			way.at.Store(0)
			l := must(Open(ctx, u, o))
			before := number(t, direct, "SELECT count(*) FROM records WHERE kind = 'reserve'")
			way.messages.Store(0)
			way.after.Store(after)
			way.at.Store(step)
			q := ask("0.001")
			q.IdempotencyKey = fmt.Sprint(step, after)
			r, err := l.Reserve(ctx, q)
			var answered error
			if err == nil {
				answered = l.Commit(ctx, r, []byte("42"))
			}
			for _, err := range []error{err, answered} {
				if err != nil && !errors.Is(err, ErrStorage) {
					t.Errorf("step %d, after %v: %v", step, after, err)
				}
			}
			if way.messages.Load() < step {
				whole++
			} else {
				cuts++
			}
			way.at.Store(0)
			charged := number(t, direct, "SELECT count(*) FROM records WHERE kind = 'reserve'") - before
			if err == nil && charged != 1 || charged > 1 || charged < 0 {
				t.Errorf("step %d, after %v: %d charges, %v", step, after, charged, err)
			}
			if err == nil {
				acknowledged++
				if n := number(t, direct, fmt.Sprintf("SELECT count(*) FROM records WHERE kind = 'commit' AND ref = %d", r.ID)); answered == nil && n != 1 {
					t.Errorf("step %d, after %v: an acknowledged answer is there %d times", step, after, n)
				}
			}
			// The same server goes on, and a repetition of the key gets the answer or pays anew.
			again, err := l.Reserve(ctx, q)
			if err != nil {
				t.Fatalf("step %d, after %v: the server does not go on: %v", step, after, err)
			}
			if stored := answered == nil && r != nil; stored != (again.Answer != nil) && stored {
				t.Errorf("step %d, after %v: an acknowledged answer is not repeated", step, after)
			}
			l.Close()
		}
		if whole == 2 {
			break
		}
	}
	if cuts < 8 || acknowledged == 0 {
		t.Errorf("%d cuts, %d acknowledged: the way was not cut", cuts, acknowledged)
	}
	t.Logf("%d cuts", cuts)
	l = must(Open(ctx, direct, o))
	defer l.Close()
	l.verifyOrFail(t)
	spent := must(l.Balance(ctx, "patient")).Spent.Epsilon
	if n := number(t, direct, "SELECT count(*) FROM records WHERE kind = 'reserve'"); !spent.Equal(eps("0.001").MulRat(rational(int(n)))) {
		t.Errorf("%d charges have spent %v", n, spent)
	}
}

// A copy of the database that lacks the last records: whoever was told of them refuses it, while
// it runs and after a restart; and so does a server that was told of none of them, where the
// copy is another database.
func TestRestoredDatabase(t *testing.T) {
	server := testServer(t)
	l, u, o := on(t, server)
	idle := Options{Anchor: filepath.Join(t.TempDir(), "anchor"), Now: now}
	if err := Anchor(ctx, u, idle); err != nil {
		t.Fatal(err)
	}
	older := newTestDatabase(t, server)
	copyDatabase(t, u, older)
	spend(t, l)
	l.Close()
	if _, err := Open(ctx, older, o); !errors.Is(err, ErrRolledBack) {
		t.Errorf("an older copy: %v", err)
	}
	// It went on by itself, as a replica would that took over.
	astray := must(Open(ctx, older, idle))
	must(astray.Reserve(ctx, ask("0.01")))
	spend(t, astray)
	spend(t, astray)
	astray.Close()
	if _, err := Open(ctx, older, o); !errors.Is(err, ErrTampered) {
		t.Errorf("a copy that went its own way: %v", err)
	}
	// In place of the database that a server has open.
	l = must(Open(ctx, u, o))
	defer l.Close()
	do(t, u, "DELETE FROM records WHERE seq > 6", "UPDATE head SET seq = 6, hash = (SELECT hash FROM records WHERE seq = 6)")
	if _, err := l.Reserve(ctx, ask("0.1")); !errors.Is(err, ErrRolledBack) {
		t.Errorf("records gone under a server: %v", err)
	}
	if answer, err := l.Repeated(ctx, "ann", "patient", []byte("a")); answer != nil {
		t.Errorf("answered: %q, %v", answer, err)
	}

	// The same records in another database server, or on a timeline of its own.
	l, u, o = on(t, server)
	defer l.Close()
	do(t, u, "UPDATE head SET place = '1/00000001'")
	if _, err := l.Reserve(ctx, ask("0.1")); !errors.Is(err, ErrElsewhere) {
		t.Errorf("another database: %v", err)
	}
	o.Replicated = true // a replica has all that was answered
	wants := must(Open(ctx, u, o))
	defer wants.Close()
	if _, err := wants.Reserve(ctx, ask("0.1")); !errors.Is(err, ErrStorage) { // for want of a replica
		t.Errorf("another database: %v", err)
	}
	// The owner vouches for it.
	if err := Anchor(ctx, u, Options{Anchor: o.Anchor, Now: now}); err != nil {
		t.Fatal(err)
	}
	must(l.Reserve(ctx, ask("0.1")))
	l.verifyOrFail(t)
}

// copyDatabase makes the tables of one in another, with all that they hold.
func copyDatabase(t *testing.T, from, to string) {
	t.Helper()
	source := must(pgsql.Open(from, pgsql.Settings{"search_path": "discreet"}))
	defer source.Close()
	dest := must(pgsql.Open(to, pgsql.Settings{"search_path": "discreet"}))
	defer dest.Close()
	must(dest.Exec(tables))
	rows := must(source.Query("SELECT seq, kind, domain, key, ref, body, answer, hash FROM records ORDER BY seq"))
	defer rows.Close()
	for rows.Next() {
		var seq int64
		var kind, domain string
		var key, body, answer, hash []byte
		var ref sql.NullInt64
		if err := rows.Scan(&seq, &kind, &domain, &key, &ref, &body, &answer, &hash); err != nil {
			t.Fatal(err)
		}
		must(dest.Exec("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?)", seq, kind, domain, key, ref, body, answer, hash))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	must(dest.Exec("INSERT INTO head SELECT true, seq, hash, " + place + " FROM records ORDER BY seq DESC LIMIT 1"))
}

// A server that stands still while it has the lock loses it, and what it was about to charge:
// the others go on, and when it goes on, it is told so.
func TestPausedServer(t *testing.T) {
	server := testServer(t)
	l, u, o := on(t, server)
	other := must(Open(ctx, u, o))
	defer other.Close()
	held, resume := make(chan bool), make(chan bool)
	paused := make(chan error, 1)
	go func() {
		paused <- l.do(ctx, false, func(_ context.Context, b *batch) error {
			p := must(ask("0.5").prepare(l.domains["patient"].filter, false))
			if _, err := b.reserve(ctx, ask("0.5"), p); err != nil {
				return err
			}
			close(held)
			<-resume
			return nil
		})
	}()
	<-held
	done := make(chan error, 1)
	go func() { _, err := other.Reserve(ctx, ask("0.6")); done <- err }()
	// The server ends sessions that stand for 20 seconds within a transaction (see
	// TestDatabaseSettings); here an administrator does.
	until(t, "the waiting server", func() bool {
		return number(t, server, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") > 0
	})
	do(t, server, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction' AND application_name = 'discreet ledger'")
	if err := <-done; err != nil {
		t.Errorf("the other server: %v", err)
	}
	close(resume)
	if err := <-paused; !errors.Is(err, ErrStorage) {
		t.Errorf("the server that stood still was charged: %v", err)
	}
	if b := must(l.Balance(ctx, "patient")); !b.Spent.Epsilon.Equal(eps("0.6")) {
		t.Errorf("spent %v", b.Spent.Epsilon)
	}
	if _, err := l.Reserve(ctx, ask("0.5")); !errors.Is(err, ErrExhausted) {
		t.Errorf("when it goes on: %v", err)
	}
	must(l.Reserve(ctx, ask("0.4")))
	l.verifyOrFail(t)
}

// Servers whose clocks differ read expiries by the database's.
func TestClock(t *testing.T) {
	l, _, _ := on(t, testServer(t))
	var at time.Time
	for _, off := range []time.Duration{0, 72 * time.Hour, -72 * time.Hour} {
		local := time.Now().Add(off)
		clock := l.Clock(func() time.Time { return local })
		now := clock()
		if !at.IsZero() && (now.Before(at) || now.Sub(at) > time.Minute) {
			t.Errorf("a clock that is off by %v says %v after %v", off, now, at)
		}
		at = now
		local = local.Add(3 * time.Second)
		if step := clock().Sub(now); step != 3*time.Second {
			t.Errorf("three seconds of the local clock are %v", step)
		}
		local = local.Add(-time.Hour) // it is set back
		if again := clock(); again.Before(at) || again.Sub(at) > time.Minute {
			t.Errorf("after the local clock was set back: %v after %v", again, at)
		}
	}
	file, _ := create(t, Options{})
	if os.Getenv(onServer) == "" && !file.Clock(func() time.Time { return now })().Equal(now) {
		t.Error("a file has a clock of its own")
	}
}

// What one server tells, all that hear are told, also after the sessions were lost; of a file,
// nobody.
func TestWords(t *testing.T) {
	a, u, _ := on(t, testServer(t))
	heard, ready := make(chan string, 100), make(chan bool, 100)
	hearing, deaf := context.WithCancel(ctx)
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() { a.Hear(hearing, func() { ready <- true }, func(word string) { heard <- word }) })
	}
	for round := range 2 {
		<-ready
		<-ready
		word := fmt.Sprintf("word %d '?", round)
		if err := a.Tell(ctx, word); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := <-heard; got != word {
				t.Errorf("heard %q", got)
			}
		}
		if round == 0 {
			do(t, u, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'discreet words'")
		}
	}
	deaf()
	all.Wait()
	if os.Getenv(onServer) == "" {
		file, _ := create(t, Options{})
		if err := file.Tell(ctx, "word"); err != nil {
			t.Error(err)
		}
		file.Hear(ctx, nil, func(string) { t.Error("a file has words") })
	}
}
