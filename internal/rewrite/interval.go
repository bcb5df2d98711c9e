package rewrite

import (
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/sqltype"
)

// A Post is a statement's post-processing, with the intervals of noisy values
// carried as further columns.
//
// A value computed from k noisy ones lies within the interval computed from
// their intervals whenever all k hold; by the union bound that happens with
// probability at least C if each is taken at confidence 1−(1−C)/k. k is the
// column's share.
type Post struct {
	// Plan's columns are the statement's, then the interval columns.
	Plan    plan.Node
	Width   int // how many columns are the statement's
	Columns []PostColumn
	// Shares are those at which each released table must offer the intervals of its
	// aggregates. A released table's columns are the release's, then, for each aggregate and
	// share, a lower and an upper end, and then, for each of Summed that is of it and each
	// share, the columns of release's SumColumns.
	Shares []Share
	// Summed are the noisy numbers that are added up over rows of their own release.
	Summed []Source
	// Names says under which of the statement's columns an aggregate of a release
	// is shown, if a column is computed from it alone.
	Names map[Source]string
	// Kept names what chose the rows by noisy values: "group selection",
	// "HAVING", "LIMIT", "JOIN". A value that was kept for its size is biased upwards.
	Kept []string
}

// A Share is how many noisy values an interval depends on: some, and those of all rows of
// some released tables, as often as a table stands in Tables. How many rows a table has is
// known when it is released. What chose them has noise of its own, or is a count with an interval that holds given
// that its row is shown: given which rows are, their intervals fail with the probabilities that are shared out.
type Share struct {
	Values int
	Tables []int // ascending
}

func (s Share) key() string { return fmt.Sprint(s.Values, s.Tables) }

// Of is the number, where the released tables have so many rows.
func (s Share) Of(rows []int) int {
	n := s.Values
	for _, t := range s.Tables {
		n = min(n+rows[t], maxShare)
	}
	return max(n, 1)
}

// maxShare keeps numbers of noisy values far from the ends of an int.
const maxShare = 1 << 40

// Divided returns the shares as numbers.
func (p *Post) Divided(rows []int) []int {
	out := make([]int, len(p.Shares))
	for i, s := range p.Shares {
		out[i] = s.Of(rows)
	}
	return out
}

// Sums returns which columns of a release's aggregates are added up.
func (p *Post) Sums(release int) (columns []int) {
	for _, s := range p.Summed {
		if s.Release == release {
			columns = append(columns, s.Column)
		}
	}
	return columns
}

// A PostColumn says what is known of a column's uncertainty.
type PostColumn struct {
	// Lower and Upper are column numbers of Plan, or −1.
	Lower, Upper int
	// Noisy says that the column depends on noise. A noisy column without an
	// interval has the reason in Why.
	Noisy bool
	Why   string
}

// Options say what intervals are of.
type Options struct {
	// Together asks for intervals of which all of the answer hold at once with the confidence
	// that each has otherwise.
	Together bool
	// Moved says that released values are moved to what data could have, as release's
	// Table.Consistent does. Their errors are biased then: their sum is not one of independent
	// noise around 0, but lies between the sums of their ends all the same.
	Moved bool
}

// Intervals prepares post-processing.
func Intervals(c *stability.Certificate, o Options) *Post {
	post := &Post{}
	d := carrier{certificate: c, moved: o.Moved, shares: map[string]int{}, picks: map[plan.Node]bool{}}
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
	post.Names = map[Source]string{}
	for i, col := range cols {
		if len(col.sources) == 1 {
			for s := range col.sources {
				if released, ok := s.at.(*plan.Released); ok && released != nil && post.Names[s.Source] == "" {
					post.Names[s.Source] = names[i]
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
	post.Kept = kept(c)
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

// kept lists what chooses rows by noisy values.
func kept(c *stability.Certificate) []string {
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
		switch n.(type) {
		case *plan.Filter:
			say("HAVING")
		case *plan.Limit:
			say("LIMIT")
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
	noise   *noise // of a released number that is still that; or nil
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
		d.picked(n, d.picks[n.Input] || d.expr(n.Condition, cols, nil).dependsOnNoise())
		return &plan.Filter{Input: input, Condition: n.Condition, Span: n.Span}, cols
	case *plan.Sort:
		input, cols := d.node(n.Input)
		d.picked(n, d.picks[n.Input])
		return &plan.Sort{Input: input, Keys: n.Keys, Span: n.Span}, cols
	case *plan.Limit:
		input, cols := d.node(n.Input)
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
		c := carried{sources: map[leaf]bool{{Source: Source{n.Index, i}, at: n}: true}, ends: map[int]ends{}, noise: d.additive(n, i, len(d.list))}
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

// steps are projections below an expression, in which ends stand that a rule uses several times. Each has the columns of the one before, and two more.
type steps struct {
	node plan.Node
	made map[int]int // by share
}

const (
	// maxStep is the size, in nodes, of ends that are written several times.
	maxStep = 20
	// mostSteps bounds how many projections the expressions of a node need together, for each share: beyond them their ends grow. What
	// an engine plans grows as the square of their number.
	mostSteps = 32
)

// step puts ends into columns.
func (s *steps) step(at ends) ends {
	exprs, names := refs(s.node)
	n := len(exprs)
	s.node = &plan.Project{Input: s.node, Exprs: append(exprs, at.lower, at.upper), Names: append(names, "lower", "upper")}
	return ends{&plan.Ref{Index: n, T: at.lower.Type()}, &plan.Ref{Index: n + 1, T: at.upper.Type()}}
}

// expr carries the ends of an expression over columns whose ends are known. Where it has steps, what it is computed in may read them.
func (d *carrier) expr(e plan.Expr, cols []carried, below *steps) carried {
	c := carried{sources: map[leaf]bool{}}
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

// An enclosure is an interval expression; exact ones have equal ends.
type enclosure struct {
	ends
	exact bool
}

// An encloser encloses expressions, given enclosures of their columns. step puts ends where they are read several times.
type encloser struct {
	column func(*plan.Ref) (ends, bool)
	step   func(ends) ends
}

// endsOf encloses e: interval arithmetic as expressions. ok is false where no rule applies. Ends that the arithmetic
// makes unknown (division by an interval around zero) are NULL.
func (x encloser) endsOf(e plan.Expr) (enclosure, bool) {
	switch e := e.(type) {
	case *plan.Ref:
		at, exact := x.column(e)
		return enclosure{at, exact}, true
	case *plan.Literal:
		return enclosure{ends{e, e}, true}, true
	case *plan.Cast:
		a, ok := x.endsOf(e.Arg)
		if !ok || !a.exact && !(e.T.IsNumeric() && e.Arg.Type().IsNumeric()) {
			return enclosure{}, ok && a.exact
		}
		return monotone(a, func(x plan.Expr) plan.Expr { return &plan.Cast{Arg: x, T: e.T} }), true
	case *plan.Call:
		args := make([]enclosure, len(e.Args))
		exact := true
		for i, arg := range e.Args {
			var ok bool
			if args[i], ok = x.endsOf(arg); !ok {
				return enclosure{}, false
			}
			exact = exact && args[i].exact
		}
		if exact {
			return enclosure{ends{e, e}, true}, true
		}
		if repeats(e.Function, args) {
			for i, a := range args {
				if !a.exact && (longer(a.lower, maxStep) || longer(a.upper, maxStep)) {
					args[i].ends = x.step(a.ends)
				}
			}
		}
		at, ok := callEnds(e, args)
		if !ok || longer(at.lower, maxEnd) || longer(at.upper, maxEnd) {
			return enclosure{}, false
		}
		return at, true
	case *plan.Case:
		exact := true
		plan.Walk(e, func(part plan.Expr) bool {
			if ref, ok := part.(*plan.Ref); ok {
				_, same := x.column(ref)
				exact = exact && same
			}
			return true
		})
		if exact {
			return enclosure{ends{e, e}, true}, true
		}
		return x.caseEnds(e)
	}
	return enclosure{}, false
}

// caseEnds encloses a CASE whose conditions no noise decides: without noise the same branch is taken.
func (x encloser) caseEnds(e *plan.Case) (enclosure, bool) {
	lower, upper := *e, *e
	lower.Whens, upper.Whens = nil, nil
	for _, w := range e.Whens {
		if c, ok := x.endsOf(w.Condition); !ok || !c.exact {
			return enclosure{}, false
		}
		at, ok := x.endsOf(w.Result)
		if !ok {
			return enclosure{}, false
		}
		lower.Whens = append(lower.Whens, plan.When{Condition: w.Condition, Result: at.lower})
		upper.Whens = append(upper.Whens, plan.When{Condition: w.Condition, Result: at.upper})
	}
	if e.Else != nil {
		at, ok := x.endsOf(e.Else)
		if !ok {
			return enclosure{}, false
		}
		lower.Else, upper.Else = at.lower, at.upper
	}
	if longer(&lower, maxEnd) || longer(&upper, maxEnd) {
		return enclosure{}, false
	}
	return enclosure{ends: ends{&lower, &upper}}, true
}

// maxEnd bounds the size of an end. A rule may use the ends of its arguments
// several times, so that ends can grow exponentially in the length of the
// statement: those of a product of ten factors would fill the memory, where they have no columns of their own (steps).
const maxEnd = 10_000

// longer reports whether e has more than so many nodes, looking at few more.
func longer(e plan.Expr, most int) bool {
	n := 0
	plan.Walk(e, func(plan.Expr) bool {
		n++
		return n <= most
	})
	return n > most
}

// repeats reports whether the rule of a function uses the ends of its arguments several times.
func repeats(f plan.Function, args []enclosure) bool {
	switch f {
	case plan.Multiply, plan.Divide:
		sign, ok := constantSign(args[1])
		return !ok || sign == 0
	case plan.Abs, plan.Greatest, plan.Least:
		return true
	}
	return false
}

func monotone(a enclosure, f func(plan.Expr) plan.Expr) enclosure {
	return enclosure{ends{f(a.lower), f(a.upper)}, a.exact}
}

func callEnds(e *plan.Call, args []enclosure) (enclosure, bool) {
	binary := func(x, y plan.Expr) plan.Expr { return call(e.Function, e.T, x, y) }
	switch e.Function {
	case plan.Add:
		return enclosure{ends: ends{binary(args[0].lower, args[1].lower), binary(args[0].upper, args[1].upper)}}, true
	case plan.Subtract:
		return enclosure{ends: ends{binary(args[0].lower, args[1].upper), binary(args[0].upper, args[1].lower)}}, true
	case plan.Negate:
		return enclosure{ends: ends{call(plan.Negate, e.T, args[0].upper), call(plan.Negate, e.T, args[0].lower)}}, true
	case plan.Multiply:
		return corners(e.T, args, binary), true
	case plan.Divide:
		quotient := corners(e.T, args, binary)
		if sign, ok := constantSign(args[1]); ok && sign != 0 {
			return quotient, true
		}
		zero := zeroOf(args[1].lower.Type())
		apart := call(plan.Or, boolean,
			call(plan.Greater, boolean, args[1].lower, zero),
			call(plan.Less, boolean, args[1].upper, zero))
		return enclosure{ends: ends{when(apart, quotient.lower), when(apart, quotient.upper)}}, true
	case plan.Round, plan.Trunc:
		if len(args) == 2 && !args[1].exact {
			return enclosure{}, false
		}
		fallthrough
	case plan.Floor, plan.Ceil, plan.Sqrt, plan.Exp, plan.Ln, plan.Log10:
		rest := e.Args[1:]
		return monotone(args[0], func(x plan.Expr) plan.Expr {
			return call(e.Function, e.T, append([]plan.Expr{x}, rest...)...)
		}), true
	case plan.Greatest, plan.Least:
		var lower, upper []plan.Expr
		for _, a := range args {
			lower, upper = append(lower, a.lower), append(upper, a.upper)
		}
		return enclosure{ends: ends{strict(e.Function, e.T, lower...), strict(e.Function, e.T, upper...)}}, true
	case plan.Coalesce:
		// Where both ends of a value are known, neither it nor what it is without noise is NULL.
		at := args[len(args)-1]
		for i := len(args) - 2; i >= 0; i-- {
			if a := args[i]; a.exact {
				lower, upper := at.lower, at.upper
				at = enclosure{ends: ends{call(plan.Coalesce, e.T, a.lower, lower), call(plan.Coalesce, e.T, a.lower, upper)}}
			} else {
				at = a
			}
		}
		return at, true
	case plan.Abs:
		// |[l,u]| = [max(l, −u, 0), max(−l, u)]
		neg := func(x plan.Expr) plan.Expr { return call(plan.Negate, e.T, x) }
		a := args[0]
		return enclosure{ends: ends{
			strict(plan.Greatest, e.T, a.lower, neg(a.upper), zeroOf(e.T)),
			strict(plan.Greatest, e.T, neg(a.lower), a.upper)}}, true
	}
	return enclosure{}, false
}

// corners encloses a monotone-in-each-argument operation by its values at the
// corners, fewer where a constant's sign is known.
func corners(t sqltype.Type, args []enclosure, f func(x, y plan.Expr) plan.Expr) enclosure {
	a, b := args[0], args[1]
	if sign, ok := constantSign(b); ok && sign != 0 {
		if sign > 0 {
			return enclosure{ends: ends{f(a.lower, b.lower), f(a.upper, b.lower)}}
		}
		return enclosure{ends: ends{f(a.upper, b.lower), f(a.lower, b.lower)}}
	}
	at := []plan.Expr{f(a.lower, b.lower)}
	if !b.exact {
		at = append(at, f(a.lower, b.upper))
	}
	if !a.exact {
		at = append(at, f(a.upper, b.lower))
	}
	if !a.exact && !b.exact {
		at = append(at, f(a.upper, b.upper))
	}
	return enclosure{ends: ends{strict(plan.Least, t, at...), strict(plan.Greatest, t, at...)}}
}

// strict is least or greatest that is NULL if any argument is: an unknown end
// must not be passed over, as SQL's functions do.
func strict(f plan.Function, t sqltype.Type, args ...plan.Expr) plan.Expr {
	var missing []plan.Expr
	for _, a := range args {
		if _, constant := a.(*plan.Literal); !constant {
			missing = append(missing, call(plan.IsNull, boolean, a))
		}
	}
	return when(call(plan.Not, boolean, anyOf(missing)), call(f, t, args...))
}

func constantSign(e enclosure) (int, bool) {
	expr := e.lower
	for {
		c, ok := expr.(*plan.Cast)
		if !ok {
			break
		}
		expr = c.Arg
	}
	l, ok := expr.(*plan.Literal)
	if !ok {
		return 0, false
	}
	switch v := l.Value.(type) {
	case int64:
		return big.NewInt(v).Sign(), true
	case float64:
		return big.NewFloat(v).Sign(), true
	case sqltype.Decimal:
		return v.Unscaled.Sign(), true
	}
	return 0, false
}

func zeroOf(t sqltype.Type) plan.Expr {
	v, err := sqltype.ParseValue(t, "0")
	if err != nil {
		panic("rewrite: no zero of type " + t.String())
	}
	return &plan.Literal{Value: v, T: t}
}
