package check

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
)

// Parallel are a database and its parallel ones: each lacks one unit of a domain. It
// is for the owner's audits, exact and private like all of this package.
type Parallel struct {
	owner   engine.Owner
	tables  map[string]string // the copy of each private table, with each row's unit
	removed string            // the unit that is away
}

// The copies' column of units, and the table with the unit that is away.
const (
	unitColumn   = "discreet_unit"
	removedTable = "discreet_removed"
)

// NewParallel copies tables of one domain, and public ones, to where an owner's SQL
// finds them by their names in the catalog, with the columns that it declares and the
// rows that statements see.
func NewParallel(ctx context.Context, o engine.Owner, tables []*catalog.Table) (*Parallel, error) {
	p := &Parallel{owner: o, tables: map[string]string{}}
	s := &sources{owner: o, attached: map[string]string{}}
	defer s.detach(ctx)
	if err := p.do(ctx, "CREATE TABLE "+removedTable+" AS SELECT NULL::VARCHAR AS u"); err != nil {
		return nil, err
	}
	var domain *catalog.Domain
	for i, t := range tables {
		if t.Mapping != nil {
			return nil, fmt.Errorf("table %q: its rows are made by code", t.Name)
		}
		if !t.Public && domain != nil && domain != t.Domain {
			return nil, fmt.Errorf("tables of domains %q and %q: one has no unit of the other", domain.ID, t.Domain.ID)
		}
		if err := p.copy(ctx, s, t, fmt.Sprintf("discreet_copy_%d", i)); err != nil {
			return nil, err
		}
		if !t.Public {
			domain = t.Domain
		}
	}
	return p, nil
}

// copy makes a table's copy, and the view of it that SQL finds.
func (p *Parallel) copy(ctx context.Context, s *sources, t *catalog.Table, name string) error {
	k := &checker{ctx: ctx, owner: p.owner, sources: s, declared: t}
	var rows string
	unit, where := "NULL", ""
	if t.Public {
		src, err := s.open(ctx, t)
		if err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
		rows = src.relation
	} else {
		var err error
		if rows, err = k.withUnit(t); err != nil {
			return err
		}
		unit, where = "u", " WHERE u IS NOT NULL"
	}
	var columns, values []string
	for i, c := range t.Columns {
		columns = append(columns, quote(c.Name))
		values = append(values, fmt.Sprintf("v%d AS %s", i, quote(c.Name)))
	}
	err := p.do(ctx, fmt.Sprintf("CREATE TABLE %s AS SELECT %s, CAST(%s AS VARCHAR) AS %s FROM (%s)%s",
		name, strings.Join(values, ", "), unit, unitColumn, rows, where))
	if err != nil {
		return err
	}
	seen := ""
	if !t.Public {
		p.tables[t.Name] = name
		seen = " WHERE " + unitColumn + " IS DISTINCT FROM (SELECT u FROM " + removedTable + ")"
	}
	return p.do(ctx, fmt.Sprintf("CREATE VIEW %s AS SELECT %s FROM %s%s", quote(t.Name), strings.Join(columns, ", "), name, seen))
}

func (p *Parallel) do(ctx context.Context, sql string, args ...any) error {
	_, _, err := p.owner.Rows(ctx, sql, args...)
	return err
}

// Units returns at most limit units that have rows in the private tables, chosen by a
// hash, and how many there are.
func (p *Parallel) Units(ctx context.Context, limit int) (units []string, all int, err error) {
	var each []string
	for _, copied := range p.tables {
		each = append(each, "SELECT "+unitColumn+" AS u FROM "+copied)
	}
	if each == nil {
		return nil, 0, nil
	}
	from := " FROM (SELECT DISTINCT u FROM (" + strings.Join(each, " UNION ALL ") + "))"
	_, rows, err := p.owner.Rows(ctx, "SELECT count(*)"+from)
	if err != nil {
		return nil, 0, err
	}
	all = int(integer(rows[0][0]))
	if _, rows, err = p.owner.Rows(ctx, "SELECT u"+from+" ORDER BY hash(u), u LIMIT ?", limit); err != nil {
		return nil, 0, err
	}
	for _, row := range rows {
		units = append(units, row[0].(string))
	}
	return units, all, nil
}

// ErrShape is returned for a statement whose result is not one row of numbers.
var ErrShape = errors.New("the result is not one row of numbers")

// Values runs a statement of the owner's, in the engine's SQL, without a unit ("" for
// none), and returns the numbers of its one row. NULL, as of a sum over no rows, is 0.
func (p *Parallel) Values(ctx context.Context, statement, without string) ([]float64, error) {
	if without != p.removed {
		var u any
		if without != "" {
			u = without
		}
		if err := p.do(ctx, "UPDATE "+removedTable+" SET u = ?", u); err != nil {
			return nil, err
		}
		p.removed = without
	}
	_, rows, err := p.owner.Rows(ctx, "SELECT CAST(COLUMNS(*) AS DOUBLE) FROM (\n"+strings.TrimRight(statement, "; \t\r\n")+"\n) AS result LIMIT 2")
	if err != nil {
		return nil, err
	}
	if len(rows) != 1 {
		return nil, ErrShape
	}
	values := make([]float64, len(rows[0]))
	for i, v := range rows[0] {
		if f, ok := v.(float64); ok {
			values[i] = f
		}
	}
	return values, nil
}

// Bits returns, of at most limit units of a private table, chosen by a hash, whether
// any of their rows meets a condition.
func (p *Parallel) Bits(ctx context.Context, table, condition string, limit int) ([]bool, error) {
	_, rows, err := p.owner.Rows(ctx, fmt.Sprintf("SELECT coalesce(bool_or(\n%s\n), false) FROM %s GROUP BY %s ORDER BY hash(%s), %s LIMIT ?",
		condition, p.tables[table], unitColumn, unitColumn, unitColumn), limit)
	if err != nil {
		return nil, err
	}
	bits := make([]bool, len(rows))
	for i, row := range rows {
		bits[i], _ = row[0].(bool)
	}
	return bits, nil
}
