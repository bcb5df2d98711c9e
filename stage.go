package discreet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

// A stage is computed from releases for the ones after them, in a scratch instance: see stability.Stage. One over no release is
// computed where the statement is compiled.
type stage struct {
	sql    string   // of at most one row more than a stage may have
	public []string // tables that it reads
}

// errStage is of a stage that has more rows than constants may stand in a statement. How many it has follows from what was
// released before it.
var errStage = fmt.Errorf("a release on which another depends has more than %d rows, or too long texts: %w", stability.MaxStage, engine.ErrTooLarge)

// releasedIn are the numbers of the releases that n reads, each once.
func releasedIn(n plan.Node, seen []int) []int {
	if r, ok := n.(*plan.Released); ok && !slices.Contains(seen, r.Index) {
		seen = append(seen, r.Index)
	}
	for _, in := range n.Inputs() {
		seen = releasedIn(in, seen)
	}
	return seen
}

// numberStages computes the stages that are public. Their rows are part of what is compiled.
func (db *Database) numberStages(ctx context.Context, s *statement, c *compiled) error {
	for i, of := range s.certificate.Stages {
		sql, err := render.Relation(&plan.Limit{Input: of.Plan, Count: stability.MaxStage + 1})
		if err != nil {
			return fmt.Errorf("render stage: %w", err)
		}
		c.stages = append(c.stages, stage{sql, scans(of.Plan, nil)})
		if !of.Public() {
			continue
		}
		if db.config.Engine == nil {
			return errors.New("read public rows: no engine")
		}
		rows, err := db.computeStage(ctx, s, c, i, nil)
		if err != nil {
			return fmt.Errorf("read public rows: %w", err)
		}
		if len(rows) > stability.MaxStage {
			return in(manyNamed(of.Plan, fmt.Sprintf("more than %d keys", stability.MaxStage)), s.text)
		}
		c.known[i] = canonical(rows)
	}
	return nil
}

func (c *compiled) isKnown(stage int) bool {
	_, ok := c.known[stage]
	return ok
}

// manyNamed refuses public rows that name too many groups, or by too long texts.
func manyNamed(n plan.Node, what string) error {
	return diagnostic.New("D051", n.Place(), "public rows name groups by %s", what).
		Because("they stand as constants in the statement that reads the private rows").
		Try("keep fewer of the public rows, or group by a coarser key")
}

// refuseStages refuses stages that have too many rows whatever is released.
func (c *compiled) refuseStages(of *stability.Certificate) error {
	groups := func(i int) int64 {
		if of.Releases[i].Private {
			return 0
		}
		all := int64(1)
		for j, values := range c.domains[i] {
			if of.Releases[i].Chosen && j == len(c.domains[i])-1 {
				break // one of them
			}
			all *= int64(len(values)) // bounded by compile
		}
		return all
	}
	for _, s := range of.Stages {
		if err := s.Refused(groups); err != nil {
			return err
		}
	}
	return nil
}

// fillStages computes stages that are not known yet from what is published.
func (db *Database) fillStages(ctx context.Context, s *statement, c *compiled, numbers []int, published []*release.Table, known render.Stages) error {
	for _, i := range numbers {
		if _, ok := known[i]; ok {
			continue
		}
		rows, err := db.computeStage(ctx, s, c, i, published)
		if err != nil {
			return err
		}
		if len(rows) > stability.MaxStage {
			return errStage
		}
		if s.certificate.Stages[i].One && len(rows) != 1 {
			return errors.New("a stage of one row has another number of rows")
		}
		known[i] = canonical(rows)
	}
	return nil
}

// computeStage computes one over what is published: its values, without intervals.
func (db *Database) computeStage(ctx context.Context, s *statement, c *compiled, number int, published []*release.Table) (_ [][]sqltype.Value, err error) {
	of := s.certificate.Stages[number]
	scratch, err := db.config.Engine.Scratch(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, scratch.Close()) }()
	if s.consistent {
		release.Consistent(published)
	}
	for _, i := range releasedIn(of.Plan, nil) {
		t := published[i]
		columns, rows, err := t.Rows(s.confidence, nil)
		if err != nil {
			return nil, err
		}
		if err := scratch.Load(ctx, render.ReleasedName(i), render.ReleasedColumns(columns), rows); err != nil {
			return nil, err
		}
	}
	if err := c.load(ctx, scratch, of.Plan); err != nil {
		return nil, err
	}
	if err := db.loadPublic(ctx, scratch, c.stages[number].public); err != nil {
		return nil, err
	}
	var types []sqltype.Type
	for _, col := range of.Plan.Columns() {
		types = append(types, col.Type)
	}
	return scratch.Query(ctx, c.stages[number].sql, types)
}

// load fills a scratch instance with the public stages that a plan reads.
func (c *compiled) load(ctx context.Context, scratch engine.Scratch, n plan.Node) error {
	for i, t := range stagesIn(n, map[int]engine.Table{}) {
		if err := scratch.Load(ctx, t.Name, t.Columns, c.known[i]); err != nil {
			return err
		}
	}
	return nil
}

// stagesIn adds the stages that a plan reads in a scratch instance, as tables.
func stagesIn(n plan.Node, seen map[int]engine.Table) map[int]engine.Table {
	if s, ok := n.(*plan.Stage); ok {
		seen[s.Index] = engine.Table{Name: render.StageName(s.Index), Columns: unnamed(s.Cols)}
	}
	for _, in := range n.Inputs() {
		seen = stagesIn(in, seen)
	}
	return seen
}

// unnamed are columns as a scratch instance has them of what is no table of the catalog.
func unnamed(cols []plan.Column) []engine.Column {
	columns := make([]engine.Column, len(cols))
	for i, c := range cols {
		columns[i].Type = c.Type
	}
	return render.ReleasedColumns(columns)
}

// canonical makes values such as constants may be: a number that is none is NULL, and 0 has no sign. No computed value is
// otherwise; a constant that broke the statement over it would do so after its charge.
func canonical(rows [][]sqltype.Value) [][]sqltype.Value {
	for _, row := range rows {
		for i, v := range row {
			if x, ok := v.(float64); ok {
				if row[i] = x + 0; math.IsNaN(x) || math.IsInf(x, 0) {
					row[i] = nil
				}
			}
		}
	}
	return rows
}

// over renders the queries of a release over the constants of its stages. Nothing else of them differs from those that
// were compiled: bounds, domains and types are the certificate's.
func (db *Database) over(s *statement, c *compiled, number int, stages render.Stages) (query engine.Query, trees []engine.Query, err error) {
	r, dialect := s.certificate.Releases[number], db.dialect()
	if rewrite.Summed(r) {
		if query, err = dialect.ReleaseOver(rewrite.Release(r, c.bounding[number]), stages); err != nil {
			return query, nil, fmt.Errorf("render release: %w", err)
		}
	}
	for _, b := range rewrite.Trees(r, c.bounding[number]) {
		tree, err := dialect.ReleaseOver(b, stages)
		if err != nil {
			return query, nil, fmt.Errorf("render release: %w", err)
		}
		trees = append(trees, tree)
	}
	for _, q := range append(trees[:len(trees):len(trees)], query) {
		if len(q.SQL) > mostSQL(dialect) {
			return query, nil, errStage
		}
	}
	return query, trees, nil
}

// mostSQL bounds the text of a statement with constants, of which texts may be long: beyond it an engine fails, or takes long to read it.
func mostSQL(d render.Dialect) int {
	if d == render.Trino { // whose query.max-length is a million
		return 900_000
	}
	return 16 << 20
}
