//go:build cgo && unix

package release_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/postgres"
	"github.com/discreet-dp/discreet/internal/postgrestest"
	"github.com/discreet-dp/discreet/internal/render"
)

// TestEnginesAgree holds PostgreSQL against DuckDB and against the certificate: see rival.
func TestEnginesAgree(t *testing.T) {
	t.Parallel()
	url := postgrestest.Start(t, "max_connections=20")
	admin, err := pgconn.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { admin.Close(context.Background()) })
	s := &rival{machines: newMachines(t), name: "PostgreSQL", dialect: render.Postgres, canonical: inPostgres}
	s.open = func(ctx context.Context, x *example, schema string) (engine.Engine, error) {
		var b strings.Builder
		fmt.Fprintf(&b, "DROP SCHEMA IF EXISTS %[1]s CASCADE; CREATE SCHEMA %[1]s;\n", schema)
		for _, t := range x.tables {
			var columns []string
			for _, c := range t.columns {
				columns = append(columns, fmt.Sprintf("%q %s", c.name, strings.ReplaceAll(c.typ, "double", "double precision")))
			}
			fmt.Fprintf(&b, "CREATE TABLE %s.%q (%s);\n", schema, t.name, strings.Join(columns, ", "))
			rows, err := s.texts(ctx, t.asTexts(schema), len(t.columns))
			if err != nil {
				return nil, err
			}
			for _, row := range rows {
				values := strings.ReplaceAll(strings.Join(row, ", "), " (BC)'", " BC'")
				fmt.Fprintf(&b, "INSERT INTO %s.%q VALUES (%s);\n", schema, t.name, values)
			}
		}
		if _, err := admin.Exec(ctx, b.String()).ReadAll(); err != nil {
			return nil, fmt.Errorf("copy to postgres: %w", err)
		}
		text := "[engine]\nkind = \"postgres\"\nurl = { env = \"DISCREET_ENGINE\" }\naccept_role = true\n" + parquetSource.ReplaceAllString(x.text, `source = "`+schema+`.$1"`)
		c, err := catalog.Parse("catalog.toml", text)
		if err != nil {
			return nil, err
		}
		return postgres.Open(ctx, c, postgres.Options{URL: url, Connections: 1})
	}
	if *agreeingFrom == 0 { // else it is a later part of a run
		s.special(t)
		s.narrows(t, 200)
	}
	s.agree(t, 20)
	if *agreeing > 0 {
		return
	}
	instead := func(of, by string) func(string) string {
		return func(sql string) string { return regexp.MustCompile(of).ReplaceAllString(sql, by) }
	}
	s.finds(t, "counts of groups that are not bounded", 54, instead(`\)\[\d+\] AS most`, ")[99] AS most"))
	s.finds(t, "counts of rows that are not bounded", 12, instead(`unnest\(x\[\d+:\]\)`, "unnest(x[99:])"))
}

// asTexts selects a table's rows from a schema, as texts.
func (t *table) asTexts(schema string) string {
	var texts []string
	for _, c := range t.columns {
		texts = append(texts, "CAST("+c.name+" AS VARCHAR)")
	}
	return fmt.Sprintf("SELECT %s FROM %s.%s", strings.Join(texts, ", "), schema, t.name)
}

var parquetSource = regexp.MustCompile(`source = "(\w+)\.parquet"`)

// inPostgres prints the canonical value of a field that both engines can hold: PostgreSQL has fewer
// days than DuckDB, and no NUL in texts.
func inPostgres(typ, value string) string {
	value = canon(typ, value)
	switch typ {
	case "date", "timestamp":
		return fmt.Sprintf("CASE WHEN %[1]s BETWEEN '4713-12-01 (BC)'::%[2]s AND '%[3]s'::%[2]s THEN %[1]s END", value, typ, map[string]string{"date": "5874897-12-31", "timestamp": "294247-01-01"}[typ])
	case "text":
		return fmt.Sprintf("replace(%s, chr(0), '0')", value)
	}
	return value
}
