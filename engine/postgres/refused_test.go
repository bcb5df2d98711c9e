//go:build cgo && unix

package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// of is a catalog with one table of texts.
const of = "[domains.d]\nmeasure = \"pure\"\nepsilon = 1\n[tables.t]\nsource = \"%s\"\ndomain = \"d\"\nunit = \"u\"\ncolumns.u = { type = \"text\" }\ncolumns.v = { type = \"%s\" }\n"

var described = []engine.Table{{Name: "t", Columns: nil}}

// code is that of a diagnostic, and what it says.
func code(err error) (string, string) {
	var d *diagnostic.Diagnostic
	if errors.As(err, &d) {
		return d.Code, d.Message + ": " + d.Why
	}
	return "", fmt.Sprint(err)
}

// roles: a role that may do more than read what is declared is refused, by name of what it
// may do, unless the catalog accepts it.
func (s *server) roles(t *testing.T) {
	schema := s.schema(t)
	s.exec(t, "CREATE TABLE %[1]s.t (u text, v text); CREATE TABLE %[1]s.other (x int); CREATE SEQUENCE %[1]s.n; CREATE SCHEMA %[1]s_hidden; CREATE TABLE %[1]s_hidden.t (x int); "+
		"CREATE FUNCTION %[1]s.f() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'; REVOKE ALL ON FUNCTION %[1]s.f() FROM public", schema)
	source := schema + ".t"
	for _, c := range []struct{ grant, said string }{
		{"", ""},
		{"GRANT SELECT ON %[1]s_hidden.t TO %[2]s", ""}, // whose schema it may not use
		{"GRANT TEMPORARY ON DATABASE postgres TO %[2]s", ""},
		{"ALTER ROLE %[2]s SUPERUSER", "it is a superuser"},
		{"ALTER ROLE %[2]s CREATEROLE", "it may make roles"},
		{"ALTER ROLE %[2]s CREATEDB", "it may make databases"},
		{"ALTER ROLE %[2]s REPLICATION", "it may replicate"},
		{"GRANT pg_read_all_data TO %[2]s", "it is a member of pg_read_all_data"},
		{"GRANT pg_write_server_files TO %[2]s", "it is a member of pg_write_server_files"},
		{"GRANT test TO %[2]s", "it may become a superuser"},
		{"GRANT INSERT ON %[1]s.t TO %[2]s", "it may write to %[1]s.t"},
		{"GRANT UPDATE (v) ON %[1]s.t TO %[2]s", "it may write to %[1]s.t"},
		{"GRANT TRUNCATE ON %[1]s.other TO %[2]s", "it may write to %[1]s.other"},
		{"GRANT USAGE ON SEQUENCE %[1]s.n TO %[2]s", "it may write to %[1]s.n"},
		{"GRANT SELECT ON %[1]s.other TO %[2]s", "it may read %[1]s.other, which is not declared"},
		{"GRANT SELECT (x) ON %[1]s.other TO %[2]s", "it may read %[1]s.other, which is not declared"},
		{"CREATE ROLE %[2]s_more; GRANT SELECT ON %[1]s.other TO %[2]s_more; GRANT USAGE ON SCHEMA %[1]s TO %[2]s_more; GRANT %[2]s_more TO %[2]s; ALTER ROLE %[2]s NOINHERIT", "it may read %[1]s.other"},
		{"GRANT SELECT ON pg_catalog.pg_statistic TO %[2]s", "it may read pg_catalog.pg_statistic"},
		{"GRANT CREATE ON SCHEMA %[1]s TO %[2]s", "it may make tables in schema %[1]s"},
		{"GRANT CREATE ON DATABASE postgres TO %[2]s", "it may make schemas"},
		{"ALTER TABLE %[1]s.other OWNER TO %[2]s", "it may write to %[1]s.other"},
		{"GRANT EXECUTE ON FUNCTION %[1]s.f() TO %[2]s", "it may run %[1]s.f() with its owner's rights"},
	} {
		name, url := s.role(t, schema, source)
		if c.grant != "" {
			s.exec(t, c.grant, schema, name)
		}
		want := c.said
		if strings.Contains(want, "%") {
			want = fmt.Sprintf(want, schema)
		}
		_, err := openAs(t, parse(t, fmt.Sprintf(of, source, "text")), url)
		got, said := code(err)
		switch {
		case want == "" && err != nil:
			t.Errorf("%q: %s %s", c.grant, got, said)
		case want != "" && (got != "D107" || !strings.Contains(said, want)):
			t.Errorf("%q: %s %s, want D107 %s", c.grant, got, said, want)
		}
		accepted := parse(t, fmt.Sprintf(of, source, "text"))
		accepted.Engine.AcceptRole = true
		if _, err := openAs(t, accepted, url); err != nil {
			t.Errorf("%q, accepted: %v", c.grant, err)
		}
		s.exec(t, "ALTER TABLE %s.other OWNER TO test; ALTER ROLE %s NOLOGIN NOSUPERUSER", schema, name)
	}
}

// sources: what a source must not be is refused before anything is asked, and in the way of
// the statements over it alone.
func (s *server) sources(t *testing.T) {
	schema := s.schema(t)
	s.exec(t, `SET search_path = %[1]s;
CREATE TABLE t (u text, v text, a int[], j jsonb, n numeric, "V" text);
CREATE VIEW seen AS SELECT u, v FROM t; CREATE MATERIALIZED VIEW kept AS SELECT u, v FROM t; CREATE SEQUENCE counter;
CREATE EXTENSION IF NOT EXISTS file_fdw SCHEMA public; DROP SERVER IF EXISTS files; CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE far (u text, v text) SERVER files OPTIONS (filename '/nowhere');
CREATE TABLE secured (u text, v text); ALTER TABLE secured ENABLE ROW LEVEL SECURITY; CREATE POLICY all_rows ON secured USING (true);
CREATE TABLE denied (u text, v text);
CREATE TABLE parts (u text, v text) PARTITION BY LIST (v); CREATE TABLE part PARTITION OF parts DEFAULT;
CREATE TABLE mixed (u text, v text) PARTITION BY LIST (v); CREATE FOREIGN TABLE mixed_far PARTITION OF mixed DEFAULT SERVER files OPTIONS (filename '/nowhere');
CREATE TABLE stored (u text, v text GENERATED ALWAYS AS (upper(u)) STORED);
SET search_path = public`, schema)
	name, _ := s.role(t, schema)
	s.exec(t, "GRANT SELECT ON ALL TABLES IN SCHEMA %[1]s TO %[2]s; REVOKE ALL ON %[1]s.denied FROM %[2]s", schema, name)
	url := strings.Replace(s.url, "user=test", "user="+name, 1)
	for _, c := range []struct{ source, typ, said string }{
		{"t", "text", ""},
		{"stored", "text", ""},
		{"parts", "text", ""},
		{"nothing", "text", "the database has no such table"},
		{"T", "text", "the database has no such table"},
		{"counter", "text", "the database has no such table"},
		{"seen", "text", "it is a view"},
		{"kept", "text", "it is a view"},
		{"far", "text", "it is a foreign table"},
		{"mixed", "text", "one of its parts is a foreign table"},
		{"secured", "text", "row security decides"},
		{"denied", "text", "the role may not read it"},
		{"t", "date", ""},
		{"t", `integer", from = "n`, ""},
		{"t", `integer", from = "a`, `its column "a" is of type integer[], which cannot be read as integer`},
		{"t", `text", from = "j`, `its column "j" is of type jsonb`},
		{"t", `text", from = "none`, `it has no column "none"`},
		{"t", `text", from = "U`, `it has no column "U"`},
		{"t", `text", from = "ctid`, `it has no column "ctid"`},
		{"t", `boolean", from = "n`, `its column "n" is of type numeric, which cannot be read as boolean`},
	} {
		catalog := parse(t, fmt.Sprintf(of, schema+"."+c.source, c.typ))
		catalog.Engine.AcceptRole = true
		e, err := openAs(t, catalog, url)
		if err != nil {
			t.Errorf("%s %s: %v", c.source, c.typ, err)
			continue
		}
		err = e.Prepare(t.Context(), "SELECT 1", described)
		got, said := code(err)
		switch {
		case c.said == "" && err != nil:
			t.Errorf("%s %s: %s %s", c.source, c.typ, got, said)
		case c.said != "" && (got != "D101" || !strings.Contains(said, c.said)):
			t.Errorf("%s %s: %s %s, want D101 %s", c.source, c.typ, got, said, c.said)
		}
		x, err := e.Exact(t.Context(), engine.Query{SQL: "SELECT CAST(count(*) AS NUMERIC) FROM t", Tables: []string{"t"}, Values: 1})
		if (err == nil) != (c.said == "") || (x == nil) != (err != nil) {
			t.Errorf("%s %s: it answers %v, %v", c.source, c.typ, x, err)
		}
	}
	// Two sources that share rows are one source, of which the catalog does not know.
	for _, c := range []struct{ a, b, said string }{
		{"parts", "part", "share rows"},
		{"part", "parts", "share rows"},
		{"parts", "t", ""},
		{"t", "t", ""},
	} {
		text := fmt.Sprintf(of, schema+"."+c.a, "text") + strings.Replace(fmt.Sprintf(of, schema+"."+c.b, "text")[strings.Index(of, "[tables"):], "tables.t", "tables.t2", 1)
		catalog := parse(t, text)
		catalog.Engine.AcceptRole = true
		_, err := openAs(t, catalog, url)
		if got, said := code(err); (c.said == "") != (err == nil) || err != nil && (got != "D087" || !strings.Contains(said, c.said)) {
			t.Errorf("%s and %s: %s %s, want %q", c.a, c.b, got, said, c.said)
		}
	}
}

// servers: what cannot be connected to is said, without the words of the server and the URL.
func (s *server) servers(t *testing.T) {
	schema := s.schema(t)
	s.exec(t, "CREATE TABLE %s.t (u text, v text)", schema)
	s.exec(t, "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
	_, url := s.role(t, schema, schema+".t")
	for _, c := range []struct{ url, source, said string }{
		{url, schema + ".t", ""},
		{url, "postgres." + schema + ".t", ""},
		{url, "other." + schema + ".t", `it is "postgres", and a source names the database "other"`},
		{"host=/nowhere password=canary5417", schema + ".t", "there is no connection to the server"},
		{"postgres://canary5417:canary5417@[", schema + ".t", "not a connection URL"},
		{strings.Replace(url, "dbname=postgres", "dbname=canary5417", 1), schema + ".t", "the server has no such database"},
		{strings.Replace(url, "dbname=postgres", "dbname=latin", 1), schema + ".t", "its encoding is LATIN1"},
		{s.url + " user=canary5417", schema + ".t", "the server refuses the role"},
	} {
		_, err := openAs(t, parse(t, fmt.Sprintf(of, c.source, "text")), c.url)
		got, said := code(err)
		if (c.said == "") != (err == nil) || err != nil && (got != "D101" || !strings.Contains(said, c.said)) {
			t.Errorf("%s: %s %s, want %q", c.url, got, said, c.said)
		}
		if strings.Contains(fmt.Sprintf("%+v", err), "canary") {
			t.Errorf("%s: the error says %+v", c.url, err)
		}
	}
}
