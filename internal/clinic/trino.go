package clinic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// marker is the table that says that a schema is the demo's: Trino has no comments of schemas.
const marker = "made_by_discreet_demo"

// ErrNoLake says that a cluster has no place for the tables.
var ErrNoLake = errors.New("the cluster has no catalog of the Iceberg connector that the user is shown")

// lines are how many rows go with one statement: its text, of which Trino reads a million
// characters, is the way for them.
const lines = 10_000

// WriteTrino is WritePostgres for a Trino cluster, with what runs a statement there: the tables
// are in the first catalog of the Iceberg connector, by its name, which is returned with the
// schema's.
func WriteTrino(ctx context.Context, dir, variable string, run func(context.Context, string) ([][]string, error)) (catalog, schema string, err error) {
	found, err := run(ctx, "SELECT catalog_name FROM system.metadata.catalogs WHERE connector_name = 'iceberg' ORDER BY catalog_name LIMIT 1")
	if err != nil {
		return "", "", err
	}
	if len(found) == 0 {
		return "", "", ErrNoLake
	}
	schema = found[0][0] + "." + Schema
	if err := loadTrino(ctx, found[0][0], run); err != nil {
		return "", "", err
	}
	catalog, err = writeCatalog(dir, "trino", variable, schema)
	return catalog, schema, err
}

// loadTrino fills the tables, of which Trino has no transaction: the marker comes first, so that what a
// demo has left half done is the demo's, too.
func loadTrino(ctx context.Context, lake string, run func(context.Context, string) ([][]string, error)) error {
	quoted := `"` + strings.ReplaceAll(lake, `"`, `""`) + `"`
	schema := quoted + "." + Schema
	there, err := run(ctx, "SELECT schema_name FROM "+quoted+".information_schema.schemata WHERE schema_name = '"+Schema+"'")
	if err != nil {
		return err
	}
	if len(there) > 0 {
		tables, err := run(ctx, "SELECT table_name FROM "+quoted+".information_schema.tables WHERE table_schema = '"+Schema+"'")
		if err != nil {
			return err
		}
		if len(tables) > 0 && !slices.ContainsFunc(tables, func(row []string) bool { return row[0] == marker }) {
			return ErrSchema
		}
		for _, name := range []string{"visits", "departments", marker} {
			if _, err := run(ctx, "DROP TABLE IF EXISTS "+schema+"."+name); err != nil {
				return err
			}
		}
	} else if _, err := run(ctx, "CREATE SCHEMA "+schema); err != nil {
		return err
	}
	if _, err := run(ctx, "CREATE TABLE "+schema+"."+marker+" (made boolean)"); err != nil {
		return err
	}
	for _, t := range Tables() {
		if err := fill(ctx, schema, t, run); err != nil {
			return err
		}
	}
	return nil
}

// fill makes one table. No field of its rows has a comma, a semicolon or a double quote in it.
func fill(ctx context.Context, schema string, t Table, run func(context.Context, string) ([][]string, error)) error {
	columns, fields := make([]string, len(t.Columns)), make([]string, len(t.Columns))
	for i, c := range t.Columns {
		typ := c[1]
		switch typ {
		case "text":
			typ = "varchar"
		case "double precision":
			typ = "double"
		case "timestamp":
			typ = "timestamp(6)"
		}
		columns[i], fields[i] = c[0]+" "+typ, fmt.Sprintf("CAST(NULLIF(f[%d], '') AS %s)", i+1, typ)
	}
	if _, err := run(ctx, "CREATE TABLE "+schema+"."+t.Name+" ("+strings.Join(columns, ", ")+")"); err != nil {
		return err
	}
	var all bytes.Buffer
	if err := t.Rows(&all); err != nil {
		return err
	}
	for rows := range slices.Chunk(strings.Split(strings.TrimSpace(all.String()), "\n"), lines) {
		text := strings.Join(rows, ";")
		if _, err := run(ctx, "INSERT INTO "+schema+"."+t.Name+" SELECT "+strings.Join(fields, ", ")+" FROM (SELECT split(line, ',') AS f FROM UNNEST(split('"+strings.ReplaceAll(text, "'", "''")+"', ';')) AS t(line)) AS r"); err != nil {
			return err
		}
	}
	return nil
}
