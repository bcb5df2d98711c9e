package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/ledger"
)

// A workplace is what the flags name, and what a command has opened of it.
type workplace struct {
	catalogPath string
	ledgerPath  string // "": discreet.ledger beside the catalog
	anchorPath  string // "": none
	keyPath     string // "": none
	limits      catalog.Resources

	catalog *catalog.Catalog
	maps    map[string]engine.Map // of the catalog's mapped tables
	ledger  *ledger.Ledger
	engine  *lateEngine
	opened  []io.Closer
}

func (w *workplace) defineCatalog(fs *flag.FlagSet) {
	fs.StringVar(&w.catalogPath, "catalog", "discreet.toml", "the catalog's `FILE` (default discreet.toml)")
}

func (w *workplace) define(fs *flag.FlagSet) {
	w.defineCatalog(fs)
	w.defineLedger(fs, "the ledger's `FILE` (default discreet.ledger beside the catalog)")
}

func (w *workplace) defineLedger(fs *flag.FlagSet, usage string) {
	fs.StringVar(&w.ledgerPath, "ledger", "", usage)
	fs.StringVar(&w.anchorPath, "anchor", "", "the `FILE` that witnesses the ledger's head (default $DISCREET_ANCHOR)")
	fs.StringVar(&w.keyPath, "ledger-key", "", "the `FILE` with the key of the ledger's chain, if it has one (default $DISCREET_LEDGER_KEY_FILE)")
}

// environment names the variables that stand in for flags.
var environment = map[string]string{
	"anchor":     "DISCREET_ANCHOR",
	"ledger-key": "DISCREET_LEDGER_KEY_FILE",
}

// load reads the catalog.
func (w *workplace) load() (err error) {
	w.resolve()
	by := whoCalls()
	if err := ownersAlone(by, w.catalogPath); err != nil {
		return err
	}
	if w.catalog, err = catalog.Load(w.catalogPath); err != nil && by.other {
		// Not what is wrong: a file that is no catalog would be shown where it is none.
		return diagnostic.New("D080", diagnostic.Span{}, "the catalog cannot be used").Try("the owner runs discreet check")
	} else if err != nil {
		return err
	}
	w.limits = w.catalog.Resources
	return nil
}

// resolve says where the ledger is.
func (w *workplace) resolve() {
	w.ledgerPath = cmp.Or(w.ledgerPath, filepath.Join(filepath.Dir(w.catalogPath), "discreet.ledger"))
}

func (w *workplace) openLedger(ctx context.Context) error {
	o, err := w.ledgerOptions()
	if err != nil {
		return err
	}
	if err := w.keep(ledger.Open(ctx, w.ledgerPath, o)); err != nil {
		return err
	}
	w.crashLog()
	return nil
}

// crashLog makes the owner's log what a crash is written to; without a log it is written
// nowhere.
func (w *workplace) crashLog() {
	f, err := custody.Append(w.ledgerPath + logSuffix)
	if err != nil {
		return
	}
	debug.SetCrashOutput(f, debug.CrashOptions{}) //nolint:errcheck // then it is written nowhere
	f.Close()
}

// ledgerOptions are what all that opens the ledger says of it.
func (w *workplace) ledgerOptions() (o ledger.Options, err error) {
	by := whoCalls()
	o = ledger.Options{Anchor: w.anchorPath, User: by.user, Now: time.Now()}
	if err := ownersAlone(by, w.ledgerPath, w.anchorPath, w.keyPath); err != nil {
		return o, err
	}
	if w.keyPath != "" {
		o.Key, err = ledger.ReadKey(w.keyPath)
	}
	return o, err
}

// openGuarding opens the ledger of a catalog that is loaded, for what reads its data: the
// ledger must guard what the catalog declares.
func (w *workplace) openGuarding(ctx context.Context) error {
	if err := w.openLedger(ctx); err != nil || w.catalog == nil {
		return err
	}
	return discreet.CheckLedger(ctx, w.ledger, w.catalog)
}

// hasLedger reports whether there is a ledger.
func (w *workplace) hasLedger() bool {
	_, err := os.Stat(w.ledgerPath)
	return !errors.Is(err, fs.ErrNotExist)
}

// createLedger makes the ledger that the catalog's domains need.
func (w *workplace) createLedger(ctx context.Context) error {
	o, err := w.ledgerOptions()
	if err != nil {
		return err
	}
	o.Domains = discreet.Budgets(w.catalog)
	return w.keep(ledger.Create(ctx, w.ledgerPath, o))
}

func (w *workplace) keep(l *ledger.Ledger, err error) error {
	if err == nil {
		w.ledger, w.opened = l, append(w.opened, l)
	}
	return err
}

// openLedgerToRead opens the ledger for a command that can do without: there
// may be none, and one that does not fit the catalog tells nothing.
func (w *workplace) openLedgerToRead(ctx context.Context) error {
	if !w.hasLedger() {
		return nil
	}
	err := w.openLedger(ctx)
	if err == nil {
		err = discreet.CheckLedger(ctx, w.ledger, w.catalog)
	}
	if err != nil {
		w.ledger = nil
	}
	return err
}

// openOwner opens the engine for commands of the owner, who may see the data.
func (w *workplace) openOwner(ctx context.Context) (engine.Owner, error) {
	o, err := openOwner(ctx, w.limits)
	if err == nil {
		w.opened = append(w.opened, o)
	}
	return o, err
}

// ledgerFiles are the files that a ledger consists of, and its log.
func (w *workplace) ledgerFiles() (files []string) {
	for _, suffix := range []string{"", "-wal", "-shm", logSuffix} {
		files = append(files, w.ledgerPath+suffix)
	}
	return files
}

// database makes a database of what is open; the engine opens when it is needed.
func (w *workplace) database(ctx context.Context) (*discreet.Database, error) {
	if w.engine == nil {
		w.engine = newLateEngine(ctx, w.catalog, w.limits, w.maps)
		w.opened = append(w.opened, w.engine)
	}
	log := slog.New(slog.NewJSONHandler(&ownerLog{path: w.ledgerPath + logSuffix}, nil))
	return discreet.Open(ctx, discreet.Config{Catalog: w.catalog, Engine: w.engine, Ledger: w.ledger, OwnerLog: log})
}

// answer answers a statement. What a statement can be refused for is found
// before anything heavy is opened, and whether the engine opens before the
// ledger is charged: a missing file must not cost.
func (w *workplace) answer(ctx context.Context, text string, o *discreet.QueryOptions) (*discreet.Answer, error) {
	db, err := w.database(ctx)
	if err != nil {
		return nil, err
	}
	e, err := db.Explain(ctx, text, o)
	if err != nil {
		return nil, err
	}
	opened := make(chan error, 1)
	go func() { _, err := w.engine.open(); opened <- err }()
	// What is public by this catalog may be guarded by the ledger.
	if e.Certificate.Domain != "" || w.hasLedger() {
		if err := w.openLedger(ctx); err != nil {
			return nil, err
		}
		if db, err = w.database(ctx); err != nil {
			return nil, err
		}
	}
	if err := <-opened; err != nil {
		return nil, err
	}
	return db.Query(ctx, text, o)
}

// close closes what was opened. Its errors say nothing: what had to be durable
// was so before.
func (w *workplace) close() {
	for _, c := range w.opened {
		c.Close()
	}
}

// logSuffix names the owner's log beside the ledger.
const logSuffix = ".log"

// An ownerLog is the file that gets what the owner may know and analysts may
// not. It is made when there is something to say, readable by the owner alone.
type ownerLog struct{ path string }

func (l *ownerLog) Write(p []byte) (int, error) {
	f, err := custody.Append(l.path)
	if err != nil {
		return 0, err
	}
	n, err := f.Write(p)
	return n, errors.Join(err, f.Close())
}
