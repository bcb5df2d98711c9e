// Package catalog holds what the data owner declares: unit domains with their
// budgets, tables with their privacy unit, contribution bounds, columns with
// types, bounds and public domains.
//
// It guarantees that a loaded catalog is complete and consistent: nothing
// undecided, every name resolved, every bound representable.
//
// It does not guarantee that the files agree with it: it reads no data. Run discreet check
// for that.
package catalog

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/datafile"
	"github.com/discreet-dp/discreet/notation"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// A Catalog is one file's declarations, in the order of the file.
type Catalog struct {
	Path       string // the file; sources are relative to its folder
	Text       string // that was read
	Digest     []byte // SHA-256 of it
	Domains    []*Domain
	Tables     []*Table
	Views      []*View
	Confidence float64 // of intervals when a statement doesn't say; 0.95 if absent
	Spend      Spend   // what a statement costs at most when it doesn't say
	Resources  Resources
	Engine     Engine // that holds the records
	Books      Books

	whole *Catalog // that this is a part of; nil of a whole one
}

// Only returns the part of a catalog that somebody may see: the tables and views that
// visible names. A view of it may be made of tables that are not.
func (c *Catalog) Only(visible func(name string) bool) *Catalog {
	part := *c
	part.whole = c.Whole()
	part.Tables = slices.DeleteFunc(slices.Clone(c.Tables), func(t *Table) bool { return !visible(t.Name) })
	part.Views = slices.DeleteFunc(slices.Clone(c.Views), func(v *View) bool { return !visible(v.Name) })
	return &part
}

// Whole returns the catalog that c is a part of.
func (c *Catalog) Whole() *Catalog {
	if c.whole != nil {
		return c.whole
	}
	return c
}

// A Spend is an amount of privacy loss: epsilon or rho, each with a delta where
// the measure has one. Its zero value says nothing.
type Spend struct {
	Epsilon privacy.Epsilon
	Delta   privacy.Delta
	Rho     privacy.Rho
}

// Domain returns the domain with the given id.
func (c *Catalog) Domain(id string) (*Domain, bool) {
	for _, d := range c.Domains {
		if d.ID == id {
			return d, true
		}
	}
	return nil, false
}

// Table returns the table with the given name.
func (c *Catalog) Table(name string) (*Table, bool) {
	for _, t := range c.Tables {
		if t.Name == name {
			return t, true
		}
	}
	return nil, false
}

// A Domain is a population of privacy units. The id is permanent and the
// budget is its own.
type Domain struct {
	ID             string
	Neighbours     privacy.Neighbours
	Measure        string // "pure", "approx", "zcdp", "whitehouse", "rdp", "gdp"
	Epsilon        privacy.Epsilon
	Delta          privacy.Delta // 0 with pure
	SelectionDelta privacy.Delta // the part of Delta kept for private group selection; 0 with pure and approx
	// FailureSuspends is what an answer that could not be computed suspends: SuspendDomain,
	// or SuspendAccount where a server's account asked for it.
	FailureSuspends string
	// UnitsElsewhere says that other holders of a federation may have rows of the same units:
	// what a unit moves is then the sum over holders.
	UnitsElsewhere bool
}

// What a failure suspends. Of an account it is less, and lets each account learn of a failure
// of its own.
const (
	SuspendDomain  = "domain"
	SuspendAccount = "account"
)

// A Table is one relation that statements may name.
type Table struct {
	Name    string
	Source  Source
	Public  bool    // then Domain, Unit and the bounds are zero
	Domain  *Domain // the domain its units belong to
	Unit    Unit
	Columns []*Column

	// AlsoIn are the ids of further domains in which the owner declares the same
	// records: each has a budget of its own, and their losses add up.
	AlsoIn []string

	// MaxGroups (L0) and MaxRows (R) bound what one unit contributes to an
	// aggregation: to how many groups, and how many rows in each. 0 means not
	// declared. Both are 1 where the unit is a row.
	MaxGroups, MaxRows int64
	// MaxUnitRows is how many of a unit's rows the table has, or 0: engines leave out the others when they
	// read it, by an order that depends on the unit's own rows alone.
	MaxUnitRows int64
	// Auto says that tighter ones may be found privately, for each set of grouping keys: MaxGroups and
	// MaxRows are the most that is looked for, and hold until then.
	Auto bool

	// Form is how a CSV file is written.
	Form notation.Form

	// Malformed is what becomes of a record that cannot be read as declared.
	Malformed Malformed

	// Mapping is what makes the rows of those of another table; nil of a table
	// with rows of its own.
	Mapping *Mapping

	found place // where the source was when the catalog was loaded
}

// Bounded reports whether the rows that the table has of a unit can be bounded for a statement, and not by their number alone.
func (t *Table) Bounded() bool { return t.MaxUnitRows == 0 || t.MaxGroups > 0 || t.MaxRows > 0 }

// HasAuto reports whether bounds of the table, or of its columns, may be found privately.
func (t *Table) HasAuto() bool {
	return !t.Public && t.Mapping == nil && (t.Auto || slices.ContainsFunc(t.Columns, func(c *Column) bool { return c.Auto }))
}

// HasAuto reports whether bounds of some table may be found privately.
func (c *Catalog) HasAuto() bool { return slices.ContainsFunc(c.Tables, (*Table).HasAuto) }

// Column returns the column with the given name.
func (t *Table) Column(name string) (*Column, bool) {
	for _, c := range t.Columns {
		if c.Name == name {
			return c, true
		}
	}
	return nil, false
}

// A Format is how a source stores its records.
type Format uint8

// The formats, by the ending of the source's name.
const (
	CSV Format = iota
	Parquet
	JSONLines
	DuckDB   // "file.duckdb#table", "file.duckdb#schema.table"
	Relation // a table of the catalog's engine, which is a database of its own
)

// A Source says where a table's records are.
type Source struct {
	Text   string // as the catalog writes it
	Format Format
	Path   string // absolute, or relative to the working directory
	// Pattern names the files of a source of several, which Path then is the pattern of.
	Pattern *datafile.Pattern
	Schema  string // DuckDB: the table's schema; "" is main. Relation: it, as the database spells it
	Table   string // DuckDB: the table in the file. Relation: the table, as the database spells it
	// Database is that of a Relation, where it is named: it must be the one that is connected.
	Database string
}

// Key returns which key of the pattern's partitions a field is; -1 for a field of the
// records.
func (s Source) Key(field string) int {
	if s.Pattern == nil {
		return -1
	}
	return slices.IndexFunc(s.Pattern.Keys, func(key string) bool { return Fold(key) == Fold(field) })
}

// Malformed is the declared rule for records that cannot be read as declared:
// too few or too many fields, bad quotes, invalid UTF-8, a field that is not a
// value of its column's type.
type Malformed uint8

const (
	// NullField, the default: a field that is not a value of its type is NULL;
	// a record without fields to read is skipped.
	NullField Malformed = iota
	// SkipRecord drops the whole record.
	SkipRecord
)

// A UnitKind is how a table's rows name their privacy unit.
type UnitKind uint8

const (
	// UnitColumn: the unit's key is the column Unit.Column.
	UnitColumn UnitKind = iota
	// UnitRow: each row is a unit of its own.
	UnitRow
	// UnitReference: Unit.Column refers to the row of another private table of
	// the same domain that carries, or leads to, the unit.
	UnitReference
)

// A Unit says to which privacy unit a row belongs. Rows whose unit is NULL or
// does not resolve are excluded from every statement.
type Unit struct {
	Kind       UnitKind
	Column     *Column
	References *Table  // UnitReference: the table referred to
	Referred   *Column // UnitReference: its column that Column refers to
}

// A Column is a declared column; what is not declared does not exist.
type Column struct {
	Name string
	From string // the source's name of it, if that is another
	Type sqltype.Type

	// Is computes the values from those of other columns in the same row; nil of a
	// column that is read. What it means is known to internal/derive.
	Is *SQL

	// Lower and Upper bound the values: outside ones are clamped where they
	// are aggregated. nil means not declared. For numbers and temporal types.
	Lower, Upper sqltype.Value
	// Auto says that tighter bounds may be found privately: Lower and Upper are the range in which they are
	// looked for, and hold until then.
	Auto bool

	// SumLower and SumUpper bound one unit's partial sum in a group, when both
	// are declared (exact rationals).
	SumLower, SumUpper *big.Rat

	// Domain is the column's complete public domain, or nil.
	Domain *PublicDomain

	// Mapped says whether code that nobody trusts may see the column (see Map); nil where the
	// owner does not say.
	Mapped *bool
}

// Field is what the source calls a column that is read.
func (c *Column) Field() string { return cmp.Or(c.From, c.Name) }

// A PublicDomain is a complete list of values that is public by declaration.
// Exactly one of its three forms is set.
type PublicDomain struct {
	Values []sqltype.Value // sorted, distinct, no NULL

	// Lower, Lower+Step, ... up to Upper. Integers, decimals.
	Lower, Upper, Step *big.Rat

	// The distinct non-NULL values of a column of a public table.
	FromTable  *Table
	FromColumn *Column
}
