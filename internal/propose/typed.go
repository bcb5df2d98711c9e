package propose

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/datafile"
	"github.com/discreet-dp/discreet/sqltype"
)

// readParquet takes names and types from the file's schema: declared facts.
func readParquet(ctx context.Context, o engine.Owner, path string) ([]column, error) {
	if datafile.IsPattern(path) {
		return nil, refusal("%s cannot be a source", path).Because("its name is a pattern").Try("rename the file")
	}
	from := "read_parquet([" + literal(path) + "], hive_partitioning = false)" // the names of its folders mean nothing
	_, rows, err := o.Rows(ctx, "DESCRIBE SELECT * FROM "+from)
	if err != nil {
		return nil, refusal("%s cannot be read as Parquet", path)
	}
	t := table{source: path}
	for _, row := range rows {
		t.columns = append(t.columns, declared(fmt.Sprint(row[0]), fmt.Sprint(row[1])))
	}
	return t.columns, repetition(ctx, o, &t, from)
}

// attached is the name under which a DuckDB file is looked at.
const attached = "discreet_init"

// readDuckDB proposes one table of a database, or all of them.
func readDuckDB(ctx context.Context, o engine.Owner, path, inside string) (all []table, err error) {
	if _, _, err := o.Rows(ctx, "ATTACH "+literal(path)+" AS "+attached+" (READ_ONLY)"); err != nil {
		d := refusal("%s cannot be read as a DuckDB database", path)
		var u *engine.Unopened
		if errors.As(err, &u) {
			d.Because("%s", u.Why).Try("%s", u.Hint)
		}
		return nil, d
	}
	defer func() {
		if _, _, detach := o.Rows(ctx, "DETACH "+attached); err == nil && detach != nil {
			err = refusal("%s cannot be closed", path)
		}
	}()
	// A view is left out: its rows can be those of any table.
	_, rows, err := o.Rows(ctx, "SELECT schema_name, table_name, column_name, data_type FROM duckdb_columns() WHERE database_name = '"+
		attached+"' AND NOT internal AND (schema_name, table_name) NOT IN (SELECT (schema_name, view_name) FROM duckdb_views() WHERE database_name = '"+attached+
		"') ORDER BY schema_name <> 'main', table_oid, column_index")
	if err != nil {
		return nil, refusal("%s cannot be read as a DuckDB database", path)
	}
	for _, row := range rows {
		schema, name := fmt.Sprint(row[0]), fmt.Sprint(row[1])
		inFile := name
		if schema != "main" || strings.Contains(name, ".") {
			inFile = schema + "." + name
		}
		if inside != "" && inside != name && inside != inFile || strings.Contains(schema, ".") {
			continue
		}
		source := path + "#" + inFile
		if len(all) == 0 || all[len(all)-1].source != source {
			all = append(all, table{name: baseName(name + ".table"), source: source, inside: inFile})
		}
		t := &all[len(all)-1]
		t.columns = append(t.columns, declared(fmt.Sprint(row[2]), fmt.Sprint(row[3])))
	}
	if len(all) == 0 && inside != "" {
		return nil, refusal("%s has no table %q", filepath.Base(path), inside).Because("a view is no source: its rows can be those of any table")
	}
	if len(all) == 0 {
		return nil, refusal("%s has no tables", path)
	}
	for i := range all {
		schema, name, _ := strings.Cut(all[i].inside, ".")
		if name == "" {
			schema, name = "main", all[i].inside
		}
		if err := repetition(ctx, o, &all[i], attached+"."+identifier(schema)+"."+identifier(name)); err != nil {
			return nil, err
		}
	}
	return all, foreignKeys(ctx, o, all)
}

func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// repetition notes which columns that look like keys have each value once, in the
// first rows, and which have two values at most. It is the one thing that a proposal takes
// from the data: the first is the key of the row, and so is no person's who has several; the
// second, a yes or no, is no key.
func repetition(ctx context.Context, o engine.Owner, t *table, from string) error {
	var counts []string
	var of []*column
	for i := range t.columns {
		if c := &t.columns[i]; looksLikeKey(c.name) {
			of = append(of, c)
			counts = append(counts, fmt.Sprintf("count(DISTINCT %[1]s) = count(*) AND count(*) > 1, count(DISTINCT %[1]s) <= 2 AND count(*) > %[2]d", identifier(c.name), many))
		}
	}
	if len(of) == 0 {
		return nil
	}
	_, rows, err := o.Rows(ctx, fmt.Sprintf("SELECT %s FROM (FROM %s LIMIT %d)", strings.Join(counts, ", "), from, sample))
	if err != nil || len(rows) != 1 {
		return refusal("%s cannot be read", t.source)
	}
	for i, c := range of {
		c.once, _ = rows[0][2*i].(bool)
		c.few, _ = rows[0][2*i+1].(bool)
	}
	return nil
}

// foreignKeys notes which columns refer to another of the tables.
func foreignKeys(ctx context.Context, o engine.Owner, tables []table) error {
	_, rows, err := o.Rows(ctx, "SELECT schema_name, table_name, constraint_column_names[1], referenced_table, referenced_column_names[1] FROM duckdb_constraints()"+
		" WHERE database_name = '"+attached+"' AND constraint_type = 'FOREIGN KEY' AND len(constraint_column_names) = 1")
	if err != nil {
		return refusal("the foreign keys of %s cannot be read", tables[0].source)
	}
	for _, row := range rows {
		in, to := fmt.Sprint(row[1]), fmt.Sprint(row[3])
		if schema := fmt.Sprint(row[0]); schema != "main" {
			in, to = schema+"."+in, schema+"."+to
		}
		for i := range tables {
			for j := range tables[i].columns {
				if c := &tables[i].columns[j]; tables[i].inside == in && c.name == fmt.Sprint(row[2]) {
					c.refersTo, c.referred = to, fmt.Sprint(row[4])
				}
			}
		}
	}
	return nil
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
			c.typ, c.note = sqltype.Type{}, "no type of a catalog can hold its values"
		}
	}
	return c
}

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
