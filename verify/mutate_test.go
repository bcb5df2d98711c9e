package verify_test

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A mutant is a function with one constant or comparison altered.
type mutant struct {
	Function string // of which it is one: NoisyMax
	Change   string // "7:15 2 -> 3": line and column, the line that of the function's own text
	source   string // of functions called Name, or Name with a suffix
	Name     string
}

// comparisons are what each comparison becomes: its strictness altered, and its
// opposite.
var comparisons = map[token.Token][]token.Token{
	token.LSS: {token.LEQ, token.GEQ},
	token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ},
	token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ},
	token.NEQ: {token.EQL},
}

var (
	directiveNumber     = regexp.MustCompile(`\b[0-9]+(\.[0-9]+)?(e-?[0-9]+)?\b`)
	directiveComparison = regexp.MustCompile(`[<>=!]=|[<>]`)
)

// A folderOfMutants is a package whose functions have no claims of their own any more,
// and the mutants to be added to it, by its files.
type folderOfMutants struct {
	files   map[string]string
	mutants map[string][]mutant
}

// mutate returns the mutants of the functions of a folder for which keep holds: of
// each constant n of the body, of the functions without a claim that it calls, and
// of its directives, n+1 and n−1 (n+1 for 0), and of each comparison those above. The
// bound of an adjacency stays one: <= becomes no other comparison there.
func mutate(t *testing.T, dir string, keep func(string) bool) *folderOfMutants {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	all := &folderOfMutants{files: map[string]string{}, mutants: map[string][]mutant{}}
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Base(path)
		all.files[file] = strings.ReplaceAll(string(source), "//dp:", "// ")
		all.mutants[file] = (&mutator{t: t, source: source}).file(keep)
	}
	return all
}

// A mutator alters the functions of one file.
type mutator struct {
	t       *testing.T
	source  []byte
	fset    *token.FileSet
	claimed *ast.FuncDecl // whose claim is the mutant's
	decl    *ast.FuncDecl // the function that is altered: claimed, or one that it calls
	all     []mutant
}

func (m *mutator) file(keep func(string) bool) []mutant {
	m.fset = token.NewFileSet()
	f, err := parser.ParseFile(m.fset, "", m.source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		m.t.Fatal(err)
	}
	helpers := map[string]*ast.FuncDecl{}
	for _, d := range f.Decls {
		if decl, ok := d.(*ast.FuncDecl); ok && !ast.IsExported(decl.Name.Name) {
			helpers[decl.Name.Name] = decl
		}
	}
	for _, d := range f.Decls {
		decl, ok := d.(*ast.FuncDecl)
		if !ok || decl.Doc == nil || !keep(decl.Name.Name) {
			continue
		}
		m.claimed, m.decl = decl, decl
		m.directives()
		m.body()
		seen := map[string]bool{}
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if name, ok := call.Fun.(*ast.Ident); ok && helpers[name.Name] != nil && !seen[name.Name] {
					m.decl, seen[name.Name] = helpers[name.Name], true
					m.body()
				}
			}
			return true
		})
	}
	return m.all
}

func (m *mutator) directives() {
	for _, c := range m.decl.Doc.List {
		if !strings.HasPrefix(c.Text, "//dp:") {
			continue
		}
		for _, at := range directiveNumber.FindAllStringIndex(c.Text, -1) {
			m.number(c.Pos()+token.Pos(at[0]), c.Pos()+token.Pos(at[1]))
		}
		if strings.HasPrefix(c.Text, "//dp:requires") {
			for _, at := range directiveComparison.FindAllStringIndex(c.Text, -1) {
				for _, op := range []string{"<", "<=", ">", ">=", "==", "!="} {
					for _, to := range comparisons[operator(op)] {
						if c.Text[at[0]:at[1]] == op {
							m.alter(c.Pos()+token.Pos(at[0]), c.Pos()+token.Pos(at[1]), to.String())
						}
					}
				}
			}
		}
	}
}

func operator(text string) token.Token {
	for t := range comparisons {
		if t.String() == text {
			return t
		}
	}
	return token.ILLEGAL
}

func (m *mutator) body() {
	ast.Inspect(m.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if n.Kind == token.INT || n.Kind == token.FLOAT {
				m.number(n.Pos(), n.End())
			}
		case *ast.BinaryExpr:
			for _, op := range comparisons[n.Op] {
				m.alter(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), op.String())
			}
		}
		return true
	})
}

func (m *mutator) offset(p token.Pos) int { return m.fset.Position(p).Offset }

func (m *mutator) number(from, to token.Pos) {
	literal := string(m.source[m.offset(from):m.offset(to)])
	n, ok := new(big.Rat).SetString(literal)
	if !ok {
		return
	}
	for _, d := range []int64{1, -1} {
		if d < 0 && n.Sign() <= 0 {
			continue
		}
		altered := new(big.Rat).Add(n, big.NewRat(d, 1))
		text := altered.FloatString(3)
		if altered.IsInt() {
			text = altered.RatString()
			if strings.Contains(literal, ".") {
				text += ".0"
			}
		}
		if altered.Sign() < 0 {
			text = "(" + text + ")"
		}
		m.alter(from, to, text)
	}
}

// alter adds the mutant that has a text at a place.
func (m *mutator) alter(from, to token.Pos, text string) {
	function := m.claimed.Name.Name
	name := fmt.Sprintf("%sMutant%d", function, len(m.all))
	place := m.fset.Position(from)
	begins := func(d *ast.FuncDecl) token.Pos {
		if d.Doc != nil {
			return d.Doc.Pos()
		}
		return d.Pos()
	}
	change := fmt.Sprintf("%d:%d %s -> %s", place.Line-m.fset.Position(begins(m.decl)).Line, place.Column, m.source[m.offset(from):m.offset(to)], text)
	altered := string(m.source[m.offset(begins(m.decl)):m.offset(from)]) + text + string(m.source[m.offset(to):m.offset(m.decl.End())])
	if m.decl != m.claimed {
		change = m.decl.Name.Name + " " + change
		helper := m.decl.Name.Name
		call := regexp.MustCompile(`\b` + helper + `\(`)
		whole := string(m.source[m.offset(begins(m.claimed)):m.offset(m.claimed.End())])
		altered = call.ReplaceAllString(whole, helper+name+"(") + "\n\n" + strings.Replace(altered, "func "+helper+"(", "func "+helper+name+"(", 1)
	}
	altered = strings.Replace(altered, "func "+function+"(", "func "+name+"(", 1)
	if _, err := format.Source([]byte(altered)); err != nil {
		m.t.Fatalf("%s: %s: %v", function, change, err)
	}
	m.all = append(m.all, mutant{Function: function, Change: change, Name: name, source: altered})
}
