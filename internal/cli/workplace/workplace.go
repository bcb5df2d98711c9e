// Package workplace holds what the flags of a command name, and what the command has opened:
// catalog, ledger and engine.
//
// It guarantees that a ledger guards what the catalog declares before private data is
// touched.
package workplace

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/internal/cli/command"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/derive"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/ledger"
)

// A Workplace holds the flags of a command, and what it has opened.
type Workplace struct {
	CatalogPath string
	LedgerPath  string // "": discreet.ledger beside the catalog
	AnchorPath  string // "": none
	KeyPath     string // "": none
	implied     bool   // no flag names the ledger
	limits      catalog.Resources

	Catalog *catalog.Catalog
	Maps    map[string]engine.Map // of the catalog's mapped tables
	Ledger  *ledger.Ledger
	Engine  *lateEngine
	opened  []io.Closer
}

// DefineCatalog defines --catalog.
func (w *Workplace) DefineCatalog(fs *flag.FlagSet) {
	fs.StringVar(&w.CatalogPath, "catalog", "discreet.toml", "the catalog's `FILE` (default discreet.toml)")
}

// Define defines the flags that name the catalog and the ledger.
func (w *Workplace) Define(fs *flag.FlagSet) {
	w.DefineCatalog(fs)
	w.DefineLedger(fs, "the ledger's `FILE` (default discreet.ledger beside the catalog)")
}

// DefineLedger defines the flags that name the ledger, its anchor and its key.
func (w *Workplace) DefineLedger(fs *flag.FlagSet, usage string) {
	fs.StringVar(&w.LedgerPath, "ledger", "", usage)
	fs.StringVar(&w.AnchorPath, "anchor", "", "the `FILE` that witnesses the ledger's head (default $DISCREET_ANCHOR)")
	fs.StringVar(&w.KeyPath, "ledger-key", "", "the `FILE` with the key of the ledger's chain, if it has one (default $DISCREET_LEDGER_KEY_FILE)")
}

// Load reads the catalog.
func (w *Workplace) Load() (err error) {
	w.Resolve()
	by := command.WhoCalls()
	if err := command.OwnersAlone(by, w.CatalogPath); err != nil {
		return err
	}
	if w.Catalog, err = catalog.Load(w.CatalogPath); err == nil {
		err = derive.Check(w.Catalog)
	}
	if err != nil && by.Other {
		// Without the reason, which would quote a file of somebody else that is no catalog.
		return diagnostic.New("D080", diagnostic.Span{}, "the catalog cannot be used").Try("the owner runs discreet check")
	} else if err != nil {
		return err
	}
	w.limits = w.Catalog.Resources
	return nil
}

// Resolve finds the ledger's path. Of a ledger in a database the files beside it have that
// path, too: logs, the journal, the anchor.
func (w *Workplace) Resolve() {
	if w.LedgerPath == "" {
		w.LedgerPath, w.implied = filepath.Join(filepath.Dir(w.CatalogPath), "discreet.ledger"), true
	}
}

// OpenLedger opens the ledger, and directs crashes to the owner's log.
func (w *Workplace) OpenLedger(ctx context.Context) error {
	o, err := w.LedgerOptions()
	if err != nil {
		return err
	}
	place, err := w.Books(&o)
	if err != nil {
		return err
	}
	if err := w.keep(ledger.Open(ctx, place, o)); err != nil {
		return err
	}
	w.crashLog()
	return nil
}

// crashLog directs reports of crashes to the owner's log; without a log they are written
// nowhere.
func (w *Workplace) crashLog() {
	f, err := custody.Append(w.LedgerPath + LogSuffix)
	if err != nil {
		return
	}
	debug.SetCrashOutput(f, debug.CrashOptions{}) //nolint:errcheck // without it, nothing is written
	f.Close()
}

// LedgerOptions are the options with which every command opens the ledger.
func (w *Workplace) LedgerOptions() (o ledger.Options, err error) {
	by := command.WhoCalls()
	o = ledger.Options{Anchor: w.AnchorPath, User: by.User, Now: time.Now()}
	if err := command.OwnersAlone(by, w.LedgerPath, w.AnchorPath, w.KeyPath); err != nil {
		return o, err
	}
	if w.KeyPath != "" {
		o.Key, err = ledger.ReadKey(w.KeyPath)
	}
	return o, err
}

// OpenGuarding opens the ledger for a command that reads the catalog's data: the ledger must
// guard what the catalog declares.
func (w *Workplace) OpenGuarding(ctx context.Context) error {
	if err := w.OpenLedger(ctx); err != nil || w.Catalog == nil {
		return err
	}
	return discreet.CheckLedger(ctx, w.Ledger, w.Catalog)
}

// hasLedger reports whether there is a ledger.
func (w *Workplace) hasLedger() bool {
	if books, err := w.books(); err != nil || books.Variable != "" {
		return true
	}
	_, err := os.Stat(w.LedgerPath)
	return !errors.Is(err, fs.ErrNotExist)
}

// CreateLedger makes the ledger that the catalog's domains need.
func (w *Workplace) CreateLedger(ctx context.Context) error {
	o, err := w.LedgerOptions()
	if err != nil {
		return err
	}
	o.Domains = discreet.Budgets(w.Catalog)
	place, err := w.Books(&o)
	if err != nil {
		return err
	}
	return w.keep(ledger.Create(ctx, place, o))
}

func (w *Workplace) keep(l *ledger.Ledger, err error) error {
	if err == nil {
		w.Ledger, w.opened = l, append(w.opened, l)
	}
	return err
}

// OpenLedgerToRead opens the ledger for a command that can do without one. If there is no ledger,
// or it does not fit the catalog, the command shows nothing of it.
func (w *Workplace) OpenLedgerToRead(ctx context.Context) error {
	if !w.hasLedger() {
		return nil
	}
	err := w.OpenLedger(ctx)
	if err == nil {
		err = discreet.CheckLedger(ctx, w.Ledger, w.Catalog)
	}
	if err != nil {
		w.Ledger = nil
	}
	return err
}

// OpenOwner opens the engine for commands of the owner, who may see the data.
func (w *Workplace) OpenOwner(ctx context.Context) (engine.Owner, error) {
	o, err := openOwner(ctx, w.Catalog, w.limits)
	if err == nil {
		w.opened = append(w.opened, o)
	}
	return o, err
}

// LedgerFiles are the files that a ledger consists of, and its log.
func (w *Workplace) LedgerFiles() (files []string) {
	for _, suffix := range []string{"", "-wal", "-shm", LogSuffix} {
		files = append(files, w.LedgerPath+suffix)
	}
	return files
}

// Database makes a database of what is open; the engine opens when it is first used.
func (w *Workplace) Database(ctx context.Context) (*discreet.Database, error) {
	if w.Engine == nil {
		w.Engine = newLateEngine(ctx, w.Catalog, w.limits, w.Maps, true)
		w.opened = append(w.opened, w.Engine)
	}
	return discreet.Open(ctx, discreet.Config{Catalog: w.Catalog, Engine: w.Engine, Ledger: w.Ledger, OwnerLog: w.Log()})
}

// Log is the owner's, beside the ledger.
func (w *Workplace) Log() *slog.Logger {
	return slog.New(slog.NewJSONHandler(&OwnerLog{Path: w.LedgerPath + LogSuffix}, nil))
}

// OpenEngine opens an engine for a process that answers so many statements at once, and
// closes it. They take nothing from one another. An answer has so many bytes at most, or any
// number if it is 0.
func (w *Workplace) OpenEngine(ctx context.Context, statements int, answer int64) (engine.Engine, error) {
	return openPool(ctx, w.Catalog, w.limits, w.Maps, statements, answer)
}

// Keep closes c when the workplace is closed, before what was opened earlier.
func (w *Workplace) Keep(c io.Closer) { w.opened = append(w.opened, c) }

// Answer answers a statement. Everything for which a statement can be refused is checked
// before anything heavy is opened, and the engine opens before the ledger is charged: a
// missing file must not cost anything, nor an answer of a form that admit refuses.
func (w *Workplace) Answer(ctx context.Context, text string, o *discreet.QueryOptions, admit func([]discreet.Column) error) (*discreet.Answer, error) {
	if w.hasLedger() && w.Catalog.HasAuto() { // what can be answered depends on the bounds that were found
		if err := w.OpenLedger(ctx); err != nil {
			return nil, err
		}
	}
	if err := w.OpenStored(ctx, o); err != nil {
		return nil, err
	}
	db, err := w.Database(ctx)
	if err != nil {
		return nil, err
	}
	e, err := db.Explain(ctx, text, o)
	if err != nil {
		return nil, err
	}
	if err := admit(e.Columns); err != nil {
		return nil, err
	}
	opened := make(chan error, 1)
	go func() { _, err := w.Engine.Open(); opened <- err }()
	// The ledger may guard what this catalog calls public.
	if w.Ledger == nil && (e.Certificate.Domain != "" || w.hasLedger()) {
		if err := w.OpenLedger(ctx); err != nil {
			return nil, err
		}
		if db, err = w.Database(ctx); err != nil {
			return nil, err
		}
	}
	if err := <-opened; err != nil {
		return nil, err
	}
	return db.Query(ctx, text, o)
}

// OpenStored opens the ledger, if there is one, where a statement has no cost but one that itself may name: whether it can be answered then
// depends on what is stored.
func (w *Workplace) OpenStored(ctx context.Context, o *discreet.QueryOptions) error {
	costs := o.Spend.String() != "" || discreet.Spend(w.Catalog.Spend).String() != ""
	if w.Ledger != nil || costs && !o.Free || !w.hasLedger() {
		return nil
	}
	return w.OpenLedger(ctx)
}

// Close closes what was opened. Its errors are dropped: what had to be durable already was.
func (w *Workplace) Close() {
	for _, c := range slices.Backward(w.opened) {
		c.Close()
	}
}

// LogSuffix names the owner's log beside the ledger.
const LogSuffix = ".log"

// An OwnerLog is the file for what the owner may know and analysts may not. It is made when
// there is something to write, readable by the owner alone.
type OwnerLog struct{ Path string }

func (l *OwnerLog) Write(p []byte) (int, error) {
	f, err := custody.Append(l.Path)
	if err != nil {
		return 0, err
	}
	n, err := f.Write(p)
	return n, errors.Join(err, f.Close())
}

// Recorder opens the engine.
func (w *Workplace) Recorder(ctx context.Context) (engine.Engine, engine.Recorder, error) {
	if err := w.FilesAlone("learning"); err != nil {
		return nil, nil, err
	}
	if w.Engine == nil {
		w.Engine = newLateEngine(ctx, w.Catalog, w.limits, nil, false)
		w.opened = append(w.opened, w.Engine)
	}
	opened, err := w.Engine.Open()
	if err != nil {
		return nil, nil, err
	}
	r, ok := opened.(engine.Recorder)
	if !ok {
		return nil, nil, fmt.Errorf("the engine %s hands out no records", opened.Dialect())
	}
	return opened, r, nil
}

// Copier opens the engine for the owner's command that copies tables.
func (w *Workplace) Copier(ctx context.Context) (engine.Copier, error) {
	if err := w.FilesAlone("prepare"); err != nil {
		return nil, err
	}
	if w.limits.Copies == "" {
		return nil, diagnostic.New("D108", diagnostic.Span{}, "%s names no folder for copies", w.CatalogPath).
			Because("a copy is as private as the file that it is of, and where it is kept is the owner's word").
			Try(`write copies = "FOLDER" under [resources] in the catalog`)
	}
	w.Engine = newLateEngine(ctx, w.Catalog, w.limits, w.Maps, true)
	w.opened = append(w.opened, w.Engine)
	opened, err := w.Engine.Open()
	if err != nil {
		return nil, err
	}
	copier, ok := opened.(engine.Copier)
	if !ok {
		return nil, fmt.Errorf("the engine %s copies no tables", opened.Dialect())
	}
	return copier, nil
}

// above are the catalogs that could stand beside a file, or in a folder that it is below.
func above(path string) (catalogs []string) {
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		folder = filepath.Dir(path)
	}
	for {
		catalogs = append(catalogs, filepath.Join(folder, "discreet.toml"))
		if next := filepath.Dir(folder); next != folder {
			folder = next
			continue
		}
		return catalogs
	}
}

// Private returns the private tables whose source a file is, and the catalog that declares
// them: the one that the flags name, or one beside the file or above it, where those of
// patterns are. A catalog that is there and cannot be read is an error, since it could
// declare the file.
func (w *Workplace) Private(path string) (declared string, tables []*catalog.Table, err error) {
	candidates := append([]string{cmp.Or(w.CatalogPath, "discreet.toml")}, above(path)...)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		candidates = append(candidates, above(real)...)
	}
	var seen []fs.FileInfo
	for _, candidate := range candidates {
		info, err := os.Stat(candidate)
		if errors.Is(err, fs.ErrNotExist) || err == nil && slices.ContainsFunc(seen, func(s fs.FileInfo) bool { return os.SameFile(s, info) }) {
			continue
		}
		seen = append(seen, info)
		c, err := catalog.Load(candidate)
		if err != nil {
			return "", nil, err
		}
		tables, err := c.PrivateFile(path)
		if err != nil {
			return "", nil, Unreadable(path, err)
		}
		if len(tables) > 0 {
			return candidate, tables, nil
		}
	}
	return "", nil, nil
}
