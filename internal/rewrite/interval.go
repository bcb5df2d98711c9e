package rewrite

import (
	"maps"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/stability"
)

// Intervals prepares post-processing.
func Intervals(c *stability.Certificate, o Options) *Post {
	post := &Post{}
	d := carrier{certificate: c, moved: o.Moved, shares: map[string]int{}, picks: map[plan.Node]bool{}, quiet: map[plan.Node]bool{}}
	_, cols := d.node(c.Post)
	if o.Together {
		all := map[leaf]bool{}
		for _, col := range cols {
			if col.noisy() {
				maps.Copy(all, everywhere(col.sources))
			}
		}
		d.together = all
	}
	for _, col := range cols {
		if col.noisy() {
			d.want(d.shareOf(col))
		}
	}
	post.Shares = d.list

	node, cols := d.node(c.Post)
	post.Summed = d.summed
	exprs, names := refs(c.Post)
	post.Width = len(exprs)
	post.Shown = map[Source]Shown{}
	for i, col := range cols {
		if len(col.sources) == 1 {
			for s := range col.sources {
				known, is := post.Shown[s.Source]
				if released, ok := s.at.(*plan.Released); ok && released != nil && (!is || known.Times == nil && col.times != nil) {
					post.Shown[s.Source] = Shown{names[i], col.times}
				}
			}
		}
		out := PostColumn{Lower: -1, Upper: -1, Noisy: col.dependsOnNoise(), Why: col.why}
		if col.noisy() {
			ends := col.ends[d.shares[d.shareOf(col).key()]]
			out.Lower, out.Upper = len(exprs), len(exprs)+1
			exprs, names = append(exprs, ends.lower, ends.upper), append(names, "lower", "upper")
		}
		post.Columns = append(post.Columns, out)
	}
	post.Plan = c.Post
	if len(exprs) > post.Width {
		post.Plan = &plan.Project{Input: node, Exprs: exprs, Names: names, Span: c.Post.Place()}
	}
	post.Kept = kept(c, d.quiet)
	if d.joined {
		post.Kept = append(post.Kept, "JOIN")
	}
	return post
}

// want notes a share that an interval needs.
func (d *carrier) want(s Share) {
	if _, ok := d.shares[s.key()]; !ok {
		d.shares[s.key()] = len(d.list)
		d.list = append(d.list, s)
	}
}

// shareOf is the number of noisy values behind a column.
func (d *carrier) shareOf(c carried) (s Share) {
	sources := c.sources
	if d.together != nil {
		sources = d.together
	}
	for l := range sources {
		if l.all {
			s.Tables = append(s.Tables, l.Release)
		} else {
			s.Values++
		}
	}
	slices.Sort(s.Tables)
	return s
}

// kept lists what chooses rows by noisy values. Filters and orders that look at none are quiet.
func kept(c *stability.Certificate, quiet map[plan.Node]bool) []string {
	var words []string
	say := func(w string) {
		if !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	for i, r := range c.Releases {
		if r.Private && readsRelease(c.Post, i) { // one that other releases alone depend on keeps no rows of the answer
			say("group selection")
		}
	}
	var walk func(n plan.Node)
	walk = func(n plan.Node) {
		switch n := n.(type) {
		case *plan.Filter:
			switch n.Input.(type) {
			case *plan.Released, *plan.Aggregate:
				if !quiet[n] {
					say("HAVING")
				}
			default: // WHERE over a subquery, or one of our own, as of the largest counts
				if !quiet[n] {
					say("a condition")
				}
			}
		case *plan.Limit:
			if !quiet[n] {
				say("LIMIT")
			}
		}
		for _, in := range n.Inputs() {
			if !readsReleased(in) {
				continue
			}
			walk(in)
		}
	}
	if readsReleased(c.Post) {
		walk(c.Post)
	}
	return words
}

func readsRelease(n plan.Node, number int) bool {
	if r, ok := n.(*plan.Released); ok {
		return r.Index == number
	}
	return slices.ContainsFunc(n.Inputs(), func(in plan.Node) bool { return readsRelease(in, number) })
}

func readsReleased(n plan.Node) bool {
	if _, ok := n.(*plan.Released); ok {
		return true
	}
	return slices.ContainsFunc(n.Inputs(), readsReleased)
}

// A Source is a noisy number: a column, behind the keys, of a release.
type Source struct{ Release, Column int }

type ends struct{ lower, upper plan.Expr }

// A leaf is a Source as one place of the plan reads it. A release that is read
// in two places meets itself in other rows, whose noise is their own, so that
// the two count as two noisy values.
type leaf struct {
	Source
	at plan.Node // a *plan.Released, or what adds its rows up
	// all says that the noise of all rows may matter, not that of one.
	all bool
}

// everywhere are the leaves with all of their rows.
func everywhere(leaves map[leaf]bool) map[leaf]bool {
	out := map[leaf]bool{}
	for l := range leaves {
		l.all = true
		out[l] = true
	}
	return out
}

// A carried column is what is known of one column of a node: nothing noisy
// (no sources, no reason), an interval for each share, or no interval and why.
type carried struct {
	sources map[leaf]bool
	ends    map[int]ends // by share, over the carrying node's columns
	why     string
	noise   *noise   // of a released number that is still that; or nil
	times   *big.Rat // of a column that is one released number so many times, and a constant; or nil
}

func (c carried) dependsOnNoise() bool { return len(c.sources) > 0 || c.why != "" }

func (c carried) noisy() bool { return len(c.sources) > 0 && c.why == "" }

type carrier struct {
	certificate *stability.Certificate
	list        []Share // empty on the first pass, which only finds the sources
	shares      map[string]int
	summed      []Source
	together    map[leaf]bool // what all intervals of the answer depend on, where they hold together; or nil
	moved       bool          // whether values are moved to what data could have
	joined      bool          // whether a join's condition looks at noisy values
	picks       map[plan.Node]bool
	quiet       map[plan.Node]bool // filters, and limits of what is sorted, that look at no noisy values
}

// picked notes whether noisy values choose the rows of a node.
func (d *carrier) picked(n plan.Node, yes bool) { d.picks[n] = yes }

// node returns n with the ends of its noisy columns behind its own columns.
func (d *carrier) node(n plan.Node) (plan.Node, []carried) {
	switch n := n.(type) {
	case *plan.Released:
		return d.released(n)
	case *plan.Project:
		input, cols := d.node(n.Input)
		d.picked(n, d.picks[n.Input])
		out := make([]carried, len(n.Exprs))
		exprs, names := n.Exprs[:len(n.Exprs):len(n.Exprs)], n.Names[:len(n.Names):len(n.Names)]
		below := &steps{input, map[int]int{}}
		for i, e := range n.Exprs {
			out[i] = d.expr(e, cols, below)
			for s := range d.list {
				if out[i].noisy() {
					at := out[i].ends[s]
					exprs, names = append(exprs, at.lower, at.upper), append(names, "lower", "upper")
					out[i].ends[s] = ends{
						&plan.Ref{Index: len(exprs) - 2, T: at.lower.Type()},
						&plan.Ref{Index: len(exprs) - 1, T: at.upper.Type()}}
				}
			}
			if own := noiseOf(e, cols); own != nil && out[i].noisy() {
				moved := &noise{own.Source, map[int][SumColumns]plan.Expr{}}
				for s, columns := range d.columnsOf(own) {
					var at [SumColumns]plan.Expr
					for k, c := range columns {
						exprs, names = append(exprs, c), append(names, "sum")
						at[k] = &plan.Ref{Index: len(exprs) - 1, T: double}
					}
					moved.columns[s] = at
				}
				out[i].noise = moved
			}
		}
		return &plan.Project{Input: below.node, Exprs: exprs, Names: names, Span: n.Span}, out
	case *plan.Filter:
		input, cols := d.node(n.Input)
		d.quiet[n] = !d.expr(n.Condition, cols, nil).dependsOnNoise()
		d.picked(n, d.picks[n.Input] || !d.quiet[n])
		return &plan.Filter{Input: input, Condition: n.Condition, Span: n.Span}, cols
	case *plan.Sort:
		input, cols := d.node(n.Input)
		d.picked(n, d.picks[n.Input])
		d.quiet[n] = !slices.ContainsFunc(n.Keys, func(k plan.SortKey) bool { return d.expr(k.Expr, cols, nil).dependsOnNoise() })
		return &plan.Sort{Input: input, Keys: n.Keys, Span: n.Span}, cols
	case *plan.Limit:
		input, cols := d.node(n.Input)
		sorted := n.Input
		for p, ok := sorted.(*plan.Project); ok; p, ok = sorted.(*plan.Project) {
			sorted = p.Input
		}
		d.quiet[n] = d.quiet[sorted] && !d.picks[n.Input]
		d.picked(n, readsReleased(n)) // by what they are sorted by, which may be noisy
		return &plan.Limit{Input: input, Count: n.Count, Offset: n.Offset, Span: n.Span}, cols
	case *plan.Join:
		if n.Kind != plan.Semi && n.Kind != plan.Anti {
			return d.join(n)
		}
		if readsReleased(n) {
			return d.semi(n)
		}
	case *plan.Union:
		if readsReleased(n) {
			return d.union(n)
		}
	case *plan.Aggregate:
		if readsReleased(n) {
			return d.aggregate(n)
		}
	case *plan.Window:
		if readsReleased(n) {
			return d.window(n)
		}
	}
	// Other operators carry no ends. Columns that depend on noise say why.
	out := make([]carried, len(n.Columns()))
	if readsReleased(n) {
		d.picked(n, true)
		for i := range out {
			out[i].why = "computed in a way of which no interval is known"
		}
	}
	return n, out
}

func (d *carrier) released(n *plan.Released) (plan.Node, []carried) {
	r := d.certificate.Releases[n.Index]
	out := make([]carried, len(n.Cols))
	extended := *n
	extended.Cols = n.Cols[:len(n.Cols):len(n.Cols)]
	if r.Chosen {
		out[len(r.Keys)-1].why = "it is a choice; a note says by how many rows another value may be before it"
	}
	for i := len(r.Keys); i < len(n.Cols); i++ {
		c := carried{sources: map[leaf]bool{{Source: Source{n.Index, i}, at: n}: true}, ends: map[int]ends{}, noise: d.additive(n, i, len(d.list)), times: big.NewRat(1, 1)}
		for s := range d.list {
			at := len(extended.Cols)
			extended.Cols = append(extended.Cols, plan.Column{Name: "lower", Type: n.Cols[i].Type}, plan.Column{Name: "upper", Type: n.Cols[i].Type})
			c.ends[s] = ends{&plan.Ref{Index: at, T: n.Cols[i].Type}, &plan.Ref{Index: at + 1, T: n.Cols[i].Type}}
		}
		out[i] = c
	}
	for _, s := range d.summed {
		if s.Release == n.Index {
			for range d.list {
				extended.Cols = append(extended.Cols, sumColumns()...)
			}
		}
	}
	return &extended, out
}

// on notes whether a join chooses rows by noisy values.
func (d *carrier) on(n *plan.Join, left, right []carried) {
	noisy := n.On != nil && d.expr(n.On, slices.Concat(left, right), nil).dependsOnNoise()
	d.joined = d.joined || noisy
	d.picked(n, noisy || d.picks[n.Left] || d.picks[n.Right])
}

// join carries both sides' ends behind the columns of both.
func (d *carrier) join(n *plan.Join) (plan.Node, []carried) {
	l, lcols := d.node(n.Left)
	r, rcols := d.node(n.Right)
	d.on(n, lcols, rcols)
	lw, lx := len(n.Left.Columns()), len(l.Columns())
	rw := len(n.Right.Columns())
	moved := func(ref *plan.Ref) plan.Expr {
		if ref.Index < lw {
			return ref
		}
		m := *ref
		m.Index += lx - lw
		return &m
	}
	joined := &plan.Join{Kind: n.Kind, Left: l, Right: r, On: plan.Map(n.On, moved), Span: n.Span}
	// Columns in the order: left, right, left's ends, right's ends.
	all, names := refs(joined)
	order := slices.Concat(all[:lw], all[lx:lx+rw], all[lw:lx], all[lx+rw:])
	ordered := slices.Concat(names[:lw], names[lx:lx+rw], names[lw:lx], names[lx+rw:])
	shift := func(cols []carried, by int) []carried {
		out := make([]carried, len(cols))
		for i, c := range cols {
			out[i] = c
			out[i].noise = nil // rows may stand several times now
			out[i].ends = map[int]ends{}
			for s, e := range c.ends {
				lo, hi := *e.lower.(*plan.Ref), *e.upper.(*plan.Ref)
				lo.Index, hi.Index = lo.Index+by, hi.Index+by
				out[i].ends[s] = ends{&lo, &hi}
			}
		}
		return out
	}
	out := append(shift(lcols, rw), shift(rcols, lx)...)
	return &plan.Project{Input: joined, Exprs: order, Names: ordered, Span: n.Span}, out
}

// semi carries the ends of the rows that a semi or anti join keeps. Where it looks at what was released, noise may choose
// them: which rows these are is no matter of ends, as with HAVING.
func (d *carrier) semi(n *plan.Join) (plan.Node, []carried) {
	l, cols := d.node(n.Left)
	_, right := d.node(n.Right)
	d.on(n, cols, right)
	d.picked(n, d.picks[n] || readsReleased(n.Right))
	lw, lx := len(n.Left.Columns()), len(l.Columns())
	on := plan.Map(n.On, func(ref *plan.Ref) plan.Expr {
		if ref.Index < lw {
			return ref
		}
		moved := *ref
		moved.Index += lx - lw
		return &moved
	})
	return &plan.Join{Kind: n.Kind, Left: l, Right: n.Right, On: on, Span: n.Span}, cols
}

// expr carries the ends of an expression over columns whose ends are known. Where it has steps, what it is computed in may read them.
func (d *carrier) expr(e plan.Expr, cols []carried, below *steps) carried {
	c := carried{sources: map[leaf]bool{}, times: multiple(e, cols)}
	plan.Walk(e, func(e plan.Expr) bool {
		if ref, ok := e.(*plan.Ref); ok {
			maps.Copy(c.sources, cols[ref.Index].sources)
			if c.why == "" {
				c.why = cols[ref.Index].why
			}
		}
		return true
	})
	if c.why != "" || len(c.sources) == 0 {
		return c
	}
	c.ends = map[int]ends{}
	// In the first pass there are no shares: one more shows whether ends exist.
	for s := range len(d.list) + 1 {
		at, ok := encloser{func(ref *plan.Ref) (ends, bool) {
			c := cols[ref.Index]
			if len(c.sources) == 0 {
				return ends{ref, ref}, true
			}
			if s == len(d.list) {
				return ends{ref, ref}, false
			}
			return c.ends[s], false
		}, func(at ends) ends {
			if below == nil || below.made[s] >= mostSteps {
				return at
			}
			if below.made[s]++; s == len(d.list) {
				return ends{&plan.Ref{T: at.lower.Type()}, &plan.Ref{T: at.upper.Type()}}
			}
			return below.step(at)
		}}.endsOf(e)
		if !ok {
			c.ends, c.why = nil, "computed by a function without interval rules, or by too many with them"
			return c
		}
		if s < len(d.list) {
			c.ends[s] = at.ends
		}
	}
	return c
}
