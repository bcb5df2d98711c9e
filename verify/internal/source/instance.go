package source

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
)

// instance is what a generic function is for the types of a call. The compiler's own checker
// reads it again, without its type parameters, in a package where each of them is another
// name for its type: so every type in it is known, as if it had been written for these. Nil
// where that does not compile: a literal names the fields that are not exported, there.
func (b *body) instance(call ast.Expr, info *types.Info) *checked {
	id := nameOf(call)
	if id == nil || b.decl.Recv != nil {
		return nil
	}
	pkg := types.NewPackage(b.in.types.Path(), b.in.types.Name())
	args, n := info.Instances[id].TypeArgs, 0
	for _, f := range b.decl.Type.TypeParams.List {
		for _, name := range f.Names {
			if n >= args.Len() {
				return nil
			}
			t := types.NewTypeName(token.NoPos, pkg, name.Name, nil)
			types.NewAlias(t, args.At(n))
			pkg.Scope().Insert(t)
			n++
		}
	}
	around := b.in.types.Scope()
	for _, name := range around.Names() {
		if name != b.decl.Name.Name {
			pkg.Scope().Insert(around.Lookup(name)) // unless a parameter hides it
		}
	}
	plain := *b.decl
	plain.Type = &ast.FuncType{Func: b.decl.Type.Func, Params: b.decl.Type.Params, Results: b.decl.Type.Results}
	file := *b.file
	file.Decls = []ast.Decl{&plain}
	for _, d := range b.file.Decls {
		if imports, ok := d.(*ast.GenDecl); ok && imports.Tok == token.IMPORT {
			file.Decls = append(file.Decls, imports)
		}
	}
	in := &checked{b.in.fset, b.in.files, pkg, &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Instances: map[*ast.Ident]types.Instance{},
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Scopes: map[ast.Node]*types.Scope{},
	}}
	config := types.Config{
		GoVersion: b.in.types.GoVersion(), Importer: imports(b.in.types.Imports()),
		DisableUnusedImportCheck: true, Error: func(error) {},
	}
	if types.NewChecker(&config, b.in.fset, pkg, in.info).Files([]*ast.File{&file}) != nil {
		return nil
	}
	return in
}

// nameOf is the identifier by which a function is called.
func nameOf(e ast.Expr) *ast.Ident {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.IndexExpr:
		return nameOf(e.X)
	case *ast.IndexListExpr:
		return nameOf(e.X)
	}
	return nil
}

// imports finds what a package has imported.
type imports []*types.Package

func (ps imports) Import(path string) (*types.Package, error) {
	for _, p := range ps {
		if p.Path() == path {
			return p, nil
		}
	}
	return nil, errors.New("not imported")
}
