// Package serve is the commands of the server: discreet serve, and discreet mcp, which
// brings an agent to one.
package serve

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/failure"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/clinic"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/people/journal"
	"github.com/discreet-dp/discreet/serve"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/places"
	"github.com/discreet-dp/discreet/serve/traces"
)

// Command is discreet serve.
func Command() *command.Command {
	c := &command.Command{
		UsageLine: "serve [flags]",
		For:       command.Owner,
		Short:     "answer PostgreSQL clients, HTTP and agents, under one budget (owner)",
		Long: `It opens the catalog, the engine and the ledger once, and answers those who have an
account (discreet user add): any PostgreSQL client, programs by HTTP, agents by the
Model Context Protocol. What is asked is charged as by discreet query, to whom it is
asked by, and only where a session, a request or the account names an amount; a
statement that was answered before is free.

Without a catalog it serves the demo's data, on this machine alone, with accounts that
it makes, and says how to connect. It never listens wider without TLS. An interrupt
lets what runs end. A SIGHUP reads the certificate and the catalog again. A catalog that
lets more be learnt than the one before is refused, then and at a start, until its owner
accepts it (discreet ledger accept).`,
		Examples: [2]string{"discreet serve", "discreet serve --catalog clinic/discreet.toml --config serve.toml"},
	}
	s := &server{}
	s.Define(&c.Flags)
	config := c.Flags.String("config", "", "read how to listen, and limits, from `FILE`; see docs/serve.md")
	postgres := c.Flags.String("postgres", "", "listen for PostgreSQL clients at `ADDRESS`; port 0 chooses one (default 127.0.0.1:5433)")
	http := c.Flags.String("http", "", "listen for HTTP at `ADDRESS` (default 127.0.0.1:8080)")
	c.Flags.StringVar(&s.readyFile, "ready-file", "", "write where it listens to `FILE` when it answers")
	check := c.Flags.Bool("check", false, "check configuration, catalog and ledger, and end")
	probe := c.Flags.String("probe", "", "ask the server at `URL` whether it can answer, and end: for health checks")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) (err error) {
		if err := command.None(c, args); err != nil {
			return err
		}
		if *probe != "" {
			return serve.Probe(ctx, *probe)
		}
		if workplace.EngineName == workplace.NoEngine {
			return workplace.ErrNoEngine
		}
		s.Terminal = t
		if s.config, err = serve.ReadConfig(*config, os.Environ()); err != nil {
			return err
		}
		for given, to := range map[*string]*string{postgres: &s.config.Postgres, http: &s.config.HTTP} {
			if *given != "" {
				*to = *given
			}
		}
		if err := s.config.Check(); err != nil {
			return err
		}
		s.named = slices.ContainsFunc(c.Given, func(g command.Given) bool { return g.Name == "catalog" })
		return s.run(ctx, *check)
	}
	return c
}

// A server is one run of the command.
type server struct {
	*terminal.Terminal
	workplace.Workplace
	config    serve.Config
	readyFile string
	named     bool // a catalog was named
	demo      *demo
	accounts  *people.Accounts
	metrics   *serve.Metrics
	log       *slog.Logger
}

func (s *server) run(ctx context.Context, check bool) error {
	s.log = slog.New(slog.NewJSONHandler(s.Err, nil))
	if s.readyFile != "" && !check { // a file left by a crash names ports that others may have by now
		if err := os.Remove(s.readyFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the last ready file: %w", err)
		}
	}
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	if err := s.config.TLS.Check(); err != nil {
		return err
	}
	ports, err := serve.Listen(ctx, s.config)
	if err != nil {
		return err
	}
	gate, err := s.open(ctx)
	defer s.Close()
	if err == nil && !s.config.Loopback() {
		err = s.peopled(ctx)
	}
	if err == nil && check {
		err = gate.MayBegin(ctx)
	} else if err == nil {
		err = gate.Begin(ctx)
	}
	if err != nil || check {
		err = errors.Join(err, ports.Close())
		if err == nil {
			s.Say("configuration, catalog and ledger fit\n")
		}
		return err
	}
	room := places.NewRoom(int64(s.config.Limits.ResultsOfAll))
	doors, err := s.http(gate, room)
	if err != nil {
		return errors.Join(err, ports.Close())
	}
	return serve.Run(ctx, serve.Options{Config: s.config, Ports: ports, Postgres: s.postgres(ctx, gate, room), HTTP: doors, Metrics: s.metrics, MaySeeMetrics: mayOperate(s.signIn(gate)), ReadyFile: s.readyFile,
		Ready: func(ctx context.Context) error { _, err := gate.Budget(ctx, gateway.Asker{}); return err }, Reload: hangup, Now: time.Now, Again: func(ctx context.Context) { s.reload(ctx, gate) }, Log: s.log,
		Started: func(at serve.Addresses) {
			if s.demo != nil {
				s.Say("%s", s.demo.greeting(at))
			}
		}})
}

// open opens what answers, and makes the demo where nothing is to be served.
func (s *server) open(ctx context.Context) (*gateway.Gateway, error) {
	if _, err := os.Stat(s.CatalogPath); !s.named && errors.Is(err, fs.ErrNotExist) {
		if !s.config.Loopback() {
			return nil, diagnostic.New("D218", diagnostic.Span{}, "the demo is served on this machine alone").Try("name a catalog with --catalog")
		}
		s.demo = &demo{dir: demoFolder}
		s.CatalogPath = filepath.Join(demoFolder, "discreet.toml")
		if _, err := os.Stat(s.CatalogPath); errors.Is(err, fs.ErrNotExist) {
			if _, err := clinic.Write(demoFolder); err != nil {
				return nil, err
			}
		}
	}
	if err := s.Load(); err != nil {
		return nil, err
	}
	if err := s.openLedger(ctx); err != nil {
		return nil, err
	}
	var err error
	if s.accounts, err = people.Open(ctx, s.Workplace.Accounts()); err != nil {
		return nil, err
	}
	s.Keep(s.accounts)
	notes, err := journal.Open(ctx, journal.Options{Path: s.LedgerPath + journal.Suffix, Now: time.Now})
	if err != nil {
		return nil, err
	}
	s.Keep(notes)
	if s.demo != nil {
		if err := s.demo.invite(ctx, s.accounts); err != nil {
			return nil, err
		}
	}
	e, err := s.OpenEngine(ctx, s.statements(), int64(s.config.Limits.Answer))
	if err != nil {
		return nil, err
	}
	sent := traces.New(traces.Options{Endpoint: s.config.Traces.Endpoint, Now: time.Now, Log: s.log})
	s.Keep(sent)
	var g *gateway.Gateway
	s.metrics = serve.NewMetrics(func() gateway.Load { return g.Load() })
	g, err = gateway.New(ctx, gateway.Config{Catalog: s.Catalog, Engine: e, Ledger: s.Ledger, People: s.accounts, Journal: notes, Now: s.Clock(), Traces: sent,
		OwnerLog: s.Log(), Concurrency: s.statements(), Queue: s.config.Limits.Queue,
		Rates: gateway.Rates{Account: s.config.Limits.Rate, All: s.config.Limits.RateOfAll}, Time: time.Duration(s.config.Limits.Time), Step: time.Duration(s.config.Step), Observe: s.metrics.Observe})
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	s.Keep(g)
	return g, nil
}

// statements is how many run at once.
func (s *server) statements() int {
	if n := s.config.Limits.Statements; n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// reload reads the catalog again, from the file that it was read from.
func (s *server) reload(ctx context.Context, g *gateway.Gateway) {
	next := workplace.Workplace{CatalogPath: s.CatalogPath, LedgerPath: s.LedgerPath}
	err := next.Load()
	var loosened []string
	if err == nil {
		loosened, err = g.Reload(ctx, next.Catalog, func(ctx context.Context) (engine.Engine, error) {
			return next.OpenEngine(ctx, s.statements(), int64(s.config.Limits.Answer))
		})
	}
	if err != nil {
		s.log.Error("the catalog was not read again; the server keeps the one that it has", failure.Attributes(err)...)
		return
	}
	s.log.Info("read the catalog again", "digest", hex.EncodeToString(next.Catalog.Digest), "loosened", loosened)
}

// openLedger opens the ledger; only the demo's is made.
func (s *server) openLedger(ctx context.Context) error {
	if _, err := os.Stat(s.LedgerPath); s.demo != nil && errors.Is(err, fs.ErrNotExist) {
		return s.CreateLedger(ctx)
	}
	if err := s.OpenLedger(ctx); err != nil {
		return err
	}
	return discreet.CheckLedger(ctx, s.Ledger, s.Catalog)
}

// peopled refuses to listen to others while nobody can sign in.
func (s *server) peopled(ctx context.Context) error {
	all, err := s.accounts.List(ctx)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return diagnostic.New("D218", diagnostic.Span{}, "there are no accounts, and others could connect").
			Try("discreet user add NAME --role owner")
	}
	return nil
}

// demoFolder is where the demo's data are.
const demoFolder = "discreet-serve-demo"

// A demo is what strangers meet: the demo's data, an owner and an analyst.
type demo struct {
	dir                    string
	owner, password, token string
}

// invite makes the demo's two accounts, with new passwords at every start: they are shown
// once, like all.
func (d *demo) invite(ctx context.Context, a *people.Accounts) error {
	all, err := a.List(ctx)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, one := range all {
		known[one.Name] = true
	}
	set := func(name string, role people.Role) (password string, err error) {
		if password, err = people.NewPassword(); err != nil {
			return "", err
		}
		if known[name] {
			return password, a.Rotate(ctx, "demo", name, password)
		}
		return password, a.Add(ctx, "demo", name, role, password)
	}
	if d.owner, err = set("owner", people.Owner); err != nil {
		return err
	}
	if d.password, err = set("analyst", people.Analyst); err != nil {
		return err
	}
	d.token, err = a.AddToken(ctx, "demo", "analyst", "demo", time.Now().Add(7*24*time.Hour))
	return err
}

func (d *demo) greeting(at serve.Addresses) string {
	return fmt.Sprintf(`
Serving the demo's data (synthetic: nobody in them lives) from %s.

psql     psql "postgresql://analyst:%[2]s@%[3]s/discreet?options=-c%%20discreet.rho%%3D0.01"
           SELECT department, count(*) FROM visits GROUP BY department;
Python   import discreet; db = discreet.connect("http://%[4]s", token="%[5]s")
           db.query("SELECT sex, avg(age) FROM visits GROUP BY sex", rho=0.01).to_pandas()
browser  http://%[4]s, where you sign in as analyst with password %[2]s
HTTP     curl -H "Authorization: Bearer %[5]s" http://%[4]s/v1/tables
agents   DISCREET_TOKEN=%[5]s discreet mcp --server http://%[4]s

The owner is "owner", with password %[6]s. Passwords and the token are new at every start.
An interrupt (Ctrl-C) ends it.
`, d.dir, d.password, at.Postgres, at.HTTP, d.token, d.owner)
}
