//go:build cgo

// Package duckdb runs rendered SQL in DuckDB, in this process.
//
// It guarantees that a query can read the catalog's tables and nothing else:
// one SELECT at a time, the instance locked, no files but the catalog's, no
// extensions, no network. That is the second wall: the first is that only our
// own plans are rendered. Reading is total: whatever stands in a source, a
// table has exactly the declared columns in canonical form (see selection).
// CSV and JSON lines are copied when they are first read, and again when they have
// changed; so are small Parquet files where an instance lives long, in a Pool. What does not fit in memory is spilled to files in the temporary directory;
// Close removes them, or else the next process that opens an instance there.
//
// It does not guarantee how long a query takes. Nor that a query succeeds: one that needs
// more than the memory and the temporary directory fails, and so does one over damaged
// Parquet and DuckDB files. Such damage are texts in Parquet that are not UTF-8, JSON
// that is none, decimals too long for their column, milliseconds beyond the year 294246
// (TestParquetTypes has the list).
package duckdb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/derive"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/sqltype"
)

// Options limit what an instance uses.
type Options struct {
	Memory  string // as DuckDB writes sizes, "4GiB"; four fifths of the machine's if empty
	Threads int    // one a processor if 0
	Temp    string // the folder where what does not fit in memory is spilled; the system's if empty

	// Lazy opens a source when a statement is prepared or asked that reads it, instead
	// of all at once: one that cannot be opened stands in the way of no other.
	Lazy bool

	// Answer bounds what a scratch instance returns of one statement, in bytes; nothing does
	// if 0.
	Answer int64

	// Copies is the folder where copies of text files outlive the process, absolute; without it
	// each instance copies them for itself. CopiesSize bounds all of them, as DuckDB writes sizes;
	// they take 10 GB if it is empty.
	Copies, CopiesSize string

	Maps map[string]engine.Map // of the catalog's mapped tables, by their names

	restless time.Duration // see settled; two seconds if 0

	held    int64  // how many bytes of small Parquet files are held; none if 0
	disk    string // the most that is spilled, as DuckDB writes sizes; what it likes if empty
	scratch string // the memory of a scratch instance; Memory if empty
}

// An Engine is DuckDB over the files of one catalog.
type Engine struct {
	db        *sql.DB
	catalog   *catalog.Catalog
	options   Options
	spill     *spill
	made      atomic.Int64 // copies
	plans     plans
	salts     salts
	groups    atomic.Int64 // how many bytes of groups may still be kept
	shapes    shapes       // of statements that could be planned
	archive   *archive     // nil without one
	scratches scratches
	functions functions
	holdings  holdings
	turns     turns

	opening  sync.Mutex         // guards what follows
	attached databases          // DuckDB files
	opened   map[string]bool    // tables, by their folded names
	viewed   map[string]files   // of those, what the views of Parquet files are of
	copied   map[string]*copied // of those, what is copied when it is first read
	kept     map[string]*kept   // of those, Parquet files that are held as tables
	room     int64              // how many bytes of them may still be held
}

var _ engine.Engine = (*Engine)(nil)

// Open opens the catalog's sources, or with Lazy none yet. Its errors are for the owner: they name
// files and columns and depend on no record.
func Open(ctx context.Context, c *catalog.Catalog, o Options) (*Engine, error) {
	e := &Engine{catalog: c, options: o, opened: map[string]bool{}, viewed: map[string]files{}, copied: map[string]*copied{}, kept: map[string]*kept{}, room: o.held}
	e.groups.Store(o.held)
	if err := e.open(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// defaultCopies bounds the copies of an archive.
const defaultCopies = "10GB"

func (e *Engine) open(ctx context.Context) (err error) {
	if e.spill, err = spillTo(e.options.Temp); err != nil {
		return err
	}
	if e.options.Copies != "" {
		most, err := bytesOf(ctx, cmp.Or(e.options.CopiesSize, defaultCopies))
		if err != nil {
			return err
		}
		if e.archive, err = openArchive(e.options.Copies, most); err != nil {
			return err
		}
	}
	if e.db, err = connect(e.options, e.spill.folder, false); err != nil {
		return fmt.Errorf("open duckdb: %w", err)
	}
	conn, err := e.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("open duckdb: %w", err)
	}
	defer conn.Close()
	return e.setUp(ctx, conn)
}

// setUp locks the instance to the catalog's files. The lock alone would let COPY
// write to them, which allowed_paths names; that only a SELECT is run is what forbids
// it.
func (e *Engine) setUp(ctx context.Context, conn *sql.Conn) error {
	var files []string
	for _, t := range e.catalog.Tables {
		switch t.Source.Format {
		case catalog.DuckDB:
			files = append(files, t.Source.Path, t.Source.Path+".wal")
		case catalog.Parquet:
			if listing, err := t.Files(); err == nil { // else it is never read
				for _, f := range listing.Files {
					files = append(files, f.Path)
				}
			}
		}
	}
	if err := e.salts.register(conn); err != nil {
		return fmt.Errorf("open duckdb: it refuses a function")
	}
	first := []string{zone, "CREATE SCHEMA " + copies}
	if e.options.held > 0 {
		first = append(first, "ATTACH ':memory:' AS "+keptBase+" (COMPRESS)")
	}
	if e.archive != nil {
		first = append(first, "SET allowed_directories = ["+literal(e.archive.folder)+"]")
	}
	_, err := conn.ExecContext(ctx, strings.Join(append(first, "SET allowed_paths = ["+literals(files)+"]",
		"SET enable_external_access = false", "SET lock_configuration = true"), ";\n"))
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("open duckdb: it refuses its own settings")
	case e.options.Lazy:
		return nil
	}
	return e.ready(ctx, e.catalog.Tables)
}

// ready opens the sources of tables, once: a view of each is made, but of those that are
// copied when they are first read. Its errors depend on no record. One that fails is
// tried again when it is asked for again.
func (e *Engine) ready(ctx context.Context, tables []*catalog.Table) error {
	e.opening.Lock()
	defer e.opening.Unlock()
	var read []*derive.Reading
	for _, t := range tables {
		if t.Mapping != nil && !e.fed(t) {
			tables = append(tables[:len(tables):len(tables)], t.Mapping.Of)
		}
	}
	for _, t := range tables {
		name := catalog.Fold(t.Name)
		if e.opened[name] && e.viewed[name].fresh(t) {
			continue
		}
		if !e.fed(t) {
			if err := readable(ctx, t); err != nil {
				return err
			}
		}
		switch {
		case t.Mapping != nil:
			if e.options.Maps[t.Name].Rows == nil {
				return fmt.Errorf("mapped table %q has no code", t.Name)
			}
			e.copied[name], e.opened[name] = newCopy(t, e.madeBy), true
		case t.Source.Format == catalog.DuckDB || t.Source.Format == catalog.Parquet:
			r, err := derive.Read(t)
			if err != nil {
				return err
			}
			read = append(read, r)
		default:
			if err := opens(ctx, t); err != nil {
				return err
			}
			e.copied[name], e.opened[name] = newCopy(t, parts), true
		}
	}
	if len(read) == 0 {
		return nil
	}
	conn, err := e.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("open duckdb: %w", err)
	}
	defer conn.Close()
	databases := 0
	viewed := map[*catalog.Table]files{}
	whole := read[:0:0]
	for _, r := range read {
		if r.Table.Source.Pattern != nil {
			if err := e.view(ctx, conn, r); err != nil {
				return err
			}
			continue
		}
		if whole = append(whole, r); r.Table.Source.Format == catalog.DuckDB {
			databases++
			if err := e.attach(ctx, conn, r.Table); err != nil {
				return err
			}
		} else if viewed[r.Table], err = e.viewing(r.Table); err != nil {
			return unopened(ctx, r.Table, err)
		}
	}
	if read = whole; len(read) == 0 {
		return nil
	}
	if databases > 0 {
		if err := e.refuseViews(ctx, conn, read); err != nil {
			return err
		}
	}
	// Statements cost a fraction of a millisecond each, so they run in one batch; where
	// one fails the views are made again one by one, to say which.
	views, err := relations(ctx, conn, read, e.attached)
	if err == nil {
		_, err = conn.ExecContext(ctx, strings.Join(views, ";\n"))
	}
	var said *diagnostic.Diagnostic
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &said):
		return err
	case err != nil:
		return e.explainFailure(ctx, conn, read)
	}
	if err := e.plans.drop(); err != nil { // DuckDB would plan them anew each time, as views have changed
		return fmt.Errorf("open duckdb: a plan is not closed")
	}
	for _, r := range read {
		name := catalog.Fold(r.Table.Name)
		e.opened[name] = true
		if of, ok := viewed[r.Table]; ok {
			e.viewed[name] = of
			if err := e.replaced(ctx, conn, name); err != nil {
				return fmt.Errorf("open duckdb: a table that was kept is not dropped")
			}
		}
	}
	return nil
}

// attach attaches a table's file, once.
func (e *Engine) attach(ctx context.Context, conn *sql.Conn, t *catalog.Table) error {
	fresh, err := e.attached.add(t.Source.Path)
	if err != nil {
		return unopened(ctx, t, err)
	}
	if !fresh {
		return nil
	}
	_, err = conn.ExecContext(ctx, "ATTACH "+literal(t.Source.Path)+" AS "+e.attached.alias(t.Source.Path)+" (READ_ONLY)")
	if err == nil {
		return nil
	}
	e.attached = e.attached[:len(e.attached)-1]
	if ctx.Err() != nil {
		return ctx.Err()
	}
	why, hint := trouble(err)
	return cannotOpen(t, why).(*diagnostic.Diagnostic).Try("%s", hint)
}

// named are the catalog's tables of these names.
func (e *Engine) named(names []string) (tables []*catalog.Table) {
	for _, name := range names {
		if t, ok := e.catalog.Table(name); ok {
			tables = append(tables, t)
		}
	}
	return tables
}

// copyOf returns what is copied of a table, nil of one that is read where it is.
func (e *Engine) copyOf(name string) *copied {
	e.opening.Lock()
	defer e.opening.Unlock()
	return e.copied[catalog.Fold(name)]
}

// relations returns the statements that make a view of each table. The types that
// columns have in their files decide how they are cast; one query asks for all. What a
// file has not is refused, though DuckDB knew it: a row's place or its file's name is no
// column, and depends on other records.
func relations(ctx context.Context, conn *sql.Conn, readings []*derive.Reading, attached databases) (views []string, err error) {
	var described []string
	for i, r := range readings {
		described = append(described, fmt.Sprintf("SELECT %d AS i, column_name, column_type FROM (DESCRIBE SELECT * FROM %s)",
			i, origin(r.Table, attached.alias(r.Table.Source.Path))))
	}
	if len(readings) == 0 {
		return nil, nil
	}
	rows, err := conn.QueryContext(ctx, strings.Join(described, " UNION ALL "))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	has := make([]map[string]stored, len(readings))
	for rows.Next() {
		var i int
		var name, native string
		if err := rows.Scan(&i, &name, &native); err != nil {
			return nil, err
		}
		if has[i] == nil {
			has[i] = map[string]stored{}
		}
		if fold := catalog.Fold(name); has[i][fold] == (stored{}) { // as in a file of several, and in CSV, the first counts
			has[i][fold] = stored{quote(name), native}
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for i, r := range readings {
		var fields []stored
		for _, field := range r.Fields {
			f, ok := has[i][catalog.Fold(field.Name)]
			switch {
			case !ok:
				return nil, cannotOpen(r.Table, fmt.Sprintf("it has no column %q%s", field.Name, neededBy(r, field)))
			case holdsTimes(f.native):
				return nil, cannotOpen(r.Table, "column "+f.raw+" has times of day within lists or structures")
			}
			fields = append(fields, f)
		}
		from := origin(r.Table, attached.alias(r.Table.Source.Path))
		rows, err := selection(r, fields, from)
		if err != nil {
			return nil, err
		}
		views = append(views, "CREATE OR REPLACE VIEW "+quote(r.Table.Name)+" AS "+ofUnits(r.Table, rows))
	}
	return views, nil
}

// zone makes UTC the time zone in which timestamps with one are read, whatever
// the process's is. Without GLOBAL it would hold for one connection of the pool.
const zone = "SET GLOBAL TimeZone = 'UTC'"

// placesByLeast makes row_number() OVER (PARTITION BY u ORDER BY x) <= n the n least of each u, for which memory is taken before
// it is known how many there are, beside the memory limit, and which fails from n = 1,000,000 on: where there is a row, and not where there
// is none.
const placesByLeast = "top_n_window_elimination"

// connect opens an empty instance. Settings that need no database go into the
// configuration, where they cost nothing.
//
// Exact results do not depend on the order of rows, and keeping it would cost
// memory; what the analyst sees of a scratch instance keeps it.
func connect(o Options, temp string, ordered bool) (*sql.DB, error) {
	settings := url.Values{
		"autoinstall_known_extensions": {"false"},
		"autoload_known_extensions":    {"false"},
		"allow_community_extensions":   {"false"},
		"allow_persistent_secrets":     {"false"},
		"enable_external_file_cache":   {"false"}, // it takes a file for the same by the time of its modification
		"disabled_optimizers":          {placesByLeast},
		"temp_directory":               {temp},
	}
	if !ordered {
		settings.Set("preserve_insertion_order", "false")
	}
	if o.Memory != "" {
		settings.Set("memory_limit", o.Memory)
	}
	if o.disk != "" {
		settings.Set("max_temp_directory_size", o.disk)
	}
	if o.Threads > 0 {
		settings.Set("threads", strconv.Itoa(o.Threads))
	}
	connector, err := duckdb.NewConnector("?"+settings.Encode(), nil)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// Dialect returns "duckdb".
func (e *Engine) Dialect() string { return "duckdb" }

// Keeps is that of its catalog.
func (e *Engine) Keeps() string { return Keeps(e.catalog) }

// Keeps names DuckDB's version, whose hash orders a unit's rows, and the way in which package least reads that: it is another when that
// changes. Of tables that code computes it says nothing, since code may compute others the next time.
func Keeps(c *catalog.Catalog) string {
	if slices.ContainsFunc(c.Tables, func(t *catalog.Table) bool { return t.Mapping != nil }) {
		return ""
	}
	return "duckdb " + mapping.LibraryVersion() + ", least 3"
}

// Public returns the rows of a public table.
func (e *Engine) Public(ctx context.Context, table string) ([]engine.Column, [][]sqltype.Value, error) {
	t, ok := e.catalog.Table(table)
	if !ok || !t.Public {
		return nil, nil, fmt.Errorf("table %q is not public", table)
	}
	var columns []engine.Column
	var types []sqltype.Type
	for _, c := range t.Columns {
		columns, types = append(columns, engine.Column{Name: c.Name, Type: c.Type}), append(types, c.Type)
	}
	var rows [][]sqltype.Value
	err := e.steady(ctx, []string{t.Name}, func() (err error) {
		if err = e.fresh(ctx, []string{t.Name}); err != nil {
			return err
		}
		rows, err = selectRows(ctx, e.db, "SELECT * FROM "+quote(t.Name), types)
		return err
	})
	return columns, rows, failure(ctx, err)
}

// Close ends the instance and removes what it spilled.
func (e *Engine) Close() error {
	err := errors.Join(e.plans.close(), e.scratches.close())
	if e.db != nil {
		err = errors.Join(err, e.db.Close())
	}
	if e.spill != nil {
		err = errors.Join(err, e.spill.Close())
	}
	return err
}

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func literals(all []string) string {
	quoted := make([]string, len(all))
	for i, s := range all {
		quoted[i] = literal(s)
	}
	return strings.Join(quoted, ", ")
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
