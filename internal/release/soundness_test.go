//go:build cgo

package release_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

// TestSoundness is the metamorphic test of the certificate: over random
// catalogs, databases D, neighbours D' and statements, the exact components of
// every accepted release are computed on D and D' with one salt, and must not
// differ by more than the certificate says; they must be the same bit for bit
// whatever the physical order, the number of threads and the optimizer's
// choices; and no query may fail.
//
// It is an exact property: no statistics, no false rejects.
func TestSoundness(t *testing.T) {
	t.Parallel() // the only one of these with rapid.checks, which is global
	checks := flag.Lookup("rapid.checks")
	if before := checks.Value.String(); before == checks.DefValue { // a fifth of them with -short
		if err := checks.Value.Set(fmt.Sprint(soak(40, 10_000))); err != nil {
			t.Fatal(err)
		}
		defer checks.Value.Set(before)
	}
	m := newMachines(t)
	var c coverage
	// Of forty examples fewer than a tenth of the releases differ up to once in 10^8 runs, of so many more once in 10^15.
	for i := 0; i == 0 || i < 3 && c.moved*10 < c.releases; i++ {
		rapid.Check(t, func(t *rapid.T) {
			x := newExample(t)
			x.statements = append(x.statements, draws{t}.pivotStatement(x))
			if err := m.check(x, pipeline{}, &c); err != nil {
				t.Fatalf("%v\n%s", err, x)
			}
		})
	}
	t.Log(&c)
	if c.accepted*4 < c.statements {
		t.Errorf("only %d of %d statements were accepted: the test is weak", c.accepted, c.statements)
	}
	if c.moved*10 < c.releases {
		t.Errorf("only %d of %d releases differ between neighbours: the test is weak", c.moved, c.releases)
	}
}

// soak is how much of a sweep CI does, or make soak.
func soak(ci, long int) int {
	if os.Getenv("DISCREET_SOAK") != "" {
		return long
	}
	return ci
}

// A pipeline is the way from a statement to exact queries, with places where a
// fault can be planted; the zero value is the real one.
type pipeline struct {
	canonical func(typ, value string) string          // how the engine reads a field
	plan      func(*stability.Release, *plan.Bounded) // the plan to run
	sql       func(*stability.Release, string) string // its text, which is then the only one
	least     func(*engine.Least)                     // its text by package least
	totals    func(*engine.Totals)                    // its text over copies
	claim     func(*stability.Release)                // the certificate
	applies   func(*stability.Release) bool           // what a fault of canonical concerns
	over      render.Stages                           // what stages are
	public    bool                                    // public tables are read for every statement, and not for each second
	planted   bool                                    // a fault is: releases that it leaves alone are passed over
}

// A coverage counts what the test has seen.
type coverage struct {
	examples, statements, accepted, releases, moved, tight, queries int
	refused                                                         map[string]int
	shapes                                                          map[string]int
}

func (c *coverage) refuse(code string) {
	if c.refused == nil {
		c.refused = map[string]int{}
	}
	c.refused[code]++
}

func (c *coverage) saw(shape string) {
	if c.shapes == nil {
		c.shapes = map[string]int{}
	}
	c.shapes[shape]++
}

func (c *coverage) String() string {
	return fmt.Sprintf("%d examples, %d statements, %d accepted (%d%%); %d releases, %d differ between neighbours, %d reach their bound; %d queries\nrefused: %s\naccepted: %s",
		c.examples, c.statements, c.accepted, 100*c.accepted/max(1, c.statements), c.releases, c.moved, c.tight, c.queries, counts(c.refused), counts(c.shapes))
}

func counts(of map[string]int) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(of)) {
		out = append(out, fmt.Sprintf("%s %d", k, of[k]))
	}
	return strings.Join(out, ", ")
}

// check holds the pipeline against an example.
func (m *machines) check(x *example, p pipeline, c *coverage) error {
	ctx := context.Background()
	c.examples++
	cat, err := catalog.Parse("catalog.toml", x.text)
	if err != nil {
		return fmt.Errorf("the generator's catalog is refused: %w", err)
	}
	if err := x.neighbours(); err != nil {
		return err
	}
	for _, statement := range x.statements {
		c.statements++
		certificate, err := certify(statement, cat)
		if c.statements%2 == 0 || p.public {
			certificate, err = m.certify(ctx, x, p, "d", statement, cat)
		}
		var refused *diagnostic.Diagnostic
		if errors.As(err, &refused) {
			c.refuse(refused.Code)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s\n%w", statement, err)
		}
		if certificate.Domain == nil {
			continue
		}
		c.accepted++
		for i, r := range certificate.Releases {
			if err := m.release(ctx, x, certificate, r, p, c); err != nil {
				return fmt.Errorf("release %d of\n%s\n%w", i, statement, err)
			}
		}
	}
	return nil
}

// neighbours checks the generator itself: no unit but the changed ones may
// have other rows in D' than in D.
func (x *example) neighbours() error {
	for _, domain := range []string{"one", "two"} {
		d, e := x.copies(x.d, domain), x.copies(x.e, domain)
		gone, come := x.changedRows(domain)
		for u, rows := range d {
			if !slices.Equal(rows, e[u]) {
				gone++
				if len(e[u]) > 0 && !x.replaced {
					return fmt.Errorf("the generator changed unit %q", u)
				}
			}
		}
		for u, rows := range e {
			if !slices.Equal(rows, d[u]) {
				come++
			}
		}
		if gone > 1 || come > 1 || come > 0 && !x.replaced || gone+come > 0 && domain != x.changed {
			return fmt.Errorf("the generator changed %d units of domain %s and added %d", gone, domain, come)
		}
	}
	return nil
}

// changedRows counts the rows that are units of a domain and in one of the
// databases alone.
func (x *example) changedRows(domain string) (gone, come int) {
	for _, t := range x.tables {
		if t.public || t.domain != domain || t.unit != unitRow {
			continue
		}
		count := map[string]int{}
		for _, r := range x.d[t.name] {
			count[rowsText([]row{r})]++
		}
		for _, r := range x.e[t.name] {
			count[rowsText([]row{r})]--
		}
		for _, n := range count {
			gone, come = gone+max(0, n), come+max(0, -n)
		}
	}
	return gone, come
}

func certify(statement string, cat *catalog.Catalog) (*stability.Certificate, error) {
	return certifyWith(statement, cat, stability.Options{})
}

func certifyWith(statement string, cat *catalog.Catalog, o stability.Options) (*stability.Certificate, error) {
	bound, err := bindTo(statement, cat)
	if err != nil {
		return nil, err
	}
	certificate, _, err := stability.AnalyzeWith(bound, o)
	return certificate, err
}

func bindTo(statement string, cat *catalog.Catalog) (plan.Node, error) {
	tree, err := sqlparse.Parse(statement)
	if err != nil {
		return nil, err
	}
	return bind.Statement(tree, cat, bind.Parameters{}, nil)
}

// certify certifies a statement by the values that public tables of a database have, as package discreet does.
func (m *machines) certify(ctx context.Context, x *example, p pipeline, schema, statement string, cat *catalog.Catalog) (*stability.Certificate, error) {
	bound, err := bindTo(statement, cat)
	if err != nil {
		return nil, err
	}
	given := stability.Options{Public: stability.Public{}}
	for {
		certificate, unread, refused := stability.AnalyzeWith(bound, given)
		if len(unread) == 0 {
			return certificate, refused
		}
		if err := m.load(ctx, x, p); err != nil {
			return nil, err
		}
		for _, d := range unread {
			if given.Public[d.FromColumn], err = m.column(ctx, schema, d, d.FromColumn.Type); err != nil {
				return nil, err
			}
		}
	}
}

// release runs one release's query everywhere and measures the distance.
func (m *machines) release(ctx context.Context, x *example, certificate *stability.Certificate, r *stability.Release, p pipeline, c *coverage) error {
	if !rewrite.Summed(r) { // TestTreesAreSound looks at it
		return nil
	}
	c.releases++
	shapes(r, c)
	if err := m.load(ctx, x, p); err != nil {
		return err
	}
	var err error
	if p.over, err = m.numbered(ctx, certificate, p.over); err != nil {
		return err
	}
	values, err := m.values(ctx, r, p.over)
	if err != nil {
		return err
	}
	if c.releases%2 == 0 {
		values = nil // as where no engine has read the public tables
	}
	bounded, q, touched, err := p.query(r, values)
	if err != nil || !touched {
		return err
	}
	r = summed(r)
	broken := func(format string, args ...any) error {
		return &violation{what: fmt.Sprintf(format, args...), plan: plan.Format(bounded), sql: q.SQL}
	}
	c.queries += 4
	results, why := m.results(ctx, q, c.releases%5 == 0)
	if why != "" {
		return broken("%s", why)
	}
	why, err = m.domains(ctx, r, p.over, q.Keys, results[0], results[1])
	if err != nil {
		return err
	}
	if why != "" {
		return broken("%s", why)
	}
	allowed := int64(1)
	if x.replaced {
		allowed = 2
	}
	if certificate.Domain.ID != x.changed {
		allowed = 0
	}
	d := measure(r, results[0], results[1], allowed)
	if d.broken != "" {
		return broken("%s", d.broken)
	}
	if d.moved {
		c.moved++
	}
	if d.tight {
		c.tight++
	}
	return nil
}

// query goes the way from a release to its query. touched is false where a
// planted fault leaves the release alone.
func (p pipeline) query(r *stability.Release, values [][]sqltype.Value) (b *plan.Bounded, q engine.Query, touched bool, err error) {
	b = rewrite.Release(r, values)
	q, err = render.DuckDB.ReleaseOver(b, p.over)
	if q.Groups != "" && (strings.Contains(q.Groups, "$salt") || strings.Count(q.SQL, "("+q.Groups+")") != 1) {
		return b, q, false, fmt.Errorf("the groups depend on the salt, or do not stand in the query once: %s in %s", q.Groups, q.SQL)
	}
	if err = errors.Join(err, laid(b, q)); err != nil || !p.planted {
		return b, q, true, err
	}
	honest, text := fmt.Sprint(r.Components), q.SQL
	if p.plan != nil {
		p.plan(r, b)
	}
	if q, err = render.DuckDB.ReleaseOver(b, p.over); err != nil {
		return b, q, false, err
	}
	q.Held = nil // which has no part in faults
	if p.sql != nil {
		q.SQL, q.Least, q.Totals, q.Whole = p.sql(r, q.SQL), nil, nil, nil
	}
	if p.least != nil && q.Least != nil {
		text = q.Least.SQL
		p.least(q.Least)
		q.SQL, q.Totals = q.Least.SQL, nil
	}
	if err = laid(b, q); err != nil {
		return b, q, false, err
	}
	if p.totals != nil && q.Totals != nil {
		text = q.Totals.SQL
		p.totals(q.Totals)
		q.SQL, q.Least = q.Totals.SQL, nil
	}
	if p.claim != nil {
		p.claim(r)
	}
	touched = q.SQL != text || honest != fmt.Sprint(r.Components) || p.applies != nil && p.applies(r)
	return b, q, touched, nil
}

// A violation is a way in which a certificate does not hold.
type violation struct{ what, plan, sql string }

func (v *violation) Error() string { return v.what + "\n" + v.plan + v.sql }

// breaks is what an example shows to be broken, "" if nothing. Its statements may not all be refused.
func (m *machines) breaks(t *testing.T, x *example, p pipeline) (what string, seen coverage) {
	t.Helper()
	err := m.check(x, p, &seen)
	var v *violation
	switch {
	case errors.As(err, &v):
		return v.what, seen
	case err != nil:
		t.Fatalf("%s: %v", x.statements, err)
	case seen.accepted == 0:
		t.Fatalf("%s is refused: %v", x.statements, seen.refused)
	}
	return "", seen
}

// numbered adds the stages that are public to what others are.
func (m *machines) numbered(ctx context.Context, certificate *stability.Certificate, over render.Stages) (render.Stages, error) {
	out := render.Stages{}
	maps.Copy(out, over)
	for i, s := range certificate.Stages {
		if !s.Public() {
			continue
		}
		text, err := render.Relation(s.Plan)
		if err != nil {
			return nil, err
		}
		var types []sqltype.Type
		for _, c := range s.Plan.Columns() {
			types = append(types, c.Type)
		}
		rows, err := exactGroups(ctx, m.plain, "d", engine.Query{SQL: text, Keys: types}, 0, 0, 1)
		if err != nil {
			return nil, err
		}
		out[i] = nil
		for _, g := range rows {
			row := make([]sqltype.Value, len(types))
			for j, t := range types {
				row[j] = valueOf(g.key[j], t)
			}
			out[i] = append(out[i], row)
		}
	}
	return out, nil
}

// shapes notes what an accepted release is made of.
func shapes(r *stability.Release, c *coverage) {
	say := func(yes bool, what string) {
		if yes {
			c.saw(what)
		}
	}
	say(r.Private, "private selection")
	say(!r.Private && len(r.Keys) > 0, "complete domain")
	say(r.OneRow, "one row a unit")
	say(len(r.Keys) > 1, "several keys")
	say(r.Within != nil, "coarser grouping set")
	say(r.Apart, "grouping set apart")
	say(len(r.Exclusive) > 0, "exclusive components")
	for _, comp := range r.Components {
		c.saw([]string{"rows", "sum", "squares", "partial sum", "distinct", "units", "tree"}[comp.Kind])
		say(comp.Filter != nil, "filter")
	}
	var walk func(plan.Node)
	walk = func(n plan.Node) {
		switch n := n.(type) {
		case *plan.Join:
			c.saw(strings.ToLower(n.Kind.String()) + " join")
		case *plan.Union:
			c.saw("union")
		case *plan.Aggregate:
			c.saw("aggregate below")
		case *plan.Scan:
			say(!n.Table.Public && n.Table.Unit.Kind == catalog.UnitRow, "unit by row")
			say(!n.Table.Public && n.Table.Unit.Kind == catalog.UnitReference, "unit by reference")
		}
		for _, in := range n.Inputs() {
			walk(in)
		}
	}
	walk(r.Input)
}
