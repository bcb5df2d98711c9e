package owner

import (
	"context"
	"fmt"
	"os"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
)

// move brings the ledger from a file into the database that the catalog names, or from
// there into a file that is named.
func (o *ownership) move(ctx context.Context) (string, error) {
	if err := o.Load(); err != nil {
		return "", err
	}
	if o.Catalog.Books.Variable == "" {
		return "", diagnostic.New("D113", diagnostic.Span{}, "the catalog has its ledger in a file").
			Because("a ledger moves between a file and the database that the catalog names").
			Try(`write [ledger] url = { env = "DISCREET_LEDGER" } into %s; discreet help ledger`, o.CatalogPath)
	}
	inFile, err := o.LedgerOptions() // with the anchor that --anchor names
	if err != nil {
		return "", err
	}
	inDatabase, anchor := inFile, o.AnchorPath
	o.AnchorPath = ""
	database, err := o.Books(&inDatabase)
	if err != nil {
		return "", err
	}
	o.AnchorPath = anchor
	from, of, to, options := o.LedgerPath, inFile, database, inDatabase
	if o.name != "" {
		from, of, to, options = database, inDatabase, o.name, inFile
	}
	moved, err := ledger.Move(ctx, from, of, to, options)
	if err != nil {
		return "", err
	}
	accounts := map[bool]string{true: database, false: o.LedgerPath + people.Suffix}
	if o.name != "" {
		accounts[false] = o.name + people.Suffix
	}
	if _, err := os.Stat(accounts[o.name != ""]); err == nil || o.name != "" {
		if err := people.Move(ctx, accounts[o.name != ""], accounts[o.name == ""]); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("moved %s to %s: %s, the same chain in both (%x); the old one is closed", ledger.Named(from), ledger.Named(to), diagnostic.Count(moved.Records, "record"), moved.Hash), nil
}
