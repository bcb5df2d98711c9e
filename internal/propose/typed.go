package propose

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/sqltype"
)

// readParquet takes names and types from the file's schema: declared facts.
func readParquet(ctx context.Context, o engine.Owner, path string) ([]column, error) {
	// DuckDB would read these characters as a pattern of several files.
	if strings.ContainsAny(path, "*?[") {
		return nil, refusal("%s cannot be a source", path).Because("its name is a pattern").Try("rename the file")
	}
	_, rows, err := o.Rows(ctx, "DESCRIBE SELECT * FROM read_parquet("+literal(path)+")")
	if err != nil {
		return nil, refusal("%s cannot be read as Parquet", path)
	}
	var all []column
	for _, row := range rows {
		all = append(all, declared(fmt.Sprint(row[0]), fmt.Sprint(row[1])))
	}
	return all, nil
}

// attached is the name under which a DuckDB file is looked at.
const attached = "discreet_init"

// readDuckDB proposes one table of a database, or all of them.
func readDuckDB(ctx context.Context, o engine.Owner, path, inside string) (all []table, err error) {
	if _, _, err := o.Rows(ctx, "ATTACH "+literal(path)+" AS "+attached+" (READ_ONLY)"); err != nil {
		return nil, refusal("%s cannot be read as a DuckDB database", path)
	}
	defer func() {
		if _, _, detach := o.Rows(ctx, "DETACH "+attached); err == nil && detach != nil {
			err = refusal("%s cannot be closed", path)
		}
	}()
	_, rows, err := o.Rows(ctx, "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE database_name = '"+
		attached+"' AND schema_name = 'main' AND NOT internal"+
		" AND table_name NOT IN (SELECT view_name FROM duckdb_views() WHERE database_name = '"+attached+"' AND schema_name = 'main') ORDER BY table_oid, column_index")
	if err != nil {
		return nil, refusal("%s cannot be read as a DuckDB database", path)
	}
	for _, row := range rows {
		name := fmt.Sprint(row[0])
		if inside != "" && name != inside {
			continue
		}
		source := path + "#" + name
		if len(all) == 0 || all[len(all)-1].source != source {
			all = append(all, table{name: baseName(name + ".table"), source: source})
		}
		t := &all[len(all)-1]
		t.columns = append(t.columns, declared(fmt.Sprint(row[1]), fmt.Sprint(row[2])))
	}
	if len(all) == 0 && inside != "" {
		return nil, refusal("%s has no table %q", filepath.Base(path), inside)
	}
	if len(all) == 0 {
		return nil, refusal("%s has no tables", path)
	}
	return all, nil
}

// widened maps DuckDB's types to the catalog's where the names differ.
var widened = map[string]sqltype.Type{
	"TINYINT": sqltype.Of(sqltype.Smallint), "UTINYINT": sqltype.Of(sqltype.Smallint),
	"USMALLINT": sqltype.Of(sqltype.Integer), "UINTEGER": sqltype.Of(sqltype.Bigint),
	"UBIGINT": sqltype.DecimalOf(20, 0), "HUGEINT": sqltype.DecimalOf(38, 0),
	"FLOAT": sqltype.Of(sqltype.Real), "UUID": sqltype.Of(sqltype.Text), "JSON": sqltype.Of(sqltype.Text),
	"TIMESTAMP_S": sqltype.Of(sqltype.TimestampKind), "TIMESTAMP_MS": sqltype.Of(sqltype.TimestampKind),
	"TIMESTAMP_NS": sqltype.Of(sqltype.TimestampKind),
}

// declared is the column of a file that declares its types.
func declared(name, duckdbType string) column {
	c := column{name: name}
	switch t, known := widened[duckdbType]; {
	case known:
		c.typ = t
	case strings.HasPrefix(duckdbType, "ENUM("):
		c.typ = sqltype.Of(sqltype.Text) // without its values: they are data
	case duckdbType == "TIMESTAMP WITH TIME ZONE":
		c.typ, c.guessed, c.note = sqltype.Of(sqltype.TimestampKind), true, "the file has instants; this is their time in UTC"
	default:
		var err error
		if c.typ, err = sqltype.Parse(duckdbType); err != nil {
			c.typ, c.note = sqltype.Type{}, "no SQL type of a catalog holds what the file has"
		}
	}
	return c
}

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
