package pgcatalog

import (
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/sqlparse/statement"
)

// A group joins nodes by inner joins, in the order that seems to give fewest rows.
type group struct {
	nodes []node
	own   []conjunct
	first []*expr // conditions that need no row of these
}

func (g *group) provides() (all uint64) {
	for _, n := range g.nodes {
		all |= n.provides()
	}
	return all
}

func (g *group) attach(bound uint64, conditions []conjunct) (rest []conjunct) {
	for _, c := range slices.Concat(conditions, g.own) {
		if c.used&^bound == 0 {
			g.first = append(g.first, c.expr)
		} else {
			rest = append(rest, c)
		}
	}
	left := slices.Clone(g.nodes)
	g.nodes = g.nodes[:0]
	for len(left) > 0 {
		best, least := 0, math.Inf(1)
		for i, n := range left {
			if e := n.estimate(bound, rest); e < least {
				best, least = i, e
			}
		}
		n := left[best]
		left = slices.Delete(left, best, best+1)
		rest = n.attach(bound, rest)
		bound |= n.provides()
		g.nodes = append(g.nodes, n)
	}
	return rest
}

func (g *group) estimate(bound uint64, conditions []conjunct) float64 {
	least := math.Inf(1)
	all := slices.Concat(conditions, g.own)
	for _, n := range g.nodes {
		least = math.Min(least, n.estimate(bound, all))
	}
	return least
}

func (g *group) run(f *frame, yield func() bool) bool {
	for _, c := range g.first {
		if c.eval(f) != true {
			return true
		}
	}
	return g.from(0, f, yield)
}

func (g *group) from(i int, f *frame, yield func() bool) bool {
	if i == len(g.nodes) {
		return yield()
	}
	return g.nodes[i].run(f, func() bool { return g.from(i+1, f, yield) })
}

// An outerJoin is a LEFT or a FULL join.
type outerJoin struct {
	left, right node
	on          []conjunct
	full        bool
	after       []*expr // conditions on what it gives
	pairs       []*expr // of a FULL join
}

func (j *outerJoin) provides() uint64 { return j.left.provides() | j.right.provides() }

func (j *outerJoin) attach(bound uint64, conditions []conjunct) (rest []conjunct) {
	leave := conditions
	if !j.full {
		leave = j.left.attach(bound, conditions)
		j.pairs = expressions(j.right.attach(bound|j.left.provides(), j.on))
	} else {
		j.left.attach(bound, nil)
		j.right.attach(bound, nil)
		j.pairs = expressions(j.on)
	}
	for _, c := range leave {
		if c.used&^(bound|j.provides()) == 0 {
			j.after = append(j.after, c.expr)
		} else {
			rest = append(rest, c)
		}
	}
	return rest
}

func expressions(list []conjunct) (out []*expr) {
	for _, c := range list {
		out = append(out, c.expr)
	}
	return out
}

func (j *outerJoin) estimate(bound uint64, conditions []conjunct) float64 {
	return j.left.estimate(bound, conditions)
}

func all(list []*expr, f *frame) bool {
	for _, c := range list {
		if c.eval(f) != true {
			return false
		}
	}
	return true
}

func (j *outerJoin) run(f *frame, yield func() bool) bool {
	give := func() bool { return !all(j.after, f) || yield() }
	if j.full {
		return j.runFull(f, give)
	}
	return j.left.run(f, func() bool {
		matched := false
		if !j.right.run(f, func() bool {
			if !all(j.pairs, f) {
				return true
			}
			matched = true
			return give()
		}) {
			return false
		}
		if matched {
			return true
		}
		f.clear(j.right.provides())
		return give()
	})
}

// runFull keeps the rows of the right side, and gives those without a partner at the end.
func (j *outerJoin) runFull(f *frame, give func() bool) bool {
	var kept [][][]any
	j.right.run(f, func() bool { kept = append(kept, slices.Clone(f.rows)); f.q.hold(len(f.rows)); return true })
	met := make([]bool, len(kept))
	set := func(rows [][]any) {
		for i := range rows {
			if j.right.provides()&(1<<i) != 0 {
				f.rows[i] = rows[i]
			}
		}
	}
	if !j.left.run(f, func() bool {
		matched := false
		for i, rows := range kept {
			f.q.tick(1)
			if set(rows); all(j.pairs, f) {
				matched, met[i] = true, true
				if !give() {
					return false
				}
			}
		}
		if matched {
			return true
		}
		f.clear(j.right.provides())
		return give()
	}) {
		return false
	}
	f.clear(j.left.provides())
	for i, rows := range kept {
		if set(rows); !met[i] && !give() {
			return false
		}
	}
	return true
}

// clear gives entries the row of NULLs.
func (f *frame) clear(entries uint64) {
	for i := range f.rows {
		if entries&(1<<i) != 0 {
			f.rows[i] = nil
		}
	}
}

func (c *compiler) joinItem(s *scope, item *statement.Join) (node, namespace) {
	left, leftNames := c.from(s, item.Left)
	outside := s.visible
	s.visible = outside.join(leftNames)
	right, rightNames := c.from(s, item.Right)
	names := leftNames.join(rightNames)
	var on []conjunct
	using := item.Using
	if item.Natural {
		for _, l := range leftNames.columns {
			for _, r := range rightNames.columns {
				if l.name == r.name && !slices.Contains(using, l.name) {
					using = append(using, l.name)
				}
			}
		}
	}
	if len(using) > 0 {
		on, names = c.using(s, item.Kind, using, leftNames, rightNames)
	}
	if item.On != nil {
		s.visible = names
		on = c.conjuncts(s, item.On)
	}
	s.visible = outside
	if item.Alias.Name != "" {
		names = c.aliased(s, names, item.Alias)
	}
	switch item.Kind {
	case "inner":
		g := &group{own: on}
		for _, n := range []node{left, right} {
			if inner, ok := n.(*group); ok {
				g.nodes, g.own = append(g.nodes, inner.nodes...), append(inner.own, g.own...)
			} else {
				g.nodes = append(g.nodes, n)
			}
		}
		return g, names
	case "right":
		return &outerJoin{left: right, right: left, on: on}, names
	}
	return &outerJoin{left: left, right: right, on: on, full: item.Kind == "full"}, names
}

// using makes the conditions of USING and NATURAL, and merges the columns.
func (c *compiler) using(s *scope, kind string, using []string, left, right namespace) (on []conjunct, merged namespace) {
	find := func(n namespace, name string) *visibleColumn {
		for i := range n.columns {
			if n.columns[i].name == name {
				return &n.columns[i]
			}
		}
		fail(noColumn, "column %q specified in USING clause does not exist", name)
		return nil
	}
	merged.rtes = slices.Concat(left.rtes, right.rtes)
	for _, name := range using {
		l, r := find(left, name), find(right, name)
		saved := s.used
		s.used = 0
		x, y := l.get(), r.get()
		eq := c.apply("=", x, y, -1)
		eq.used = s.used
		s.used = saved
		on = append(on, conjunct{eq})
		get := l.get
		switch kind {
		case "right":
			get = r.get
		case "full":
			get = func() *expr {
				x, y := c.matched(l.get(), r.get())
				return &expr{typ: x.typ, mod: -1, name: name, used: x.used | y.used, eval: func(f *frame) any {
					if v := x.eval(f); v != nil {
						return v
					}
					return y.eval(f)
				}}
			}
		}
		merged.columns = append(merged.columns, visibleColumn{name, get})
	}
	for _, n := range []namespace{left, right} {
		for _, col := range n.columns {
			if !slices.Contains(using, col.name) {
				merged.columns = append(merged.columns, col)
			}
		}
	}
	return on, merged
}

// aliased renames what a join gives.
func (c *compiler) aliased(s *scope, names namespace, alias statement.Alias) namespace {
	out := namespace{}
	for i, col := range names.columns {
		if i < len(alias.Columns) {
			col.name = alias.Columns[i]
		}
		out.columns = append(out.columns, col)
	}
	out.rtes = names.rtes
	return out
}

// conjuncts compiles a condition and takes it apart at AND.
func (c *compiler) conjuncts(s *scope, e statement.Expr) (out []conjunct) {
	if l, ok := e.(*statement.Logic); ok && l.Op == "AND" {
		for _, a := range l.Args {
			out = append(out, c.conjuncts(s, a)...)
		}
		return out
	}
	saved := s.noSets
	s.noSets = true
	x := c.expr(s, e)
	s.noSets = saved
	x = c.coerceBool(x)
	return append(out, conjunct{x})
}

func (c *compiler) coerceBool(x *expr) *expr {
	if x.typ == oidBool {
		return x
	}
	if x.typ != oidUnknown {
		fail(wrongType, "argument of WHERE must be type boolean, not type %s", c.typeName(x.typ, -1))
	}
	return c.coerce(x, oidBool, -1)
}
