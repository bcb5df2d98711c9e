package sensitivity

import "go/types"

// shares reports whether copies of a value share what they lead to.
func shares(t types.Type) bool {
	switch u := core(t).(type) {
	case *types.Basic:
		return false
	case *types.Array:
		return shares(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if shares(f.Type()) {
				return true
			}
		}
		return false
	}
	return true
}

// core is the underlying type; of a type parameter the one that all its types have.
func core(t types.Type) types.Type {
	p, ok := t.(*types.TypeParam)
	if !ok {
		return t.Underlying()
	}
	c, ok := p.Constraint().Underlying().(*types.Interface)
	if !ok {
		return t.Underlying()
	}
	var one types.Type
	for e := range c.EmbeddedTypes() {
		terms := []types.Type{e}
		if u, ok := e.(*types.Union); ok {
			terms = nil
			for i := range u.Len() {
				terms = append(terms, u.Term(i).Type())
			}
		}
		for _, x := range terms {
			if u := x.Underlying(); one == nil || types.Identical(one, u) {
				one = u
				continue
			}
			return t.Underlying()
		}
	}
	if one == nil {
		return t.Underlying()
	}
	return one
}

// leads reports whether values of the type lead to places, or are places as arrays are.
func leads(t types.Type) bool { return shares(t) || array(t) }

// array reports whether values of the type hold arrays.
func array(t types.Type) bool {
	if p, ok := t.(*types.TypeParam); ok {
		return arrays(p.Constraint())
	}
	switch u := core(t).(type) {
	case *types.Array:
		return true
	case *types.Struct:
		for f := range u.Fields() {
			if array(f.Type()) {
				return true
			}
		}
	}
	return false
}

// arrays reports whether one of the types of a constraint holds arrays.
func arrays(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Interface:
		for e := range u.EmbeddedTypes() {
			if arrays(e) {
				return true
			}
		}
	case *types.Union:
		for term := range u.Terms() {
			if arrays(term.Type()) {
				return true
			}
		}
	default:
		return array(t)
	}
	return false
}
