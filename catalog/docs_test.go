package catalog

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// docs/catalog.md names every key that a catalog may have, and every code that
// one is refused with.
func TestDocumentedKeys(t *testing.T) {
	page, err := os.ReadFile("../docs/catalog.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile(`^D\d{3}$`)
	keys := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr: // l.keys(n, "domain", ...)
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "keys" {
					for _, key := range n.Args[1:] {
						keys++
						name, err := strconv.Unquote(key.(*ast.BasicLit).Value)
						if err != nil || !regexp.MustCompile("[`\\[{ .]"+name+"[`\\]. ]").Match(page) {
							t.Errorf("docs/catalog.md does not name the key %s", name)
						}
					}
				}
			case *ast.BasicLit:
				if s := strings.Trim(n.Value, `"`); code.MatchString(s) && !strings.Contains(string(page), s) {
					t.Errorf("docs/catalog.md does not name %s", s)
				}
			}
			return true
		})
	}
	if keys < 20 {
		t.Errorf("found %d keys", keys)
	}
}
