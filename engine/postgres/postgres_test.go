//go:build cgo && unix

package postgres_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/engine/enginetest"
	"github.com/discreet-dp/discreet/engine/postgres"
	"github.com/discreet-dp/discreet/internal/postgrestest"
)

// A server is one PostgreSQL server, with a superuser's connection.
type server struct {
	url   string
	admin *pgconn.PgConn
	made  atomic.Int64
}

func start(t *testing.T) *server {
	s := &server{url: postgrestest.Start(t, "max_connections=40")}
	var err error
	if s.admin, err = pgconn.Connect(t.Context(), s.url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.admin.Close(context.Background()) })
	s.exec(t, "REVOKE CREATE ON SCHEMA public FROM PUBLIC") // which PostgreSQL 14 grants
	return s
}

// exec runs statements as the superuser.
func (s *server) exec(t testing.TB, format string, args ...any) {
	t.Helper()
	text := fmt.Sprintf(format, args...)
	if _, err := s.admin.Exec(context.Background(), text).ReadAll(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// role makes a role that can read tables, and returns its connection string.
func (s *server) role(t testing.TB, schema string, tables ...string) (name, url string) {
	name = fmt.Sprintf("reader%d", s.made.Add(1))
	s.exec(t, "CREATE ROLE %s LOGIN; GRANT USAGE ON SCHEMA %s TO %s", name, schema, name)
	for _, table := range tables {
		s.exec(t, "GRANT SELECT ON %s TO %s", table, name)
	}
	return name, strings.Replace(s.url, "user=test", "user="+name, 1)
}

// schema makes one that is used by nobody else.
func (s *server) schema(t testing.TB) string {
	name := fmt.Sprintf("s%d", s.made.Add(1))
	s.exec(t, "CREATE SCHEMA %s", name)
	return name
}

const engineHeader = "[engine]\nkind = \"postgres\"\nurl = { env = \"DISCREET_ENGINE\" }\n"

// parse reads a catalog of tables of the server.
func parse(t testing.TB, text string) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Parse("discreet.toml", engineHeader+text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// openAs opens the engine as a role, with an empty DuckDB beside it.
func openAs(t testing.TB, c *catalog.Catalog, url string) (*postgres.Engine, error) {
	t.Helper()
	none, err := catalog.Parse("none.toml", "")
	if err != nil {
		t.Fatal(err)
	}
	post, err := duckdb.Open(t.Context(), none, duckdb.Options{Threads: 1, Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	e, err := postgres.Open(t.Context(), c, postgres.Options{URL: url, Connections: 8, Post: post})
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

// stored puts the records of a catalog's CSV files into tables, and returns a catalog of these
// and the role that may read them.
func (s *server) stored(t testing.TB, c *catalog.Catalog) (*catalog.Catalog, string) {
	t.Helper()
	schema, text := s.schema(t), c.Text
	var tables []string
	for _, table := range c.Tables {
		var columns []string
		for _, column := range table.Columns {
			columns = append(columns, fmt.Sprintf("%q %s", column.Name, strings.ReplaceAll(column.Type.String(), "double", "double precision")))
		}
		name := schema + "." + table.Name
		s.exec(t, "CREATE TABLE %s (%s)", name, strings.Join(columns, ", "))
		records, err := os.Open(table.Source.Path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.admin.CopyFrom(t.Context(), records, "COPY "+name+" FROM STDIN WITH (FORMAT csv, HEADER)")
		records.Close()
		if err != nil {
			t.Fatal(err)
		}
		tables = append(tables, name)
		text = strings.ReplaceAll(text, fmt.Sprintf("source = %q", filepath.Base(table.Source.Path)), fmt.Sprintf("source = %q", name))
	}
	_, url := s.role(t, schema, tables...)
	return parse(t, text), url
}

func (s *server) open(t testing.TB, c *catalog.Catalog, _ int) engine.Engine {
	t.Helper()
	c, url := s.stored(t, c)
	e, err := openAs(t, c, url)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestPostgres(t *testing.T) {
	s := start(t)
	t.Run("conformance", func(t *testing.T) { enginetest.RunTables(t, s.open) })
	t.Run("reading", s.reading)
	t.Run("skipped", s.skipped)
	t.Run("roles", s.roles)
	t.Run("sources", s.sources)
	t.Run("servers", s.servers)
	t.Run("snapshots", s.snapshots)
	t.Run("layout", s.layout)
	t.Run("parsed", s.parsed)
	t.Run("changes", s.changes)
	t.Run("lost", s.lost)
	t.Run("planned", s.planned)
	t.Run("looked", s.looked)
	t.Run("forgotten", s.forgotten)
	t.Run("feeding", s.feeding)
	t.Run("feeding one state", s.fedOneState)
	t.Run("feeding large units", s.fedLarge)
	t.Run("feeding what is cut there", s.cutThere)
	t.Run("feeding failures", s.fedFailures)
}
