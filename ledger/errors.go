package ledger

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/pgsql"
)

// What callers branch on. Every other error means, as ErrStorage does, that
// nothing may be answered.
var (
	// ErrExhausted: the charge does not fit what is left; see ExhaustedError.
	ErrExhausted = errors.New("the budget does not suffice")
	// ErrSuspended: the domain waits for its owner to acknowledge a failure.
	ErrSuspended = errors.New("the domain is suspended until its owner acknowledges a failure")
	// ErrUnknownDomain: the ledger has no such domain.
	ErrUnknownDomain = errors.New("the ledger has no such domain")
	// ErrBudgetDiffers: the catalog and the ledger disagree on a domain.
	ErrBudgetDiffers = errors.New("catalog and ledger disagree")
	// ErrIdempotencyKey: the key was used for another statement or parameters.
	ErrIdempotencyKey = errors.New("the idempotency key was used for another request")
	// ErrUnfinished: the key's first request was charged, and its answer never committed.
	ErrUnfinished = errors.New("the request of this idempotency key was charged and never answered")
	// ErrNotStored: the request was to charge nothing, and no stored answer serves it.
	ErrNotStored = errors.New("no stored answer serves this")
	// ErrVersion: a version of the data was declared before the answer was committed, which is an average with one of the version before.
	ErrVersion = errors.New("a version of the data was declared meanwhile")
	// ErrMissing: there is no ledger at the path, or no anchor at its own.
	ErrMissing = errors.New("missing")
	// ErrExists: there is something already where a ledger would be created.
	ErrExists = errors.New("exists already")
	// ErrTampered: the ledger's records do not agree with each other.
	ErrTampered = errors.New("the ledger was edited or damaged")
	// ErrKey: the chain's key is missing, is not to be had, or is not the ledger's.
	ErrKey = errors.New("the ledger's key")
	// ErrExposed: others can change the ledger, its anchor or its key, or a folder on the
	// way to one of them, or read the key.
	ErrExposed = custody.ErrExposed
	// ErrRolledBack: the ledger is behind its anchor, or behind what this process
	// has seen of it: an older copy is in its place.
	ErrRolledBack = errors.New("the ledger is an older copy")
	// ErrElsewhere: the database that has the ledger is not the one that it was: it was restored,
	// or a replica took over, and may lack what was spent. Nothing was charged.
	ErrElsewhere = errors.New("the ledger's database is another one than it was")
	// ErrOtherCatalog: of the servers of a ledger in a database, another one answers by another
	// catalog since. Nothing was charged.
	ErrOtherCatalog = errors.New("another server of this ledger answers by another catalog")
	// ErrBusy: another process kept the ledger locked. Nothing was charged.
	ErrBusy = errors.New("the ledger is locked by another process")
	// ErrStorage: the disk is full, read-only or failing. What was asked for may
	// have been charged.
	ErrStorage = errors.New("the ledger cannot be written")
	// ErrClosed: the Ledger was closed.
	ErrClosed = errors.New("the ledger is closed")
)

// An ExhaustedError says what was asked of a domain and what it has left. It
// wraps ErrExhausted.
type ExhaustedError struct {
	Domain      string
	Measure     filter.Measure
	Asked, Left filter.Amounts
}

func (e *ExhaustedError) Error() string {
	return fmt.Sprintf("domain %q: %v: asked %s, left %s", e.Domain, ErrExhausted, amounts(e.Measure, e.Asked), amounts(e.Measure, e.Left))
}

// Unwrap returns ErrExhausted.
func (e *ExhaustedError) Unwrap() error { return ErrExhausted }

// amounts prints what the measure uses of a.
func amounts(m filter.Measure, a filter.Amounts) string {
	var parts []string
	for _, p := range a.In(m) {
		parts = append(parts, p.Name+" "+p.Amount.String())
	}
	return strings.Join(parts, ", ")
}

// storage gives an error of SQLite's, or of a database, the sentinel that callers branch on.
func storage(err error) error {
	var se *sqlite.Error
	var pe *pgsql.Error
	if errors.Is(err, pgsql.ErrRows) {
		return fmt.Errorf("%w: it does not take a record (%v)", ErrTampered, err)
	}
	if errors.As(err, &pe) {
		return fmt.Errorf("%w: %v", remote(pe), err)
	}
	if err == nil || !errors.As(err, &se) {
		return err
	}
	switch se.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("%w: %v", ErrBusy, err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISMATCH:
		return fmt.Errorf("%w: %v", ErrTampered, err)
	}
	return fmt.Errorf("%w: %v", ErrStorage, err)
}

// remote is the sentinel of a database's error.
func remote(e *pgsql.Error) error {
	switch {
	case e.Code == "55P03" || e.Code == "57014": // somebody kept the lock; it took too long
		return ErrBusy
	case slices.Contains([]string{"42P01", "42703", "42883", "42804", "23505", "23502", "23514", "XX001", "XX002", "22012"}, e.Code):
		return ErrTampered // other tables, or records that were not read under the lock
	}
	return ErrStorage
}
