package ledger

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/datafile"
)

// The books know what they guard. A budget is spent on certain data: those of the
// sources that the catalog declares in the domain, each under its unit. What is declared
// enters the ledger with the domain, and every record of the domain carries its digest.
// A catalog that declares something else is refused until the owner confirms it, and the
// confirmation is a record. Otherwise a file that moved to another domain, or a unit
// that became finer, would get a second budget, or none that fits, in silence.
//
// What stands in it are declared names, so that data which is refreshed, or partitioned
// under one name, passes. Which file a name leads to is looked at when it is read. A name
// may be a pattern of several files: two names that could name one file, by their texts,
// are one source wherever a second name would be a way around the first.
//
// A ledger of format 1 says of none of its domains what it guards. It can be read; what
// charges for a catalog is refused until the owner confirms each domain once.

// A Guarded is a source of a domain, as the catalog declares it.
type Guarded struct {
	Source string   `json:"source"`            // its name
	Unit   string   `json:"unit"`              // whose its rows are, in words
	AlsoIn []string `json:"also_in,omitempty"` // further domains that the owner declares it in
}

func (g Guarded) String() string {
	s := fmt.Sprintf("%s (unit %s)", g.Source, g.Unit)
	if len(g.AlsoIn) > 0 {
		s += ", also in " + strings.Join(g.AlsoIn, ", ")
	}
	return s
}

func (g Guarded) equal(h Guarded) bool {
	return g.Source == h.Source && g.Unit == h.Unit && slices.Equal(g.AlsoIn, h.AlsoIn)
}

// ordered returns sources in their order, each once.
func ordered(all []Guarded) []Guarded {
	out := make([]Guarded, len(all))
	for i, g := range all {
		g.AlsoIn = slices.Compact(slices.Sorted(slices.Values(g.AlsoIn)))
		out[i] = g
	}
	slices.SortFunc(out, func(a, b Guarded) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Unit, b.Unit), slices.Compare(a.AlsoIn, b.AlsoIn))
	})
	return slices.CompactFunc(out, Guarded.equal)
}

// Guard is the digest of what a domain guards: its id, its relation and its sources.
// It is nil where Guards is: of a domain that no catalog declares.
func (d DomainBudget) Guard() []byte {
	if d.Guards == nil {
		return nil
	}
	// Encoding a few strings cannot fail.
	text, err := json.Marshal(struct {
		Domain     string    `json:"domain"`
		Neighbours string    `json:"neighbours"`
		Guards     []Guarded `json:"guards"`
	}{d.ID, d.Neighbours.String(), ordered(d.Guards)})
	if err != nil {
		panic("ledger: encode guard: " + err.Error())
	}
	sum := sha256.Sum256(append([]byte("discreet guard 1\n"), text...))
	return sum[:]
}

// ErrGuardDiffers: the ledger guards other data than the catalog declares; see
// GuardError.
var ErrGuardDiffers = errors.New("the ledger guards other data than the catalog declares")

// A GuardError says how what a catalog declares of a domain differs from what the ledger
// guards. It wraps ErrGuardDiffers.
type GuardError struct {
	Domain string
	Unsaid bool      // the ledger does not say what the domain guards: it was made before ledgers did
	Now    []Guarded // declared, and not guarded so
	Before []Guarded // guarded, and not declared so
}

func (e *GuardError) Error() string {
	if e.Unsaid {
		return fmt.Sprintf("domain %q: the ledger does not say which data it guards", e.Domain)
	}
	return fmt.Sprintf("domain %q: %v: %s", e.Domain, ErrGuardDiffers, changes(e.Before, e.Now))
}

// Unwrap returns ErrGuardDiffers.
func (e *GuardError) Unwrap() error { return ErrGuardDiffers }

// changes puts a difference into words.
func changes(before, now []Guarded) string {
	var parts []string
	for _, side := range []struct {
		what string
		all  []Guarded
	}{{"guarded was", before}, {"declared is", now}} {
		if len(side.all) > 0 {
			texts := make([]string, len(side.all))
			for i, g := range side.all {
				texts[i] = g.String()
			}
			parts = append(parts, side.what+" "+strings.Join(texts, "; "))
		}
	}
	return strings.Join(parts, ", ")
}

// without returns the sources of a that are not in b.
func without(a, b []Guarded) []Guarded {
	return slices.DeleteFunc(slices.Clone(a), func(g Guarded) bool { return slices.ContainsFunc(b, g.equal) })
}

// guardError compares what is declared of a domain with what its state says, and the
// records before it.
func (l *Ledger) guardError(ctx context.Context, q records, want DomainBudget, s *state) error {
	if bytes.Equal(want.Guard(), s.Guard) {
		return nil
	}
	if s.Guard == nil {
		return &GuardError{Domain: want.ID, Unsaid: true, Now: ordered(want.Guards)}
	}
	have, err := l.guarded(ctx, q, want.ID)
	if err != nil {
		return err
	}
	return &GuardError{Domain: want.ID, Now: without(ordered(want.Guards), have), Before: without(have, ordered(want.Guards))}
}

// guarded returns what a domain guards, of its last record that says so.
func (l *Ledger) guarded(ctx context.Context, q records, id string) (last []Guarded, err error) {
	err = l.each(ctx, q, "WHERE r.kind IN ('domain', 'guard')", func(r *record, e *entry) error {
		if r.domain == id && e.Budget != nil {
			last = ordered(e.Budget.Guards)
		}
		return nil
	})
	return last, err
}

// Guarded returns what a domain guards, or nil if the ledger does not say.
func (l *Ledger) Guarded(ctx context.Context, id string) (_ []Guarded, err error) {
	defer wrap(&err, "read guard")
	s, err := l.chain.lastState(ctx, l.db, id)
	if err != nil || s.Guard == nil {
		return nil, err
	}
	return l.guarded(ctx, l.db, id)
}

// mayShare reports whether the sources of two names may have records in common, by the
// names alone: of tables (FILE#TABLE) that have one name, with a schema or without, or of which
// one is the file itself, it is decided by the names of the files, which may be patterns.
func mayShare(a, b string) bool {
	fileA, tableA, _ := strings.Cut(a, "#")
	fileB, tableB, _ := strings.Cut(b, "#")
	named := func(name, short string) bool { return short == "" || strings.HasSuffix("."+name, "."+short) }
	return (named(tableA, tableB) || named(tableB, tableA)) && datafile.Overlap(fileA, fileB)
}

// CheckPublic refuses with ErrGuardDiffers when a domain guards a source that may have
// records in common with one of these names, which the catalog declares public.
func (l *Ledger) CheckPublic(ctx context.Context, sources []string) error {
	if len(sources) == 0 {
		return nil
	}
	guards := map[string][]Guarded{}
	err := l.each(ctx, l.db, "WHERE r.kind IN ('domain', 'guard')", func(r *record, e *entry) error {
		if e.Budget != nil {
			guards[r.domain] = e.Budget.Guards
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(guards)) {
		for _, g := range guards[id] {
			for _, public := range sources {
				switch {
				case public == g.Source:
					return fmt.Errorf("domain %q: %w: it guards %s, which is declared public", id, ErrGuardDiffers, public)
				case mayShare(public, g.Source):
					return fmt.Errorf("domain %q: %w: it guards %s, and %s, which may name the same files, is declared public", id, ErrGuardDiffers, g.Source, public)
				}
			}
		}
	}
	return nil
}

// Confirm records that the owner wants a domain to guard what d declares, from here on,
// and returns what changed in words; "" if nothing did, and nothing is recorded. Nothing
// that was spent is given back. The budget must be the domain's. It refuses with
// ErrSecondDomain a source that may have records in common with one that another domain
// guards or has guarded, unless one of the two declares that it is in both.
func (l *Ledger) Confirm(ctx context.Context, d DomainBudget, note string, now time.Time) (changed string, err error) {
	defer wrap(&err, "confirm")
	switch {
	case now.IsZero():
		return "", errors.New("no time given")
	case d.Guards == nil:
		return "", errors.New("nothing is declared")
	case !utf8.ValidString(note):
		return "", errors.New("the note is not UTF-8")
	}
	if err := l.Check(ctx, []DomainBudget{{ID: d.ID, Neighbours: d.Neighbours, Measure: d.Measure, Epsilon: d.Epsilon, Delta: d.Delta, SelectionDelta: d.SelectionDelta}}); err != nil {
		return "", err
	}
	err = l.do(ctx, true, func(ctx context.Context, b *batch) error {
		changed = ""
		_, s, err := b.domain(ctx, d.ID)
		if err != nil {
			return err
		}
		var differs *GuardError
		switch err := l.guardError(ctx, b.conn, d, s); {
		case err == nil:
			return nil
		case !errors.As(err, &differs):
			return b.note(err)
		}
		if err := b.onlyDomain(ctx, d); err != nil {
			return err
		}
		changed = changes(differs.Before, differs.Now)
		d.Guards = ordered(d.Guards)
		return b.change(ctx, &record{kind: kindGuard, domain: d.ID}, entry{Time: now, Budget: &d, Note: note}, func(s *state) { s.Guard = d.Guard() })
	})
	return changed, err
}

// ErrSecondDomain: a source is, or was, guarded by another domain.
var ErrSecondDomain = errors.New("another domain of the ledger guards the same source")

// onlyDomain refuses a domain with a source of another one.
func (b *batch) onlyDomain(ctx context.Context, d DomainBudget) error {
	return b.l.each(ctx, b.conn, "WHERE r.kind IN ('domain', 'guard')", func(r *record, e *entry) error {
		if r.domain == d.ID || e.Budget == nil {
			return nil
		}
		for _, theirs := range e.Budget.Guards {
			for _, ours := range d.Guards {
				if mayShare(ours.Source, theirs.Source) && !slices.Contains(ours.AlsoIn, r.domain) && !slices.Contains(theirs.AlsoIn, d.ID) {
					is := ours.Source
					if is != theirs.Source {
						is = fmt.Sprintf("%s, of which %s may name the same files,", theirs.Source, is)
					}
					return fmt.Errorf("domain %q: %w: %s is domain %q's (record %d)", d.ID, ErrSecondDomain, is, r.domain, r.seq)
				}
			}
		}
		return nil
	})
}
