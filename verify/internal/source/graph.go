package source

import (
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A graph is a function's statements with what may follow each of them. The nodes of
// an If and of a Loop are their conditions.
type graph struct {
	nodes []node
	// variables are numbered, for sets.
	number map[*program.Variable]int
}

type node struct {
	stmt program.Statement
	next []int
	// reads and writes; a write that keeps is of a part, or adds to what was there.
	reads  []*program.Variable
	writes *program.Variable
	keeps  bool
}

func newGraph(stmts []program.Statement) *graph {
	g := &graph{number: map[*program.Variable]int{}}
	b := &graphBuilder{graph: g, heads: map[*program.Loop]*joint{}, ends: map[*program.Loop]*joint{}}
	end := &joint{at: -1}
	b.list(stmts, end)
	b.place(end)
	g.nodes = append(g.nodes, node{stmt: program.Return{}})
	for i := range g.nodes {
		n := &g.nodes[i]
		n.reads, n.writes, n.keeps = effects(n.stmt)
		for _, v := range n.reads {
			g.add(v)
		}
		g.add(n.writes)
	}
	return g
}

func (g *graph) add(v *program.Variable) {
	if _, known := g.number[v]; !known && v != nil {
		g.number[v] = len(g.number)
	}
}

// A joint is a place that nodes lead to before it has a number.
type joint struct {
	at   int
	from []int
}

type graphBuilder struct {
	*graph
	heads, ends map[*program.Loop]*joint // of a loop: where its Post begins, and what follows it
	loose       []int                    // nodes that lead to the next one
}

// add appends a node that the loose ones lead to.
func (b *graphBuilder) node(s program.Statement) int {
	i := len(b.nodes)
	b.nodes = append(b.nodes, node{stmt: s})
	for _, l := range b.loose {
		b.nodes[l].next = append(b.nodes[l].next, i)
	}
	b.loose = []int{i}
	return i
}

func (b *graphBuilder) place(j *joint) {
	j.at = len(b.nodes)
	b.loose = append(b.loose, j.from...)
}

func (b *graphBuilder) list(stmts []program.Statement, end *joint) {
	for _, s := range stmts {
		switch s := s.(type) {
		case program.If:
			cond := b.node(s)
			b.list(s.Then, end)
			after := b.loose
			b.loose = []int{cond}
			b.list(s.Else, end)
			b.loose = append(b.loose, after...)
		case *program.Loop:
			head := b.node(s)
			post, out := &joint{}, &joint{}
			b.heads[s], b.ends[s] = post, out
			b.list(s.Body, end)
			b.place(post)
			b.list(s.Post, end)
			for _, l := range b.loose {
				b.nodes[l].next = append(b.nodes[l].next, head)
			}
			b.loose = []int{head}
			b.place(out)
		case program.Break:
			b.jump(s, b.ends[s.Of])
		case program.Continue:
			b.jump(s, b.heads[s.Of])
		case program.Return:
			b.jump(s, end)
		default:
			b.node(s)
		}
	}
}

func (b *graphBuilder) jump(s program.Statement, to *joint) {
	to.from = append(to.from, b.node(s))
	b.loose = nil
}

// effects are the variables that a statement, without those within it, reads and
// writes.
func effects(s program.Statement) (reads []*program.Variable, writes *program.Variable, keeps bool) {
	program.Reads(s, func(v *program.Variable) { reads = append(reads, v) })
	switch s := s.(type) {
	case program.Append:
		reads, keeps = append(reads, s.To), true
	case program.Store:
		reads, keeps = append(reads, s.To), true
	}
	return reads, program.Written(s), keeps
}

// A set of variables, by their numbers.
type set []uint64

func (g *graph) set() set    { return make(set, (len(g.number)+63)/64) }
func (s set) has(i int) bool { return s[i/64]>>(i%64)&1 == 1 }
func (s set) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s set) remove(i int)   { s[i/64] &^= 1 << (i % 64) }
func (s set) grow(t set) (more bool) {
	for i, x := range t {
		if x&^s[i] != 0 {
			s[i] |= x
			more = true
		}
	}
	return more
}

// live returns for each node the variables that may still be read after it, before
// they are written anew.
func (g *graph) live() []set {
	after := make([]set, len(g.nodes))
	for i := range after {
		after[i] = g.set()
	}
	for again := true; again; {
		again = false
		for i := len(g.nodes) - 1; i >= 0; i-- {
			for _, j := range g.nodes[i].next {
				n := &g.nodes[j]
				before := append(set(nil), after[j]...)
				if n.writes != nil && !n.keeps {
					before.remove(g.number[n.writes])
				}
				for _, v := range n.reads {
					before.add(g.number[v])
				}
				again = after[i].grow(before) || again
			}
		}
	}
	return after
}
