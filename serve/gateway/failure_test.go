//go:build cgo

package gateway_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
)

// exhausted is an engine that fails as one does for want of memory, while it is told to.
type exhausted struct {
	engine.Engine
	now atomic.Bool
}

func (e *exhausted) Exact(ctx context.Context, q engine.Query) (*engine.Exact, error) {
	if e.now.Load() {
		return nil, errors.New("out of memory")
	}
	return e.Engine.Exact(ctx, q)
}

// TestWhatAFailureSuspends: a failure of one account's statement suspends the domain for
// everybody, or that account alone where the catalog says so; durably, until the owner says
// otherwise, and the charge stays.
func TestWhatAFailureSuspends(t *testing.T) {
	for _, what := range []string{catalog.SuspendDomain, catalog.SuspendAccount} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			var e exhausted
			w := gatewaytest.Open(t, dir, func(c *gateway.Config) {
				c.Catalog.Domains[0].FailureSuspends = what
				e.Engine, c.Engine = c.Engine, &e
			})
			if err := w.People.Add(t.Context(), "olga", "ben", people.Analyst, gatewaytest.Password); err != nil {
				t.Fatal(err)
			}
			anna, ben := asker(t, w, "anna"), asker(t, w, "ben")
			e.now.Store(true)
			if _, err := w.Query(t.Context(), anna, "SELECT count(*) FROM visits", rho(t, "0.01")); !errors.Is(err, discreet.ErrUnavailable) {
				t.Fatalf("anna is told %v", err)
			}
			e.now.Store(false)
			if b := balance(t, w.Ledger); b.Spent.Rho.String() != "0.01" || b.Suspended != (what == catalog.SuspendDomain) {
				t.Errorf("spent %v, suspended %v", b.Spent.Rho, b.Suspended)
			}
			goesOn := func(who gateway.Asker, sql string) error {
				_, err := w.Query(t.Context(), who, sql, rho(t, "0.001"))
				return err
			}
			// What another process finds, and this one after a restart.
			l, err := ledger.Open(t.Context(), filepath.Join(dir, "discreet.ledger"), ledger.Options{Now: gatewaytest.Noon})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			again, err := people.Open(t.Context(), people.Options{Path: filepath.Join(dir, "discreet.ledger") + people.Suffix, Ledger: l, Now: func() time.Time { return gatewaytest.Noon }, Iterations: 4096})
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			_, annas := again.SignIn(t.Context(), "anna", gatewaytest.Password, "127.0.0.1")
			_, bens := again.SignIn(t.Context(), "ben", gatewaytest.Password, "127.0.0.1")
			if bens != nil {
				t.Errorf("ben cannot sign in: %v", bens)
			}
			if b := balance(t, l); b.Suspended != (what == catalog.SuspendDomain) {
				t.Errorf("opened again, suspended %v", b.Suspended)
			}

			if what == catalog.SuspendDomain {
				for _, who := range []gateway.Asker{anna, ben} {
					if err := goesOn(who, "SELECT count(*) FROM visits WHERE age > 1"); !errors.Is(err, ledger.ErrSuspended) {
						t.Errorf("%s is told %v", who.Account.Name, err)
					}
				}
				if annas != nil {
					t.Errorf("anna cannot sign in: %v", annas)
				}
				if err := l.Acknowledge(t.Context(), "patient", "more memory", gatewaytest.Noon); err != nil {
					t.Fatal(err)
				}
			} else {
				if err := goesOn(ben, "SELECT count(*) FROM visits WHERE age > 1"); err != nil {
					t.Errorf("ben is told %v", err)
				}
				if err := goesOn(anna, "SELECT count(*) FROM visits WHERE age > 1"); !errors.Is(err, people.ErrEnded) {
					t.Errorf("anna is told %v", err)
				}
				if !errors.Is(annas, people.ErrSignIn) {
					t.Errorf("anna signs in: %v", annas)
				}
				if err := again.Enable(t.Context(), "olga", "anna"); err != nil {
					t.Fatal(err)
				}
			}
			if err := goesOn(asker(t, w, "anna"), "SELECT count(*) FROM visits WHERE age > 2"); err != nil {
				t.Errorf("after the owner's word anna is told %v", err)
			}
		})
	}
}

func balance(t *testing.T, l *ledger.Ledger) ledger.Balance {
	t.Helper()
	b, err := l.Balance(t.Context(), "patient")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestWhoHasNoAccountSuspendsTheDomain: where there is no account to suspend, as at the
// shell, or suspending it fails, the domain is suspended whatever the catalog says.
func TestWhoHasNoAccountSuspendsTheDomain(t *testing.T) {
	for name, change := range map[string]func(*gateway.Config){
		"no accounts": func(c *gateway.Config) { c.People = nil },
		"unknown":     func(*gateway.Config) {},
	} {
		t.Run(name, func(t *testing.T) {
			var e exhausted
			w := gatewaytest.Open(t, t.TempDir(), func(c *gateway.Config) {
				c.Catalog.Domains[0].FailureSuspends = catalog.SuspendAccount
				e.Engine, c.Engine = c.Engine, &e
			}, change)
			e.now.Store(true)
			nobody := gateway.Asker{Account: people.Account{Name: "nobody", Role: people.Analyst}, Door: "http"}
			if _, err := w.Query(t.Context(), nobody, "SELECT count(*) FROM visits", rho(t, "0.01")); !errors.Is(err, discreet.ErrUnavailable) {
				t.Fatalf("it is told %v", err)
			}
			if !balance(t, w.Ledger).Suspended {
				t.Error("nothing is suspended")
			}
		})
	}
}
