package discreet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

// measure runs the releases and their noise, and the post-processing.
func (db *Database) measure(ctx context.Context, s *statement, c *compiled) (*Answer, error) {
	tables, err := db.release(ctx, s, c, nil)
	if err != nil {
		return nil, err
	}
	return db.answer(ctx, s, c, tables)
}

// A releasedTable is what the post-processing reads of a release.
type releasedTable struct {
	columns []engine.Column
	rows    [][]sqltype.Value
}

// setSalts are the salts of grouping sets: each unit keeps the same groups and rows at all sets
// of a SELECT, so that what they say adds up.
type setSalts map[*plan.Sets]int64

// of is the salt of a release, for which one was drawn.
func (s setSalts) of(r *stability.Release, drawn int64) int64 {
	if r.Sets == nil {
		return drawn
	}
	if _, ok := s[r.Sets]; !ok {
		s[r.Sets] = drawn
	}
	return s[r.Sets]
}

// release runs the releases and their noise, all over one state of the data. What is kept of a
// pilot's is kept, if anything is.
func (db *Database) release(ctx context.Context, s *statement, c *compiled, keep *keptTables) (_ []releasedTable, err error) {
	bits := entropy.New()
	published, salts := make([]*release.Table, len(c.queries)), setSalts{}
	data := engine.Current(db.config.Engine)
	if s.asks(c) > 1 {
		if data, err = engine.Fixed(ctx, db.config.Engine, c.reads()); err != nil {
			return nil, err
		}
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	stages := maps.Clone(c.known)
	for i, q := range c.queries {
		trees := c.trees[i]
		if below := stability.StagesOf(s.certificate.Releases[i].Input); len(below) > 0 {
			if err := db.fillStages(ctx, s, c, below, published[:i], stages); err != nil {
				return nil, err
			}
			if q, trees, err = db.over(s, c, i, stages); err != nil {
				return nil, err
			}
		}
		salt, err := bits.Uint64()
		if err != nil {
			return nil, err
		}
		q.Salt = salts.of(s.certificate.Releases[i], keep.salt(i, int64(salt>>1)))
		exact := engine.NewExact(nil) // enough where nothing but the public domain is asked
		if s.needs(i, q) {
			if exact, err = data.Exact(ctx, q); err != nil {
				return nil, err
			}
		}
		leaves := make([]*engine.Exact, len(trees))
		for j, tree := range trees {
			tree.Salt = q.Salt // so that the same groups are kept of each unit
			if leaves[j], err = data.Exact(ctx, tree); err != nil {
				return nil, err
			}
		}
		if published[i], err = s.design.Releases[i].Publish(exact, c.domains[i], bits, leaves...); err != nil {
			return nil, err
		}
		keep.table(published[i])
	}
	return s.tables(published)
}

// needs reports whether a release needs what its query finds: not where it has none, or nothing but the
// public domain is asked.
func (s *statement) needs(i int, q engine.Query) bool {
	r := s.design.Releases[i]
	return q.SQL != "" && (r.Private || len(r.Components) > 0)
}

// asks is how many queries the engine is asked.
func (s *statement) asks(c *compiled) (n int) {
	for i, q := range c.queries {
		if n += len(c.trees[i]); s.needs(i, q) {
			n++
		}
	}
	return n
}

// tables are the released tables with the intervals that post-processing needs.
func (s *statement) tables(published []*release.Table) ([]releasedTable, error) {
	sizes := make([]int, len(published))
	for i, t := range published {
		sizes[i] = t.Len()
	}
	if s.consistent { // as the intervals of s.post assume
		release.Consistent(published)
	}
	tables := make([]releasedTable, len(published))
	for i, t := range published {
		var err error
		if tables[i].columns, tables[i].rows, err = t.Rows(s.confidence, s.post.Divided(sizes), s.post.Sums(i)...); err != nil {
			return nil, err
		}
	}
	return tables, nil
}

// answer computes the post-processing over released and public tables.
func (db *Database) answer(ctx context.Context, s *statement, c *compiled, tables []releasedTable) (*Answer, error) {
	rows, err := db.postProcess(ctx, s, c, tables)
	if err != nil {
		return nil, err
	}
	confidence, _ := s.confidence.Float64()
	a := &Answer{Columns: s.columns(), Rows: make([][]sqltype.Value, len(rows)), Intervals: make([][]*Interval, len(rows)),
		Confidence: confidence, Mechanisms: s.mechanisms(), Kept: s.post.Kept, Notes: s.notes(), Statement: s.text}
	for i, row := range rows {
		a.Rows[i] = row[:s.post.Width:s.post.Width]
		a.Intervals[i] = make([]*Interval, s.post.Width)
		for j, col := range s.post.Columns {
			if col.Lower >= 0 && row[j] != nil && row[col.Lower] != nil && row[col.Upper] != nil {
				a.Intervals[i][j] = &Interval{row[col.Lower], row[col.Upper]}
			}
		}
	}
	a.Notes = append(append(a.Notes, db.moving(c)...), a.unbounded()...)
	return a, nil
}

// moving notes the tables that were read several times, each time perhaps in another state.
func (db *Database) moving(c *compiled) (notes []string) {
	u, ok := db.config.Engine.(engine.Unsteady)
	if !ok {
		return nil
	}
	for _, name := range u.Moving(c.reads()) {
		if t, ok := db.config.Catalog.Table(name); ok && t.Mapping != nil {
			notes = append(notes, fmt.Sprintf("%s: records of different units may be of different moments: the engine has no snapshots of %s", name, t.Mapping.Of.Name))
			continue
		}
		readings, quoted := 0, `"`+strings.ReplaceAll(name, `"`, `""`)+`"`
		for _, q := range slices.Concat(append(slices.Clone(c.trees), c.queries)...) {
			readings += strings.Count(q.SQL, quoted)
		}
		if readings > 1 {
			notes = append(notes, fmt.Sprintf("%s: its %d readings may have seen different states of it: the engine has no snapshots of this table", name, readings))
		}
	}
	return notes
}

func (db *Database) postProcess(ctx context.Context, s *statement, c *compiled, tables []releasedTable) (_ [][]sqltype.Value, err error) {
	if c.post == "" {
		rows := tables[0].rows
		for i, row := range rows {
			picked := make([]sqltype.Value, len(c.pick))
			for j, at := range c.pick {
				picked[j] = row[at]
			}
			rows[i] = picked
		}
		return rows, nil
	}
	scratch, err := db.config.Engine.Scratch(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, scratch.Close()) }()
	for i, t := range tables {
		if err := scratch.Load(ctx, render.ReleasedName(i), render.ReleasedColumns(t.columns), t.rows); err != nil {
			return nil, err
		}
	}
	if err := c.load(ctx, scratch, s.post.Plan); err != nil {
		return nil, err
	}
	if err := db.loadPublic(ctx, scratch, c.public); err != nil {
		return nil, err
	}
	var types []sqltype.Type
	for _, col := range s.post.Plan.Columns() {
		types = append(types, col.Type)
	}
	return scratch.Query(ctx, c.post, types)
}
