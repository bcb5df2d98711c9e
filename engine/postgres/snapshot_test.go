//go:build cgo && unix

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/postgres"
	"github.com/discreet-dp/discreet/sqltype"
)

var rowsOfT = engine.Query{SQL: "SELECT CAST(count(*) AS NUMERIC) FROM t", Tables: []string{"t"}, Values: 1}

func count(t *testing.T, of interface {
	Exact(context.Context, engine.Query) (*engine.Exact, error)
}) string {
	t.Helper()
	x, err := of.Exact(t.Context(), rowsOfT)
	if err != nil {
		t.Fatal(cause(err))
	}
	return sqltype.Format(x.RevealExact()[0][0])
}

func cause(err error) error {
	var f *engine.Failure
	if errors.As(err, &f) {
		return f.Cause()
	}
	return err
}

// table makes a table t with ten rows, and opens the engine over it.
func (s *server) table(t *testing.T) (*postgres.Engine, string) {
	schema := s.schema(t)
	s.exec(t, "CREATE TABLE %[1]s.t (u text, v text); INSERT INTO %[1]s.t SELECT n, n FROM generate_series(1, 10) AS n", schema)
	_, url := s.role(t, schema, schema+".t")
	e, err := openAs(t, parse(t, fmt.Sprintf(of, schema+".t", "text")), url)
	if err != nil {
		t.Fatal(err)
	}
	return e, schema
}

// snapshots: all queries of one see one state, whatever others do meanwhile, and what changes
// the table itself waits for it.
func (s *server) snapshots(t *testing.T) {
	e, schema := s.table(t)
	one, err := e.Snapshot(t.Context(), []string{"t"})
	if err != nil {
		t.Fatal(cause(err))
	}
	// Before its first query too, so that what was looked at is what will be read.
	s.exec(t, "SET lock_timeout = '100ms'")
	for _, change := range []string{"TRUNCATE %s.t", "ALTER TABLE %s.t RENAME TO other", "DROP TABLE %s.t"} {
		if _, err := s.admin.Exec(t.Context(), fmt.Sprintf(change, schema)).ReadAll(); err == nil {
			t.Errorf("under a snapshot: "+change, schema)
		}
	}
	s.exec(t, "RESET lock_timeout")
	before := count(t, one)
	s.exec(t, "INSERT INTO %[1]s.t SELECT n, n FROM generate_series(1, 5) AS n", schema)
	if after := count(t, one); before != "10" || after != before {
		t.Errorf("a snapshot had %s rows and has %s", before, after)
	}
	if now := count(t, e); now != "15" {
		t.Errorf("outside of it there are %s rows", now)
	}
	if _, err := one.Exact(t.Context(), engine.Query{SQL: "SELECT 1 FROM u", Tables: []string{"u"}, Values: 1}); !errors.Is(err, engine.ErrResource) {
		t.Errorf("another table: %v", err)
	}
	if err := one.Close(); err != nil {
		t.Error(err)
	}
	s.exec(t, "TRUNCATE %s.t", schema)
	if now := count(t, e); now != "0" {
		t.Errorf("after it there are %s rows", now)
	}
}

// changes: a table that became another since it was looked at is looked at again, before
// anything is charged and when it is read.
func (s *server) changes(t *testing.T) {
	e, schema := s.table(t)
	prepared := func() string {
		_, said := code(e.Prepare(t.Context(), "SELECT 1", described))
		return said
	}
	if said := prepared(); said != "<nil>" {
		t.Fatal(said)
	}
	for _, c := range []struct{ change, said, rows string }{
		{"ALTER TABLE %[1]s.t ALTER v TYPE varchar(20)", "<nil>", "10"},
		{"ALTER TABLE %[1]s.t ALTER v TYPE bytea USING v::bytea", "cannot be read as text", ""},
		{"ALTER TABLE %[1]s.t ALTER v TYPE text USING encode(v, 'escape')", "<nil>", "10"},
		{"ALTER TABLE %[1]s.t RENAME TO old; CREATE VIEW %[1]s.t AS SELECT u, v FROM %[1]s.old; GRANT SELECT ON %[1]s.t TO public", "it is a view", ""},
		{"DROP VIEW %[1]s.t", "no such table", ""},
		{"ALTER TABLE %[1]s.old RENAME TO t", "<nil>", "10"},
		{"ALTER TABLE %[1]s.t ENABLE ROW LEVEL SECURITY", "row security", ""},
		{"ALTER TABLE %[1]s.t DISABLE ROW LEVEL SECURITY", "<nil>", "10"},
		{"CREATE TABLE %[1]s.child () INHERITS (%[1]s.t); INSERT INTO %[1]s.child VALUES ('11', '11')", "<nil>", "11"},
	} {
		s.exec(t, c.change, schema)
		x, err := e.Exact(t.Context(), rowsOfT) // also where it was not prepared
		if (err == nil) != (c.rows != "") || err == nil && sqltype.Format(x.RevealExact()[0][0]) != c.rows {
			t.Errorf("%s: it answers %v, want %q", c.change, cause(err), c.rows)
		}
		if said := prepared(); !strings.Contains(said, c.said) {
			t.Errorf("%s: %s, want %s", c.change, said, c.said)
		}
	}
}

// lost: connections that are lost while they lie idle are made anew; one that is lost in a
// transaction, and a statement that takes too long, are failures without words.
func (s *server) lost(t *testing.T) {
	e, _ := s.table(t)
	kill := func() {
		s.exec(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name = 'discreet'")
	}
	if n := count(t, e); n != "10" {
		t.Fatal(n)
	}
	kill()
	if n := count(t, e); n != "10" {
		t.Errorf("after idle connections were lost: %s rows", n)
	}
	one, err := e.Snapshot(t.Context(), []string{"t"})
	if err != nil {
		t.Fatal(cause(err))
	}
	defer one.Close()
	kill()
	if x, err := one.Exact(t.Context(), rowsOfT); x != nil || !errors.Is(err, engine.ErrResource) || err.Error() != engine.ErrResource.Error() {
		t.Errorf("in a lost transaction: %v, %v", x, err)
	}
	if n := count(t, e); n != "10" {
		t.Errorf("after a lost transaction: %s rows", n)
	}

	// One that takes hours ends at the role's limit.
	long := engine.Query{SQL: "SELECT CAST(count(*) AS NUMERIC) FROM t AS a, t AS b, t AS c, t AS d, t AS e, t AS f, t AS g, t AS h, t AS i, t AS j", Tables: []string{"t"}, Values: 1}
	s.exec(t, "ALTER DATABASE postgres SET statement_timeout = '100ms'")
	kill() // so that the setting holds
	if x, err := e.Exact(t.Context(), long); x != nil || !errors.Is(err, engine.ErrResource) {
		t.Errorf("a long query: %v, %v", x, err)
	}
	s.exec(t, "ALTER DATABASE postgres RESET statement_timeout")
	kill()

	// Whoever gives up is told so, and the server stops.
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if x, err := e.Exact(ctx, long); x != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("given up: %v, %v", x, err)
	}
	for range 200 {
		results, err := s.admin.Exec(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'discreet' AND state = 'active'").ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if string(results[0].Rows[0][0]) == "0" {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Error("the server still works on what was given up")
}

// planned: a query that has no plan, which the server says only when it plans, is refused before
// anything is charged.
func (s *server) planned(t *testing.T) {
	e, schema := s.table(t)
	own := []engine.Table{{Name: "t", Columns: []engine.Column{{Name: "u", Type: sqltype.Of(sqltype.Text)}, {Name: "v", Type: sqltype.Of(sqltype.Text)}}}}
	if err := e.Prepare(t.Context(), "SELECT 1 FROM t AS a FULL JOIN t AS b ON a.u < b.u WHERE $1 >= 0", own); err != engine.ErrPlan { //nolint:errorlint // the constant itself
		t.Errorf("a join without a plan: %v", err)
	}
	const good = "SELECT 1 FROM t AS a FULL JOIN t AS b ON a.u = b.u WHERE $1 >= 0"
	for range 3 { // which is planned once
		if err := e.Prepare(t.Context(), good, own); err != nil {
			t.Errorf("a join with one: %v", err)
		}
	}
	// What stands in the way of reading is seen each time.
	for _, c := range []struct{ change, said string }{
		{"ALTER TABLE %s.t RENAME TO other", "no such table"}, {"ALTER TABLE %s.other RENAME TO t", "<nil>"},
		{"ALTER TABLE %s.t RENAME v TO w", "no column \"v\""}, {"ALTER TABLE %s.t RENAME w TO v", "<nil>"},
	} {
		s.exec(t, c.change, schema)
		if _, said := code(e.Prepare(t.Context(), good, own)); !strings.Contains(said, c.said) {
			t.Errorf("%s: %s, want %s", c.change, said, c.said)
		}
	}
}

// looked: what a look at tables costs does not grow with the tables of the database, since it scans none of the
// system's own; what reads the data is planned without nested loops all the same, and else as the server likes.
func (s *server) looked(t *testing.T) {
	e, _ := s.table(t)
	for _, c := range []struct{ sql, want string }{
		{"SELECT CAST(sum(seq_scan) AS NUMERIC) FROM pg_stat_xact_sys_tables WHERE relname IN ('pg_attribute', 'pg_type', 'pg_constraint', 'pg_inherits')", "0"},
		{"SELECT CAST(count(*) AS NUMERIC) FROM pg_settings WHERE name LIKE 'enable!_%' ESCAPE '!' AND setting <> reset_val AND name <> 'enable_nestloop'", "0"},
		{"SELECT CAST(count(*) AS NUMERIC) FROM pg_settings WHERE name = 'enable_nestloop' AND setting = 'off'", "1"},
	} {
		for range 3 { // the server keeps the plan
			x, err := e.Exact(t.Context(), engine.Query{SQL: c.sql, Tables: []string{"t"}, Values: 1})
			if err != nil {
				t.Fatal(cause(err))
			}
			if n := sqltype.Format(x.RevealExact()[0][0]); n != c.want {
				t.Errorf("%s: %s, want %s", c.sql, n, c.want)
			}
		}
	}
}

// forgotten: sessions that do not know what the server had parsed for them, as behind a pooler that
// gives each transaction another session, answer all the same; and so where another has the name.
func (s *server) forgotten(t *testing.T) {
	e, schema := s.table(t)
	for range 3 {
		if n := count(t, e); n != "10" {
			t.Fatal(n)
		}
	}
	run := func(statement string) [][][]byte {
		t.Helper()
		results, err := e.Idle()[0].Exec(t.Context(), statement).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return results[0].Rows
	}
	parsed := run("SELECT name FROM pg_prepared_statements")
	if len(parsed) != 4 { // the look at the table, how it is planned and how the rest is, and what came again
		t.Fatalf("the server keeps %q", parsed)
	}
	run("DEALLOCATE ALL")
	for range 3 {
		if n := count(t, e); n != "10" {
			t.Errorf("after the server forgot: %s rows", n)
		}
	}
	other, err := openAs(t, parse(t, fmt.Sprintf(of, schema+".t", "text")), s.reader(t, schema))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range parsed {
		if _, err := other.Idle()[0].Exec(t.Context(), fmt.Sprintf("PREPARE %s AS SELECT 0, 'x'", name[0])).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if n := count(t, other); n != "10" {
			t.Errorf("where another has the name: %s rows", n)
		}
	}
}

// reader is the connection string of a role that can read table t.
func (s *server) reader(t *testing.T, schema string) string {
	_, url := s.role(t, schema, schema+".t")
	return url
}
