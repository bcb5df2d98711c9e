package discreet

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

// A compiled statement has its engine queries and its public domains: all that
// can be refused has been.
type compiled struct {
	queries []engine.Query      // without SQL where a release has trees alone
	trees   [][]engine.Query    // the leaves of each release's trees
	domains [][][]sqltype.Value // by release and key
	// bounding are the domains of the keys that bound, by release: domains are some of them.
	bounding [][][]sqltype.Value
	stages   []stage
	known    render.Stages // those that are public
	post     string        // empty if the post-processing only picks columns
	pick     []int         // then: the columns of the one released table
	public   []string      // tables that the post-processing reads
}

// reads are the tables that the releases read.
func (c *compiled) reads() (tables []string) {
	for _, q := range slices.Concat(append(slices.Clone(c.trees), c.queries)...) {
		for _, t := range q.Tables {
			if !slices.Contains(tables, t) {
				tables = append(tables, t)
			}
		}
	}
	return tables
}

// dialect is that of the engine, or, where none is open, of the one that the catalog names.
func (db *Database) dialect() render.Dialect {
	if db.config.Engine != nil {
		return render.Dialect(db.config.Engine.Dialect())
	}
	return render.Dialect(db.config.Catalog.Engine.Kind)
}

func (db *Database) compile(ctx context.Context, s *statement) (*compiled, error) {
	c, dialect := &compiled{known: render.Stages{}}, db.dialect()
	if err := db.numberStages(ctx, s, c); err != nil {
		return nil, in(err, s.text)
	}
	values := 0
	for number, r := range s.certificate.Releases {
		bounding, err := db.publicValues(ctx, r, s.public, c.known)
		if err != nil {
			return nil, in(err, s.text)
		}
		domains := r.Displayed(bounding)
		cells := 0 // per group: at most 200 components, of trees their nodes; and then at most MaxCells combinations
		for i, comp := range r.Components {
			cells++
			if comp.Kind == stability.Tree {
				shape := s.design.Releases[number].Noise[i].Shape
				cells += shape.Levels * shape.Branching
			}
		}
		cells = max(1, cells)
		for _, d := range domains {
			cells *= len(d)
		}
		if values += cells; values > release.MaxValues {
			return nil, in(diagnostic.New("D051", r.Span, "the answer would have more than %d noisy values", release.MaxValues).
				Because("every combination of the keys' public domains is published, empty or not, with each aggregate").
				Try("group by fewer or coarser keys, or ask for fewer aggregates in one statement"), s.text)
		}
		var query engine.Query
		if rewrite.Summed(r) {
			if query, err = dialect.Release(rewrite.Release(r, bounding)); err != nil {
				return nil, in(fmt.Errorf("render release: %w", err), s.text)
			}
		}
		var trees []engine.Query
		for _, b := range rewrite.Trees(r, bounding) {
			tree, err := dialect.Release(b)
			if err != nil {
				return nil, in(fmt.Errorf("render release: %w", err), s.text)
			}
			trees = append(trees, tree)
		}
		c.queries, c.trees, c.domains = append(c.queries, query), append(c.trees, trees), append(c.domains, domains)
		c.bounding = append(c.bounding, bounding)
		if below := stability.StagesOf(r.Input); slices.ContainsFunc(below, c.isKnown) {
			switch _, _, err := db.over(s, c, number, c.known); {
			case errors.Is(err, engine.ErrTooLarge):
				return nil, in(manyNamed(s.certificate.Stages[below[0]].Plan, "texts that are too long together"), s.text)
			case err != nil:
				return nil, in(err, s.text)
			}
		}
	}
	if err := c.refuseStages(s.certificate); err != nil {
		return nil, in(err, s.text)
	}
	s.doubts = db.doubts(ctx, s.public, s.certificate.Doubts)
	var ok bool
	if c.pick, ok = picks(s.post.Plan); ok && len(s.certificate.Releases) == 1 {
		return c, nil
	}
	var err error
	if c.post, err = render.Relation(s.post.Plan); err != nil { // in a scratch instance
		return nil, fmt.Errorf("render post-processing: %w", err)
	}
	c.public = scans(s.post.Plan, nil)
	return c, nil
}

// doubts are those of a certificate that hold: of constants whose public domain a table lists, those that it does not list. What is public
// alone decides. A table that cannot be read leaves no doubt: that is said where it is needed.
//
// Tables are read that list a domain, which are read for groups too, and no others: those could be large.
func (db *Database) doubts(ctx context.Context, public stability.Public, all []stability.Doubt) (hold []stability.Doubt) {
	known := map[string][]sqltype.Value{} // of one statement
	for _, d := range all {
		if d.Constant == nil {
			hold = append(hold, d)
			continue
		}
		values, ok := []sqltype.Value(nil), db.config.Engine != nil
		for _, part := range d.Listed {
			if ok = ok && (part.FromTable == nil || db.listsDomain(part.FromTable)); !ok {
				break
			}
			name := ""
			if part.FromTable != nil {
				name = fmt.Sprintf("%q %q %v", part.FromTable.Name, part.FromColumn.Name, d.Constant.T)
			}
			read, is := known[name]
			if !is || name == "" {
				var err error
				if read, err = db.enumerate(ctx, public, part, d.Constant); err != nil {
					ok = false
				}
				known[name] = read
			}
			values = append(values, read...)
		}
		if said, holds := d.Listing(values); ok && holds && len(values) > 0 {
			hold = append(hold, said)
		}
	}
	return hold
}

// listsDomain reports whether a column's domain comes from a public table.
func (db *Database) listsDomain(t *catalog.Table) bool {
	return slices.ContainsFunc(db.config.Catalog.Tables, func(of *catalog.Table) bool {
		return slices.ContainsFunc(of.Columns, func(c *catalog.Column) bool { return c.Domain != nil && c.Domain.FromTable == t })
	})
}

// plannable refuses what the engine cannot plan, before anything is charged.
// Where it cannot tell, or fails at telling, nothing is decided here: the charge
// comes first, and running the statement shows it.
func (db *Database) plannable(ctx context.Context, s *statement, c *compiled) error {
	e, ok := db.config.Engine.(engine.Preparer)
	if !ok {
		return nil
	}
	prepare := e.Prepare
	try := func(sql string, tables []engine.Table) error {
		err := prepare(ctx, sql, tables)
		var d *diagnostic.Diagnostic
		switch {
		case errors.As(err, &d): // a source that cannot be opened
			return d
		case errors.Is(err, engine.ErrPlan):
			return in(diagnostic.New("D103", diagnostic.Span{}, "the engine cannot plan this statement").
				Because("the SQL that it would have to run is too deep for it, or it lacks something that the SQL uses; nothing was charged").
				Try("compute it in fewer or simpler steps; discreet explain --sql shows the engine's").By(diagnostic.AskSimpler), s.text)
		}
		return nil
	}
	for _, q := range slices.Concat(append(slices.Clone(c.trees), c.queries)...) {
		if q.SQL == "" {
			continue
		}
		if err := try(q.SQL, db.tables(q.Tables)); err != nil {
			return err
		}
	}
	prepare = func(ctx context.Context, sql string, tables []engine.Table) error {
		return engine.PreparePost(ctx, db.config.Engine, sql, tables)
	}
	for i, stage := range c.stages {
		if err := try(stage.sql, append(released(s.certificate.Stages[i].Plan, nil), db.tables(stage.public)...)); err != nil {
			return err
		}
	}
	if c.post == "" {
		return nil
	}
	return try(c.post, append(released(s.post.Plan, nil), db.tables(c.public)...))
}

// tables describes tables of the catalog.
func (db *Database) tables(names []string) []engine.Table {
	var all []engine.Table
	for _, name := range names {
		t, ok := db.config.Catalog.Table(name)
		if !ok {
			continue
		}
		described := engine.Table{Name: t.Name}
		for _, c := range t.Columns {
			described.Columns = append(described.Columns, engine.Column{Name: c.Name, Type: c.Type})
		}
		all = append(all, described)
	}
	return all
}

// released describes the released tables and stages that n reads in a scratch instance, each once.
func released(n plan.Node, seen []engine.Table) []engine.Table {
	var t engine.Table
	switch n := n.(type) {
	case *plan.Released:
		t = engine.Table{Name: render.ReleasedName(n.Index), Columns: unnamed(n.Cols)}
	case *plan.Stage:
		t = engine.Table{Name: render.StageName(n.Index), Columns: unnamed(n.Cols)}
	}
	if t.Name != "" && !slices.ContainsFunc(seen, func(known engine.Table) bool { return known.Name == t.Name }) {
		seen = append(seen, t)
	}
	for _, in := range n.Inputs() {
		seen = released(in, seen)
	}
	return seen
}

// picks reports whether n only picks columns of one released table, and which.
func picks(n plan.Node) ([]int, bool) {
	switch n := n.(type) {
	case *plan.Released:
		all := make([]int, len(n.Cols))
		for i := range all {
			all[i] = i
		}
		return all, true
	case *plan.Project:
		below, ok := picks(n.Input)
		if !ok {
			return nil, false
		}
		picked := make([]int, len(n.Exprs))
		for i, e := range n.Exprs {
			ref, ok := e.(*plan.Ref)
			if !ok {
				return nil, false
			}
			picked[i] = below[ref.Index]
		}
		return picked, true
	}
	return nil, false
}

// scans lists the tables, public ones, that n reads.
func scans(n plan.Node, seen []string) []string {
	if s, ok := n.(*plan.Scan); ok {
		for _, name := range seen {
			if name == s.Table.Name {
				return seen
			}
		}
		return append(seen, s.Table.Name)
	}
	for _, in := range n.Inputs() {
		seen = scans(in, seen)
	}
	return seen
}
