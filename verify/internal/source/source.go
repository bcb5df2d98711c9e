// Package source reads Go functions with claims: directives in their comments
// become a claim.Claim, their bodies a program.Function, with the functions that
// they call written out.
//
// What it guarantees: a Function does what the Go function does, in the same order
// and with the same draws, on numbers without bounds (ints) and without rounding
// (floats), as long as no draw fails. What it does not know how to say so it
// refuses, with the position and the nearest thing that it knows; it never guesses.
//
// What lies outside: overflow of integers, rounding of floats, infinities and NaN, the sign of a zero;
// a source of randomness that fails (k, err := d.Int64(stream) gives an err of nil),
// or that refuses a parameter;
// what a method leaves in the unexported fields of its receiver, which its package
// must keep to itself; and a second pass over a result of type iter.Seq.
package source

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A Unit is one function with a directive.
type Unit struct {
	// Name is that of the function: F, or T.M.
	Name string
	// Position is where the function's name stands.
	Position token.Position
	// Claim is what the directives say; nil if one of them is refused.
	Claim *claim.Claim
	// Function is the body; nil if it is refused.
	Function *program.Function
	// Refusals say why Claim or Function is nil: not why Function is where the claim is of
	// sensitivity alone, which rules prove of syntax.
	Refusals []Refusal

	// missing are packages of which functions are called that are not at hand.
	missing []string

	// The syntax, for those who read it themselves.
	Decl    *ast.FuncDecl
	File    *ast.File
	Fset    *token.FileSet
	Package *types.Package
	Info    *types.Info
}

// A Refusal is what lies outside the subset.
type Refusal struct {
	Position token.Position
	// What it is, why it is refused, and the nearest thing that is not.
	What, Why, Hint string
}

func (r Refusal) String() string {
	s := fmt.Sprintf("%s: %s: %s", r.Position, r.What, r.Why)
	if r.Hint != "" {
		s += " (" + r.Hint + ")"
	}
	return s
}

// A checked is a package with its types.
type checked struct {
	fset  *token.FileSet
	files []*ast.File
	types *types.Package
	info  *types.Info
}

// A body is a function that can be written out where it is called.
type body struct {
	decl *ast.FuncDecl
	file *ast.File
	in   *checked
}

// bodies knows functions by their full names: packages that were read apart have
// different objects for the same function.
type bodies map[string]*body

func (b bodies) add(in *checked) {
	for _, file := range in.files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			if fn, ok := in.info.Defs[f.Name].(*types.Func); ok {
				b[fn.FullName()] = &body{f, file, in}
			}
		}
	}
}

// notes are the directives of files, read when they are asked for.
type notes map[*ast.File]*directives

func (n notes) of(in *checked, file *ast.File) *directives {
	if n[file] == nil {
		n[file] = readDirectives(in, file)
	}
	return n[file]
}

// Lower reads the functions with claims of one package that was type-checked.
// Functions of other packages are unknown to it, except those that have a meaning of
// their own. Refusals that belong to no function with a claim are returned apart.
func Lower(fset *token.FileSet, files []*ast.File, pkg *types.Package, info *types.Info) ([]*Unit, []Refusal) {
	in := &checked{fset, files, pkg, info}
	known := bodies{}
	known.add(in)
	return lower(in, known)
}

func lower(in *checked, known bodies) (units []*Unit, strays []Refusal) {
	notes := notes{}
	for _, file := range in.files {
		of := map[*ast.FuncDecl]*Unit{}
		for _, d := range file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || notes.of(in, file).functions[decl] == nil {
				continue
			}
			u := &Unit{
				Name: functionName(decl), Position: in.fset.Position(decl.Name.Pos()),
				Decl: decl, File: file, Fset: in.fset, Package: in.types, Info: in.info,
			}
			u.read(&body{decl, file, in}, known, notes)
			of[decl] = u
			units = append(units, u)
		}
		for _, s := range notes.of(in, file).strays {
			if u := of[s.in]; u != nil {
				u.Refusals = append(u.Refusals, s.refusal)
			} else {
				strays = append(strays, s.refusal)
			}
		}
	}
	for _, u := range units {
		if u.misdirected() {
			u.Claim, u.Function = nil, nil
		}
	}
	return units, strays
}

// misdirected reports whether something is refused of a directive, in the function's
// comment or its body: somebody believes to have said it, and rules that read the syntax
// would pass over it.
func (u *Unit) misdirected() bool {
	for _, group := range u.File.Comments {
		for _, c := range group.List {
			from, to := u.Fset.Position(c.Pos()), u.Fset.Position(c.End())
			if slices.ContainsFunc(u.Refusals, func(r Refusal) bool {
				at := r.Position
				return at.Filename == from.Filename && from.Offset <= at.Offset && at.Offset <= to.Offset
			}) {
				return true
			}
		}
	}
	return false
}

// functionName is T.M for methods of T and of *T.
func functionName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	t := ast.Unparen(d.Recv.List[0].Type)
	if star, ok := t.(*ast.StarExpr); ok {
		t = ast.Unparen(star.X)
	}
	switch x := t.(type) {
	case *ast.IndexExpr:
		t = x.X
	case *ast.IndexListExpr:
		t = x.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name + "." + d.Name.Name
	}
	return d.Name.Name
}

// failed begins the reason of a function whose reading broke; one that compiles does not.
const failed = "reading it failed"

// read fills in the claim and the function.
func (u *Unit) read(b *body, known bodies, notes notes) {
	l := newLowerer(b, known, notes)
	// Syntax whose types are wrong breaks what the rest relies on. Whatever breaks, the
	// function is refused.
	defer func() {
		if r := recover(); r != nil {
			u.Claim, u.Function = nil, nil
			u.Refusals = append(l.refusals, Refusal{u.Position, "the function " + u.Name, fmt.Sprintf("%s: %v", failed, r), "see that it compiles"})
		}
	}()
	l.enter(b)
	if b.decl.Type.TypeParams != nil || isGeneric(b) {
		l.report(b.decl.Name.Pos(), "a function with type parameters", "its numbers have no type yet", "write it for one type: float64 or int64")
		u.Refusals = l.refusals
		return
	}
	u.Claim = l.claim(notes.of(b.in, b.file).functions[b.decl])
	if u.Claim != nil && u.Claim.Cost == nil {
		u.Function = l.optional(b, u.Claim)
	} else {
		u.Function = l.function(b, u.Claim)
		u.missing = l.missing
	}
	u.Refusals = l.refusals
	slices.SortStableFunc(u.Refusals, func(a, b Refusal) int {
		return cmp.Or(cmp.Compare(a.Position.Filename, b.Position.Filename), cmp.Compare(a.Position.Offset, b.Position.Offset))
	})
}

// optional reads the body if it can: nothing is reported, and no package is loaded for it.
func (l *lowerer) optional(b *body, c *claim.Claim) (f *program.Function) {
	before := l.refusals
	defer func() {
		if l.refusals = before; recover() != nil {
			f = nil
		}
	}()
	return l.function(b, c)
}
