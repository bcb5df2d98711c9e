//go:build cgo

package attack_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/postgres"
)

// byWire are the attacks on shape, errors and budgets as two clients of PostgreSQL's protocol
// make them, with accounts of their own: what a test asks goes through the server, and what it
// compares has all that the clients see. CI makes those that are quick.
var byWire = map[string]struct {
	attack func(*testing.T)
	quick  bool
}{
	"D1": {TestD1GroupOfOneUnit, true}, "D2": {TestD2KeysThatAreIdentities, true}, "D3": {TestD3PublicKeysAndTheOthers, false}, "D4": {TestD4OrderOfRows, false},
	"D5": {TestD5NullAsSideChannel, false}, "D6": {TestD6SmallFilterAndOutlier, false}, "D7": {TestD7TypesFromValues, true}, "D8": {TestD8PostProcessingOfNoise, false},
	"D9": {TestD9KeysFromTheData, true}, "D10": {TestD10ThresholdsAreNoisy, true},
	"E1": {TestE1ErrorsThatDependOnARow, false}, "E2": {TestE2ErrorsInEveryClause, false}, "E4": {TestE4RefundOracle, true}, "E7": {TestE7WantOfMemory, false},
	"E9": {TestE9CostBeforeTheData, true}, "E12": {TestE12ProbingTheSchema, true},
	"F1": {concurrentClients, true}, "F2": {amountsThatAreSet, true}, "F3": {TestF3ManySmallSpends, true}, "F5": {TestF5BudgetFollowsTheUnit, true}, "F6": {TestF6PartitionsAreNoDiscount, true},
	"F7": {TestF7TimeWindows, true}, "F8": {colludingClients, true}, "F9": {TestF9SelectionIsCharged, true}, "F10": {TestF10SwitchesThatTurnNoiseOff, true},
}

// TestThroughTheWire makes the attacks of byWire.
func TestThroughTheWire(t *testing.T) {
	for name, a := range byWire {
		t.Run(name, func(t *testing.T) {
			if !a.quick && os.Getenv("DISCREET_SOAK") == "" {
				t.Skip("skip: it takes long; DISCREET_SOAK=1 makes it")
			}
			a.attack(t)
		})
	}
}

// throughTheWire reports whether a test is made by clients of the server.
func throughTheWire(t testing.TB) bool { return strings.HasPrefix(t.Name(), "TestThroughTheWire/") }

// A wire is a server over a world, with two clients who take turns.
type wire struct {
	t        testing.TB
	gateway  *gateway.Gateway
	accounts *people.Accounts
	address  string
	clients  []*wireClient
	turn     atomic.Int64
}

type wireClient struct {
	mu   sync.Mutex
	conn *pgx.Conn
	name string
	said strings.Builder // the server, of the statement at hand
}

const wirePassword = "correct horse battery"

// newWire serves a world.
func newWire(t testing.TB, w *world) *wire {
	t.Helper()
	now := func() time.Time { return noon }
	x := &wire{t: t, accounts: must(people.Open(context.Background(), people.Options{Path: filepath.Join(w.dir, "discreet.ledger") + people.Suffix, Ledger: w.ledger, Now: now, Iterations: 4096}))}
	t.Cleanup(func() { x.accounts.Close() })
	x.gateway = must(gateway.New(context.Background(), gateway.Config{Catalog: w.catalog, Engine: w.engine, Ledger: w.ledger, People: x.accounts, Now: now, OwnerLog: slog.New(slog.NewTextHandler(w.log, nil)), Concurrency: 4}))
	server := must(postgres.New(postgres.Options{Gateway: x.gateway, Accounts: postgres.People{Accounts: x.accounts}, Now: time.Now}))
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, l) }()
	x.address = l.Addr().String()
	for _, name := range []string{"anna", "ben"} {
		if err := x.accounts.Add(ctx, "test", name, people.Analyst, wirePassword); err != nil {
			t.Fatal(err)
		}
		x.clients = append(x.clients, x.connect(name))
	}
	t.Cleanup(func() {
		for _, c := range x.clients {
			c.conn.Close(context.Background())
		}
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	w.history(t) // the accounts are no part of the attack
	return x
}

func (x *wire) connect(name string) *wireClient {
	c := &wireClient{name: name}
	config := must(pgx.ParseConfig(fmt.Sprintf("postgres://%s:%s@%s/discreet?sslmode=disable", name, strings.ReplaceAll(wirePassword, " ", "%20"), x.address)))
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { fmt.Fprintf(&c.said, "notice: %+v\n", *n) }
	c.conn = must(pgx.ConnectConfig(context.Background(), config))
	return c
}

// client is who asks: of named analysts always the same, of others the next in turn.
func (x *wire) client(analyst string) *wireClient {
	i := int(x.turn.Add(1))
	if analyst != "" {
		i = len(analyst) + int(analyst[len(analyst)-1])
	}
	return x.clients[i%len(x.clients)]
}

var errorCode = regexp.MustCompile(`^\[(D\d+)\] (.*)`)

// ask asks a statement and returns what the client saw, and the answer as the gateway stored it.
func (x *wire) ask(ctx context.Context, c *wireClient, sql string, o *discreet.QueryOptions) (*discreet.Answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o == nil {
		o = pure("1") // the catalogs' default, which the wire does not have
	}
	if len(o.Parameters) > 0 || len(o.Weights) > 0 {
		x.t.Fatal("no attack by wire has parameters or weights")
	}
	set := "RESET ALL"
	for name, value := range map[string]fmt.Stringer{"epsilon": o.Spend.Epsilon, "delta": o.Spend.Delta, "rho": o.Spend.Rho} {
		if value.String() != "0" {
			set += fmt.Sprintf("; SET discreet.%s = '%v'", name, value)
		}
	}
	options := gateway.Options{Spend: o.Spend, IdempotencyKey: o.IdempotencyKey, Confidence: o.Confidence}
	if o.Confidence != 0 {
		set += fmt.Sprintf("; SET discreet.confidence = '%v'", o.Confidence)
	}
	if o.IdempotencyKey != "" {
		set += "; SET discreet.idempotency_key = '" + o.IdempotencyKey + "'"
	} else {
		set += "; SET discreet.fresh = on"
	}
	if _, err := c.conn.PgConn().Exec(ctx, set).ReadAll(); err != nil {
		return nil, err
	}
	c.said.Reset()
	results, err := c.conn.PgConn().Exec(ctx, sql).ReadAll()
	var e *pgconn.PgError
	if errors.As(err, &e) {
		fmt.Fprintf(&c.said, "error: %+v\n", *e)
		m := errorCode.FindStringSubmatch(e.Message)
		switch {
		case e.Code == "58000" && e.Message == discreet.ErrUnavailable.Error():
			return nil, discreet.ErrUnavailable
		case m == nil:
			return nil, err
		}
		// What the gateway refuses, for a test to look at; the client was told the same.
		options.Fresh = o.IdempotencyKey == ""
		_, told := x.gateway.Query(ctx, x.asker(ctx, c), sql, options)
		if r := (*discreet.Refusal)(nil); !errors.As(told, &r) {
			return nil, fmt.Errorf("a client is told %s, and the gateway says %w", e.Message, told)
		} else if r.Code != m[1] || r.Message != m[2] || r.Why != e.Detail || r.Hint != e.Hint {
			x.t.Errorf("%s: a client is told %+v, and the gateway says %v", sql, e, marshal(x.t, r))
		}
		return nil, told
	}
	if err != nil {
		return nil, err
	}
	a, err := x.gateway.Query(ctx, x.asker(ctx, c), sql, options)
	if err != nil || !a.Reused {
		return nil, fmt.Errorf("what was answered is not stored: %v", err)
	}
	for _, r := range results {
		fmt.Fprintf(&c.said, "%v %+v\n", r.CommandTag, r.FieldDescriptions)
		if len(r.Rows) != len(a.Rows) {
			x.t.Errorf("%s: %d rows were sent, %d are stored", sql, len(r.Rows), len(a.Rows))
		}
		for _, row := range r.Rows {
			for j, v := range row {
				if text := string(v); !a.Columns[j].Noisy {
					fmt.Fprintf(&c.said, " %q", text)
				} else {
					fmt.Fprintf(&c.said, " NULL %v", v == nil)
				}
			}
			c.said.WriteByte('\n')
		}
	}
	return a, nil
}

func (x *wire) asker(ctx context.Context, c *wireClient) gateway.Asker {
	return gateway.Asker{Account: must(x.accounts.SignIn(ctx, c.name, wirePassword, "127.0.0.1")), Door: "postgres"}
}

// Query asks a world: through its front door, or its wire.
func (w *world) Query(ctx context.Context, sql string, o *discreet.QueryOptions) (*discreet.Answer, error) {
	if w.wire == nil {
		return w.Database.Query(ctx, sql, o)
	}
	analyst := ""
	if o != nil {
		analyst = o.Analyst
	}
	return w.wire.ask(ctx, w.wire.client(analyst), sql, o)
}

// seenByWire is what both clients see of a statement, each after the other, and of the budget and the
// history; nothing without a wire.
func (w *world) seenByWire(t testing.TB, sql string, o *discreet.QueryOptions) string {
	if w.wire == nil {
		return ""
	}
	var b strings.Builder
	for _, c := range w.wire.clients {
		_, err := w.wire.ask(t.Context(), c, sql, o)
		fmt.Fprintf(&b, "%s: %v\n%s", c.name, err, c.said.String())
		for _, more := range []string{"EXPLAIN " + sql, "SELECT * FROM discreet.budget", "SELECT * FROM discreet.history", "SELECT * FROM discreet.last_answer"} {
			c.said.Reset()
			results, err := c.conn.PgConn().Exec(t.Context(), more).ReadAll()
			fmt.Fprintf(&b, "%s: %v %s", more, err, c.said.String())
			for _, r := range results {
				fmt.Fprintf(&b, "%+v %q\n", r.FieldDescriptions, r.Rows)
			}
		}
	}
	return b.String()
}

// concurrentClients is F1: forty clients of two accounts, and a budget for ten statements.
func concurrentClients(t *testing.T) {
	w := newWorld(t, visits(epsilonOne), files{"visits.csv": crowd(5)})
	var answered, refused atomic.Int64
	var group sync.WaitGroup
	for i := range 40 {
		c := w.wire.connect([]string{"anna", "ben"}[i%2])
		defer c.conn.Close(context.Background())
		group.Go(func() {
			switch _, err := w.wire.ask(t.Context(), c, "SELECT count(*) FROM visits", pure("0.1")); {
			case err == nil:
				answered.Add(1)
			case exhausted(err):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	group.Wait()
	if answered.Load() != 10 || refused.Load() != 30 || w.spent(t).String() != "1" {
		t.Errorf("%d answered, %d refused, %v spent", answered.Load(), refused.Load(), w.spent(t))
	}
}

// colludingClients is F8: two accounts with one budget, whose keys are their own.
func colludingClients(t *testing.T) {
	w := newWorld(t, visits(epsilonOne), files{"visits.csv": crowd(5)})
	o := pure("0.5")
	o.IdempotencyKey = "key"
	for i, c := range w.wire.clients {
		a := must(w.wire.ask(t.Context(), c, "SELECT count(*) FROM visits", o))
		if got, want := a.Remaining.Epsilon.String(), []string{"0.5", "0"}[i]; got != want {
			t.Errorf("%s leaves %s, want %s", c.name, got, want)
		}
		if again := must(w.wire.ask(t.Context(), c, "SELECT count(*) FROM visits", o)); fmt.Sprint(again.Rows) != fmt.Sprint(a.Rows) {
			t.Errorf("%s: a retry answers %v, not %v", c.name, again.Rows, a.Rows)
		}
		if _, err := w.wire.ask(t.Context(), c, "SELECT count(*) + 1 FROM visits", o); !errors.Is(err, ledger.ErrIdempotencyKey) {
			t.Errorf("%s: a key for another statement: %v", c.name, err)
		}
	}
	for _, c := range w.wire.clients {
		if _, err := w.wire.ask(t.Context(), c, "SELECT count(*) FROM visits", pure("0.01")); !exhausted(err) {
			t.Errorf("%s, after both together: %v", c.name, err)
		}
	}
	if got := w.spent(t).String(); got != "1" {
		t.Errorf("%s is spent", got)
	}
}

// amountsThatAreSet is F2: amounts by SET that are none, or more than there is.
func amountsThatAreSet(t *testing.T) {
	w := newWorld(t, visits(epsilonOne), files{"visits.csv": crowd(5)})
	c := w.wire.clients[0].conn.PgConn()
	for _, amount := range []string{"NaN", "-1", "Inf", "-Inf", "1e-400", "1e400", "", " ", "0", "-0", "0x1p-3", "1,5", "1/0", "--1", "1e", "٣", "2", "1e300"} {
		for _, name := range []string{"epsilon", "rho"} {
			_, unset := c.Exec(t.Context(), "RESET ALL; SET discreet.fresh = on; SET discreet."+name+" = '"+amount+"'").ReadAll()
			_, err := c.Exec(t.Context(), "SELECT count(*) FROM visits").ReadAll()
			if e := (*pgconn.PgError)(nil); !errors.As(err, &e) {
				t.Errorf("%s %q: %v, and answered: %v", name, amount, unset, err)
			}
		}
	}
	if got := w.spent(t).String(); got != "0" {
		t.Errorf("%s is spent", got)
	}
}
