package source

import (
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// simplify takes out what calls leave behind: parameters that are another variable's
// value as long as they are read, constants, and variables that nothing reads.
func (l *lowerer) simplify() {
	for l.propagate() {
	}
	for l.sweep() {
	}
}

// propagate takes two variables for one where the first is assigned once, from the
// second, and neither is written while the other's value is still read; the name is that
// of the outer function. Nothing that the function with the claim names goes but for a
// variable of its own. Variables of called functions give way to constants, and to short
// expressions of variables that do not change while they are read.
func (l *lowerer) propagate() bool {
	g := newGraph(l.fn.Body)
	writers := map[*program.Variable][]int{}
	for i, n := range g.nodes {
		if n.writes != nil {
			writers[n.writes] = append(writers[n.writes], i)
		}
	}
	var live []set
	replace := map[*program.Variable]program.Expression{}
	touched := map[*program.Variable]bool{}
	for _, n := range g.nodes {
		x := n.writes
		a, ok := n.stmt.(program.Assign)
		if !ok || len(writers[x]) > 1 || x.Input || touched[x] {
			continue
		}
		switch value := a.Value.(type) {
		case program.Number, program.Truth:
			if l.depth[x] > 0 {
				replace[x], touched[x] = value, true
			}
		case program.Ref:
			y := value.Var
			if touched[y] || y == x || l.depth[x] == 0 && (l.depth[y] == 0 || y.Input) {
				continue
			}
			if live == nil {
				live = g.live()
			}
			changed := false
			for _, w := range writers[y] {
				changed = changed || live[w].has(g.number[x])
			}
			if changed {
				continue
			}
			if !y.Input && l.depth[x] < l.depth[y] {
				x.Name, y.Name, x.Pos, y.Pos = y.Name, x.Name, y.Pos, x.Pos
				l.depth[x], l.depth[y] = l.depth[y], l.depth[x]
			}
			replace[x], touched[x], touched[y] = program.Ref{Var: y}, true, true
		default:
			if l.depth[x] == 0 || size(value) > maxSize || touchedBy(n.reads, touched) {
				continue
			}
			if live == nil {
				live = g.live()
			}
			changed := false
			for _, y := range n.reads {
				for _, w := range writers[y] {
					changed = changed || live[w].has(g.number[x])
				}
			}
			if !changed {
				replace[x], touched[x] = value, true
				for _, y := range n.reads {
					touched[y] = true
				}
			}
		}
	}
	if len(replace) == 0 {
		return false
	}
	l.fn.Body = substitute(l.fn.Body, replace)
	return true
}

// maxSize bounds the expressions that may be repeated.
const maxSize = 8

func size(x program.Expression) (n int) {
	program.Walk(x, func(x program.Expression) {
		n++
		if _, ok := x.(program.Element); ok {
			n += maxSize // an element stays where it is read
		}
	})
	return n
}

func touchedBy(vars []*program.Variable, touched map[*program.Variable]bool) bool {
	return slices.ContainsFunc(vars, func(v *program.Variable) bool { return touched[v] })
}

// sweep drops assignments to variables that nothing reads. (Their expressions have no
// effects; where they might panic it was written down.)
func (l *lowerer) sweep() bool {
	g := newGraph(l.fn.Body)
	read := map[*program.Variable]bool{}
	for _, n := range g.nodes {
		for _, v := range n.reads {
			if a, ok := n.stmt.(program.Assign); !ok || a.To != v {
				read[v] = read[v] || !n.keeps || v != n.writes
			}
		}
	}
	swept := false
	var list func(stmts []program.Statement) []program.Statement
	list = func(stmts []program.Statement) (kept []program.Statement) {
		for _, s := range stmts {
			var to *program.Variable
			switch x := s.(type) {
			case program.Assign:
				to = x.To
			case program.Make:
				to = x.To
			case program.Append:
				to = x.To
			case program.Store:
				to = x.To
			case program.If:
				x.Then, x.Else = list(x.Then), list(x.Else)
				s = x
				if len(x.Then) == 0 && len(x.Else) == 0 {
					swept = true
					continue
				}
			case *program.Loop:
				x.Body, x.Post = list(x.Body), list(x.Post)
			}
			if to != nil && !read[to] {
				swept = true
				continue
			}
			kept = append(kept, s)
		}
		return kept
	}
	l.fn.Body = list(l.fn.Body)
	return swept
}

// substitute replaces variables, and drops their assignments.
func substitute(stmts []program.Statement, by map[*program.Variable]program.Expression) []program.Statement {
	r := &program.Rewriter{
		Expression: func(x program.Expression) program.Expression { return replaced(x, by) },
		Statement: func(s program.Statement) []program.Statement {
			switch x := s.(type) {
			case program.Assign:
				if by[x.To] != nil {
					return nil
				}
			case program.Draw:
				if r, ok := by[x.Scores].(program.Ref); ok {
					x.Scores = r.Var
					s = x
				}
			}
			return []program.Statement{s}
		},
	}
	return r.List(stmts)
}

func replaced(x program.Expression, by map[*program.Variable]program.Expression) program.Expression {
	return program.Replace(x, func(x program.Expression) program.Expression {
		switch x := x.(type) {
		case program.Ref:
			if y := by[x.Var]; y != nil {
				return y
			}
		case program.Element:
			if r, ok := by[x.Slice].(program.Ref); ok {
				x.Slice = r.Var
			}
			return x
		case program.Length:
			if r, ok := by[x.Slice].(program.Ref); ok {
				x.Slice = r.Var
			}
			return x
		}
		return x
	})
}
