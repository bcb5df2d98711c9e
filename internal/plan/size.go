package plan

// TooLarge returns an expression of a plan whose size exceeds limit when every
// column stands for the expression that computes it, or nil. Engines replace
// columns so when they push a condition below subqueries: where each of thirty
// names a column of the one below twice, that takes all memory that there is.
func TooLarge(n Node, limit int) Expr {
	s := sizer{limit: limit}
	s.columns(n)
	return s.found
}

type sizer struct {
	limit int
	found Expr // the first that is too large
}

// columns returns the size of each of n's columns.
func (s *sizer) columns(n Node) []int {
	var in []int
	for _, input := range n.Inputs() {
		in = append(in, s.columns(input)...)
	}
	var out []int
	switch n := n.(type) {
	case *Filter:
		s.size(n.Condition, in)
	case *Join:
		s.size(n.On, in)
	case *Project:
		for _, e := range n.Exprs {
			out = append(out, s.size(e, in))
		}
		return out
	case *Union: // a condition is pushed into each branch
		out = make([]int, len(n.Columns()))
		for i, size := range in {
			out[i%len(out)] += size
		}
		return out
	case *Window:
		out = append(out, in...)
		for _, f := range n.Functions {
			for _, e := range f.Exprs() {
				s.size(e, in)
			}
			out = append(out, 1)
		}
		return out
	case *Aggregate:
		for _, k := range n.Keys {
			out = append(out, s.size(k, in))
		}
		for _, a := range n.Aggregations {
			s.size(a.Arg, in)
			s.size(a.Filter, in)
			out = append(out, 1)
		}
		return out
	}
	for len(in) < len(n.Columns()) { // a table's, or constants'
		in = append(in, 1)
	}
	return in[:len(n.Columns())]
}

// size returns that of an expression, and something above the limit if it is
// above.
func (s *sizer) size(e Expr, columns []int) int {
	size := 0
	Walk(e, func(e Expr) bool {
		if ref, ok := e.(*Ref); ok {
			size += columns[ref.Index]
		} else {
			size++
		}
		return size <= s.limit
	})
	if size > s.limit && s.found == nil {
		s.found = e
	}
	return min(size, s.limit+1)
}

// TooDeep returns a node of a plan that stands over more than so many nodes,
// each below the next, or over more than so many aggregations, or nil. DuckDB's
// parser and binder go as deep as its text, and it makes ready twice what lies
// below an aggregation, so that its time doubles with each.
func TooDeep(n Node, nodes, aggregations int) Node {
	d := depths{nodes: nodes, aggregations: aggregations}
	d.of(n)
	return d.found
}

type depths struct {
	nodes, aggregations int
	found               Node // the first that is too deep
}

// of returns how many nodes and aggregations there are from n down.
func (d *depths) of(n Node) (nodes, aggregations int) {
	for _, in := range n.Inputs() {
		k, l := d.of(in)
		nodes, aggregations = max(nodes, k), max(aggregations, l)
	}
	nodes++
	switch n.(type) {
	case *Aggregate, *Window:
		aggregations++
	}
	if d.found == nil && (nodes > d.nodes || aggregations > d.aggregations) {
		d.found = n
	}
	return nodes, aggregations
}
