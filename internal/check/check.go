// Package check holds a catalog against the files it names, for the owner.
//
// Its report is exact: counts and quantiles of private data without noise. It
// is for the owner's eyes alone, and no part of it reaches an analyst: the
// query path imports neither this package nor engine.Owner. It reports no
// smallest or largest value of a column, so that none is copied into a bound:
// a bound taken from the data tells of the data, and no budget pays for it.
//
// It does not guarantee that a catalog without findings is a wise one.
package check

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/datafile"
)

// A Report is what a catalog's files are, beside what it says of them.
type Report struct {
	Catalog string   `json:"catalog"`
	Notice  string   `json:"notice"`
	Tables  []*Table `json:"tables"`
}

// Notice stands in every report.
const Notice = "These figures are exact and private: they carry no noise and are for the owner alone. " +
	"Do not fit bounds to them: a bound copied from the extremes of the data reveals data, and no budget pays for it."

// A Severity says what a finding means for statements.
type Severity string

const (
	// Problem: statements over the table fail or see nothing.
	Problem Severity = "problem"
	// Warning: answers are worse, or mean less, than the owner may think.
	Warning Severity = "warning"
)

// A Finding is one thing that is not as the catalog says.
type Finding struct {
	Severity Severity `json:"severity"`
	Column   string   `json:"column,omitempty"`
	Message  string   `json:"message"`
}

// A Table reports on one table.
type Table struct {
	Name      string    `json:"name"`
	Source    string    `json:"source"`
	Findings  []Finding `json:"findings"`
	Files     *Files    `json:"files,omitempty"` // of a pattern
	Rows      int64     `json:"rows"`
	Malformed int64     `json:"malformed_records"` // CSV, JSON lines
	Columns   []*Column `json:"columns"`
	Units     *Units    `json:"units,omitempty"` // private tables
	// Copies are what discreet prepare has made of it, if there is a folder for copies.
	Copies []engine.Copy `json:"copies,omitempty"`
}

// Files are those that a pattern names.
type Files struct {
	Count      int      `json:"count"`
	Partitions int      `json:"partitions,omitempty"` // folders that differ in the values of the keys
	LeftOut    []string `json:"left_out,omitempty"`   // names that begin with a dot or an underscore
	Packed     []string `json:"packed,omitempty"`     // names that match but for .gz or .zst
}

// A Column counts rows by what their field holds.
type Column struct {
	Name       string `json:"name"`
	Type       string `json:"type"`
	FileType   string `json:"file_type,omitempty"` // Parquet, DuckDB: as the engine names it
	Derived    bool   `json:"derived,omitempty"`   // computed from other columns
	Null       int64  `json:"null"`                // no value in the file; of a derived column, in one that it is computed from
	Unreadable int64  `json:"unreadable"`          // a value, but not of the declared type, or none that can be computed: NULL for statements
	Below      int64  `json:"below_lower"`
	Above      int64  `json:"above_upper"`
	Outside    int64  `json:"outside_domain"` // of the public domain: dropped where it is the group
	// ClampLoss is the part of the sum of absolute values that clamping to the
	// bounds takes away or adds, 0 to 1 and more; null without bounds.
	ClampLoss *float64 `json:"clamp_loss"`
	// SumsOutside counts units whose sum over all rows leaves sum_lower to sum_upper.
	SumsOutside int64 `json:"sums_outside"`
}

// Units reports whose rows a private table holds.
type Units struct {
	Null       int64     `json:"null"`       // rows without a unit: excluded from every statement
	Unresolved int64     `json:"unresolved"` // rows whose reference leads to no unit: excluded too
	Rows       int64     `json:"rows"`       // the rows that statements see
	Units      int64     `json:"units"`
	PerUnit    Quantiles `json:"rows_per_unit"`
	// Groupings tell what the contribution bounds drop; none where each row is
	// a unit. The first is the table as one group.
	Groupings []Grouping `json:"groupings"`
}

// Quantiles of a count over units, or over units and groups.
type Quantiles struct {
	Median int64 `json:"median"`
	P90    int64 `json:"p90"`
	P99    int64 `json:"p99"`
	Max    int64 `json:"max"`
}

// A Grouping tells what the bounds drop when a statement groups by a column.
type Grouping struct {
	By            string    `json:"by"` // "" for no grouping
	GroupsPerUnit Quantiles `json:"groups_per_unit"`
	RowsPerGroup  Quantiles `json:"rows_per_group"` // of one unit in one group
	// DroppedByRows is the share of rows beyond max_rows_per_group, and
	// DroppedByGroups the share that max_groups_per_unit drops of the rest, on
	// average over the random choice of groups. null: the bound is not declared.
	DroppedByRows   *float64 `json:"dropped_by_max_rows_per_group"`
	DroppedByGroups *float64 `json:"dropped_by_max_groups_per_unit"`
}

// Sound reports whether no finding is a problem.
func (r *Report) Sound() bool {
	return !slices.ContainsFunc(r.Tables, func(t *Table) bool {
		return slices.ContainsFunc(t.Findings, func(f Finding) bool { return f.Severity == Problem })
	})
}

// Progress is what a check is at. It depends on private data, as the report does.
type Progress struct {
	Table      string
	At, Tables int // the table is the At-th of so many
	Doing      string
	Done, All  int64 // of what is done; All is 0 where it is not known
	Bytes      bool  // are counted, not steps
}

// Run checks every table of the catalog, and tells watch, if it is not nil, what it is at.
// What is wrong with a file is a finding; the error is that of the context.
func Run(ctx context.Context, c *catalog.Catalog, o engine.Owner, watch func(Progress)) (*Report, error) {
	r := &Report{Catalog: c.Path, Notice: Notice}
	s := &sources{owner: o, dialect: dialectOf(c), attached: map[string]string{}, watch: watch}
	defer s.detach(ctx)
	for i, t := range c.Tables {
		s.now = Progress{Table: t.Name, At: i + 1, Tables: len(c.Tables)}
		table := &Table{Name: t.Name, Source: t.Source.Text, Findings: []Finding{}}
		r.Tables = append(r.Tables, table)
		k := &checker{ctx: ctx, owner: o, sources: s, declared: t, table: table}
		if err := k.run(c); err != nil {
			if ctx.Err() != nil {
				return nil, fmt.Errorf("check table %s: %w", t.Name, context.Cause(ctx))
			}
			columns, damageErr := damaged(ctx, o, t)
			if damageErr != nil {
				return nil, fmt.Errorf("check table %s: %w", t.Name, damageErr)
			}
			for _, d := range columns {
				table.find(Problem, d.column, "%s: every statement that reads the column fails and suspends the domain; write the file anew", d.why)
			}
			if len(columns) == 0 {
				table.find(Problem, "", "the file cannot be checked: %s", firstLine(err.Error()))
			}
		}
	}
	return r, nil
}

func (t *Table) find(s Severity, column, format string, args ...any) {
	t.Findings = append(t.Findings, Finding{s, column, fmt.Sprintf(format, args...)})
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// A checker checks one table.
type checker struct {
	ctx      context.Context
	owner    engine.Owner
	sources  *sources
	declared *catalog.Table
	table    *Table
}

func (k *checker) run(c *catalog.Catalog) error {
	src, err := k.sources.open(k.ctx, k.declared)
	if err != nil {
		return err
	}
	if k.declared.Source.Pattern != nil {
		k.table.Files = &Files{Count: len(src.files.Files), Partitions: partitions(src.files.Files), LeftOut: src.files.LeftOut, Packed: src.files.Packed}
	}
	k.table.Malformed = src.malformed
	if src.malformed > 0 {
		what := "whose unreadable fields are NULL"
		if k.declared.Malformed == catalog.SkipRecord {
			what = "which are skipped"
		}
		k.table.find(Warning, "", "malformed records, %s: %d", what, src.malformed)
	}
	if src.openQuotes > 0 && !k.declared.Form.Multiline {
		k.table.find(Warning, "", "lines that leave a quote open: %d; if fields can contain line ends and every quote in the file is closed, declare csv.multiline", src.openQuotes)
	}
	for i, c := range k.declared.Columns {
		if src.hidden[i] {
			k.table.find(Warning, c.Name, "a partition, whose value is in the folders' names; the records' field of the same name is not read")
		}
	}
	k.sources.tell("comparing columns", 0, 0)
	if err := k.columns(src); err != nil {
		return err
	}
	k.sources.tell("looking for copies of keys", 0, 0)
	if err := k.keys(c); err != nil {
		return err
	}
	if k.declared.Public {
		return nil
	}
	return k.units(src.missing)
}

// partitions counts the files' distinct values of their keys.
func partitions(files []datafile.File) int {
	seen := map[string]bool{}
	for _, f := range files {
		if len(f.Values) > 0 {
			seen[fmt.Sprintf("%#v", f.Values)] = true
		}
	}
	return len(seen)
}

// row runs a query of one row.
func (k *checker) row(sql string) ([]any, error) {
	_, rows, err := k.owner.Rows(k.ctx, sql)
	if err == nil && len(rows) != 1 {
		err = fmt.Errorf("%d rows where one was expected", len(rows))
	}
	if err != nil {
		return nil, err
	}
	return rows[0], nil
}

// integer reads a count as engines return it; NULL is 0.
func integer(v any) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case int32:
		return int64(v)
	case *big.Int:
		return v.Int64()
	case float64:
		return int64(v)
	case string:
		n, _ := strconv.ParseInt(v, 10, 64)
		return n
	}
	return 0
}

// share reads a quotient; NULL is none.
func share(v any) *float64 {
	f, ok := v.(float64)
	if text, is := v.(string); is {
		var err error
		f, err = strconv.ParseFloat(text, 64)
		ok = err == nil
	}
	if ok {
		return &f
	}
	return nil
}

func quantiles(v any) (q Quantiles) {
	if text, is := v.(string); is { // an array of PostgreSQL's, or numbers of Trino's
		list := []any{}
		for _, n := range strings.Split(strings.Trim(text, "{}"), ",") {
			list = append(list, n)
		}
		v = list
	}
	if list, ok := v.([]any); ok && len(list) == 4 {
		q = Quantiles{integer(list[0]), integer(list[1]), integer(list[2]), integer(list[3])}
	}
	return q
}
