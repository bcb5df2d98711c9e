//go:build cgo && unix

package trino_test

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/engine/enginetest"
	"github.com/discreet-dp/discreet/engine/trino"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/trinotest"
	"github.com/discreet-dp/discreet/sqltype"
)

const people = "[domains.people]\nmeasure = \"pure\"\nneighbours = \"add-remove\"\nepsilon = 1.0\n"

const engineHeader = "[engine]\nkind = \"trino\"\nurl = { env = \"DISCREET_ENGINE\" }\n"

// A cluster is one Trino with tables in Iceberg.
type cluster struct {
	*trinotest.Cluster
	catalog string // in which stored makes its tables
}

func parse(t testing.TB, text string) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Parse("discreet.toml", engineHeader+text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// openAs opens the engine as a user, with an empty DuckDB beside it.
func (c *cluster) openAs(t testing.TB, of *catalog.Catalog, user string) (*trino.Engine, error) {
	t.Helper()
	none, err := catalog.Parse("none.toml", "")
	if err != nil {
		t.Fatal(err)
	}
	post, err := duckdb.Open(t.Context(), none, duckdb.Options{Threads: 1, Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	e, err := trino.Open(t.Context(), of, trino.Options{URL: c.As(user), Post: post})
	if err != nil {
		post.Close()
		return nil, err
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e, nil
}

func native(t sqltype.Type) string {
	switch t.Kind {
	case sqltype.Text:
		return "VARCHAR"
	case sqltype.TimeKind, sqltype.TimestampKind:
		return strings.ToUpper(t.String()) + "(6)"
	}
	return t.String()
}

// stored puts the records of a catalog's CSV files into Iceberg tables, and returns a catalog of
// these.
func (c *cluster) stored(t testing.TB, of *catalog.Catalog) *catalog.Catalog {
	t.Helper()
	schema, text := c.SchemaIn(t, c.catalog), of.Text
	for _, table := range of.Tables {
		records, err := os.ReadFile(table.Source.Path)
		if err != nil {
			t.Fatal(err)
		}
		const empty = "¤" // of texts that stand in quotes: those that do not are NULL
		rows, err := csv.NewReader(strings.NewReader(strings.ReplaceAll(string(records), `""`, empty))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var columns, fields, lines []string
		for i, column := range table.Columns {
			columns = append(columns, fmt.Sprintf("%q %s", column.Name, native(column.Type)))
			fields = append(fields, fmt.Sprintf("CAST(replace(nullif(f[%d], ''), '%s') AS %s)", i+1, empty, native(column.Type)))
		}
		for _, row := range rows[1:] {
			lines = append(lines, strings.ReplaceAll(strings.Join(row, "|"), "'", "''"))
		}
		name := schema + "." + strings.ToLower(table.Name)
		c.Exec(t, "CREATE TABLE "+name+" ("+strings.Join(columns, ", ")+")")
		if len(lines) > 0 {
			c.Exec(t, "INSERT INTO "+name+" SELECT "+strings.Join(fields, ", ")+" FROM (SELECT split(line, '|') AS f FROM UNNEST(split('"+strings.Join(lines, "~")+"', '~')) AS l(line))")
		}
		text = strings.ReplaceAll(text, fmt.Sprintf("source = %q", filepath.Base(table.Source.Path)), fmt.Sprintf("source = %q", name))
	}
	return parse(t, strings.TrimPrefix(text, engineHeader))
}

func accepting(c *catalog.Catalog) *catalog.Catalog {
	c.Engine.AcceptRole = true
	return c
}

func (c *cluster) open(t testing.TB, of *catalog.Catalog, _ int) engine.Engine {
	t.Helper()
	e, err := c.openAs(t, accepting(c.stored(t, of)), "owner")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestTrino(t *testing.T) {
	c := &cluster{trinotest.Start(t), "lake"}
	t.Run("conformance", func(t *testing.T) { enginetest.RunTables(t, c.open) })
	t.Run("snapshots", c.snapshots)
	t.Run("users", c.users)
	t.Run("sources", c.sources)
	t.Run("feeding", c.feeding)
	t.Run("feeding one state", c.fedOneState)
	t.Run("feeding what moves", c.fedMoving)
	t.Run("feeding what is cut there", c.fedLarge)
	t.Run("feeding that fails", c.fedFailures)
	t.Run("layout", func(t *testing.T) { layout(t, c) })
}

// snapshots: the releases of a statement see one state of a table, and the next one what was
// written meanwhile.
func (c *cluster) snapshots(t *testing.T) {
	schema := c.Schema(t)
	c.Exec(t, "CREATE TABLE "+schema+".visits (u BIGINT)")
	c.Exec(t, "INSERT INTO "+schema+".visits VALUES 1, 2, 3")
	e, err := c.openAs(t, accepting(parse(t, people+"[tables.visits]\nsource = \""+schema+".visits\"\nunit = \"u\"\ndomain = \"people\"\n[tables.visits.columns]\nu = { type = \"bigint\" }\n")), "owner")
	if err != nil {
		t.Fatal(err)
	}
	q := engine.Query{SQL: "SELECT CAST(count(*) AS DECIMAL(38,0)) FROM \"visits\"", Tables: []string{"visits"}, Values: 1}
	count := func(of interface {
		Exact(context.Context, engine.Query) (*engine.Exact, error)
	}) string {
		x, err := of.Exact(t.Context(), q)
		if err != nil {
			t.Fatal(cause(err))
		}
		return sqltype.Format(x.RevealExact()[0][0])
	}
	s, err := e.Snapshot(t.Context(), []string{"visits"})
	if err != nil {
		t.Fatal(cause(err))
	}
	defer s.Close()
	before := count(s)
	c.Exec(t, "INSERT INTO "+schema+".visits VALUES 4")
	c.Exec(t, "ALTER TABLE "+schema+".visits ADD COLUMN more BIGINT")
	if after := count(s); before != "3" || after != "3" {
		t.Errorf("one snapshot counts %s, and then %s", before, after)
	}
	if now := count(e); now != "4" {
		t.Errorf("a new one counts %s", now)
	}
}

func cause(err error) error {
	var f *engine.Failure
	if errors.As(err, &f) {
		return f.Cause()
	}
	return err
}

// users: one that can write, or is shown what is not declared, is refused, and the one that can
// read the declared tables alone is taken.
func (c *cluster) users(t *testing.T) {
	schema := c.Schema(t)
	c.Exec(t, "CREATE TABLE "+schema+".shown AS SELECT BIGINT '1' AS u")
	c.Exec(t, "CREATE TABLE "+schema+".hidden AS SELECT BIGINT '1' AS u")
	t.Cleanup(func() { c.Exec(t, "DROP TABLE "+schema+".shown") })
	declare := func(name string) string {
		return "[tables." + name + "]\nsource = \"" + schema + "." + name + "\"\nunit = \"u\"\ndomain = \"people\"\n[tables." + name + ".columns]\nu = { type = \"bigint\" }\n"
	}
	for _, x := range []struct{ user, want string }{
		{"owner", "may write to"}, {"writer", "may write to"}, {"deleter", "may delete from"}, {"seer", "not declared"}, {"reader", ""},
	} {
		_, err := c.openAs(t, parse(t, people+declare("shown")), x.user)
		if x.want == "" && err == nil {
			continue
		}
		var d *diagnostic.Diagnostic
		if x.want == "" || !errors.As(err, &d) || d.Code != "D107" || !strings.Contains(d.Why, x.want) {
			t.Errorf("%s: %v: %+v", x.user, err, d)
		}
	}
	e, err := c.openAs(t, parse(t, people+declare("shown")+declare("hidden")), "reader")
	if err != nil {
		t.Fatal(err)
	}
	var d *diagnostic.Diagnostic
	if _, err := e.Snapshot(t.Context(), []string{"hidden"}); !errors.As(cause(err), &d) && !errors.As(err, &d) {
		t.Errorf("a table that the user may not see: %v", err)
	}
}

// sources: what is not one table of the cluster is refused before anything is charged, with its
// reason, and so is a URL that would show a password or an answer to others.
func (c *cluster) sources(t *testing.T) {
	schema := c.Schema(t)
	c.Exec(t, "CREATE TABLE "+schema+".visits AS SELECT BIGINT '1' AS u, ARRAY[1] AS list")
	c.Exec(t, "CREATE VIEW "+schema+".looks AS SELECT u FROM "+schema+".visits")
	for _, x := range []struct{ source, column, want string }{
		{"visits", "u", "three parts"},
		{schema + ".nothing", "u", "no such table"},
		{schema + ".looks", "u", "it is a view"},
		{schema + ".Visits", "u", "small letters"},
		{schema + ".visits$refs", "u", "dollar"},
		{schema + ".visits", "v", `no column \"v\"`},
		{schema + ".visits", "list", "cannot be read as"},
	} {
		of := accepting(parse(t, "[tables.t]\nsource = \""+x.source+"\"\npublic = true\n[tables.t.columns]\n"+x.column+" = { type = \"bigint\" }\n"))
		e, err := c.openAs(t, of, "owner")
		if err != nil {
			t.Errorf("%s: %v", x.source, err)
			continue
		}
		err = e.Prepare(t.Context(), "SELECT 1 AS one FROM t", []engine.Table{{Name: "t", Columns: []engine.Column{{Name: x.column, Type: sqltype.Of(sqltype.Bigint)}}}})
		var d *diagnostic.Diagnostic
		if !errors.As(err, &d) || d.Code != "D101" || !strings.Contains(d.Why, strings.ReplaceAll(x.want, `\"`, `"`)) {
			t.Errorf("%s: %v", x.source, err)
		}
	}
}

// What a URL must be is said without a look at any server.
func TestURLs(t *testing.T) {
	for _, x := range []struct{ url, want string }{
		{"", "not a URL"}, {"trino:8080", "not a URL"}, {"ftp://a@b", "not a URL"}, {"https://trino.example", "no user"},
		{"https://a@trino.example/path", "names a path"}, {"http://a@trino.example", "nobody is authenticated"}, {"http://a:b@127.0.0.1:1", "a password does not go"},
		{"http://a@127.0.0.1:1", "no answer"}, {"http://a@127.0.0.1:1?sslrootcert=a.pem", "means nothing over plain HTTP"}, {"https://a:b@trino.example?sslrootcert=", "parameters that are not known"},
		{"https://a:b@trino.example?sslrootcert=a&sslrootcert=b", "parameters that are not known"}, {"https://a:b@trino.example?a=b", "parameters that are not known"}, {"https://a:b@trino.example?%zz", "parameters that are not known"}, {"https://a:b@trino.example?sslrootcert=/nowhere", "no file with certificates"},
	} {
		_, err := trino.Open(t.Context(), parse(t, ""), trino.Options{URL: x.url})
		var d *diagnostic.Diagnostic
		if !errors.As(err, &d) || !strings.Contains(d.Why, x.want) {
			t.Errorf("%q: %v", x.url, err)
		}
	}
}
