package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// The chain has on record by which catalog a server answers, from when on, and which
// catalog its owner accepts in place of it. The last word about a catalog's file decides:
// an acceptance is for the next change, and for that text alone. The text is named by its
// digest, as the approvals do; of what is served it is kept, so that a server that starts
// knows what it would loosen.

// catalogRule is the name of the rules that say so; their subject is a catalog's file.
const catalogRule = "catalog"

// A CatalogWord is a word about a catalog.
type CatalogWord struct {
	Catalog  string   `json:"-"` // see CatalogName
	Digest   []byte   `json:"digest"`
	Text     string   `json:"text,omitempty"`     // of what a server answers by
	Accepted bool     `json:"accepted,omitempty"` // by the owner; otherwise it is what a server answers by
	Loosened []string `json:"loosened,omitempty"` // where it lets more be learnt than the one before
	Note     string   `json:"note,omitempty"`
}

// CatalogName is what a catalog's file is called in the chain: the way to it from the ledger's
// folder, so that two of one base name are two, and that both may move together. Links are not
// followed: a deployment that points a link elsewhere changes the catalog, not its name.
// A ledger in a database is no file: there it is the file's own name, so that servers may have
// it in any folder.
func (l *Ledger) CatalogName(path string) string {
	if l.path == "" {
		return filepath.Base(path)
	}
	folder, file := absolute(filepath.Dir(l.path)), absolute(path)
	name, err := filepath.Rel(folder, file)
	if err != nil {
		name = file
	}
	return filepath.ToSlash(name)
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
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

// LastCatalog returns the last word about a catalog, and the last one by which a server
// answers; one without a digest if there was none. If no server has answered by a catalog of
// this name, the second is the last one of any name: a new name is no way around what is served.
func (l *Ledger) LastCatalog(ctx context.Context, name string) (last, served CatalogWord, err error) {
	rules, _, err := l.Rules(ctx, 0)
	if err != nil {
		return last, served, err
	}
	for _, r := range rules {
		of, ours := strings.CutPrefix(r.Subject, "catalog:")
		if !ours || r.Name != catalogRule {
			continue
		}
		word := CatalogWord{Catalog: of}
		if err := json.Unmarshal(r.Body, &word); err != nil {
			return last, served, fmt.Errorf("%w: record %d: %v", ErrTampered, r.Record, err)
		}
		if of == name {
			last = word
		}
		if !word.Accepted && (of == name || served.Catalog != name) {
			served = word
		}
	}
	return last, served, nil
}

// Of reports whether the word is about this very text.
func (w CatalogWord) Of(digest []byte) bool { return len(digest) > 0 && bytes.Equal(w.Digest, digest) }
