package check

import (
	"context"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
)

// An Unread column holds values of which none can be read as its declared type: for
// every statement it is NULL, and no statement says so. One with Damage makes every
// statement fail that reads it, which suspends the domain.
type Unread struct {
	Table, Column, Type string
	Values              int64 // not counted where there is Damage
	Damage              string
	Derived             bool // from values of which its expression makes none
}

func (u Unread) String() string {
	if u.Damage != "" {
		return fmt.Sprintf("%s.%s: %s", u.Table, u.Column, u.Damage)
	}
	if u.Derived {
		return fmt.Sprintf("%s.%s, whose expression has no value in any record", u.Table, u.Column)
	}
	return fmt.Sprintf("%s.%s, none of whose values is of type %s", u.Table, u.Column, u.Type)
}

// Shut is a table whose file cannot be opened now, why, and what to do: nothing is known of
// its columns.
type Shut struct {
	Table *catalog.Table
	Why   string
}

// FindUnread returns the columns of which nothing can be read, and the tables that are shut. A
// statement over these is refused before it is charged, so that they stand in nobody's way; a
// file may come later. It tells watch, if it is not nil, what it is at.
func FindUnread(ctx context.Context, c *catalog.Catalog, o engine.Owner, watch func(Progress)) (all []Unread, shut []Shut, err error) {
	s := &sources{owner: o, dialect: dialectOf(c), attached: map[string]string{}, watch: watch}
	defer s.detach(ctx)
	for i, t := range c.Tables {
		s.now = Progress{Table: t.Name, At: i + 1, Tables: len(c.Tables)}
		if t.Mapping != nil {
			continue
		}
		src, err := s.open(ctx, t)
		if ctx.Err() != nil {
			return nil, nil, fmt.Errorf("read table %s: %w", t.Name, context.Cause(ctx))
		}
		if err != nil {
			shut = append(shut, Shut{t, err.Error()})
			continue
		}
		var counts []string
		for i := range t.Columns { // the hash makes the reader read values that a count alone need not
			counts = append(counts, fmt.Sprintf("count(r%d)", i), fmt.Sprintf("count(v%d)", i))
			if !s.dialect.remote() {
				counts = append(counts, fmt.Sprintf("max(hash(r%d))", i))
			}
		}
		s.tell("comparing columns", 0, 0)
		k := &checker{ctx: ctx, owner: o}
		row, err := k.row("SELECT " + strings.Join(counts, ", ") + " FROM (" + src.relation + ") AS t")
		if ctx.Err() != nil {
			return nil, nil, fmt.Errorf("read table %s: %w", t.Name, context.Cause(ctx))
		}
		if err != nil {
			columns, err := damaged(ctx, o, t)
			if err != nil {
				return nil, nil, fmt.Errorf("read table %s: %w", t.Name, err)
			}
			for _, d := range columns {
				all = append(all, Unread{Table: t.Name, Column: d.column, Damage: d.why})
			}
			continue
		}
		each := len(counts) / len(t.Columns)
		for i, column := range t.Columns {
			if present := integer(row[each*i]); present > 0 && integer(row[each*i+1]) == 0 {
				all = append(all, Unread{Table: t.Name, Column: column.Name, Type: column.Type.String(), Values: present, Derived: column.Is != nil})
			}
		}
	}
	return all, shut, nil
}
