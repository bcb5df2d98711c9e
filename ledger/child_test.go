//go:build unix

package ledger

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/filter"
)

// The test binary runs itself as a client process: DISCREET_LEDGER_CLIENT holds
// a client's arguments.
func TestMain(m *testing.M) {
	if args := os.Getenv("DISCREET_LEDGER_CLIENT"); args != "" {
		if err := parseClient(args).run(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	// Tests sync some 50,000 times, and nothing here depends on a disk's slowness:
	// ledgers are in memory where there is such a folder. Benchmarks are on disk.
	flag.Parse()
	if _, err := os.Stat("/dev/shm"); err == nil && flag.Lookup("test.bench").Value.String() == "" {
		os.Setenv("TMPDIR", "/dev/shm")
	}
	os.Exit(m.Run())
}

// A client reserves, and commits, until it is exhausted, killed or done. It says
// on standard output what was acknowledged to it, a line each, before it goes on:
// "reserved 7" and "committed 7", and how it ended.
type client struct {
	path, anchor string
	name         string
	goroutines   int
	count        int // of reservations by each goroutine; 0: no end
	commit       bool
	fileSize     uint64 // if not 0, no file may grow larger: the disk is full
	create       bool   // the ledger, and no more
}

func (c client) String() string {
	return strings.Join([]string{c.path, c.anchor, c.name, strconv.Itoa(c.goroutines), strconv.Itoa(c.count),
		strconv.FormatBool(c.commit), strconv.FormatUint(c.fileSize, 10), strconv.FormatBool(c.create)}, "|")
}

func parseClient(args string) client {
	f := strings.Split(args, "|")
	return client{f[0], f[1], f[2], must(strconv.Atoi(f[3])), must(strconv.Atoi(f[4])), must(strconv.ParseBool(f[5])), must(strconv.ParseUint(f[6], 10, 64)), must(strconv.ParseBool(f[7]))}
}

func (c client) command(under ...string) *exec.Cmd {
	args := append(under, must(os.Executable()))
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "DISCREET_LEDGER_CLIENT="+c.String())
	cmd.Stderr = os.Stderr
	return cmd
}

func (c client) run() error {
	if c.fileSize > 0 {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: c.fileSize, Max: c.fileSize}); err != nil {
			return err
		}
	}
	if c.create {
		l, err := Create(ctx, c.path, Options{Domains: both, Anchor: c.anchor, Now: now})
		if err != nil {
			return err
		}
		fmt.Println("created")
		return l.Close()
	}
	l, err := Open(ctx, c.path, Options{Anchor: c.anchor})
	if err != nil {
		return err
	}
	defer l.Close()
	var wg sync.WaitGroup
	var once sync.Once
	for range c.goroutines {
		wg.Go(func() {
			if err := c.work(l); err != nil {
				once.Do(func() { fmt.Printf("ended %v\n", err) })
			}
		})
	}
	wg.Wait()
	return nil
}

func (c client) work(l *Ledger) error {
	for n := 0; n < c.count || c.count == 0; n++ {
		r := ask("0.001")
		r.Analyst, r.Holders = c.name, []string{"group:all"}
		res, err := l.Reserve(ctx, r)
		if err != nil {
			return err
		}
		fmt.Printf("reserved %d\n", res.ID)
		if !c.commit || n%4 == 3 { // some answers never come
			continue
		}
		if err := l.Commit(ctx, res, []byte("an answer")); err != nil {
			return err
		}
		fmt.Printf("committed %d\n", res.ID)
		if n%8 == 5 { // what is guarded changes meanwhile
			if _, err := l.Confirm(ctx, guarding(visits[n/8%2]), c.name, now); err != nil {
				return err
			}
		}
	}
	return nil
}

// acknowledged is what clients were told.
type acknowledged struct {
	mu                  sync.Mutex
	reserved, committed map[int64]string // by whom
	ends                []string
}

func newAcknowledged() *acknowledged {
	return &acknowledged{reserved: map[int64]string{}, committed: map[int64]string{}}
}

// listen reads a client's lines until it is gone. It calls started, if not nil,
// at the first of them.
func (a *acknowledged) listen(name string, out io.Reader, started func()) {
	for s := bufio.NewScanner(out); s.Scan(); {
		if started != nil {
			started()
			started = nil
		}
		verb, rest, _ := strings.Cut(s.Text(), " ")
		a.mu.Lock()
		switch id, _ := strconv.ParseInt(rest, 10, 64); verb {
		case "reserved":
			a.reserved[id] = name
		case "committed":
			a.committed[id] = name
		case "ended":
			a.ends = append(a.ends, rest)
		}
		a.mu.Unlock()
	}
}

// audit holds the ledger against what clients were told: every acknowledged
// charge and answer is there, no total exceeds its budget, the chain verifies.
func (a *acknowledged) audit(t *testing.T, path, anchor string) (reserved int) {
	t.Helper()
	l, err := Open(ctx, path, Options{Anchor: anchor})
	if err != nil {
		t.Fatalf("open after the crash: %v", err)
	}
	defer l.Close()
	if err := l.Verify(ctx); err != nil {
		t.Fatal(err)
	}
	found, committed := map[int64]string{}, map[int64]bool{}
	for _, e := range must(l.History(ctx)) {
		if e.Kind == "reserve" {
			found[e.Seq], committed[e.Seq] = e.Analyst, e.Committed
		}
	}
	for id, name := range a.reserved {
		if found[id] != name {
			t.Fatalf("reservation %d was acknowledged to %s, and belongs to %q", id, name, found[id])
		}
	}
	for id := range a.committed {
		if !committed[id] {
			t.Fatalf("the answer of reservation %d was acknowledged, and is not there", id)
		}
	}
	b := must(l.Balance(ctx, "patient"))
	if want := eps("0.001").MulRat(rational(len(found))); !b.Spent.Epsilon.Equal(want) || want.Cmp(b.Epsilon) > 0 {
		t.Fatalf("%d reservations of 0.001 have spent %v of %v", len(found), b.Spent.Epsilon, b.Epsilon)
	}
	if h := must(l.Holding(ctx, "group:all", "patient")); !h.Spent.Epsilon.Equal(b.Spent.Epsilon) || h.Quota != nil && h.Spent.Epsilon.Cmp(h.Quota.Epsilon) > 0 {
		t.Fatalf("the group has spent %v of its quota %v, all have spent %v", h.Spent.Epsilon, h.Quota, b.Spent.Epsilon)
	}
	return len(found)
}

// Attack F4: kill -9 at random instants, several processes at a time on one
// ledger, with and without an anchor; while opening, too.
func TestKilledAtRandomInstants(t *testing.T) {
	t.Parallel() // it waits most of its time
	kills, perLedger := 400, 50
	switch {
	case os.Getenv("DISCREET_SOAK") != "":
		kills, perLedger = 10_000, 125
	case testing.Short() || raceDetector:
		kills, perLedger = 60, 30
	}
	charged := 0
	for round := 0; round*perLedger < kills; round++ {
		o := Options{}
		if round%2 == 0 {
			o.Anchor = t.TempDir() + "/anchor"
		}
		if round%4 < 2 { // a budget that lasts; the other ones are exhausted
			o.Domains = []DomainBudget{{ID: "patient", Measure: filter.Pure, Epsilon: eps("1000")}}
		}
		l, path := create(t, o)
		if round%3 == 0 { // and a quota, which is exhausted before the budget
			l.rule(t, allow(QuotaRule, "group:all", "0.4"))
		}
		l.Close()
		told := newAcknowledged()
		var victims sync.WaitGroup
		for worker := range 3 {
			victims.Go(func() {
				for n := range perLedger/3 + 1 {
					c := client{path: path, anchor: o.Anchor, name: fmt.Sprintf("%d.%d", worker, n), goroutines: 1 + n%5, commit: n%2 == 0}
					cmd := c.command()
					out, err := cmd.StdoutPipe()
					if err == nil {
						err = cmd.Start()
					}
					if err != nil {
						t.Error(err)
						return
					}
					killWithin := func(d time.Duration) {
						time.AfterFunc(rand.N(d), func() { cmd.Process.Kill() })
					}
					if n%3 == 0 {
						killWithin(30 * time.Millisecond) // perhaps while it opens the ledger
					}
					told.listen(c.name, out, func() { killWithin(20 * time.Millisecond) })
					cmd.Wait()
				}
			})
		}
		victims.Wait()
		charged += told.audit(t, path, o.Anchor)
	}
	t.Logf("%d kills, %d reservations", kills, charged)
	if charged == 0 {
		t.Error("no client lived long enough to reserve")
	}
}

// A creation that is killed leaves nothing, a ledger, or what every command
// refuses; never a ledger with less than its domains.
func TestCreateKilled(t *testing.T) {
	t.Parallel()
	complete, refused, times := 0, 0, 20
	if os.Getenv(onServer) != "" && os.Getenv("DISCREET_SOAK") == "" {
		times = 15
	}
	for range times {
		dir := t.TempDir()
		c := client{path: fresh(t), anchor: dir + "/anchor", create: true}
		cmd := c.command()
		out := must(cmd.StdoutPipe())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(rand.N(60*time.Millisecond), func() { cmd.Process.Kill() })
		said := string(must(io.ReadAll(out)))
		cmd.Wait()
		l, err := Open(ctx, c.path, Options{Domains: both, Anchor: c.anchor})
		switch {
		case err == nil:
			complete++
			l.verifyOrFail(t)
			l.Close()
		case said != "":
			t.Errorf("created, and then: %v", err)
		case errors.Is(err, ErrMissing) || errors.Is(err, ErrTampered):
			refused++
		default:
			t.Errorf("a creation that was killed: %v", err)
		}
	}
	t.Logf("%d complete, %d refused", complete, refused)
}

// Attack F1, across processes: exactly as many reservations as the budget admits, or the
// quota.
func TestProcessesOnOneBudget(t *testing.T) {
	t.Run("budget", func(t *testing.T) { processesOnOne(t, "", 1000, ErrExhausted) })
	t.Run("quota", func(t *testing.T) { processesOnOne(t, "0.3", 300, ErrQuota) })
}

func processesOnOne(t *testing.T, quota string, admits int, end error) {
	l, path := create(t, Options{})
	l.rule(t, allow(QuotaRule, "group:all", quota))
	l.Close()
	told := newAcknowledged()
	var wg sync.WaitGroup
	for i := range 5 {
		wg.Go(func() {
			c := client{path: path, name: strconv.Itoa(i), goroutines: 10}
			cmd := c.command()
			out := must(cmd.StdoutPipe())
			if err := cmd.Start(); err != nil {
				t.Error(err)
				return
			}
			told.listen(c.name, out, nil)
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := told.audit(t, path, ""); n != admits || len(told.reserved) != admits {
		t.Errorf("%d reservations of 0.001 where there is room for %d, %d acknowledged", n, admits, len(told.reserved))
	}
	for _, said := range told.ends {
		if !strings.Contains(said, end.Error()) {
			t.Errorf("a client ended with %s", said)
		}
	}
}

// A disk that is full: the write fails in the middle of a transaction. What was
// acknowledged is there, and what was not is refused.
func TestDiskFull(t *testing.T) {
	for _, limit := range []uint64{60_000, 100_000, 150_000, 200_001} {
		l, path := create(t, Options{})
		l.Close()
		told := newAcknowledged()
		c := client{path: path, name: "full", goroutines: 4, commit: true, fileSize: limit}
		cmd := c.command()
		out := must(cmd.StdoutPipe())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		told.listen(c.name, out, nil)
		cmd.Wait()
		if len(told.ends) != 1 || !strings.Contains(told.ends[0], ErrStorage.Error()) {
			t.Errorf("files of at most %d bytes: ended with %q", limit, told.ends)
		}
		told.audit(t, path, "")
		// With room again, it goes on.
		l = must(Open(ctx, path, Options{}))
		if _, err := l.Reserve(ctx, ask("0.001")); err != nil {
			t.Errorf("with room again: %v", err)
		}
		l.Close()
	}
}

// The same within one process: a full file fails the batch, costs nothing, and
// the ledger goes on when there is room.
func TestFileFullAndReadOnly(t *testing.T) {
	l, _ := create(t, Options{})
	var conn *sql.Conn // the writer's, which is idle between our requests
	if err := l.do(ctx, false, func(ctx context.Context, b *batch) error { conn = b.conn; return nil }); err != nil {
		t.Fatal(err)
	}
	pragma := func(s string) { must(conn.ExecContext(ctx, s)) }
	for _, broken := range []struct{ on, off string }{
		{"PRAGMA max_page_count = 1", "PRAGMA max_page_count = 1000000"},
		{"PRAGMA query_only = ON", "PRAGMA query_only = OFF"},
	} {
		pragma(broken.on)
		var err error
		for i := 0; i < 200 && err == nil; i++ {
			_, err = l.Reserve(ctx, ask("0.0001"))
		}
		if !errors.Is(err, ErrStorage) {
			t.Errorf("%s: %v", broken.on, err)
		}
		before := must(l.Balance(ctx, "patient"))
		pragma(broken.off)
		r, err := l.Reserve(ctx, ask("0.0001"))
		if err != nil {
			t.Errorf("after %s: %v", broken.on, err)
		} else if want := before.Spent.Epsilon.Add(r.Charge.Epsilon); !must(l.Balance(ctx, "patient")).Spent.Epsilon.Equal(want) {
			t.Errorf("after %s the refused request was charged", broken.on)
		}
	}
	l.verifyOrFail(t)
}
