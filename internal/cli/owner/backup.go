package owner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/people/journal"
)

// backup copies the ledger with the accounts and the journal beside it.
func (o *ownership) backup(ctx context.Context) (string, error) {
	o.Resolve()
	if err := o.OpenLedger(ctx); err != nil {
		return "", err
	}
	for _, suffix := range []string{"", people.Suffix, journal.Suffix} {
		if _, err := os.Lstat(o.name + suffix); err == nil {
			return "", diagnostic.New("D114", diagnostic.Span{}, "%s is there already", o.name+suffix).Try("name another file: a backup replaces none")
		}
	}
	records, err := o.copied(ctx)
	if err != nil {
		return "", errors.Join(err, o.forget("", people.Suffix, journal.Suffix))
	}
	return fmt.Sprintf("copied %s to %s: %d records, whole; what is spent from now on, the copy does not know", o.LedgerPath, o.name, records), nil
}

// copied makes the copies. Accounts count by what the ledger says of them, and a password
// that is given between the two copies would let nobody in: where a rule was recorded
// meanwhile, both are made anew.
func (o *ownership) copied(ctx context.Context) (records int64, err error) {
	_, rule, err := o.Ledger.Rules(ctx, 0)
	if err != nil {
		return 0, err
	}
	for range 3 {
		if err := o.beside(ctx, people.Suffix, people.Backup); err != nil {
			return 0, err
		}
		if records, err = o.Ledger.Backup(ctx, o.name); err != nil {
			return 0, err
		}
		_, last, err := o.Ledger.Rules(ctx, rule)
		if err != nil {
			return 0, err
		}
		if last == rule {
			return records, o.beside(ctx, journal.Suffix, journal.Backup)
		}
		rule = last
		if err := o.forget("", people.Suffix); err != nil {
			return 0, err
		}
	}
	return 0, errors.New("back up ledger: accounts and rules change all the time; try again")
}

// beside copies a file that the ledger may have beside it.
func (o *ownership) beside(ctx context.Context, suffix string, backup func(ctx context.Context, path, to string) error) error {
	if _, err := os.Lstat(o.LedgerPath + suffix); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return backup(ctx, o.LedgerPath+suffix, o.name+suffix)
}

// forget removes copies.
func (o *ownership) forget(suffixes ...string) (err error) {
	for _, suffix := range suffixes {
		if e := os.Remove(o.name + suffix); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}
