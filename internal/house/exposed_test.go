package house_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"

	loader "golang.org/x/tools/go/packages"
)

// hidden says whether a package of ours cannot be imported from outside.
func hidden(p *types.Package) bool {
	return p != nil && strings.HasPrefix(p.Path(), module) && strings.Contains(p.Path()+"/", "/internal/")
}

// exposed returns the hidden types that a reader of the package meets: what an exported
// name stands for, what its exported fields and methods are of.
func exposed(p *types.Package) (found []string) {
	var e exposure
	for _, name := range p.Scope().Names() {
		o := p.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		e.of(name, o.Type())
		if t, ok := o.(*types.TypeName); ok && !t.IsAlias() {
			e.defined(name, t.Type().(*types.Named))
		}
	}
	return e.found
}

type exposure struct{ found []string }

// defined visits what a type of the package shows of itself.
func (e *exposure) defined(at string, t *types.Named) {
	e.of(at, t.Underlying())
	for m := range t.Methods() {
		if m.Exported() {
			e.of(at+"."+m.Name(), m.Type())
		}
	}
}

// of visits a type as it is written.
func (e *exposure) of(at string, t types.Type) {
	switch t := t.(type) {
	case *types.Alias:
		if hidden(t.Obj().Pkg()) {
			e.found = append(e.found, fmt.Sprintf("%s is of %s", at, t))
			return
		}
		e.of(at, t.Rhs())
	case *types.Named:
		if hidden(t.Obj().Pkg()) {
			e.found = append(e.found, fmt.Sprintf("%s is of %s", at, t))
			return
		}
		for a := range t.TypeArgs().Types() {
			e.of(at, a)
		}
	case *types.Pointer:
		e.of(at, t.Elem())
	case *types.Slice:
		e.of(at, t.Elem())
	case *types.Array:
		e.of(at, t.Elem())
	case *types.Chan:
		e.of(at, t.Elem())
	case *types.Map:
		e.of(at, t.Key())
		e.of(at, t.Elem())
	case *types.Signature:
		for v := range t.Params().Variables() {
			e.of(at, v.Type())
		}
		for v := range t.Results().Variables() {
			e.of(at, v.Type())
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() {
				e.of(at+"."+f.Name(), f.Type())
			}
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			if m.Exported() {
				e.of(at+"."+m.Name(), m.Type())
			}
		}
		for i := range t.NumEmbeddeds() {
			e.of(at, t.EmbeddedType(i))
		}
	}
}

// shown are exceptions that stand, with the reason.
var shown = map[string]string{
	"./catalog: SQL.Place":      "our own stages point into the owner's file by it",
	"./catalog: View.Place":     "as SQL.Place",
	"./catalog: Source.Pattern": "which files a table is read from is not settled",
	"./catalog: Table.Files":    "which files a table is read from is not settled",
	"./engine: Owner.Lots":      "which files a table is read from is not settled",
	"./engine: Owner.Records":   "which files a table is read from is not settled",
}

// What a public package shows can be named, and read in its documentation: nothing of it
// is a type of an internal package.
func TestPublicPackagesShowNoInternalTypes(t *testing.T) {
	inRoot(t)
	all, err := loader.Load(&loader.Config{Mode: loader.NeedName | loader.NeedImports | loader.NeedTypes | loader.NeedExportFile, Dir: "."}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	visited, excepted := 0, map[string]bool{}
	for _, p := range all {
		for _, err := range p.Errors {
			t.Error(err)
		}
		path := relative(p.PkgPath)
		if !library(path) || p.Name == "main" {
			continue
		}
		visited++
		for _, f := range exposed(p.Types) {
			at, _, _ := strings.Cut(path+": "+f, " is of ")
			if excepted[at] = true; shown[at] == "" {
				t.Errorf("%s: %s", path, f)
			}
		}
	}
	for at := range shown {
		if !excepted[at] {
			t.Errorf("%s shows nothing internal: it is no exception", at)
		}
	}
	if visited < 30 {
		t.Errorf("found %d public packages", visited)
	}
}

// The rule sees an internal type wherever it is shown, and no other.
func TestExposureIsSeen(t *testing.T) {
	const secret = "type Secret struct{ X int }"
	const public = `
		import "github.com/discreet-dp/discreet/internal/secret"
		type Alias = secret.Secret
		type Defined secret.Secret
		type Fields struct { A *secret.Secret; B map[string][]secret.Secret; c secret.Secret }
		type Embeds struct { secret.Secret }
		type Generic[T any] struct{ X T }
		type Interface interface{ M() chan secret.Secret }
		type List []secret.Secret
		func F(func(secret.Secret)) {}
		func G() (Generic[secret.Secret], error) { return Generic[secret.Secret]{}, nil }
		func (Defined) M(...secret.Secret) {}
		func (Defined) hidden(secret.Secret) {}
		func f(secret.Secret) {}
		var V [2]secret.Secret
		var v secret.Secret
		var _, _ = f, v`
	files := token.NewFileSet()
	imports := importing{}
	check := func(path, text string) *types.Package {
		file, err := parser.ParseFile(files, path, "package "+path[strings.LastIndexByte(path, '/')+1:]+"\n"+text, 0)
		if err != nil {
			t.Fatal(err)
		}
		p, err := (&types.Config{Importer: imports}).Check(path, files, []*ast.File{file}, nil)
		if err != nil {
			t.Fatal(err)
		}
		imports[path] = p
		return p
	}
	check(module+"/internal/secret", secret)
	seen := map[string]bool{}
	for _, f := range exposed(check(module+"/public", public)) {
		at, _, _ := strings.Cut(f, " ")
		seen[at] = true
	}
	want := []string{"Alias", "Defined.M", "Embeds.Secret", "F", "Fields.A", "Fields.B", "G", "Interface.M", "List", "V"}
	if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, want) {
		t.Errorf("seen: %v\nwant: %v", got, want)
	}
}

// importing finds the packages that were checked before.
type importing map[string]*types.Package

func (i importing) Import(path string) (*types.Package, error) {
	if p := i[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("no package %s", path)
}
