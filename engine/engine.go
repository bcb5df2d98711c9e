// Package engine is the small interface to a database, owned by its consumer.
//
// An engine is supported if it passes the conformance suite (package enginetest). It
// guarantees that every source is read totally (no record makes it fail); that an answer
// is bit for bit the same, whatever the physical order and the number of threads; that
// it can be asked nothing but what the interface offers; and that exact values leave it
// only as Exact, which refuses to be printed.
//
// It does not guarantee how long a query takes, which depends on the data.
package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/discreet-dp/discreet/internal/datafile"
	"github.com/discreet-dp/discreet/notation"
	"github.com/discreet-dp/discreet/sqltype"
)

// An Engine answers rendered SQL over the private tables of one catalog. A
// table is a relation of its catalog name with exactly the declared columns,
// in canonical form: a field that is not a value of its declared type, NaN, an
// infinity or an infinite date is NULL, −0 is 0. It is safe for concurrent use.
type Engine interface {
	// Dialect names the SQL dialect that Exact reads, for the renderer. What a scratch
	// instance reads is DuckDB's.
	Dialect() string
	// Exact runs a release's query.
	Exact(ctx context.Context, q Query) (*Exact, error)
	// Public returns the rows of a table that the catalog declares public, and
	// refuses every other.
	Public(ctx context.Context, table string) ([]Column, [][]sqltype.Value, error)
	// Scratch opens an empty instance for post-processing. The caller closes it.
	Scratch(ctx context.Context) (Scratch, error)
	Close() error
}

// A Column is a name and a type.
type Column struct {
	Name string
	Type sqltype.Type
}

// A Query is a release's query in the engine's dialect. The adapter binds its
// parameters: $salt (a secret 63-bit integer, fresh for each release), $slices
// and $slice (the query reads only units whose hash modulo $slices is $slice).
type Query struct {
	SQL    string
	Tables []string // of the catalog, that SQL reads: it may read no others
	Salt   int64
	// Groups, if not empty, is a SELECT that stands in SQL once, in parentheses: what units add to
	// their groups. It reads all that SQL reads but the salt, so it says the same each time, as long
	// as the tables do.
	Groups string
	// Least, if not nil, is the same by a function that the adapter knows, and Totals over a copy.
	Least  *Least
	Totals *Totals
	// Whole, if not nil, is the same over a table's copy, where every row counts.
	Whole *Whole
	// Held, if not nil, is the same over copies that hold units which references find otherwise.
	Held *Held

	// The first Keys columns of the result are the group's key and have these
	// types; all further columns are integers, returned as decimals of scale 0.
	Keys   []sqltype.Type
	Values int

	// Sliceable says that the values of one key may be summed over slices. If
	// it is false the query runs with $slices = 1.
	Sliceable bool
}

// Least is a Query's SQL by an aggregate that keeps a unit's groups of the least codes, so many of them, with
// the sums of so many values in each: see engine/duckdb/least. What it returns is what the Query's SQL does, unless two hashes of a
// unit's groups are the same in all but their last bits.
type Least struct {
	SQL            string
	Groups, Values int
}

// Totals is a Query's SQL over a table's copy, all of whose rows a function reads at once: see engine/duckdb/least. It reads
// LaidName of the table, which has beside the table's columns a number of each row's unit, UnitNumber, and how many rows that has, UnitRows. What it
// returns is what the Query's SQL does, as of Least.
type Totals struct {
	SQL            string
	Values, Totals int
}

// Whole is a Query's SQL over LaidName of its one table, which has those of the table's rows that have a unit, with what package derive selects beside its
// columns. What it returns is what the Query's SQL does.
type Whole struct{ SQL string }

// Held is what a Query asks over copies of tables whose rows find their unit by a reference: LaidName of such a table has those of its rows
// that have a unit, each once for each row that it refers to, with the key of the unit as UnitKey. What it returns is what the Query's SQL does.
type Held struct {
	SQL, Groups string
	Least       *Least
	Totals      *Totals
	Copies      []string // the tables that are read by such copies
	Tables      []string // those that are read as they are
}

// LaidName is what Whole, Totals and Held call a table's copy.
func LaidName(table string) string { return "discreet_laid_" + table }

// The columns of a copy beside the table's.
const (
	UnitKey    = "discreet_unit_key"
	UnitNumber = "discreet_unit"
	UnitRows   = "discreet_unit_rows"
	// FixedColumn and the number of one of the table's columns, from 0, is the name of what has its values on their grid.
	FixedColumn = "discreet_fixed_"
	// PlaceColumn and such a number is the name of what has the places of its texts in the column's list.
	PlaceColumn = "discreet_place_"
)

// A Preparer is an Engine that can tell before it is asked whether it will be
// able to plan a statement. That must be known before anything is charged, and
// must not depend on the data: planning sees empty tables of the given columns
// and nothing else. It returns ErrPlan, the context's error, or nil: also where
// it could not tell for want of resources.
type Preparer interface {
	Prepare(ctx context.Context, sql string, tables []Table) error
}

// A PostPreparer is a Preparer whose scratch instances read another dialect than Exact does:
// PreparePost is Prepare for what they run.
type PostPreparer interface {
	PreparePost(ctx context.Context, sql string, tables []Table) error
}

// PreparePost asks an engine whether its scratch instances can plan a statement: nil of one that
// cannot tell.
func PreparePost(ctx context.Context, e Engine, sql string, tables []Table) error {
	if p, ok := e.(PostPreparer); ok {
		return p.PreparePost(ctx, sql, tables)
	}
	if p, ok := e.(Preparer); ok {
		return p.Prepare(ctx, sql, tables)
	}
	return nil
}

// A Snapshotter is an Engine over data that others may change at any time. The releases of
// one statement are asked of one state.
type Snapshotter interface {
	// Snapshot fixes the state of the catalog's tables of these names. The caller closes it.
	Snapshot(ctx context.Context, tables []string) (Snapshot, error)
}

// A Snapshot answers from one state of the data. It is for one goroutine.
type Snapshot interface {
	// Exact is the engine's Exact, over the tables for which the snapshot was made.
	Exact(ctx context.Context, q Query) (*Exact, error)
	Close() error
}

// An Unsteady engine has tables whose state nothing fixes, so that two queries of one snapshot can
// see two states of them.
type Unsteady interface {
	// Moving are those of the catalog's tables of these names.
	Moving(tables []string) []string
}

// A Laid engine knows how its tables are laid out. Layout says of which of the catalog's tables, read
// by these queries of one statement, it groups the rows by unit without moving or sorting them: a
// sentence for each, to be shown to analysts. It is a matter of what the owner has declared of a
// table to the engine (its partitioning, its indexes), and of no row.
type Laid interface {
	Layout(ctx context.Context, queries []Query) ([]string, error)
}

// A Keeper keeps the same rows when the same query is asked with the same salt of the same data, however often and by whichever process, as long as
// Keeps says the same; "" where that is not known.
type Keeper interface {
	Keeps() string
}

// Keeps is what an engine that is a Keeper says, and of any other "".
func Keeps(e Engine) string {
	if k, ok := e.(Keeper); ok {
		return k.Keeps()
	}
	return ""
}

// Fixed returns a snapshot of an engine: of one that makes none, what each query finds.
func Fixed(ctx context.Context, e Engine, tables []string) (Snapshot, error) {
	if s, ok := e.(Snapshotter); ok {
		return s.Snapshot(ctx, tables)
	}
	return current{e}, nil
}

// Current returns a snapshot for a single query, which an engine answers from one state without
// being told beforehand.
func Current(e Engine) Snapshot { return current{e} }

// current is the state of the data at each query.
type current struct{ Engine }

func (current) Close() error { return nil }

// A Table is a relation's name and columns.
type Table struct {
	Name    string
	Columns []Column
}

// ErrPlan is returned for a statement that the engine cannot plan, whatever the
// data. Its text is constant: the engine speaks of SQL that nobody wrote.
var ErrPlan = errors.New("the engine cannot plan the statement")

// A Map makes the rows of a mapped table (see catalog.Mapping). An adapter that
// supports such tables is given one for each, and runs it over the private records
// when the table is first read.
type Map struct {
	// Rows returns what the code makes of the records that it sees at once, for each call: rows
	// of the mapped table's columns after the unit's. What it makes of a call is a function of the
	// call's records alone. It is safe for concurrent use, and fails only for want of resources.
	Rows func(ctx context.Context, calls []Call) ([][][]sqltype.Value, error)
	// AtOnce is how many times Rows is to run at a time; as often as there are processors if 0.
	AtOnce int
	// Unit returns a random key that it has not returned before: for rows that are
	// units themselves. Nothing of the record or of its place may be in it, so that
	// the keys of all other records are the same whether or not there is this one.
	Unit func() (string, error)
	// Room is how many bytes the code has for the records that it sees at once, CellBytes for
	// each value and the texts: of any records that take more it makes the same. 0: nobody knows.
	Room int64
	// Feed is where the records come from, if they are not the adapter's own: Feeder.Feed for what
	// the code sees.
	Feed func(ctx context.Context, f func([]Call) error) error
}

// CellBytes is what a value takes of a Map's room, beside the bytes of a text.
const CellBytes = 16

// A Call is what code sees at once, and whose it is. Its unit is nil where records are units.
type Call struct {
	Unit    sqltype.Value
	Records [][]sqltype.Value
}

// Each makes a Map's Rows of code that makes one call.
func Each(code func(ctx context.Context, records [][]sqltype.Value) ([][]sqltype.Value, error)) func(context.Context, []Call) ([][][]sqltype.Value, error) {
	return func(ctx context.Context, calls []Call) ([][][]sqltype.Value, error) {
		made := make([][][]sqltype.Value, len(calls))
		for i, c := range calls {
			var err error
			if made[i], err = code(ctx, c.Records); err != nil {
				return nil, err
			}
		}
		return made, nil
	}
}

// A Seen is what code sees of a table: the columns in this order, of one record or of all records of
// a unit, and no more bytes at once than there is room for (see Map).
type Seen struct {
	Table   string
	Columns []string
	ByUnit  bool
	Room    int64
}

// A Feeder is an Engine over a database that can hand out what code sees of a table, for another
// adapter to keep what is made of it. Records leave the database in this way, so that the query
// path has no Feeder but that of a mapped table (internal/house, source_test.go).
type Feeder interface {
	// Feed calls f with the calls of what code sees of one of the catalog's tables, each once, all
	// of one state of the data. Which calls come together, and in which order, is chance; f is called
	// by several goroutines at once. What f holds when it returns is its own. Memory does not grow
	// with the table, nor with a unit beyond the room.
	Feed(ctx context.Context, s Seen, f func([]Call) error) error
}

// A Recorder is an Engine that hands out the records of a table one by one, to code
// of this process that protects units by a guarantee of its own: what trains a model
// on them. The query path never asks for it (internal/house, source_test.go).
type Recorder interface {
	// EachRecord calls f with each record of a table of the catalog: the key of its
	// unit, and the values of the columns, which f may keep. Records without a unit are
	// left out. The key is empty where each record is a unit, and of a public table.
	// The order of records is chance, and nothing may depend on it.
	EachRecord(ctx context.Context, table string, columns []string, f func(unit string, values []sqltype.Value) error) error
}

// A Scratch is an empty database without files and without private tables. It
// holds released and public rows, and runs post-processing over them.
type Scratch interface {
	// Load creates the table and fills it.
	Load(ctx context.Context, table string, columns []Column, rows [][]sqltype.Value) error
	// Query returns the rows of a rendered statement; types tells what the
	// columns are to be returned as.
	Query(ctx context.Context, sql string, types []sqltype.Type) ([][]sqltype.Value, error)
	Close() error
}

// Unopened says why a database file cannot be opened, in words for its owner.
type Unopened struct{ Why, Hint string }

func (e *Unopened) Error() string { return e.Why }

// A Text is how a text file is read.
type Text struct {
	JSON    bool // a JSON object a line; else CSV
	Form    notation.Form
	Columns []string // the file's names of them
	Types   []sqltype.Type
	Keys    []int // which of a file's values a column is; -1 for a field of its records
	// Read, if it is not nil, is told of the bytes of the files that were read.
	Read func(bytes int64)
}

// A Lot are Parquet files of one schema, as SQL.
type Lot struct {
	From string   // what selects from them
	Keys []string // the text of each partition key, in the pattern's order
	Like string   // the path of one of them
}

// An Owner runs the owner's own commands over the catalog's files: check and
// init. The query path and servers never have one.
type Owner interface {
	// Rows runs any SQL of the engine and returns the rows as they are.
	Rows(ctx context.Context, sql string, args ...any) (columns []string, rows [][]any, err error)
	// Records copies columns of CSV or JSON-lines files, by the rule that queries
	// read them by, into a table that it makes: f0, f1, ..., as text. Of a column that
	// a file has not all is NULL.
	Records(ctx context.Context, files []datafile.File, t Text) (table string, err error)
	// Lots divides the Parquet files of a pattern by their schemas.
	Lots(ctx context.Context, p *datafile.Pattern, files []datafile.File) ([]Lot, error)
	Close() error
}

// A Copier is an Engine that keeps copies of its catalog's tables beyond the process. What is read from a copy is what
// is read from the table, bit for bit. It is for commands of the owner: whether there is a copy of the data as they
// are tells when they changed.
type Copier interface {
	// MakeCopy copies a table, unless there is a copy of it as it is.
	MakeCopy(ctx context.Context, table string) (Copy, error)
	// CopiesOf says which there are, by what the system knows of the table's files: first whether there is the one that MakeCopy makes.
	CopiesOf(table string) ([]Copy, error)
	// RemoveCopies removes all copies of a table's files, now or of late; of no table, all that there are.
	RemoveCopies(table string) (n int, err error)
}

// A Copy is that of a table.
type Copy struct {
	Table string    `json:"table"`
	State CopyState `json:"state"`
	Bytes int64     `json:"bytes,omitempty"`
	Made  time.Time `json:"made,omitzero"`
	// WithoutUnits says that it is of the table's own files, though references find its units, which MakeCopy's holds.
	WithoutUnits bool `json:"without_units,omitempty"`
}

// A CopyState says what a copy is of.
type CopyState string

const (
	// NoCopy is there of the table's files.
	NoCopy CopyState = "none"
	// Copied are they, as they are and as they are declared.
	Copied CopyState = "prepared"
	// OldCopy is one of the files as they were, or were declared, or of another build. It is not read.
	OldCopy CopyState = "old"
)

// Uncopied says why a table has no copy, in words for its owner that depend on no record.
type Uncopied struct {
	Table, Why, Hint string
	// Elsewhere says that none can be made: its rows are in no file that is copied.
	Elsewhere bool
}

func (e *Uncopied) Error() string { return fmt.Sprintf("table %q: %s", e.Table, e.Why) }

// A Relation is a table of a database, as its owner is told of it.
type Relation struct {
	// Database is that of a name with three parts; else it is the connected one, and empty.
	Database      string
	Schema, Name  string
	From          string // how SQL names it
	Problem, Hint string // why it cannot be a source; "" if it can
	Columns       []Native
}

// A Native column is one of a Relation.
type Native struct {
	Name   string
	Native string // the name of its type that the renderer reads it by; "" if it cannot
	Type   string // as the database shows it
	Denied bool   // the role may not read it, or it is computed when it is read
	Key    bool   // it is the primary key, or unique
	// To are schema, table and column that a foreign key leads to; nil of others.
	To []string
}

// A Relator is an Owner of a database that is not made of files: Records and Lots fail there.
type Relator interface {
	Owner
	// Relation describes a table. database is "" where the connected one is meant.
	Relation(ctx context.Context, database, schema, name string) (Relation, error)
	// Relations describes the tables of a schema that the role may read.
	Relations(ctx context.Context, database, schema string) ([]Relation, error)
}

// ErrTooLarge is returned by a Scratch whose answer has more bytes than the owner lets one
// have. A Scratch holds nothing private, so that this tells nothing that was not released.
var ErrTooLarge = errors.New("the answer is too large")

// ErrResource is returned for want of memory, disk or time: the one failure
// that may depend on the data. Its text is constant; the cause is for the
// owner's log alone (see Cause).
var ErrResource = errors.New("the engine ran out of resources or failed")

// A Failure is an engine error whose cause must not reach an analyst, since
// engines quote cell values. It prints as ErrResource does.
type Failure struct{ cause error }

// Fail hides cause behind the constant text of ErrResource.
func Fail(cause error) error { return &Failure{cause} }

// Error returns the constant text.
func (f *Failure) Error() string { return ErrResource.Error() }

// Is makes errors.Is(err, ErrResource) true.
func (f *Failure) Is(target error) bool { return target == ErrResource }

// Cause returns the hidden cause, for the owner's log. The cause is not part
// of the error chain, so that no %+v or errors.As reaches it by accident.
func (f *Failure) Cause() error { return f.cause }
