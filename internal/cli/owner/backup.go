package owner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/people/journal"
)

// backup copies the ledger with the accounts and the journal beside it.
func (o *ownership) backup(ctx context.Context) (string, error) {
	o.Resolve()
	if err := o.OpenLedger(ctx); err != nil {
		return "", err
	}
	if place, err := o.Books(new(ledger.Options)); err == nil && ledger.IsURL(place) {
		return "", diagnostic.New("D113", diagnostic.Span{}, "the ledger is in a database").
			Because("a copy is the database's own business: schemas discreet and discreet_accounts, by pg_dump or a base backup").Try("docs/ledger.md says what a restored copy means")
	}
	for _, suffix := range []string{"", people.Suffix, journal.Suffix} {
		if _, err := os.Lstat(o.name + suffix); err == nil {
			return "", diagnostic.New("D114", diagnostic.Span{}, "%s exists already", o.name+suffix).Try("name another file: a backup replaces no file")
		}
	}
	c := &copies{ownership: o}
	records, err := c.make(ctx)
	if err != nil {
		return "", errors.Join(err, c.forget())
	}
	return fmt.Sprintf("copied %s to %s: %s, whole; the copy does not have what is spent from now on", o.LedgerPath, o.name, diagnostic.Count(records, "record")), nil
}

// copies are those that one backup makes. It removes no others: a file of such a name can be
// that of a backup which ran at the same time and is complete.
type copies struct {
	*ownership
	made []string
}

// make makes the copies. Accounts count by what the ledger says of them, and a password
// that is given between the two copies would let nobody in: where a rule was recorded
// meanwhile, both are made anew.
func (c *copies) make(ctx context.Context) (records int64, err error) {
	_, rule, err := c.Ledger.Rules(ctx, 0)
	if err != nil {
		return 0, err
	}
	for range 3 {
		if err := c.beside(ctx, people.Suffix, people.Backup); err != nil {
			return 0, err
		}
		if records, err = c.Ledger.Backup(ctx, c.name); err != nil {
			return 0, err
		}
		c.made = append(c.made, c.name)
		_, last, err := c.Ledger.Rules(ctx, rule)
		if err != nil {
			return 0, err
		}
		if last == rule {
			return records, c.beside(ctx, journal.Suffix, journal.Backup)
		}
		rule = last
		if err := c.forget(); err != nil {
			return 0, err
		}
	}
	return 0, errors.New("back up ledger: accounts and rules change all the time; try again")
}

// beside copies a file that the ledger may have beside it.
func (c *copies) beside(ctx context.Context, suffix string, backup func(ctx context.Context, path, to string) error) error {
	if _, err := os.Lstat(c.LedgerPath + suffix); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := backup(ctx, c.LedgerPath+suffix, c.name+suffix); err != nil {
		return err
	}
	c.made = append(c.made, c.name+suffix)
	return nil
}

// forget removes the copies.
func (c *copies) forget() (err error) {
	for _, path := range c.made {
		if e := os.Remove(path); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	c.made = nil
	return err
}
