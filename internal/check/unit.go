package check

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/sqltype"
)

// keys checks the columns that other tables refer to, and those that hold
// public domains.
func (k *checker) keys(c *catalog.Catalog) error {
	for _, col := range k.declared.Columns {
		var effects []string // of a value that stands there more than once
		isDomain := false
		for _, t := range c.Tables {
			if t.Unit.Referred == col {
				effects = append(effects, fmt.Sprintf("rows of %q that refer to it are copied, each copy with its unit", t.Name))
			}
			for _, other := range t.Columns {
				if other.Domain != nil && other.Domain.FromColumn == col {
					effects = append(effects, fmt.Sprintf("the public domain of %q holds it once", t.Name+"."+other.Name))
					isDomain = true
				}
			}
		}
		if len(effects) == 0 {
			continue
		}
		if err := k.key(col, effects, isDomain); err != nil {
			return err
		}
	}
	return nil
}

// key counts the distinct values of a column and those that are not unique.
func (k *checker) key(col *catalog.Column, effects []string, isDomain bool) error {
	src, err := k.sources.open(k.ctx, k.declared)
	if err != nil {
		return err
	}
	v := valueOf(k.declared, col)
	row, err := k.row(fmt.Sprintf("SELECT count(*), count(*) FILTER (WHERE n > 1) FROM (SELECT %s, count(*) AS n FROM (%s) AS t WHERE %s IS NOT NULL GROUP BY 1) AS t",
		v, src.relation, v))
	if err != nil {
		return err
	}
	size, twice := integer(row[0]), integer(row[1])
	for _, effect := range effects {
		if twice > 0 {
			k.table.find(Warning, col.Name, "not unique, %s: %s", effect, of(twice, size, "distinct values"))
		}
	}
	if isDomain && (size == 0 || size > catalog.MaxDomain) {
		k.table.find(Problem, col.Name, "a public domain of %d values: it must have between 1 and %d", size, catalog.MaxDomain)
	}
	return nil
}

// withUnit selects a table's rows with their unit as u, and the column that
// names it or leads to it as key.
func (k *checker) withUnit(t *catalog.Table) (string, error) {
	src, err := k.sources.open(k.ctx, t)
	if err != nil {
		return "", fmt.Errorf("table %s: %w", t.Name, err)
	}
	switch t.Unit.Kind {
	case catalog.UnitRow:
		u := "row_number() OVER ()"
		if k.sources.dialect.kind == catalog.Trino { // to number them, one worker would be sent them all
			u = "1"
		}
		return fmt.Sprintf("SELECT *, 0 AS key, %s AS u FROM (%s) AS t", u, src.relation), nil
	case catalog.UnitColumn:
		v := valueOf(t, t.Unit.Column)
		return fmt.Sprintf("SELECT *, %s AS key, %s AS u FROM (%s) AS t", v, v, src.relation), nil
	}
	owner, err := k.withUnit(t.Unit.References)
	if err != nil {
		return "", err
	}
	v := valueOf(t, t.Unit.Column)
	return fmt.Sprintf("SELECT s.*, s.%s AS key, o.u AS u FROM (%s) s LEFT JOIN (SELECT %s AS referred, u FROM (%s) AS t) o ON s.%s = o.referred",
		v, src.relation, valueOf(t.Unit.References, t.Unit.Referred), owner, v), nil
}

// units reports whose rows the table holds and what the bounds do to them.
func (k *checker) units(missing []string) error {
	rows, err := k.withUnit(k.declared)
	if err != nil {
		return err
	}
	list := []string{
		"count(*) FILTER (WHERE key IS NULL)", "count(*) FILTER (WHERE key IS NOT NULL AND u IS NULL)",
		"count(*) FILTER (WHERE u IS NOT NULL)", "count(DISTINCT u)",
	}
	if k.declared.Unit.Kind == catalog.UnitRow {
		list[3] = "count(*)"
	}
	row, err := k.row("SELECT " + strings.Join(list, ", ") + " FROM (" + rows + ") AS t")
	if err != nil {
		return err
	}
	u := &Units{Null: integer(row[0]), Unresolved: integer(row[1]), Rows: integer(row[2]), Units: integer(row[3]), Groupings: []Grouping{}}
	k.table.Units = u
	k.judgeUnits(u)
	if k.declared.Unit.Kind == catalog.UnitRow {
		u.PerUnit = Quantiles{1, 1, 1, 1}
		return nil
	}
	steps := int64(1 + 2*len(k.declared.Columns))
	k.sources.tell("counting units", 0, steps)
	all, err := k.grouping(rows, "", "0", "false")
	if err != nil {
		return err
	}
	u.PerUnit = all.RowsPerGroup
	u.Groupings = append(u.Groupings, all)
	for i, c := range k.declared.Columns {
		k.sources.tell("counting units by "+c.Name, int64(1+i), steps)
		if missing[i] != "" || c == k.declared.Unit.Column || c.Domain == nil && c.Type.Kind != sqltype.Text && c.Type.Kind != sqltype.Boolean {
			continue
		}
		v := fmt.Sprintf("v%d", i)
		dropped := k.sources.dialect.outside(c, v)
		if dropped == "" {
			public, err := k.publicValues(c)
			if err != nil {
				continue // reported with the public table
			}
			dropped = fmt.Sprintf("%s NOT IN (%s)", v, public)
		}
		if c.Domain != nil { // NULL is in no public domain
			dropped = fmt.Sprintf("%s IS NULL OR %s", v, dropped)
		}
		g, err := k.grouping(rows, c.Name, v, dropped)
		if err != nil {
			return err
		}
		u.Groupings = append(u.Groupings, g)
	}
	for i, c := range k.declared.Columns {
		k.sources.tell("adding up "+c.Name, int64(1+len(k.declared.Columns)+i), steps)
		if err := k.sums(rows, c, k.table.Columns[i], fmt.Sprintf("v%d", i)); err != nil {
			return err
		}
	}
	return nil
}

func (k *checker) judgeUnits(u *Units) {
	if u.Null > 0 {
		k.table.find(Warning, "", "without a unit, so excluded from every statement: %s", of(u.Null, k.table.Rows, "rows"))
	}
	if u.Unresolved > 0 {
		k.table.find(Warning, "", "refer to no unit, so excluded from every statement: %s", of(u.Unresolved, k.table.Rows, "rows"))
	}
	if d := k.declared.Domain; u.Units > 0 && d.Delta.Float64()*float64(u.Units) >= 0.1 {
		k.table.find(Warning, "", "delta %s of domain %q is large for %d units: it should be well below one over their number", d.Delta, d.ID, u.Units)
	}
	if (k.declared.MaxGroups == 0 || k.declared.MaxRows == 0) && k.declared.MaxUnitRows == 0 {
		k.table.find(Warning, "", "max_groups_per_unit or max_rows_per_group is not declared: statements that need it are refused")
	}
}

// grouping tells what the bounds keep when rows are grouped by an expression,
// without the rows that the condition drops. A unit with k groups keeps each
// of them with probability min(1, L0/k).
func (k *checker) grouping(rows, name, by, dropped string) (Grouping, error) {
	maxRows, maxGroups, d := k.declared.MaxRows, k.declared.MaxGroups, k.sources.dialect
	bounded := "n"
	if maxRows > 0 {
		bounded = fmt.Sprintf("least(n, %d)", maxRows)
	}
	kept := "m"
	if maxGroups > 0 {
		kept = fmt.Sprintf("m * least(1, %s / k)", cast(strconv.FormatInt(maxGroups, 10), d.number()))
	}
	row, err := k.row(fmt.Sprintf(`WITH pairs AS (
	SELECT u, %s AS g, count(*) AS n FROM (%s) AS t WHERE u IS NOT NULL AND NOT coalesce(%s, false) GROUP BY 1, 2
), units AS (
	SELECT u, count(*) AS k, sum(n) AS n, sum(%s) AS m FROM pairs GROUP BY 1
)
SELECT %s, %s, (SELECT 1 - %s / sum(n) FROM units), (SELECT 1 - %s / sum(m) FROM units)`,
		by, rows, dropped, bounded, d.quantiles("k", "units"), d.quantiles("n", "pairs"), cast("sum(m)", d.number()), cast("sum("+kept+")", d.number())))
	if err != nil {
		return Grouping{}, err
	}
	g := Grouping{By: name, GroupsPerUnit: quantiles(row[0]), RowsPerGroup: quantiles(row[1])}
	if maxRows > 0 {
		g.DroppedByRows = share(row[2])
	}
	if maxGroups > 0 {
		g.DroppedByGroups = share(row[3])
	}
	return g, nil
}

// sums counts the units whose sum leaves the declared range.
func (k *checker) sums(rows string, c *catalog.Column, report *Column, v string) error {
	if c.SumLower == nil {
		return nil
	}
	lo, _ := c.SumLower.Float64()
	hi, _ := c.SumUpper.Float64()
	d := k.sources.dialect
	clamped := cast(fmt.Sprintf("least(greatest(%s, %s), %s)", v, d.constant(c.Lower, c.Type), d.constant(c.Upper, c.Type)), d.number())
	row, err := k.row(fmt.Sprintf("SELECT count(*) FILTER (WHERE s < %v OR s > %v) FROM (SELECT sum(%s) AS s FROM (%s) AS t WHERE u IS NOT NULL AND %s IS NOT NULL GROUP BY u) AS t",
		lo, hi, clamped, rows, v))
	if err != nil {
		return err
	}
	if report.SumsOutside = integer(row[0]); report.SumsOutside > 0 {
		k.table.find(Warning, c.Name, "sums outside sum_lower and sum_upper, so clamped: %s",
			of(report.SumsOutside, k.table.Units.Units, "units"))
	}
	return nil
}
