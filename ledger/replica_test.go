//go:build linux

package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/discreet-dp/discreet/internal/postgrestest"
)

// replicates makes a server wait for a replica of that name, or for none, and waits until it does.
func replicates(t *testing.T, u, name string) {
	t.Helper()
	do(t, u, "ALTER SYSTEM SET synchronous_standby_names = '"+name+"'", "SELECT pg_reload_conf()")
	until(t, "the replica", func() bool {
		return number(t, u, "SELECT count(*) FROM pg_settings WHERE name = 'synchronous_standby_names' AND setting = '"+name+"'") == 1 &&
			(name == "" || number(t, u, "SELECT count(*) FROM pg_stat_replication WHERE application_name = '"+name+"' AND sync_state = 'sync'") == 1)
	})
}

// little is repeating at so small a charge that the budget lasts.
func little(of string) Request {
	r := ask("0.0001")
	r.Repetition = []byte(of)
	return r
}

// A synchronous replica takes over for a server that is killed while clients are charged: it has
// every answer that was given, and goes on with the chain. Without the owner's word, or
// replicated, it is refused. A replica that lags behind what was answered is refused whatever is
// said.
func TestReplicaTakesOver(t *testing.T) {
	settings := []string{"fsync=on", "max_connections=30", "max_wal_senders=4"}
	primary := postgrestest.StartServer(t, settings...)
	u := serverURL(primary.Connection)
	o := Options{Domains: both, Anchor: filepath.Join(t.TempDir(), "anchor"), Now: now, Replicated: true}
	must(Create(ctx, u, o)).Close()
	second := primary.Standby(t, "second")
	replicates(t, u, "second")

	l := must(Open(ctx, u, o))
	var mu sync.Mutex
	answered := map[string]bool{}
	var clients sync.WaitGroup
	enough := make(chan bool, 4)
	for n := range 4 {
		clients.Go(func() {
			for i := 0; ; i++ {
				key := fmt.Sprintf("%d-%d", n, i)
				r, err := l.Reserve(ctx, little(key))
				if err == nil {
					err = l.Commit(ctx, r, []byte(key))
				}
				if err != nil {
					return
				}
				mu.Lock()
				answered[key] = true
				mu.Unlock()
				if i == 3 {
					enough <- true
				}
			}
		})
	}
	for range 4 {
		<-enough
	}
	if err := primary.Kill(); err != nil {
		t.Fatal(err)
	}
	clients.Wait()
	l.Close()
	second.Promote(t)
	u = serverURL(second.Connection)

	replicates(t, u, "")
	alone := o
	alone.Replicated = false
	l = must(Open(ctx, u, alone))
	if _, err := l.Reserve(ctx, ask("0.001")); !errors.Is(err, ErrElsewhere) {
		t.Errorf("charged where a replica took over without a word: %v", err)
	}
	l.Close()
	third := second.Standby(t, "third")
	replicates(t, u, "third")
	l = must(Open(ctx, u, o))
	r := must(l.Reserve(ctx, ask("0.001")))
	if err := l.Commit(ctx, r, []byte("after")); err != nil {
		t.Fatal(err)
	}
	l.verifyOrFail(t)
	for key := range answered {
		if answer, err := l.Repeated(ctx, "ann", "patient", []byte(key)); string(answer) != key {
			t.Errorf("the answer %q is %q, %v", key, answer, err)
		}
	}
	t.Logf("%d answers before", len(answered))
	l.Close()

	// The third is no longer waited for, and lags when the second is killed.
	replicates(t, u, "")
	if err := third.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := Anchor(ctx, u, alone); err != nil { // the owner's word
		t.Fatal(err)
	}
	l = must(Open(ctx, u, alone))
	r = must(l.Reserve(ctx, ask("0.001")))
	if err := l.Commit(ctx, r, []byte("lost")); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := errors.Join(second.Kill(), third.Again()); err != nil {
		t.Fatal(err)
	}
	third.Promote(t)
	for _, o := range []Options{o, alone} {
		if _, err := Open(ctx, serverURL(third.Connection), o); !errors.Is(err, ErrRolledBack) {
			t.Errorf("a replica that lacks an answer, replicated %v: %v", o.Replicated, err)
		}
	}
	if err := Anchor(ctx, serverURL(third.Connection), alone); !errors.Is(err, ErrRolledBack) {
		t.Errorf("the owner's word for it: %v", err)
	}
}

// A disk that is full under the database fails charges and answers, and loses none: what was
// confirmed is there when there is room again, and the chain goes on.
func TestDatabaseOnAFullDisk(t *testing.T) {
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=120m,mode=0711"); err != nil {
		t.Skipf("no small file system can be made here, which takes a system administrator: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	server := postgrestest.StartWithin(t, dir, "fsync=on", "max_connections=30", "max_wal_size=32MB", "log_min_messages=panic")
	u := serverURL(server.Connection)
	o := Options{Domains: both, Anchor: filepath.Join(t.TempDir(), "anchor"), Now: now}
	l := must(Create(ctx, u, o))
	defer func() { l.Close() }()
	ballast := filepath.Join(dir, "ballast")
	if err := fill(ballast, 2<<20); err != nil {
		t.Fatal(err)
	}
	// Texts that do not compress, until there is no room.
	answered, n := map[string][]byte{}, 0
	fails := func() error {
		for {
			key := fmt.Sprint(n)
			n++
			r, err := l.Reserve(ctx, little(key))
			if err != nil {
				return err
			}
			answer := make([]byte, 0, 256<<10)
			for i := byte(0); len(answer) < cap(answer); i++ {
				d := digestOf([]byte(key), []byte{i}, answer[max(0, len(answer)-32):])
				answer = append(answer, d...)
			}
			if err := l.Commit(ctx, r, answer); err != nil {
				return err
			}
			answered[key] = answer
		}
	}
	if err := fails(); !errors.Is(err, ErrStorage) {
		t.Errorf("on a full disk: %v", err)
	}
	if len(answered) == 0 {
		t.Error("nothing was answered before")
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := server.Alive(); err != nil { // a log that cannot be written ends the server
		t.Logf("the server ended: %v", err)
		if err := server.Again(); err != nil {
			t.Fatal(err)
		}
	}
	var goesOn error
	until(t, "the end of a crash's recovery", func() bool {
		_, goesOn = l.Reserve(ctx, little("room"))
		return goesOn == nil || errors.Is(goesOn, ErrTampered) || errors.Is(goesOn, ErrRolledBack)
	})
	if goesOn != nil {
		t.Errorf("when there is room again: %v", goesOn)
	}
	l.verifyOrFail(t)
	for key, want := range answered {
		if answer, err := l.Repeated(ctx, "ann", "patient", []byte(key)); !bytes.Equal(answer, want) {
			t.Errorf("the answer %s is lost: %v", key, err)
		}
	}
	entries := must(l.History(ctx))
	reserved := 0
	for _, e := range entries {
		if e.Kind == kindReserve {
			reserved++
		}
	}
	if reserved < len(answered) {
		t.Errorf("%d reservations, %d answers", reserved, len(answered))
	}
	t.Logf("%d answers, %d reservations", len(answered), reserved)
}

// fill writes a file that leaves so many bytes of its file system.
func fill(path string, left int64) error {
	var s unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &s); err != nil {
		return err
	}
	n := int64(s.Bavail)*s.Bsize - left
	if n <= 0 {
		return fmt.Errorf("%d bytes are left", int64(s.Bavail)*s.Bsize)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(unix.Fallocate(int(f.Fd()), 0, 0, n), f.Close())
}
