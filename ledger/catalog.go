package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// The chain has on record by which catalog a server answers, from when on, and which
// catalog its owner accepts in place of it. The last word about a catalog's file decides:
// an acceptance is for the next change, and for that text alone. The text is named by its
// digest, as the approvals do.

// catalogRule is the name of the rules that say so; their subject is a catalog's file.
const catalogRule = "catalog"

// A CatalogWord is a word about a catalog.
type CatalogWord struct {
	Catalog  string   `json:"-"` // the name of its file
	Digest   []byte   `json:"digest"`
	Accepted bool     `json:"accepted,omitempty"` // by the owner; otherwise it is what a server answers by
	Loosened []string `json:"loosened,omitempty"` // where it lets more be learnt than the one before
	Note     string   `json:"note,omitempty"`
}

// SayCatalog records a word about a catalog, by whose word it is.
func (l *Ledger) SayCatalog(ctx context.Context, by string, now time.Time, w CatalogWord) error {
	if w.Catalog == "" || len(w.Digest) == 0 {
		return errors.New("record catalog: it needs a name and a digest")
	}
	body, err := json.Marshal(w)
	if err != nil {
		return fmt.Errorf("record catalog: %w", err)
	}
	return l.SetRules(ctx, by, now, Rule{Subject: "catalog:" + w.Catalog, Name: catalogRule, Body: body})
}

// LastCatalog returns the last word about a catalog, or one without a digest if there was
// none.
func (l *Ledger) LastCatalog(ctx context.Context, name string) (w CatalogWord, err error) {
	rules, _, err := l.Rules(ctx, 0)
	if err != nil {
		return w, err
	}
	for _, r := range rules {
		if r.Subject != "catalog:"+name || r.Name != catalogRule {
			continue
		}
		w = CatalogWord{Catalog: name}
		if err := json.Unmarshal(r.Body, &w); err != nil {
			return w, fmt.Errorf("%w: record %d: %v", ErrTampered, r.Record, err)
		}
	}
	return w, nil
}

// Of reports whether the word is about this very text.
func (w CatalogWord) Of(digest []byte) bool { return len(digest) > 0 && bytes.Equal(w.Digest, digest) }
