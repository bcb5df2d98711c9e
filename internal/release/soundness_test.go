//go:build cgo

package release_test

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duckdb/duckdb-go/v2"
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
	checks := flag.Lookup("rapid.checks")
	if before := checks.Value.String(); before == checks.DefValue { // a fifth of them with -short
		if err := checks.Value.Set("250"); err != nil {
			t.Fatal(err)
		}
		defer checks.Value.Set(before)
	}
	m := newMachines(t)
	var c coverage
	rapid.Check(t, func(t *rapid.T) {
		x := newExample(t)
		if err := m.check(x, pipeline{}, &c); err != nil {
			t.Fatalf("%v\n%s", err, x)
		}
	})
	t.Log(&c)
	if c.accepted*4 < c.statements {
		t.Errorf("only %d of %d statements were accepted: the test is weak", c.accepted, c.statements)
	}
	if c.moved*10 < c.releases {
		t.Errorf("only %d of %d releases differ between neighbours: the test is weak", c.moved, c.releases)
	}
}

// A pipeline is the way from a statement to exact queries, with places where a
// fault can be planted; the zero value is the real one.
type pipeline struct {
	canonical func(typ, value string) string          // how the engine reads a field
	plan      func(*stability.Release, *plan.Bounded) // the plan to run
	sql       func(*stability.Release, string) string // its text
	claim     func(*stability.Release)                // the certificate
	applies   func(*stability.Release) bool           // what a fault of canonical concerns
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

// Machines are two engines over the same databases: in one a single thread
// reads the rows in order, in the other several threads read them in another.
type machines struct {
	plain, other *sql.Conn
	loaded       *example // as the real engine reads it
}

func newMachines(t testing.TB) *machines {
	open := func(settings string) *sql.Conn {
		db, err := sql.Open("duckdb", "")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if _, err := conn.ExecContext(t.Context(), settings+"; CREATE SCHEMA d; CREATE SCHEMA e"); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	m := &machines{
		plain: open("SET threads = 1"),
		other: open("SET threads = 4; SET preserve_insertion_order = false; PRAGMA verify_parallelism"),
	}
	// The rules for expressions stay: they take TRY_CAST(bigint AS integer) > 4
	// for a comparison of bigints, which makes a difference where the cast fails.
	var rest string
	if err := m.other.QueryRowContext(t.Context(), "SELECT string_agg(name) FROM duckdb_optimizers() WHERE name <> 'expression_rewriter'").Scan(&rest); err != nil {
		t.Fatal(err)
	}
	if _, err := m.other.ExecContext(t.Context(), "SET disabled_optimizers = '"+rest+"'"); err != nil {
		t.Fatal(err)
	}
	return m
}

// load creates the example's tables in both machines. The engine's contract is
// kept here: what is not a value of its type, NaN, infinities and infinite
// dates are NULL, −0 is 0.
func (m *machines) load(ctx context.Context, x *example, p pipeline) error {
	if m.loaded == x && p.canonical == nil {
		return nil
	}
	if m.loaded = x; p.canonical != nil {
		m.loaded = nil
	}
	canonical := p.canonical
	if canonical == nil {
		canonical = canon
	}
	script := func(reorder func([]row) []row) string {
		var b strings.Builder
		for schema, d := range map[string]database{"d": x.d, "e": x.e} {
			for _, t := range x.tables {
				var fields []string
				for i, c := range t.columns {
					fields = append(fields, fmt.Sprintf("%s AS %s", canonical(c.typ, fmt.Sprintf("TRY_CAST(v%d AS %s)", i, engineType(c.typ))), c.name))
				}
				fmt.Fprintf(&b, "CREATE OR REPLACE TABLE %s.%s AS SELECT %s FROM %s;\n", schema, t.name, strings.Join(fields, ", "), t.values(reorder(d[t.name])))
			}
		}
		return b.String()
	}
	if _, err := m.plain.ExecContext(ctx, script(slices.Clone)); err != nil {
		return fmt.Errorf("load: %w", err)
	}
	shuffle := rand.New(rand.NewPCG(1, uint64(len(x.text))))
	_, err := m.other.ExecContext(ctx, script(func(rows []row) []row {
		rows = slices.Clone(rows)
		shuffle.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		return rows
	}))
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	return nil
}

// values prints rows of texts v0, v1, ... for FROM.
func (t *table) values(rows []row) string {
	names := []string{"n"}
	for i := range t.columns {
		names = append(names, fmt.Sprintf("v%d", i))
	}
	var all []string
	for i, r := range append(slices.Clone(rows), make(row, len(t.columns))) { // an empty list is no list
		all = append(all, fmt.Sprintf("(%d, %s)", i, literals(r)))
	}
	return fmt.Sprintf("(SELECT * FROM (VALUES %s) AS t(%s) LIMIT %d) AS t", strings.Join(all, ", "), strings.Join(names, ", "), len(rows))
}

func literals(r row) string {
	var out []string
	for _, v := range r {
		if s, ok := v.(string); ok {
			out = append(out, "'"+strings.ReplaceAll(s, "'", "''")+"'")
		} else {
			out = append(out, "CAST(NULL AS VARCHAR)")
		}
	}
	return strings.Join(out, ", ")
}

func engineType(typ string) string {
	switch typ {
	case "real":
		return "FLOAT"
	case "text":
		return "VARCHAR"
	}
	return typ
}

// canon prints the canonical value of a field.
func canon(typ, value string) string {
	switch typ {
	case "real", "double":
		return fmt.Sprintf("CASE WHEN isfinite(%s) THEN %s + CAST(0 AS %s) END", value, value, engineType(typ))
	case "date", "timestamp":
		return fmt.Sprintf("CASE WHEN isfinite(%s) THEN %s END", value, value)
	}
	return value
}

// check holds the pipeline against an example.
func (m *machines) check(x *example, p pipeline, c *coverage) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
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
		gone, come := 0, 0
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

func certify(statement string, cat *catalog.Catalog) (*stability.Certificate, error) {
	tree, err := sqlparse.Parse(statement)
	if err != nil {
		return nil, err
	}
	bound, err := bind.Bind(tree, cat)
	if err != nil {
		return nil, err
	}
	return stability.Analyze(bound)
}

// release runs one release's query everywhere and measures the distance.
func (m *machines) release(ctx context.Context, x *example, certificate *stability.Certificate, r *stability.Release, p pipeline, c *coverage) error {
	c.releases++
	shapes(r, c)
	bounded, q, touched, err := p.query(r)
	if err != nil || !touched {
		return err
	}
	if err := m.load(ctx, x, p); err != nil {
		return err
	}
	broken := func(format string, args ...any) error {
		return &violation{what: fmt.Sprintf(format, args...), plan: plan.Format(bounded), sql: q.SQL}
	}
	const salt = 7919
	var results [2]groups
	for i, schema := range []string{"d", "e"} {
		c.queries += 2
		if results[i], err = exactGroups(ctx, m.plain, schema, q, salt, 0, 1); err != nil {
			return broken("the query failed: %v", err)
		}
		other, err := exactGroups(ctx, m.other, schema, q, salt, 0, 1)
		if err != nil {
			return broken("the query failed: %v", err)
		}
		if why := results[i].differs(other); why != "" {
			return broken("the result depends on threads, order or optimizer: %s", why)
		}
	}
	if q.Sliceable && c.releases%5 == 0 {
		sum := groups{}
		for slice := range 3 {
			g, err := exactGroups(ctx, m.plain, "d", q, salt, slice, 3)
			if err != nil {
				return broken("the query failed: %v", err)
			}
			sum.add(g)
		}
		if why := results[0].differs(sum); why != "" {
			return broken("the slices do not add up: %s", why)
		}
	}
	why, err := m.domains(ctx, r, q.Keys, results[0], results[1])
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
func (p pipeline) query(r *stability.Release) (b *plan.Bounded, q engine.Query, touched bool, err error) {
	b = rewrite.Release(r)
	if q, err = render.Release(b); err != nil || !p.planted {
		return b, q, true, err
	}
	honest, text := fmt.Sprint(r.Components), q.SQL
	if p.plan != nil {
		p.plan(r, b)
	}
	if q, err = render.Release(b); err != nil {
		return b, q, false, err
	}
	if p.sql != nil {
		q.SQL = p.sql(r, q.SQL)
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

// A distance is what was measured between two results.
type distance struct {
	broken string // how the certificate does not hold, or ""
	moved  bool   // the results differ
	tight  bool   // by as much as the certificate says
}

// measure holds the difference of two results against the certificate: at most
// allowed times what it says of adding or removing one unit.
func measure(r *stability.Release, d, e groups, allowed int64) (out distance) {
	fail := func(format string, args ...any) distance {
		return distance{broken: fmt.Sprintf(format, args...)}
	}
	times := func(n *big.Int, by int64) *big.Int { return new(big.Int).Mul(n, big.NewInt(by)) }
	zero := make([]*big.Int, len(r.Components)+1)
	for i := range zero {
		zero[i] = new(big.Int)
	}
	at := func(g groups, key string) []*big.Int {
		if v, ok := g[key]; ok {
			return v.values
		}
		return zero
	}
	keys := maps.Clone(d)
	maps.Copy(keys, e)
	changed := int64(0)
	total := make([]big.Int, len(r.Components))
	for key := range keys {
		v, w := at(d, key), at(e, key)
		differs := false
		for i, comp := range r.Components {
			diff := new(big.Int).Sub(v[i], w[i])
			limit := times(comp.PerGroup, allowed)
			differs = differs || diff.Sign() != 0
			total[i].Add(&total[i], diff.Abs(diff))
			out.tight = out.tight || diff.Sign() != 0 && diff.Cmp(limit) == 0
			if diff.Cmp(limit) > 0 {
				return fail("component %d (kind %d) of group %s is %v in D and %v in D': they differ by %v, the certificate says %v", i, comp.Kind, key, v[i], w[i], diff, limit)
			}
		}
		if r.Private {
			n := len(r.Components)
			diff := new(big.Int).Sub(v[n], w[n])
			differs = differs || diff.Sign() != 0
			if diff.CmpAbs(big.NewInt(allowed)) > 0 {
				return fail("group %s has %v units in D and %v in D'", key, v[n], w[n])
			}
			for _, g := range []groups{d, e} {
				if row, there := g[key]; there && row.values[n].Sign() <= 0 {
					return fail("group %s appears with %v units", key, row.values[n])
				}
			}
		}
		if differs {
			changed++
		}
	}
	if limit := r.MaxGroups * allowed; changed > limit {
		return fail("%d groups differ, the certificate says %d", changed, limit)
	}
	for i, comp := range r.Components {
		if limit := times(comp.PerGroup, r.MaxGroups*allowed); total[i].Cmp(limit) > 0 {
			return fail("component %d is at an L1 distance of %v, the certificate says %v", i, &total[i], limit)
		}
	}
	out.moved = changed > 0
	return out
}

// A group is one row of a release's query.
type group struct {
	key    []any
	values []*big.Int
}

// groups are a result, by key.
type groups map[string]group

func (g groups) differs(h groups) string {
	for _, pair := range [][2]groups{{g, h}, {h, g}} {
		for key, v := range pair[0] {
			w, ok := pair[1][key]
			if !ok {
				return fmt.Sprintf("group %s is in one result alone", key)
			}
			for i := range v.values {
				if v.values[i].Cmp(w.values[i]) != 0 {
					return fmt.Sprintf("value %d of group %s is %v and %v", i, key, v.values[i], w.values[i])
				}
			}
		}
	}
	return ""
}

func (g groups) add(h groups) {
	for key, v := range h {
		if w, ok := g[key]; ok {
			for i := range v.values {
				w.values[i].Add(w.values[i], v.values[i])
			}
		} else {
			g[key] = v
		}
	}
}

// exactGroups runs a query in a schema. It fails on two rows of one key, and
// on values that are no integers.
func exactGroups(ctx context.Context, on *sql.Conn, schema string, q engine.Query, salt int64, slice, slices int) (groups, error) {
	text := strings.NewReplacer("$salt", fmt.Sprint(salt), "$slices", fmt.Sprint(slices), "$slice", fmt.Sprint(slice)).Replace(q.SQL)
	keys := len(q.Keys)
	if _, err := on.ExecContext(ctx, "SET schema = '"+schema+"'"); err != nil {
		return nil, err
	}
	rows, err := on.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	out := groups{}
	for rows.Next() {
		cells, to := make([]any, len(columns)), make([]any, len(columns))
		for i := range cells {
			to[i] = &cells[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		g := group{key: cells[:keys]}
		for _, v := range cells[keys:] {
			switch v := v.(type) {
			case nil:
				g.values = append(g.values, new(big.Int))
			case *big.Int:
				g.values = append(g.values, new(big.Int).Set(v))
			default:
				return nil, fmt.Errorf("%T %v is no integer", v, v)
			}
		}
		key := bits(g.key)
		if _, twice := out[key]; twice {
			return nil, fmt.Errorf("group %s stands twice", key)
		}
		out[key] = g
	}
	return out, rows.Err()
}

// bits prints values so that different ones, −0 and 0 too, look different.
func bits(values []any) string {
	var out []string
	for _, v := range values {
		switch v := v.(type) {
		case float64:
			out = append(out, fmt.Sprintf("%v/%x", v, math.Float64bits(v)))
		case float32:
			out = append(out, fmt.Sprintf("%v/%x", v, math.Float32bits(v)))
		case duckdb.Decimal:
			out = append(out, fmt.Sprintf("%v/%d", v.Value, v.Scale))
		case string:
			out = append(out, fmt.Sprintf("%q", v))
		case time.Time:
			out = append(out, v.UTC().Format("2006-01-02T15:04:05.999999"))
		default:
			out = append(out, fmt.Sprintf("%v", v))
		}
	}
	return "(" + strings.Join(out, ", ") + ")"
}

// domains checks that the keys of a release with complete domains lie in them.
func (m *machines) domains(ctx context.Context, r *stability.Release, types []sqltype.Type, results ...groups) (why string, err error) {
	if r.Private {
		return "", nil
	}
	for i, k := range r.Keys {
		known := map[string]bool{}
		for _, d := range k.Domain {
			if d.FromTable == nil {
				for v := range d.All(types[i]) {
					known[sqltype.Key(v)] = true
				}
				continue
			}
			listed, err := exactGroups(ctx, m.plain, "d", engine.Query{SQL: fmt.Sprintf("SELECT DISTINCT %s FROM %s", d.FromColumn.Name, d.FromTable.Name), Keys: types[i : i+1]}, 0, 0, 1)
			if err != nil {
				return "", err
			}
			for _, g := range listed {
				known[sqltype.Key(valueOf(g.key[0], types[i]))] = true
			}
		}
		for _, result := range results {
			for key, g := range result {
				if v := valueOf(g.key[i], types[i]); v == nil || !known[sqltype.Key(v)] {
					return fmt.Sprintf("key %d of group %s is outside its domain", i, key), nil
				}
			}
		}
	}
	return "", nil
}

// valueOf converts the driver's value.
func valueOf(v any, t sqltype.Type) sqltype.Value {
	switch v := v.(type) {
	case int8:
		return int64(v)
	case int16:
		return int64(v)
	case int32:
		return int64(v)
	case float32:
		return float64(v)
	case duckdb.Decimal:
		return sqltype.Decimal{Unscaled: v.Value, Scale: v.Scale}
	case time.Time:
		switch t.Kind {
		case sqltype.DateKind:
			return sqltype.Date(math.Floor(float64(v.Unix()) / 86400))
		case sqltype.TimeKind:
			return sqltype.Time(v.UTC().Sub(v.UTC().Truncate(24*time.Hour)) / time.Microsecond)
		}
		return sqltype.Timestamp(v.UnixMicro())
	}
	return v
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
	for _, comp := range r.Components {
		c.saw([]string{"rows", "sum", "squares", "partial sum", "distinct", "units"}[comp.Kind])
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
