package gateway

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
)

// What is served is a catalog, with the engine over its sources and the statements that
// were planned by it. All three change together: a statement that has begun ends with
// those that it began with.
type served struct {
	catalog *catalog.Catalog
	engine  engine.Engine
	whole   *discreet.Database
	plans   plans
	users   int // statements that use it; see shelf
}

// database is the catalog's, as far as it exists for the account.
func (s *served) database(who people.Account) *discreet.Database { return s.whole.Only(who.Allows) }

// A shelf holds what is served now. The engine of what was served before is closed when
// its last statement has ended.
type shelf struct {
	mu  sync.Mutex
	now *served

	reloading sync.Mutex // one reload at a time
}

// take returns what is served now, for use until done is called.
func (f *shelf) take() (s *served, done func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s = f.now
	s.users++
	return s, sync.OnceFunc(func() {
		f.mu.Lock()
		s.users--
		unused := s.users == 0 && s != f.now
		f.mu.Unlock()
		if unused {
			s.engine.Close() //nolint:errcheck // all that it read was read
		}
	})
}

// look returns what is served now, for what needs no engine.
func (f *shelf) look() *served {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// put serves something else from here on, if say can put it on record. Nothing new begins in
// between: what is charged after the record is charged by what the record names, since a
// statement that was planned before it begins anew (ledger.ErrRulesChanged).
func (f *shelf) put(s *served, say func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := say(); err != nil {
		return err
	}
	if before := f.now; before.users == 0 {
		before.engine.Close() //nolint:errcheck // all that it read was read
	}
	f.now = s
	return nil
}

// Close closes the engine that is in use. No statement may be under way.
func (g *Gateway) Close() error { return g.shelf.look().engine.Close() }

// open makes what is to be served of a catalog. Its ledger must hold it.
func (g *Gateway) open(ctx context.Context, c *catalog.Catalog, e engine.Engine) (*served, error) {
	whole, err := discreet.Open(ctx, discreet.Config{Catalog: c, Engine: e, Ledger: g.config.Ledger, Now: g.config.Now, OwnerLog: g.config.OwnerLog})
	if err != nil {
		return nil, err
	}
	return &served{catalog: c, engine: e, whole: whole}, nil
}

// byServer is whose word a record is by which a server says what it serves.
const byServer = "discreet serve"

// Begin puts on record by which catalog statements are answered. Whoever starts a server
// decides that; Reload is for what changes afterwards.
func (g *Gateway) Begin(ctx context.Context) error {
	return g.say(ctx, g.shelf.look().catalog, nil)
}

func (g *Gateway) say(ctx context.Context, c *catalog.Catalog, loosened []string) error {
	name := filepath.Base(c.Path)
	last, err := g.config.Ledger.LastCatalog(ctx, name)
	if err != nil || last.Of(c.Digest) && !last.Accepted {
		return err
	}
	return g.config.Ledger.SayCatalog(ctx, byServer, g.config.Now(), ledger.CatalogWord{Catalog: name, Digest: c.Digest, Loosened: loosened})
}

// Reload serves another catalog from here on, with the engine that open opens over it, and
// puts that on record. It refuses a catalog that guards other data than the ledger, and one
// that lets more be learnt than the one before, unless the last word in the ledger is that
// its owner accepts this very text. Whatever it returns an error for leaves everything as it
// was. What was read is what is decided on and what is served: no file is read twice.
//
// Statements that run end as they began, or begin anew where nothing was charged yet.
func (g *Gateway) Reload(ctx context.Context, c *catalog.Catalog, open func(context.Context) (engine.Engine, error)) (loosened []string, err error) {
	g.shelf.reloading.Lock()
	defer g.shelf.reloading.Unlock()
	if err := discreet.CheckLedger(ctx, g.config.Ledger, c); err != nil {
		return nil, err
	}
	if loosened = catalog.Loosened(g.shelf.look().catalog, c); len(loosened) > 0 {
		last, err := g.config.Ledger.LastCatalog(ctx, filepath.Base(c.Path))
		if err != nil {
			return nil, err
		}
		if !last.Accepted || !last.Of(c.Digest) {
			return nil, diagnostic.New("D219", diagnostic.Span{}, "the catalog would let more be learnt than the one that is served").
				Because("%s", strings.Join(loosened, "; ")).
				Try("if its owner wants it so: discreet ledger accept %x, then reload; otherwise put the catalog back", c.Digest)
		}
	}
	e, err := open(ctx)
	if err != nil {
		return nil, err
	}
	next, err := g.open(ctx, c, e)
	if err == nil {
		err = g.shelf.put(next, func() error { return g.say(ctx, c, loosened) })
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return loosened, nil
}
