// Package render prints a plan as the SQL of an engine, with PostgreSQL's meaning.
//
// It guarantees that
//
//   - no text of the analyst's is passed on: the only names are those of the
//     catalog, quoted, and every constant is printed from its value;
//   - every expression is total: where PostgreSQL would raise an error on a
//     row's values the value is NULL, and no query fails on data;
//   - values are canonical: no −0, NaN or infinity, so that values which
//     compare equal are identical;
//   - an aggregate is the same bit for bit whatever the order of the rows and
//     the number of threads.
//
// It assumes that the tables hold canonical values, as engine.Engine promises.
// Where it knowingly departs from PostgreSQL, the differential test lists it.
package render

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/plan"
)

// Relation returns the SELECT of a plan in DuckDB's SQL: see Dialect.Relation.
func Relation(n plan.Node) (string, error) { return DuckDB.Relation(n) }

// Relation returns the SELECT of a plan. Its columns are c0, c1, ... in the
// order of the plan's.
func (d Dialect) Relation(n plan.Node) (string, error) {
	r, err := d.renderer()
	if err != nil {
		return "", err
	}
	r.loaded = true
	sql := r.relation(n)
	return sql, r.err
}

// Exprs prints expressions in DuckDB's SQL: see Dialect.Exprs.
func Exprs(exprs []plan.Expr) ([]string, error) { return DuckDB.Exprs(exprs) }

// Exprs prints expressions over the columns c0, c1, ... of one relation.
func (d Dialect) Exprs(exprs []plan.Expr) ([]string, error) {
	r, err := d.renderer()
	if err != nil {
		return nil, err
	}
	s := r.scope(column)
	out := make([]string, len(exprs))
	for i, e := range exprs {
		out[i] = s.expr(e)
	}
	return out, r.err
}

// ReleasedName returns the name of the table with which the plan.Released of
// that index is filled.
func ReleasedName(index int) string { return fmt.Sprintf("released_%d", index) }

// StageName returns the name of the table with which the plan.Stage of that index is filled where a plan above the
// releases reads it.
func StageName(index int) string { return fmt.Sprintf("stage_%d", index) }

// ReleasedColumns returns a released table's columns under the names by which
// a rendered plan refers to them.
func ReleasedColumns(cols []engine.Column) []engine.Column {
	out := make([]engine.Column, len(cols))
	for i, c := range cols {
		out[i] = engine.Column{Name: column(i), Type: c.Type}
	}
	return out
}

// A renderer prints one statement.
type renderer struct {
	dialect dialect
	bound   int      // expressions that got a name: see once
	tables  []string // the catalog's that were printed, each once
	stages  Stages
	loaded  bool // stages are tables
	found   bool // units of some table are found by a reference
	copied  bool // the table is read by its copy
	holds   bool // such tables are read by copies that hold them
	copies  []string
	err     error // the first plan that cannot be printed
}

func (r *renderer) fail(format string, args ...any) string {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
	return "NULL"
}

// column names a relation's column.
func column(i int) string { return fmt.Sprintf("c%d", i) }

// list prints "f(0), f(1), ..., f(n-1)".
func list(n int, f func(int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = f(i)
	}
	return strings.Join(parts, ", ")
}

// quote quotes an identifier.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
