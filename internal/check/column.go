package check

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
)

// columns counts, in one pass, what each column holds.
func (k *checker) columns(src *source) error {
	list, d := []string{"count(*)"}, k.sources.dialect
	for i, c := range k.declared.Columns {
		v := fmt.Sprintf("v%d", i)
		list = append(list,
			fmt.Sprintf("count(*) FILTER (WHERE r%d IS NULL)", i),
			fmt.Sprintf("count(*) FILTER (WHERE r%d IS NOT NULL AND v%d IS NULL)", i, i),
			"count(*) FILTER (WHERE "+d.below(c, v)+")",
			"count(*) FILTER (WHERE "+d.above(c, v)+")",
			k.outsideCount(c, v),
			d.clampLoss(c, v))
	}
	row, err := k.row("SELECT " + strings.Join(list, ", ") + " FROM (" + src.relation + ") AS t")
	if err != nil {
		return err
	}
	k.table.Rows = integer(row[0])
	for i, c := range k.declared.Columns {
		n := row[1+6*i:]
		col := &Column{
			Name: c.Name, Type: c.Type.String(), FileType: src.types[i], Derived: c.Is != nil,
			Null: integer(n[0]), Unreadable: integer(n[1]), Below: integer(n[2]), Above: integer(n[3]),
			Outside: integer(n[4]), ClampLoss: share(n[5]),
		}
		k.table.Columns = append(k.table.Columns, col)
		k.judge(col, src.missing[i], src.without[i])
	}
	return nil
}

// judge turns a column's counts into findings. What the file lacks is missing; of several,
// the one that is without.
func (k *checker) judge(c *Column, missing, without string) {
	present := k.table.Rows - c.Null
	kind, records, lacks := fmt.Sprintf("of type %s%s", c.Type, has(k.holder(), c.FileType)), "values", ""
	if c.Derived {
		kind, records, lacks = "to be computed", "records", fmt.Sprintf(" as %q, which it is derived from", missing)
	}
	switch {
	case missing != "" && k.declared.Source.Format == catalog.JSONLines:
		k.table.find(Problem, c.Name, "no record has this key%s", lacks)
		return
	case missing != "" && without != "":
		k.table.find(Problem, c.Name, "no such column in %s%s, so that every statement over the table is refused", without, lacks)
		return
	case missing != "":
		k.table.find(Problem, c.Name, "the %s has no such column%s", k.holder(), lacks)
		return
	case present > 0 && c.Unreadable == present:
		k.table.find(Problem, c.Name, "no value is %s", kind)
	case c.Unreadable > 0:
		k.table.find(Warning, c.Name, "not %s, so NULL for statements: %s", kind, of(c.Unreadable, present, records))
	case c.Null > 0 && c.Null == k.table.Rows:
		k.table.find(Warning, c.Name, "every value is NULL")
	}
	if n := c.Below + c.Above; n > 0 {
		k.table.find(Warning, c.Name, "outside the bounds, so clamped: %s", of(n, present, "values"))
	}
	if c.Outside > 0 {
		k.table.find(Warning, c.Name, "outside the public domain, so dropped where it is grouped by: %s", of(c.Outside, present, "values"))
	}
}

func has(holder, native string) string {
	if native == "" {
		return ""
	}
	return ", the " + holder + " has " + native
}

// holder is what holds the records.
func (k *checker) holder() string {
	if k.declared.Source.Format == catalog.Relation {
		return "table"
	}
	return "file"
}

// of prints a count and its share, which it rounds neither to nothing nor to all.
func of(n, total int64, what string) string {
	p := 100 * float64(n) / float64(max(total, 1))
	share := fmt.Sprintf("%.3g%%", p)
	if p < 0.1 {
		share = "less than 0.1%"
	} else if p > 99.9 && n < total {
		share = "more than 99.9%"
	}
	return fmt.Sprintf("%d of %d %s (%s)", n, total, what, share)
}

func (d dialect) below(c *catalog.Column, v string) string {
	if c.Lower == nil {
		return "false"
	}
	return v + " < " + d.constant(c.Lower, c.Type)
}

func (d dialect) above(c *catalog.Column, v string) string {
	if c.Upper == nil {
		return "false"
	}
	return v + " > " + d.constant(c.Upper, c.Type)
}

// clampLoss is what clamping changes in the sum, as a share of it.
func (d dialect) clampLoss(c *catalog.Column, v string) string {
	if c.Lower == nil || !c.Type.IsNumeric() {
		return "CAST(NULL AS DOUBLE PRECISION)"
	}
	x := cast(v, d.number())
	clamped := fmt.Sprintf("least(greatest(%s, %s), %s)", x, cast(d.constant(c.Lower, c.Type), d.number()), cast(d.constant(c.Upper, c.Type), d.number()))
	return fmt.Sprintf("sum(abs(%s - %s)) / nullif(sum(abs(%s)), 0)", x, clamped, x)
}

// outside is the condition that a value is not in the column's public domain;
// "" where that takes another table.
func (d dialect) outside(c *catalog.Column, v string) string {
	public := c.Domain
	switch {
	case public == nil:
		return "false"
	case public.FromTable != nil:
		return ""
	case public.Step != nil:
		lo := d.constant(c.Lower, c.Type)
		step := fmt.Sprintf("CAST('%s' AS %s)", public.Step.FloatString(int(c.Type.Scale)), d.wide(c.Type))
		return fmt.Sprintf("(%s OR %s OR (%s - %s) %% %s <> 0)", d.below(c, v), d.above(c, v), cast(v, d.wide(c.Type)), lo, step)
	}
	var list []string
	for _, value := range public.Values {
		list = append(list, d.constant(value, c.Type))
	}
	return fmt.Sprintf("%s NOT IN (%s)", v, strings.Join(list, ", "))
}

// outsideCount counts the values outside the public domain.
func (k *checker) outsideCount(c *catalog.Column, v string) string {
	if condition := k.sources.dialect.outside(c, v); condition != "" {
		return "count(*) FILTER (WHERE " + condition + ")"
	}
	public, err := k.publicValues(c)
	if err != nil { // reported with the public table
		return "0"
	}
	return fmt.Sprintf("count(*) FILTER (WHERE %s IS NOT NULL AND %s NOT IN (%s))", v, v, public)
}

// publicValues selects the values of a public domain that a table holds.
func (k *checker) publicValues(c *catalog.Column) (string, error) {
	src, err := k.sources.open(k.ctx, c.Domain.FromTable)
	if err != nil {
		return "", err
	}
	v := valueOf(c.Domain.FromTable, c.Domain.FromColumn)
	return fmt.Sprintf("SELECT %s FROM (%s) AS t WHERE %s IS NOT NULL", v, src.relation, v), nil
}

// valueOf names a column's typed value in its table's relation.
func valueOf(t *catalog.Table, c *catalog.Column) string {
	for i := range t.Columns {
		if t.Columns[i] == c {
			return fmt.Sprintf("v%d", i)
		}
	}
	panic("check: column of another table")
}
