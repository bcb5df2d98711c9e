package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	mu   sync.Mutex
	now  *served
	seen int64 // the last record at which the gateway itself has looked at rules

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

// looked is the last record at which rules were looked at, for an account that has none: what is
// served may change as well. It is called before take.
func (g *Gateway) looked(ctx context.Context) (int64, error) {
	f := &g.shelf
	f.mu.Lock()
	seen := max(f.seen, 1) // the first record makes the ledger
	f.mu.Unlock()
	_, last, err := g.config.Ledger.Rules(ctx, seen)
	if err != nil {
		return 0, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = max(f.seen, last)
	return last, nil
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

// byServer is the author of the records in which a server says what it serves.
const byServer = "discreet serve"

// Begin records with which catalog statements are answered. Like Reload it refuses a catalog that
// reveals more than the one that was served last: a server that is started again, by whatever
// starts it, changes no more than one that runs. A file by which no server has answered yet is
// compared with the last catalog that was served from the ledger, whatever its name. For the
// first catalog of a ledger, whoever starts the server decides.
func (g *Gateway) Begin(ctx context.Context) error {
	c := g.shelf.look().catalog
	said, loosened, err := g.mayBegin(ctx, c)
	if err != nil || said {
		return err
	}
	return g.say(ctx, c, loosened)
}

// MayBegin returns the error that Begin would, and puts nothing on record.
func (g *Gateway) MayBegin(ctx context.Context) error {
	_, _, err := g.mayBegin(ctx, g.shelf.look().catalog)
	return err
}

// mayBegin says what a start by a catalog loosens, and whether it is on record as what is served.
func (g *Gateway) mayBegin(ctx context.Context, c *catalog.Catalog) (said bool, loosened []string, err error) {
	if err := holds(c); err != nil {
		return false, nil, err
	}
	name := g.config.Ledger.CatalogName(c.Path)
	last, served, err := g.config.Ledger.LastCatalog(ctx, name)
	if err != nil || len(served.Digest) == 0 || served.Of(c.Digest) {
		return served.Catalog == name && served.Of(c.Digest) && !last.Accepted, nil, err
	}
	before, err := catalog.Parse(c.Path, served.Text)
	if err != nil || !served.Of(before.Digest) { // another version of Discreet read it
		loosened = []string{"the one that was served last cannot be read any more"}
	} else if loosened = catalog.Loosened(before, c); len(loosened) == 0 {
		return false, nil, nil
	}
	if served.Catalog != name {
		loosened = append(loosened, fmt.Sprintf("%s was served last, and %s never", served.Catalog, name))
	}
	return false, loosened, accepted(last, c, loosened, "start the server again")
}

// holds refuses a catalog without tables. It reveals less than any other, so that each later one would need the owner's
// word, and it is what is read of a file that is being written.
func holds(c *catalog.Catalog) error {
	if len(c.Tables) > 0 {
		return nil
	}
	return diagnostic.New("D097", diagnostic.Span{}, "%s declares no table", filepath.Base(c.Path)).
		Because("there would be nothing to ask; a file can be read while it is being written").
		Try("declare a table; to replace a catalog that is served, write another file and rename it")
}

// accepted refuses what lets more be learnt, unless the last word is that the owner accepts it.
func accepted(last ledger.CatalogWord, c *catalog.Catalog, loosened []string, then string) error {
	if last.Accepted && last.Of(c.Digest) {
		return nil
	}
	return diagnostic.New("D219", diagnostic.Span{}, "the catalog would reveal more than the one that is served").
		Because("%s", strings.Join(loosened, "; ")).
		Try("if its owner wants this: discreet ledger accept %x, then %s; otherwise put the old catalog back", c.Digest, then)
}

func (g *Gateway) say(ctx context.Context, c *catalog.Catalog, loosened []string) error {
	return g.config.Ledger.SayCatalog(ctx, byServer, g.config.Now(),
		ledger.CatalogWord{Catalog: g.config.Ledger.CatalogName(c.Path), Digest: c.Digest, Text: c.Text, Loosened: loosened})
}

// sayChange says what is served from here on, unless it is the same as before and on record.
// That the last word names the text is not enough: it can be another server's, and what this
// one has planned by another text must not be charged any more.
func (g *Gateway) sayChange(ctx context.Context, c *catalog.Catalog, loosened []string) error {
	if bytes.Equal(g.shelf.now.catalog.Digest, c.Digest) { // whoever changes it holds the lock
		last, _, err := g.config.Ledger.LastCatalog(ctx, g.config.Ledger.CatalogName(c.Path))
		if err != nil || last.Of(c.Digest) && !last.Accepted {
			return err
		}
	}
	return g.say(ctx, c, loosened)
}

// Reload serves another catalog from here on, with the engine that open opens over it, and records
// that. It refuses a catalog that declares other data than the ledger guards. It refuses a catalog
// that reveals more than the one before, unless the last record of such a decision in the ledger
// accepts this very text. If it returns an error, everything stays as it was. No file is read
// twice, so the text that was decided on is the text that is served.
//
// Statements that run end as they began, or begin anew where nothing was charged yet.
func (g *Gateway) Reload(ctx context.Context, c *catalog.Catalog, open func(context.Context) (engine.Engine, error)) (loosened []string, err error) {
	g.shelf.reloading.Lock()
	defer g.shelf.reloading.Unlock()
	if err := holds(c); err != nil {
		return nil, err
	}
	if err := discreet.CheckLedger(ctx, g.config.Ledger, c); err != nil {
		return nil, err
	}
	if loosened = catalog.Loosened(g.shelf.look().catalog, c); len(loosened) > 0 {
		last, _, err := g.config.Ledger.LastCatalog(ctx, g.config.Ledger.CatalogName(c.Path))
		if err == nil {
			err = accepted(last, c, loosened, "reload")
		}
		if err != nil {
			return nil, err
		}
	}
	e, err := open(ctx)
	if err != nil {
		return nil, err
	}
	next, err := g.open(ctx, c, e)
	if err == nil {
		err = g.shelf.put(next, func() error { return g.sayChange(ctx, c, loosened) })
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return loosened, nil
}
