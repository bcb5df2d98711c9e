//go:build cgo && unix

package release_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/big"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/postgres"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/postgrestest"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

// TestEnginesAgree holds PostgreSQL, behind its adapter, against DuckDB and against the
// certificate, over the random catalogs, neighbouring databases and statements of TestSoundness:
//
//   - with the hashes that all engines share, the exact values of each release and of each
//     tree's leaves are the same in both engines, for every key;
//   - with PostgreSQL's own hashes they move between neighbours by no more than the certificate
//     says;
//   - no query fails.
//
// What PostgreSQL lacks is refused by name when it is rendered, and counted.
func TestEnginesAgree(t *testing.T) {
	t.Parallel()
	s := &servers{machines: newMachines(t), url: postgrestest.Start(t, "max_connections=20")}
	var err error
	if s.admin, err = pgconn.Connect(t.Context(), s.url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.admin.Close(context.Background()) })
	var c coverage
	// Not by rapid.checks, which TestSoundness sets for itself.
	many := *agreeing
	switch given := false; {
	case os.Getenv("DISCREET_SOAK") != "":
		flag.Visit(func(f *flag.Flag) { given = given || f.Name == "agreeing" })
		if !given {
			many = 5000
		}
	case testing.Short():
		many = min(many, 20)
	}
	for n := range many {
		x := rapid.Custom(newExample).Example(*agreeingFrom + n)
		if err := s.check(t.Context(), x, &c); err != nil {
			t.Fatalf("example %d: %v\n%s", *agreeingFrom+n, err, x)
		}
	}
	t.Logf("%v\nnot in PostgreSQL: %d; compared: %d", &c, s.lacking, s.compared)
	if c.releases == 0 || s.lacking*10 > c.releases || c.moved*10 < c.releases {
		t.Errorf("of %d releases PostgreSQL lacks %d, and %d differ between neighbours: the test is weak", c.releases, s.lacking, c.moved)
	}
}

var (
	agreeing     = flag.Int("agreeing", 30, "how many examples TestEnginesAgree takes")
	agreeingFrom = flag.Int("agreeing-from", 0, "the seed of its first example")
)

// Servers are the engines that are compared.
type servers struct {
	*machines
	url      string
	admin    *pgconn.PgConn
	lacking  int // releases that PostgreSQL cannot compute
	compared int // queries that both engines answered
	planted  func(sql string) string
}

func (s *servers) exec(ctx context.Context, text string) error {
	_, err := s.admin.Exec(ctx, text).ReadAll()
	return err
}

// texts are the rows of a query of texts, as PostgreSQL's literals.
func (s *servers) texts(ctx context.Context, query string, columns int) (all [][]string, err error) {
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
				values[i] = "'" + strings.NewReplacer("'", "''", " (BC)", " BC").Replace(*cell) + "'"
			}
		}
		all = append(all, values)
	}
	return all, rows.Err()
}

var parquetSource = regexp.MustCompile(`source = "(\w+)\.parquet"`)

// open copies the canonical rows of a machine's schema into the server, and opens the adapter
// over them.
func (s *servers) open(ctx context.Context, x *example, schema string) (*postgres.Engine, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "DROP SCHEMA IF EXISTS %[1]s CASCADE; CREATE SCHEMA %[1]s;\n", schema)
	for _, t := range x.tables {
		var columns, texts []string
		for _, c := range t.columns {
			columns = append(columns, fmt.Sprintf("%q %s", c.name, strings.ReplaceAll(c.typ, "double", "double precision")))
			texts = append(texts, "CAST("+c.name+" AS VARCHAR)")
		}
		fmt.Fprintf(&b, "CREATE TABLE %s.%q (%s);\n", schema, t.name, strings.Join(columns, ", "))
		rows, err := s.texts(ctx, fmt.Sprintf("SELECT %s FROM %s.%s", strings.Join(texts, ", "), schema, t.name), len(texts))
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			fmt.Fprintf(&b, "INSERT INTO %s.%q VALUES (%s);\n", schema, t.name, strings.Join(row, ", "))
		}
	}
	if err := s.exec(ctx, b.String()); err != nil {
		return nil, fmt.Errorf("copy to postgres: %w", err)
	}
	text := "[engine]\nkind = \"postgres\"\nurl = { env = \"DISCREET_ENGINE\" }\naccept_role = true\n" + parquetSource.ReplaceAllString(x.text, `source = "`+schema+`.$1"`)
	c, err := catalog.Parse("catalog.toml", text)
	if err != nil {
		return nil, err
	}
	return postgres.Open(ctx, c, postgres.Options{URL: s.url, Connections: 1})
}

// both prints the canonical value of a field that both engines can hold: PostgreSQL has fewer
// days than DuckDB, and no NUL in texts.
func both(typ, value string) string {
	value = canon(typ, value)
	switch typ {
	case "date", "timestamp":
		return fmt.Sprintf("CASE WHEN %[1]s BETWEEN '4713-12-01 (BC)'::%[2]s AND '%[3]s'::%[2]s THEN %[1]s END", value, typ, map[string]string{"date": "5874897-12-31", "timestamp": "294247-01-01"}[typ])
	case "text":
		return fmt.Sprintf("replace(%s, chr(0), '0')", value)
	}
	return value
}

// check holds PostgreSQL against an example.
func (s *servers) check(ctx context.Context, x *example, c *coverage) error {
	c.examples++
	cat, err := catalog.Parse("catalog.toml", x.text)
	if err != nil {
		return err
	}
	if err := s.load(ctx, x, pipeline{canonical: both}); err != nil {
		return err
	}
	var engines [2]*postgres.Engine
	for i, schema := range []string{"d", "e"} {
		if engines[i], err = s.open(ctx, x, schema); err != nil {
			return err
		}
		defer engines[i].Close()
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
		for _, r := range certificate.Releases {
			if err := s.release(ctx, x, certificate, r, engines, c); err != nil {
				return fmt.Errorf("%s\n%w", statement, err)
			}
		}
	}
	return nil
}

func (s *servers) release(ctx context.Context, x *example, certificate *stability.Certificate, r *stability.Release, engines [2]*postgres.Engine, c *coverage) error {
	values, err := s.values(ctx, r)
	if err != nil {
		return err
	}
	for _, b := range rewrite.Trees(r, values) {
		if err := s.compare(ctx, b, engines[0]); err != nil {
			return err
		}
	}
	if !rewrite.Summed(r) {
		return nil
	}
	c.releases++
	b := rewrite.Release(r, values)
	if err := s.compare(ctx, b, engines[0]); err != nil {
		return err
	}
	q, err := render.Postgres.Release(b)
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
	for i, e := range engines {
		c.queries++
		if results[i], err = exactlyIn(ctx, e, q); err != nil {
			return &violation{what: fmt.Sprintf("PostgreSQL: %v", err), plan: plan.Format(b), sql: q.SQL}
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
		return &violation{what: "PostgreSQL: " + d.broken, plan: plan.Format(b), sql: q.SQL}
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
func (s *servers) compare(ctx context.Context, b *plan.Bounded, e *postgres.Engine) error {
	theirs, err := render.Postgres.Compared(b)
	if lacks(err) {
		return nil
	}
	if err != nil {
		return err
	}
	ours, err := render.DuckDB.Compared(b)
	if err != nil {
		return err
	}
	broken := func(format string, args ...any) error {
		return &violation{what: fmt.Sprintf(format, args...), plan: plan.Format(b), sql: "DuckDB: " + ours.SQL + "\nPostgreSQL: " + theirs.SQL}
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
		return broken("PostgreSQL: %v", err)
	}
	if why := want.differs(got); why != "" {
		return broken("in DuckDB and in PostgreSQL: %s", why)
	}
	s.compared++
	return nil
}

const agreedSalt = 7919

// lacks reports whether PostgreSQL cannot compute a plan, by name.
func lacks(err error) bool {
	var d *diagnostic.Diagnostic
	return errors.As(err, &d) && d.Code == "D106"
}

// exactlyIn runs a query through the adapter.
func exactlyIn(ctx context.Context, e *postgres.Engine, q engine.Query) (groups, error) {
	q.Salt = agreedSalt
	x, err := e.Exact(ctx, q)
	if err != nil {
		var f *engine.Failure
		if errors.As(err, &f) {
			err = f.Cause()
		}
		return nil, err
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
