package fuse

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// Returns returns f with one return at its end in the place of several, if it ends with
// cases that set numbers and return: if a > b { return 0 }; return 1 sets a variable to 0 or
// to 1, and returns it. It returns f itself if it does not end so, and does not change it.
//
// The variable is set on each way to what is returned there, and nothing runs after that.
func Returns(f *program.Function) *program.Function {
	for k := range f.Body {
		e := &ending{names: namesOf(f)}
		list, ok := e.list(f.Body[k:])
		if !ok || e.returns < 2 {
			continue
		}
		var values []program.Expression
		for _, v := range e.results {
			values = append(values, program.Ref{Var: v})
		}
		g := *f
		g.Body = append(slices.Clone(f.Body[:k]), list...)
		g.Body = append(g.Body, program.Return{At: e.at, Values: values})
		return &g
	}
	return f
}

// An ending is the statements with which a function ends.
type ending struct {
	names   map[string]bool
	results []*program.Variable // what is returned
	returns int
	at      program.At // of the last one
}

// list writes statements, all ways through which return, as ones that set the results;
// false if they do more.
func (e *ending) list(list []program.Statement) ([]program.Statement, bool) {
	for k, s := range list {
		switch s := s.(type) {
		case program.Assign:
		case program.If:
			rest := list[k+1:]
			if assigns(s) {
				continue
			}
			then, otherwise := s.Then, s.Else
			switch {
			case ends(then):
				otherwise = slices.Concat(otherwise, rest)
			case ends(otherwise):
				then = slices.Concat(then, rest)
			default:
				return nil, false
			}
			var ok1, ok2 bool
			s.Then, ok1 = e.list(then)
			s.Else, ok2 = e.list(otherwise)
			return append(slices.Clone(list[:k]), s), ok1 && ok2
		case program.Return:
			sets, ok := e.set(s)
			return append(slices.Clone(list[:k]), sets...), ok
		default:
			return nil, false
		}
	}
	return nil, false
}

// ends reports whether a list returns on each way through it.
func ends(list []program.Statement) bool {
	if len(list) == 0 {
		return false
	}
	switch s := list[len(list)-1].(type) {
	case program.Return:
		return true
	case program.If:
		return ends(s.Then) && ends(s.Else)
	}
	return false
}

// set sets the results to what a return returns, which must be numbers and truths.
func (e *ending) set(r program.Return) (sets []program.Statement, ok bool) {
	if r.Panic || len(r.Values) == 0 {
		return nil, false
	}
	for i, x := range r.Values {
		if ref, ok := x.(program.Ref); ok && ref.Var.Slice {
			return nil, false
		}
		if e.returns == 0 {
			name := fmt.Sprintf("returned·%d", i)
			for e.names[name] {
				name += "·"
			}
			e.results = append(e.results, &program.Variable{Name: name, Sort: program.SortOf(x), Pos: r.Pos})
		}
		if e.results[i].Sort != program.SortOf(x) {
			return nil, false
		}
		sets = append(sets, program.Assign{At: r.At, To: e.results[i], Value: x})
	}
	e.returns++
	e.at = r.At
	return sets, true
}
