package program

// Walk calls visit on an expression and on all its parts, the whole first. Nil has
// none.
func Walk(x Expression, visit func(Expression)) {
	if x == nil {
		return
	}
	visit(x)
	switch x := x.(type) {
	case Element:
		Walk(x.Index, visit)
	case Unary:
		Walk(x.X, visit)
	case Binary:
		Walk(x.X, visit)
		Walk(x.Y, visit)
	case Call:
		for _, a := range x.Args {
			Walk(a, visit)
		}
	case If3:
		Walk(x.Cond, visit)
		Walk(x.Then, visit)
		Walk(x.Else, visit)
	case Diff:
		Walk(x.X, visit)
	}
}

// Variables visits what an expression reads: numbers, and slices of which it reads an
// element or the length.
func Variables(x Expression, visit func(*Variable)) {
	Walk(x, func(x Expression) {
		switch x := x.(type) {
		case Ref:
			visit(x.Var)
		case Element:
			visit(x.Slice)
		case Length:
			visit(x.Slice)
		}
	})
}

// Each calls visit on statements and on all that are within them, in their order. They may
// be pointers.
func Each(list []Statement, visit func(Statement)) {
	for _, s := range list {
		visit(s)
		switch s := s.(type) {
		case If:
			Each(s.Then, visit)
			Each(s.Else, visit)
		case *If:
			Each(s.Then, visit)
			Each(s.Else, visit)
		case *Loop:
			Each(s.Body, visit)
			Each(s.Post, visit)
		}
	}
}

// Expressions are those of a statement, without the statements within it. Some may be
// nil.
func Expressions(s Statement) []Expression {
	switch s := s.(type) {
	case Assign:
		return []Expression{s.Value}
	case Make:
		return []Expression{s.Length}
	case Append:
		return []Expression{s.Value}
	case Store:
		return []Expression{s.Index, s.Value}
	case Draw:
		return []Expression{s.Parameter, s.Align}
	case If:
		return []Expression{s.Cond}
	case *Loop:
		return append([]Expression{s.Cond}, s.Invariants...)
	case Output:
		return s.Values
	case Return:
		return s.Values
	}
	return nil
}

// Reads visits what a statement reads, without those within it: what its expressions do, and
// the scores that a draw chooses by. What an append or a store adds to is Written.
func Reads(s Statement, visit func(*Variable)) {
	for _, x := range Expressions(s) {
		Variables(x, visit)
	}
	if d, ok := s.(Draw); ok && d.Scores != nil {
		visit(d.Scores)
	}
}

// Written is the variable that a statement, or the one that it points to, sets, or of which
// it changes an element; nil if there is none, or only in statements within it.
func Written(s Statement) *Variable {
	switch s := s.(type) {
	case Assign:
		return s.To
	case *Assign:
		return s.To
	case Make:
		return s.To
	case *Make:
		return s.To
	case Append:
		return s.To
	case *Append:
		return s.To
	case Store:
		return s.To
	case *Store:
		return s.To
	case Draw:
		return s.To
	case *Draw:
		return s.To
	}
	return nil
}

// SortOf is the sort of an expression's values: that of two numbers is Int only if
// both are, so that Quo and Rem truncate where Go's do.
func SortOf(x Expression) Sort {
	switch x := x.(type) {
	case Number:
		return x.Sort
	case Truth:
		return Bool
	case Ref:
		return x.Var.Sort
	case Element:
		return x.Slice.Sort
	case Length:
		return Int
	case Unary:
		return SortOf(x.X)
	case Binary:
		switch x.Op {
		case Eq, Ne, Lt, Le, Gt, Ge, And, Or:
			return Bool
		}
		return either(x.X, x.Y)
	case Call:
		switch x.Func {
		case "int":
			return Int
		case "abs":
			return SortOf(x.Args[0])
		}
	case If3:
		return either(x.Then, x.Else)
	case Diff:
		return SortOf(x.X)
	}
	return Real
}

// either is the sort of a value that is one of two, or made of both.
func either(x, y Expression) Sort {
	if s := SortOf(x); s != Int {
		return s
	}
	return SortOf(y)
}
