package clinic

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/pgsql"
)

// Schema is where the tables of the demo are in a database.
const Schema = "discreet_demo"

// mark is the comment of a schema that the demo made. One without it is somebody else's.
const mark = "made by discreet demo: synthetic"

// ErrSchema says that a schema of the demo's name is somebody else's.
var ErrSchema = errors.New("the schema " + Schema + " is there, and the demo did not make it")

// A Table is one of the data set, for a database.
type Table struct {
	Name    string
	Columns [][2]string // names and types, as PostgreSQL has them
	Rows    func(w io.Writer) error
}

// Tables are those of the data set. Rows writes them as CSV without a header; an empty field is
// NULL, and no text is empty.
func Tables() []Table {
	return []Table{
		{"departments", [][2]string{{"name", "text"}, {"floor", "integer"}, {"beds", "integer"}}, func(w io.Writer) error {
			_, rows, _ := bytes.Cut(departmentsText, []byte("\n"))
			_, err := w.Write(rows)
			return err
		}},
		{"visits", [][2]string{{"patient_id", "bigint"}, {"department", "text"}, {"age", "integer"}, {"sex", "text"}, {"seen_at", "timestamp"}, {"cost", "double precision"}}, func(w io.Writer) error {
			out := csv.NewWriter(w)
			for _, v := range Visits() {
				age, cost := "", ""
				if v.Age != Missing {
					age = strconv.Itoa(int(v.Age))
				}
				if v.Cost != Missing {
					cost = strconv.FormatFloat(v.Cost, 'g', -1, 64)
				}
				if err := out.Write([]string{strconv.FormatInt(v.Patient, 10), v.Department, age, v.Sex, v.SeenAt.Format("2006-01-02 15:04:05"), cost}); err != nil {
					return err
				}
			}
			out.Flush()
			return out.Error()
		}},
	}
}

// engineText begins the catalog of tables in a database.
const engineText = `
[engine]
kind = "%s"
url = { env = "%s" }
accept_role = true               # the demo's role made the tables, and may write; give discreet a role that reads alone

[domains.patient]`

// WritePostgres makes the data set in a PostgreSQL database, in a schema of its own, and a
// catalog over it in a folder, which it creates if need be. It returns the catalog's path. variable
// is the environment variable that has the URL. A schema of an earlier demo is replaced, and
// ErrSchema returned for one that is somebody else's.
func WritePostgres(ctx context.Context, dir, url, variable string) (catalog string, err error) {
	if err := load(ctx, url); err != nil {
		return "", err
	}
	return writeCatalog(dir, "postgres", variable, Schema)
}

// writeCatalog writes the catalog over tables of a schema of an engine.
func writeCatalog(dir, kind, variable, schema string) (catalog string, err error) {
	if err := custody.Folder(dir); err != nil {
		return "", fmt.Errorf("write demo data: %w", err)
	}
	text := strings.NewReplacer("\n[domains.patient]", fmt.Sprintf(engineText, kind, variable),
		`"visits.parquet"`, strconv.Quote(schema+".visits"), `"departments.csv"`, strconv.Quote(schema+".departments")).Replace(string(catalogText))
	catalog = filepath.Join(dir, "discreet.toml")
	if err := custody.Write(catalog, []byte(text)); err != nil {
		return "", fmt.Errorf("write demo catalog: %w", err)
	}
	return catalog, nil
}

// load fills the tables in one transaction.
func load(ctx context.Context, url string) (err error) {
	db, err := pgsql.Open(url, pgsql.Settings{"application_name": "discreet demo", "client_encoding": "UTF8", "datestyle": "ISO"})
	if err != nil {
		return err
	}
	defer db.Close()
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close() // what is not committed is undone
	run := func(statements ...string) error {
		for _, s := range statements {
			if _, err := c.ExecContext(ctx, s); err != nil {
				return err
			}
		}
		return nil
	}
	if err := run("BEGIN"); err != nil {
		return err
	}
	var there, ours bool
	err = c.QueryRowContext(ctx, "SELECT count(*) > 0, coalesce(bool_and(obj_description(oid, 'pg_namespace') IS NOT DISTINCT FROM ?), false) FROM pg_catalog.pg_namespace WHERE nspname = ?", mark, Schema).Scan(&there, &ours)
	switch {
	case err != nil:
		return err
	case there && !ours:
		return ErrSchema
	case there:
		err = run("DROP SCHEMA " + Schema + " CASCADE")
	}
	if err != nil {
		return err
	}
	if err := run("CREATE SCHEMA "+Schema, "COMMENT ON SCHEMA "+Schema+" IS '"+mark+"'"); err != nil {
		return err
	}
	for _, t := range Tables() {
		columns := make([]string, len(t.Columns))
		for i, c := range t.Columns {
			columns[i] = c[0] + " " + c[1]
		}
		if err := run("CREATE TABLE " + Schema + "." + t.Name + " (" + strings.Join(columns, ", ") + ")"); err != nil {
			return err
		}
		rows, to := io.Pipe()
		go func() { to.CloseWithError(t.Rows(to)) }()
		err := pgsql.Copy(ctx, c, "COPY "+Schema+"."+t.Name+" FROM STDIN (FORMAT csv)", rows)
		rows.Close() //nolint:errcheck // it ends who writes, if the copy failed
		if err != nil {
			return err
		}
	}
	if err := pgsql.Commit(ctx, c); err != nil {
		return err
	}
	return run("ANALYZE "+Schema+".visits", "ANALYZE "+Schema+".departments")
}
