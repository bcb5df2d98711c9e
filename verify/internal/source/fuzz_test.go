package source_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/discreet-dp/discreet/verify/internal/program"
	"github.com/discreet-dp/discreet/verify/internal/source"
)

// An importer knows the packages that programs use.
type importer map[string]*types.Package

func (i importer) Import(path string) (*types.Package, error) {
	if p := i[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("no package %s", path)
}

func newImporter(t testing.TB) importer {
	t.Helper()
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports},
		"github.com/discreet-dp/discreet/noise", "errors", "fmt", "iter", "math", "math/rand", "slices")
	if err != nil {
		t.Fatal(err)
	}
	known := importer{}
	for _, p := range loaded {
		known[p.PkgPath] = p.Types
	}
	return known
}

// lower reads a file, even if its types are wrong.
func (i importer) lower(t *testing.T, text string) ([]*source.Unit, []source.Refusal, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "fuzz.go", text, parser.ParseComments)
	if err != nil {
		t.Skip("not Go")
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Scopes: map[ast.Node]*types.Scope{}, Implicits: map[ast.Node]types.Object{},
	}
	config := types.Config{Importer: i, Error: func(error) {}}
	pkg, wrong := config.Check("fuzz", fset, []*ast.File{file}, info)
	units, strays := source.Lower(fset, []*ast.File{file}, pkg, info)
	return units, strays, wrong
}

// Whatever the text, and whatever is wrong with its types, it is read or refused; and
// what is read prints, has a domain, and is the same when read again.
func FuzzLower(f *testing.F) {
	seeds, err := filepath.Glob("testdata/*/*.go")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range seeds {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	page, err := os.ReadFile("../../../docs/verify/subset.md")
	if err != nil {
		f.Fatal(err)
	}
	for _, m := range example.FindAllStringSubmatch(string(page), -1) {
		f.Add("package e\nimport (\"github.com/discreet-dp/discreet/noise\"; \"iter\"; \"math\"; \"slices\")\n" + m[1])
	}
	known := newImporter(f)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 20_000 {
			t.Skip("long")
		}
		read := func() (printed []string) {
			units, strays, wrong := known.lower(t, text)
			for _, u := range units {
				if u.Function != nil {
					over, note := source.Exactness(u.Function, u.Claim)
					printed = append(printed, program.Print(u.Function), over, note)
				}
				printed = append(printed, fmt.Sprint(u.Refusals))
				if wrong == nil && strings.Contains(fmt.Sprint(u.Refusals), "reading it failed") {
					t.Error(u.Refusals)
				}
			}
			return append(printed, fmt.Sprint(strays))
		}
		once, again := read(), read()
		for i := range once {
			if once[i] != again[i] {
				t.Errorf("read as\n%s\nand again as\n%s", once[i], again[i])
			}
		}
	})
}
