package program_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"

	. "github.com/discreet-dp/discreet/verify/internal/program"
)

// kinds are the types that a file of this package declares and chosen picks: a kind of
// statement or expression that is added without a place in every below fails its test.
func kinds(t *testing.T, file string, chosen func(*ast.TypeSpec) bool) (names []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.TypeSpec); ok && chosen(s) {
			names = append(names, s.Name.Name)
		}
		return true
	})
	return names
}

// every is a list with each kind of statement, of which each expression is of all kinds
// and has x in all places: so often as it returns.
func every(x, q *Variable) (list []Statement, reads int) {
	r := func() Expression { reads++; return Diff{X: Ref{Var: x}} }
	e := func() Expression {
		return If3{
			Cond: Binary{Op: Lt, X: Element{Slice: q, Index: r()}, Y: Binary{Op: Sub, X: Length{Slice: q}, Y: r()}},
			Then: Call{Func: "pow", Args: []Expression{Number{Value: big.NewRat(1, 2)}, Unary{Op: Sub, X: r()}}},
			Else: If3{Cond: Truth(true), Then: r(), Else: r()},
		}
	}
	y := &Variable{Name: "y", Sort: Real}
	at := At{Pos: 7}
	outer := &Loop{At: at, Cond: e(), Name: "outer"}
	inner := &Loop{At: at, Cond: e(), Invariants: []Expression{e()}, Post: []Statement{Assign{at, y, e()}}, Name: "inner"}
	inner.Body = []Statement{Break{at, inner}, Continue{at, inner}, Break{at, outer}, Continue{at, outer}}
	outer.Body = []Statement{If{at, e(), []Statement{inner}, []Statement{Append{at, q, e()}}}}
	return []Statement{
		Make{at, q, e()}, Store{at, q, e(), e()}, Draw{At: at, To: y, Parameter: e(), Scores: q, Align: e()}, outer,
		Output{at, []Expression{e()}}, Return{At: at, Values: []Expression{e()}},
	}, reads
}

func show(list []Statement) string { return Print(&Function{Body: list}) }

// mutable are the addresses of what can be written to: loops, and the elements of slices.
func mutable(v reflect.Value, found map[uintptr]bool) {
	switch v.Kind() {
	case reflect.Interface:
		mutable(v.Elem(), found)
	case reflect.Pointer:
		if v.Type() == reflect.TypeFor[*Loop]() && !found[v.Pointer()] {
			found[v.Pointer()] = true
			mutable(v.Elem(), found)
		}
	case reflect.Slice:
		for i := range v.Len() {
			found[v.Index(i).Addr().Pointer()] = true
			mutable(v.Index(i), found)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			mutable(v.Field(i), found)
		}
	}
}

func TestEveryKind(t *testing.T) {
	x, q := &Variable{Name: "x", Sort: Real}, &Variable{Name: "q", Sort: Real, Slice: true}
	list, reads := every(x, q)
	seen := map[string]bool{}
	count := 0
	Each(list, func(s Statement) {
		fields := reflect.Indirect(reflect.ValueOf(s))
		seen[fields.Type().Name()] = true
		if to := fields.FieldByName("To"); to.IsValid() && to.Interface() != Written(s) || !to.IsValid() && Written(s) != nil {
			t.Errorf("%T writes %v", s, Written(s))
		}
		for _, e := range Expressions(s) {
			Walk(e, func(e Expression) {
				seen[reflect.TypeOf(e).Name()] = true
				if e == Expression(Ref{Var: x}) {
					count++
				}
			})
		}
	})
	if count != reads {
		t.Errorf("%d of %d are visited", count, reads)
	}
	statements := kinds(t, "program.go", func(s *ast.TypeSpec) bool {
		st, ok := s.Type.(*ast.StructType)
		return ok && slices.ContainsFunc(st.Fields.List, func(f *ast.Field) bool {
			id, ok := f.Type.(*ast.Ident)
			return ok && len(f.Names) == 0 && id.Name == "At"
		})
	})
	expressions := kinds(t, "expression.go", func(s *ast.TypeSpec) bool { return s.Name.Name != "Expression" && s.Name.Name != "Op" })
	if len(statements) != 11 || len(expressions) != 10 {
		t.Errorf("%v, %v", statements, expressions)
	}
	for _, name := range slices.Concat(statements, expressions) {
		if !seen[name] {
			t.Errorf("no %s is visited", name)
		}
	}
}

// A copy says the same, of no part that can be written to; and what it is of stays.
func TestCopies(t *testing.T) {
	x, q := &Variable{Name: "x", Sort: Real}, &Variable{Name: "q", Sort: Real, Slice: true}
	list, _ := every(x, q)
	before := show(list)
	for name, r := range map[string]*Rewriter{
		"plain": {},
		"same":  {Expression: func(x Expression) Expression { return Replace(x, func(x Expression) Expression { return x }) }, Statement: func(s Statement) []Statement { return []Statement{s} }},
	} {
		c := r.List(list)
		if show(c) != before || !reflect.DeepEqual(c, list) {
			t.Errorf("%s: %s of\n%s", name, show(c), before)
		}
		old, now := map[uintptr]bool{}, map[uintptr]bool{}
		mutable(reflect.ValueOf(list), old)
		mutable(reflect.ValueOf(c), now)
		if len(old) != len(now) {
			t.Errorf("%s: %d parts of %d", name, len(now), len(old))
		}
		for p := range now {
			if old[p] {
				t.Errorf("%s: the copy shares a part", name)
			}
		}
	}
}

// Every expression is replaced, parts before the whole, and every statement may be; jumps
// are of the copies, or of what is given for loops outside.
func TestRewriter(t *testing.T) {
	x, q := &Variable{Name: "x", Sort: Real}, &Variable{Name: "q", Sort: Real, Slice: true}
	z := &Variable{Name: "z", Sort: Real}
	list, reads := every(x, q)
	before := show(list)
	r := &Rewriter{Expression: func(e Expression) Expression {
		return Replace(e, func(e Expression) Expression {
			if e == Expression(Ref{Var: x}) {
				return Ref{Var: z}
			}
			if d, ok := e.(Diff); ok && d.X != Expression(Ref{Var: z}) {
				t.Errorf("%v before its part", e)
			}
			return e
		})
	}}
	want := strings.ReplaceAll(before, "diff(x)", "diff(z)")
	if got := show(r.List(list)); got != want || strings.Count(got, "diff(z)") != reads {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if show(list) != before {
		t.Error("the given list is changed")
	}

	inside := list[3].(*Loop)
	other := &Loop{}
	r = &Rewriter{Loops: map[*Loop]*Loop{inside: other}}
	var of []*Loop
	Each(r.List(inside.Body), func(s Statement) {
		switch s := s.(type) {
		case Break:
			of = append(of, s.Of)
		case Continue:
			of = append(of, s.Of)
		case *Loop:
			of = append(of, s)
		}
	})
	if len(of) != 5 || of[1] != of[0] || of[2] != of[0] || of[3] != other || of[4] != other {
		t.Errorf("jumps are of %v", of)
	}

	twice := &Rewriter{Statement: func(s Statement) []Statement {
		switch s.(type) {
		case Output:
			return []Statement{s, s}
		case If, Store:
			return nil
		}
		return []Statement{s}
	}}
	var got []string
	Each(twice.List(list), func(s Statement) { got = append(got, strings.TrimPrefix(reflect.TypeOf(s).String(), "program.")) })
	if want := "Make Draw *program.Loop Output Output Return"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	if Replace(nil, func(e Expression) Expression { t.Error("nil has parts"); return e }) != nil {
		t.Error("nil is something")
	}
}
