//go:build cgo && linux

package siege_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/internal/postgrestest"
	"github.com/discreet-dp/discreet/ledger"
)

// A fleet is servers of one ledger, which is in a database. Each has the stand's data, and a
// folder of its own with the catalog and its anchor.
type fleet struct {
	*stand
	database *postgrestest.Server
	url      string
	folders  []string

	mu  sync.Mutex
	now []*server // nil where none runs
}

// newFleet moves the ledger of a stand into a database, and makes folders for servers.
func newFleet(t *testing.T, epsilon string, servers int, analysts ...string) *fleet {
	t.Helper()
	f := &fleet{stand: newStand(t, epsilon, analysts...), database: postgrestest.StartServer(t, "fsync=on", "max_connections=200")}
	at := map[string]string{}
	for _, pair := range strings.Fields(f.database.Connection) {
		k, v, _ := strings.Cut(pair, "=")
		at[k] = v
	}
	f.url = "postgres://" + at["user"] + "@/" + at["dbname"] + "?host=" + url.QueryEscape(at["host"])
	f.write(t, "discreet.toml", fmt.Sprintf(catalogText, epsilon)+"[ledger]\nurl = { env = \"DISCREET_LEDGER\" }\n")
	f.run(t, f.dir, "ledger", "move", "--anchor", f.path("witness/head"))
	for i := range servers {
		dir := filepath.Join(t.TempDir(), fmt.Sprint(i))
		if err := os.CopyFS(dir, os.DirFS(f.dir)); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Chmod(dir, 0o700), os.Remove(filepath.Join(dir, "discreet.ledger.head"))); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"discreet.toml", "serve.toml"} {
			if err := os.Chmod(filepath.Join(dir, name), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f.run(t, dir, "ledger", "anchor")
		f.folders, f.now = append(f.folders, dir), append(f.now, nil)
	}
	return f
}

// run runs a command in a folder.
func (f *fleet) run(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("discreet", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "DISCREET_LEDGER="+f.url)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("discreet %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// up starts a server of the fleet, unless it fails, as it does while the database is away.
func (f *fleet) up(i int) error {
	dir := f.folders[i]
	v, err := started(dir, filepath.Join(dir, "ready.json"), time.Minute, []string{"DISCREET_LEDGER=" + f.url},
		"--catalog", filepath.Join(dir, "discreet.toml"), "--config", filepath.Join(dir, "serve.toml"))
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now[i] = v
	return err
}

// down kills one.
func (f *fleet) down(i int) {
	f.mu.Lock()
	v := f.now[i]
	f.now[i] = nil
	f.mu.Unlock()
	if v != nil {
		v.kill()
	}
}

func (f *fleet) server(i int) *server {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now[i]
}

// open opens the ledger as an owner does who has an anchor of one of the servers.
func (f *fleet) open(t *testing.T, i int) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(t.Context(), f.url, ledger.Options{Anchor: filepath.Join(f.folders[i], "discreet.ledger.head"), Now: time.Now()})
	if err != nil {
		t.Fatalf("the ledger does not open: %v", err)
	}
	return l
}

// TestThreeServersOnOneBudget has 100 clients ask three servers of one ledger, while servers and
// the database are killed at random. What is spent never exceeds the budget; each answer that a
// client saw is in the history with its charge, and no question has more answers than were paid
// for (two servers that are asked at once pay one each); a server whose database is away
// answers nothing.
func TestThreeServersOnOneBudget(t *testing.T) {
	lasts, clients := 8*time.Second, 100
	if soak() {
		lasts = 10 * time.Minute
	}
	f := newFleet(t, "40", 3, "anna", "bert")
	for i := range f.folders {
		if err := f.up(i); err != nil {
			t.Fatal(err)
		}
	}
	defer func() {
		for i := range f.folders {
			f.down(i)
		}
	}()
	f.lost(t)
	f.cancels(t)

	type asked struct{ analyst, sql string }
	var mu sync.Mutex
	heard, refused, answers := map[asked]map[string]bool{}, map[string]int{}, 0
	ctx, stop := context.WithTimeout(t.Context(), lasts+4*time.Minute)
	defer stop()
	var all sync.WaitGroup
	for n := range clients {
		all.Go(func() {
			analyst := []string{"anna", "bert"}[n%2]
			for k := 0; ctx.Err() == nil; k++ {
				v := f.server(rand.IntN(len(f.folders)))
				if v == nil {
					time.Sleep(20 * time.Millisecond)
					continue
				}
				q := asked{analyst, small(n*100_000 + k)}
				if k%3 == 2 { // what others of the account ask, too
					q.sql = small(9_000_000 + rand.IntN(50))
				}
				c, err := byHTTP(ctx, v, analyst, f.tokens[analyst])
				if err != nil {
					continue
				}
				got, err := c.ask(ctx, q.sql, amount)
				c.close()
				var no *refusal
				pause := time.Duration(0)
				mu.Lock()
				switch {
				case errors.As(err, &no):
					refused[fmt.Sprint(no.status)]++
					pause = 100 * time.Millisecond
				case err != nil:
					refused["lost"]++
				default:
					if heard[q] == nil {
						heard[q] = map[string]bool{}
					}
					heard[q][fmt.Sprint(got.rows)] = true
					answers++
				}
				mu.Unlock()
				time.Sleep(pause)
			}
		})
	}
	kills, crashes := 0, 0
	shown := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return answers > 0 && kills+crashes >= 2
	}
	for began := time.Now(); ctx.Err() == nil && (time.Since(began) < lasts || !shown()); { // a busy machine starts servers slowly
		time.Sleep(time.Duration(500+rand.IntN(3000)) * time.Millisecond)
		if crashes == 0 || rand.IntN(4) == 0 {
			crashes++
			if err := errors.Join(f.database.Kill(), f.database.Again()); err != nil {
				t.Fatal(err)
			}
			continue
		}
		kills++
		i := rand.IntN(len(f.folders))
		f.down(i)
		if err := f.up(i); err != nil {
			t.Fatalf("a killed server does not start again: %v", err)
		}
	}
	stop()
	all.Wait()
	t.Logf("%d answers, refused or lost %v, %d servers and %d databases killed", answers, refused, kills, crashes)
	if !shown() {
		t.Error("nothing was shown")
	}
	committed, reserved := map[asked]int{}, 0
	for i := range f.folders { // no server was told of anything that is not there
		l := f.open(t, i)
		defer l.Close()
		if i > 0 {
			continue
		}
		if err := l.Verify(t.Context()); err != nil {
			t.Fatal(err)
		}
		b, err := l.Balance(t.Context(), domain)
		if err != nil || b.Spent.Rho.Cmp(b.Limit.Rho) > 0 {
			t.Errorf("spent is rho %v of %v, %v", b.Spent.Rho, b.Limit.Rho, err)
		}
		entries, err := l.History(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Kind == "reserve" {
				reserved++
				if e.Committed {
					committed[asked{e.Analyst, e.Statement}]++
				}
			}
		}
		t.Logf("%d reservations, spent rho %v of %v", reserved, b.Spent.Rho, b.Limit.Rho)
	}
	for q, texts := range heard {
		if committed[q] < len(texts) {
			t.Errorf("%s of %s has %d answers, of which %d are in the history", q.sql, q.analyst, len(texts), committed[q])
		}
	}
}

// lost shows that a server whose database is away answers nothing, not even what is stored, is not
// ready, and answers again when the database is back.
func (f *fleet) lost(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ask := func(i int, sql string) (answer, error) {
		c, err := byHTTP(ctx, f.server(i), "anna", f.tokens["anna"])
		if err != nil {
			t.Fatal(err)
		}
		defer c.close()
		return c.ask(ctx, sql, amount)
	}
	first, err := ask(0, small(1))
	if err != nil {
		t.Fatal(err)
	}
	// Another server has the answer for nothing.
	if got, err := ask(1, small(1)); err != nil || !got.reused || !slices.Equal(got.rows, first.rows) {
		t.Errorf("asked of another server: %+v, %v", got, err)
	}
	if err := f.database.Kill(); err != nil {
		t.Fatal(err)
	}
	for i := range f.folders {
		for _, sql := range []string{small(1), small(2)} {
			if got, err := ask(i, sql); err == nil {
				t.Errorf("answered without the database: %v", got.rows)
			}
		}
		r, err := http.Get("http://" + f.server(i).HTTP + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("/readyz without the database: %d", r.StatusCode)
		}
	}
	if err := f.database.Again(); err != nil {
		t.Fatal(err)
	}
	for i := range f.folders {
		var got answer
		for range 50 {
			if got, err = ask(i, small(1)); err == nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if err != nil || !slices.Equal(got.rows, first.rows) {
			t.Errorf("server %d, when the database is back: %+v, %v", i, got, err)
		}
	}
}

// cancels shows that a client's key cancels its statement whichever server the request reaches, and
// that what was cancelled while it waited for the budget has charged nothing.
func (f *fleet) cancels(t *testing.T) {
	t.Helper()
	ctx, cancel := bounded(t)
	defer cancel()
	admin, err := pgconn.Connect(ctx, f.database.Connection)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.WithoutCancel(ctx))
	// While somebody else holds the budget, a statement waits for it.
	if _, err := admin.Exec(ctx, "BEGIN; SELECT seq FROM discreet.head FOR UPDATE").ReadAll(); err != nil {
		t.Fatal(err)
	}
	c, err := byWire(ctx, f.server(0), "anna", "")
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	own := c.(wire).PgConn()
	outcome := make(chan error, 1)
	go func() {
		_, err := c.ask(ctx, small(3), amount)
		outcome <- err
	}()
	number, key := own.PID(), own.SecretKey()
	again := time.NewTicker(100 * time.Millisecond) // a request that comes before the statement cancels nothing
	defer again.Stop()
	for {
		to, err := net.Dial("tcp", f.server(1).Postgres)
		if err != nil {
			t.Fatal(err)
		}
		request := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(12+len(key))), 80877102), number)
		_, err = to.Write(append(request, key...))
		if to.Close(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-again.C:
			continue
		case err = <-outcome:
		}
		var said *pgconn.PgError
		if !errors.As(err, &said) || said.Code != "57014" {
			t.Errorf("cancelled by way of another server: %v", err)
		}
		break
	}
	if _, err := admin.Exec(ctx, "ROLLBACK").ReadAll(); err != nil {
		t.Fatal(err)
	}
}

// A server with another catalog than the others is refused, and the others where one has
// started with another: until they have read it, too.
func TestOtherCatalogAmongServers(t *testing.T) {
	f := newFleet(t, "3000", 2, "anna")
	for i := range f.folders {
		if err := f.up(i); err != nil {
			t.Fatal(err)
		}
		defer f.down(i)
	}
	ask := func(i, n int) error {
		ctx, cancel := bounded(t)
		defer cancel()
		c, err := byHTTP(ctx, f.server(i), "anna", f.tokens["anna"])
		if err != nil {
			t.Fatal(err)
		}
		defer c.close()
		_, err = c.ask(ctx, small(n), amount)
		return err
	}
	for i := range f.folders {
		if err := ask(i, i); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(f.folders[1], "discreet.toml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f.down(1)
	looser := strings.Replace(string(text), "max_rows_per_group = 2", "max_rows_per_group = 1", 1)
	if err := os.WriteFile(path, []byte(strings.Replace(looser, "upper = 120", "upper = 121", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.up(1); err == nil || !strings.Contains(err.Error(), "D219") {
		t.Errorf("a looser catalog: %v", err)
	}
	// A stricter one may begin, and is the one from then on.
	stricter := strings.Replace(string(text), "upper = 120", "upper = 119", 1)
	if err := os.WriteFile(path, []byte(stricter), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.up(1); err != nil {
		t.Fatalf("the stricter catalog: %v", err)
	}
	if err := ask(1, 10); err != nil {
		t.Errorf("the server with the new catalog: %v", err)
	}
	var no *refusal
	if err := ask(0, 11); !errors.As(err, &no) || !strings.Contains(no.text, "another catalog") {
		t.Errorf("the server with the old one: %v", err)
	}
	if err := os.WriteFile(filepath.Join(f.folders[0], "discreet.toml"), []byte(stricter), 0o600); err != nil {
		t.Fatal(err)
	}
	f.down(0)
	if err := f.up(0); err != nil {
		t.Fatal(err)
	}
	if err := ask(0, 12); err != nil {
		t.Errorf("when it has the new one, too: %v", err)
	}
}

// A balancer passes connections on to the servers of a fleet that are ready, in turn.
type balancer struct {
	net.Listener
	mu    sync.Mutex
	ready []string // addresses
	next  int
}

func (b *balancer) set(ready []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ready = ready
}

func (b *balancer) pick() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.ready) == 0 {
		return ""
	}
	b.next++
	return b.ready[b.next%len(b.ready)]
}

func (b *balancer) pass(c net.Conn) {
	defer c.Close()
	s, err := net.Dial("tcp", b.pick())
	if err != nil {
		return
	}
	defer s.Close()
	done := make(chan struct{})
	go func() { io.Copy(s, c); s.(*net.TCPConn).CloseWrite(); close(done) }()
	io.Copy(c, s)
	c.(*net.TCPConn).CloseWrite()
	<-done
}

// TestRollingRestart restarts all servers behind a balancer, one after the other, while clients
// ask: no statement fails. A session that is idle when its server ends is told so.
func TestRollingRestart(t *testing.T) {
	f := newFleet(t, "3000", 2, "anna")
	b := &balancer{}
	var err error
	if b.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for i, dir := range f.folders {
		if err := os.WriteFile(filepath.Join(dir, "serve.toml"), []byte(configText+"leave = \"1s\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := f.up(i); err != nil {
			t.Fatal(err)
		}
		defer f.down(i)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	look := func() {
		var ready []string
		for i := range f.folders {
			if v := f.server(i); v != nil {
				if r, err := http.Get("http://" + v.HTTP + "/readyz"); err == nil {
					r.Body.Close()
					if r.StatusCode == http.StatusOK {
						ready = append(ready, v.Postgres)
					}
				}
			}
		}
		b.set(ready)
	}
	look()
	go func() {
		for ctx.Err() == nil {
			time.Sleep(50 * time.Millisecond)
			look()
		}
	}()
	go func() {
		for {
			c, err := b.Accept()
			if err != nil {
				return
			}
			go b.pass(c)
		}
	}()
	behind := &server{}
	behind.Postgres = b.Addr().String()
	var all sync.WaitGroup
	var answers atomic.Int64
	for n := range 4 {
		all.Go(func() {
			for k := 0; ctx.Err() == nil; k++ {
				c, err := byWire(t.Context(), behind, "anna", "")
				if err != nil {
					t.Errorf("connect: %v", err)
					return
				}
				_, err = c.ask(t.Context(), small(n*10_000+k), amount)
				c.close()
				if err != nil {
					t.Errorf("a statement failed: %v", err)
					return
				}
				answers.Add(1)
			}
		})
	}
	for i := range f.folders {
		before := answers.Load()
		for answers.Load() < before+5 && !t.Failed() {
			time.Sleep(10 * time.Millisecond)
		}
		v := f.server(i)
		idle, err := byWire(t.Context(), v, "anna", "")
		if err != nil {
			t.Fatal(err)
		}
		if err := v.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		<-v.ended
		_, err = idle.ask(t.Context(), small(1), amount)
		var gone *pgconn.PgError
		if !errors.As(err, &gone) || gone.Code != "57P01" {
			t.Errorf("an idle session of a server that ended: %v", err)
		}
		if err := f.up(i); err != nil {
			t.Fatal(err)
		}
		look()
	}
	stop()
	all.Wait()
	t.Logf("%d answers", answers.Load())
}
