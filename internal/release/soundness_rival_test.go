//go:build cgo && unix

package release_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

// A rival is an engine that is held, behind its adapter, against DuckDB and against the
// certificate, over the random catalogs, neighbouring databases and statements of TestSoundness:
//
//   - with the hashes that all engines share, the exact values of each release and of each
//     tree's leaves are the same in both engines, for every key;
//   - with the rival's own hashes they move between neighbours by no more than the certificate
//     says;
//   - no query fails.
//
// What it lacks is refused by name when it is rendered, and counted.
type rival struct {
	*machines
	name      string
	dialect   render.Dialect
	adjust    func(x *example)               // before it is used, or nil
	canonical func(typ, value string) string // of a field that both engines can hold
	// open copies the canonical rows of a machine's schema into the rival, and opens its adapter.
	open     func(ctx context.Context, x *example, schema string) (engine.Engine, error)
	lacking  int // releases that the rival cannot compute
	compared int // queries that both engines answered
	planted  func(sql string) string
	bent     func(b *plan.Bounded)                                    // another fault
	stages   func(of *stability.Certificate, which int) render.Stages // what could have been released before a release; nil: statements have no stages
}

var (
	agreeing     = flag.Int("agreeing", 0, "how many examples tests of rivals take, if it is not 0")
	agreeingFrom = flag.Int("agreeing-from", 0, "the seed of their first example")
)

// agree takes so many examples, or 5,000 in soak: not by rapid.checks, which TestSoundness sets
// for itself.
func (s *rival) agree(t *testing.T, many int) {
	var c coverage
	switch {
	case *agreeing > 0:
		many = *agreeing
	case os.Getenv("DISCREET_SOAK") != "":
		many = 5000
	case testing.Short():
		many = min(many, 20)
	}
	for n := range many {
		x := rapid.Custom(newExample).Example(*agreeingFrom + n)
		if err := s.check(t.Context(), x, &c); err != nil {
			t.Fatalf("example %d: %v\n%s", *agreeingFrom+n, err, x)
		}
	}
	t.Logf("%v\nnot in %s: %d; compared: %d", &c, s.name, s.lacking, s.compared)
	if c.releases == 0 || s.lacking*10 > c.releases || c.moved*10 < c.releases {
		t.Errorf("of %d releases %s lacks %d, and %d differ between neighbours: the test is weak", c.releases, s.name, s.lacking, c.moved)
	}
}

// finds plants a fault into what the rival is asked with its own hashes, and wants an example that shows it. The first one
// tried is the one that did when this was written.
func (s *rival) finds(t *testing.T, fault string, first int, planted func(sql string) string) {
	t.Helper()
	s.planted = planted
	for n := first; n < first+60; n++ {
		var c coverage
		var found *violation
		switch err := s.check(t.Context(), rapid.Custom(newExample).Example(n), &c); {
		case errors.As(err, &found):
			t.Logf("%s is found by example %d: %s", fault, n, found.what)
			return
		case err != nil:
			t.Fatal(err)
		}
	}
	t.Errorf("%s is not found", fault)
}

// narrows holds what conditions narrow against what the rival makes of them: see leavesRows and excludesRows.
func (s *rival) narrows(t *testing.T, many int) {
	t.Helper()
	x := narrowExample()
	if err := s.load(t.Context(), x, pipeline{canonical: s.canonical}); err != nil {
		t.Fatal(err)
	}
	e, err := s.open(t.Context(), x, "d")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	state, err := engine.Fixed(t.Context(), e, []string{"t0"})
	if err != nil {
		t.Fatal(hidden(err))
	}
	defer state.Close()
	exact := func(r *stability.Release) (groups, error) {
		q, err := s.dialect.ReleaseOver(rewrite.Release(r, nil), nil)
		if err != nil {
			return nil, err
		}
		return exactlyIn(t.Context(), state, q)
	}
	leavesRows(t, x, many, exact)
	excludesRows(t, x, many, exact)
}

// texts are the rows of a query of texts, as literals.
func (s *rival) texts(ctx context.Context, query string, columns int) (all [][]string, err error) {
	rows, err := s.plain.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		cells, into := make([]*string, columns), make([]any, columns)
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		values := make([]string, columns)
		for i, cell := range cells {
			values[i] = "NULL"
			if cell != nil {
				values[i] = "'" + strings.ReplaceAll(*cell, "'", "''") + "'"
			}
		}
		all = append(all, values)
	}
	return all, rows.Err()
}

// check holds the rival against an example.
func (s *rival) check(ctx context.Context, x *example, c *coverage) error {
	c.examples++
	if s.adjust != nil {
		s.adjust(x)
	}
	cat, err := catalog.Parse("catalog.toml", x.text)
	if err != nil {
		return err
	}
	if err := s.load(ctx, x, pipeline{canonical: s.canonical}); err != nil {
		return err
	}
	var names []string
	for _, t := range x.tables {
		names = append(names, t.name)
	}
	var states [2]engine.Snapshot // of D and D'
	for i, schema := range []string{"d", "e"} {
		e, err := s.open(ctx, x, schema)
		if err != nil {
			return err
		}
		defer e.Close()
		if states[i], err = engine.Fixed(ctx, e, names); err != nil {
			return hidden(err)
		}
		defer states[i].Close()
	}
	for _, statement := range x.statements {
		c.statements++
		certificate, err := certify(statement, cat)
		var refused *diagnostic.Diagnostic
		if errors.As(err, &refused) || err == nil && certificate.Domain == nil {
			continue
		}
		if err != nil {
			return err
		}
		c.accepted++
		for which := range 2 {
			var over render.Stages
			if s.stages != nil {
				over = s.stages(certificate, which)
			}
			if over, err = s.numbered(ctx, certificate, over); err != nil {
				return err
			}
			for _, r := range certificate.Releases {
				if which > 0 && len(stability.StagesOf(r.Input)) == 0 {
					continue
				}
				if err := s.release(ctx, x, certificate, r, over, states, c); err != nil {
					return fmt.Errorf("%s\n%w", statement, err)
				}
			}
			if s.stages == nil || certificate.Dependent() == nil {
				break
			}
		}
	}
	return nil
}

func (s *rival) release(ctx context.Context, x *example, certificate *stability.Certificate, r *stability.Release, over render.Stages, states [2]engine.Snapshot, c *coverage) error {
	values, err := s.values(ctx, r, over)
	if err != nil {
		return err
	}
	for _, b := range rewrite.Trees(r, values) {
		if err := s.compare(ctx, b, over, states[0]); err != nil {
			return err
		}
	}
	if !rewrite.Summed(r) {
		return nil
	}
	c.releases++
	b := rewrite.Release(r, values)
	if err := s.compare(ctx, b, over, states[0]); err != nil {
		return err
	}
	if s.bent != nil {
		s.bent(b)
	}
	q, err := s.dialect.ReleaseOver(b, over)
	if lacks(err) {
		s.lacking++
		return nil
	}
	if err != nil {
		return err
	}
	if s.planted != nil {
		q.SQL = s.planted(q.SQL)
	}
	var results [2]groups
	for i, e := range states {
		c.queries++
		if results[i], err = exactlyIn(ctx, e, q); err != nil {
			return &violation{what: fmt.Sprintf("%s: %v", s.name, err), plan: plan.Format(b), sql: q.SQL}
		}
	}
	allowed := int64(1)
	if x.replaced {
		allowed = 2
	}
	if certificate.Domain.ID != x.changed {
		allowed = 0
	}
	d := measure(summed(r), results[0], results[1], allowed)
	if d.broken != "" {
		return &violation{what: s.name + ": " + d.broken, plan: plan.Format(b), sql: q.SQL}
	}
	if d.moved {
		c.moved++
	}
	if d.tight {
		c.tight++
	}
	return nil
}

// compare holds both engines' results of a plan against each other.
func (s *rival) compare(ctx context.Context, b *plan.Bounded, over render.Stages, e engine.Snapshot) error {
	theirs, err := s.dialect.ComparedOver(b, over)
	if lacks(err) {
		return nil
	}
	if err != nil {
		return err
	}
	ours, err := render.DuckDB.ComparedOver(b, over)
	if err != nil {
		return err
	}
	if err := laid(b, ours); err != nil {
		return err
	}
	broken := func(format string, args ...any) error {
		return &violation{what: fmt.Sprintf(format, args...), plan: plan.Format(b), sql: "DuckDB: " + ours.SQL + "\n" + s.name + ": " + theirs.SQL}
	}
	raw, err := exactGroups(ctx, s.plain, "d", ours, agreedSalt, 0, 1)
	if err != nil {
		return broken("DuckDB: %v", err)
	}
	want := groups{}
	for _, g := range raw {
		key := make([]sqltype.Value, len(g.key))
		for i, v := range g.key {
			key[i] = valueOf(v, ours.Keys[i])
		}
		want[sqltype.Key(key...)] = g
	}
	got, err := exactlyIn(ctx, e, theirs)
	if err != nil {
		return broken("%s: %v", s.name, err)
	}
	if why := want.differs(got); why != "" {
		return broken("in DuckDB and in %s: %s", s.name, why)
	}
	s.compared++
	return nil
}

const agreedSalt = 7919

// lacks reports whether an engine cannot compute a plan, by name.
func lacks(err error) bool {
	var d *diagnostic.Diagnostic
	return errors.As(err, &d) && d.Code == "D106"
}

// exactlyIn runs a query through the adapter.
func exactlyIn(ctx context.Context, e engine.Snapshot, q engine.Query) (groups, error) {
	q.Salt = agreedSalt
	x, err := e.Exact(ctx, q)
	if err != nil {
		return nil, hidden(err)
	}
	out := groups{}
	for _, row := range x.RevealExact() {
		g := group{}
		for _, v := range row[:len(q.Keys)] {
			g.key = append(g.key, v)
		}
		for _, v := range row[len(q.Keys):] {
			n := new(big.Int)
			if d, ok := v.(sqltype.Decimal); ok {
				n = d.Unscaled
			}
			g.values = append(g.values, n)
		}
		key := sqltype.Key(row[:len(q.Keys)]...)
		if _, twice := out[key]; twice {
			return nil, fmt.Errorf("group %s stands twice", key)
		}
		out[key] = g
	}
	return out, nil
}

// hidden is the cause of a failure.
func hidden(err error) error {
	var f *engine.Failure
	if errors.As(err, &f) {
		return f.Cause()
	}
	return err
}
