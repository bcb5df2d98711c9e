package workplace

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
)

// HeadSuffix names the anchor beside where the ledger would be, on a server whose ledger is in
// a database and whose flags name no other.
const HeadSuffix = ".head"

// books says where the catalog has the ledger. A command that reads no catalog looks for that
// word alone.
func (w *Workplace) books() (b catalog.Books, err error) {
	if w.Catalog != nil {
		return w.Catalog.Books, nil
	}
	if !w.implied { // --ledger names a file
		return b, nil
	}
	if _, err := os.Stat(w.CatalogPath); errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	return catalog.ReadBooks(w.CatalogPath)
}

// Books returns where the ledger is, a path or the URL of a database, and completes the options
// with which it is opened.
func (w *Workplace) Books(o *ledger.Options) (place string, err error) {
	b, err := w.books()
	switch {
	case err != nil:
		return "", err
	case b.Variable == "":
		return w.LedgerPath, nil
	case !w.implied:
		return "", diagnostic.New("D078", diagnostic.Span{}, "the ledger is in the database that %s names, and --ledger names a file", b.Variable).
			Because("two ledgers of one catalog would give its budget out twice").Try("leave --ledger out")
	}
	if place = os.Getenv(b.Variable); !ledger.IsURL(place) {
		return "", diagnostic.New("D078", diagnostic.Span{}, "the environment variable %s does not name a PostgreSQL database", b.Variable).
			Because("the catalog has its ledger there").Try("%s=postgres://USER:PASSWORD@HOST/DATABASE discreet ...", b.Variable)
	}
	if w.AnchorPath == "" {
		w.AnchorPath = w.LedgerPath + HeadSuffix
	}
	o.Anchor, o.Replicated = w.AnchorPath, b.Replicated
	return place, nil
}

// Named is what the ledger is called in messages.
func (w *Workplace) Named() string {
	if place, err := w.Books(new(ledger.Options)); err == nil {
		return ledger.Named(place)
	}
	return w.LedgerPath
}

// Accounts are the options with which the ledger's accounts are opened. The ledger is open.
func (w *Workplace) Accounts() people.Options {
	o := people.Options{Path: w.LedgerPath + people.Suffix, Ledger: w.Ledger, Now: w.Clock()}
	if place, err := w.Books(new(ledger.Options)); err == nil && ledger.IsURL(place) {
		o.Path = place
	}
	return o
}

// Clock is the one by which rules are read: the ledger's.
func (w *Workplace) Clock() func() time.Time {
	if w.Ledger == nil {
		return time.Now
	}
	return w.Ledger.Clock(time.Now)
}
