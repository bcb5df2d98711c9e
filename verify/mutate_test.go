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
	"slices"
	"strings"
	"testing"
)

// A mutant is a function with one constant or comparison altered.
type mutant struct {
	Function string // of which it is one: NoisyMax, SparseVector.answers
	Change   string // "7:15 2 -> 3": line and column, the line that of the function's own text
	source   string // of functions called Name, or Name with a suffix
	Name     string
	receiver string // of a method: its type, and a dot
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
	path    string // of the module, if it matters
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
	m := &mutator{t: t, fset: token.NewFileSet(), sources: map[string][]byte{}, functions: map[string]*ast.FuncDecl{}}
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m.sources[path] = source
		all.files[filepath.Base(path)] = strings.ReplaceAll(string(source), "//dp:", "// ")
		f, err := parser.ParseFile(m.fset, path, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
		m.declare(f)
	}
	for _, f := range files {
		m.all = nil
		m.file(f, keep)
		all.mutants[filepath.Base(m.fset.Position(f.Pos()).Filename)] = m.all
	}
	return all
}

// A mutator alters the functions of a package.
type mutator struct {
	t         *testing.T
	fset      *token.FileSet
	sources   map[string][]byte
	functions map[string]*ast.FuncDecl // those that are called: helper, run.start
	claimed   *ast.FuncDecl            // whose claim is the mutant's
	chain     []*ast.FuncDecl          // from claimed, by calls, to decl
	decl      *ast.FuncDecl            // the function that is altered
	all       []mutant
}

// declare notes the functions that others of the package may call.
func (m *mutator) declare(f *ast.File) {
	for _, d := range f.Decls {
		if decl, ok := d.(*ast.FuncDecl); ok && !ast.IsExported(decl.Name.Name) && decl.Body != nil {
			m.functions[receiver(decl)+decl.Name.Name] = decl
		}
	}
}

func claims(d *ast.FuncDecl) bool {
	return d.Doc != nil && slices.ContainsFunc(d.Doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//dp:cost") })
}

// receiver is the type of a method, and a dot.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	t := d.Recv.List[0].Type
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	if name, ok := t.(*ast.Ident); ok {
		return name.Name + "."
	}
	return "?."
}

func (m *mutator) file(f *ast.File, keep func(string) bool) {
	for _, d := range f.Decls {
		decl, ok := d.(*ast.FuncDecl)
		if !ok || !claims(decl) || !keep(receiver(decl)+decl.Name.Name) {
			continue
		}
		m.claimed, m.decl, m.chain = decl, decl, []*ast.FuncDecl{decl}
		m.directives()
		m.along(map[*ast.FuncDecl]bool{decl: true})
	}
}

// along alters the last function of the chain, and those that it calls: functions by
// their name, and methods of the same type, or of the one that all runs have.
func (m *mutator) along(seen map[*ast.FuncDecl]bool) {
	m.decl = m.chain[len(m.chain)-1]
	m.body()
	ast.Inspect(m.decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		var callee *ast.FuncDecl
		switch f := call.Fun.(type) {
		case *ast.Ident:
			callee = m.functions[f.Name]
		case *ast.SelectorExpr:
			if _, ok := f.X.(*ast.Ident); !ok {
				return true
			}
			if callee = m.functions[receiver(m.claimed)+f.Sel.Name]; callee == nil && m.claimed.Recv != nil {
				callee = m.functions["run."+f.Sel.Name]
			}
		}
		if callee == nil || seen[callee] {
			return true
		}
		seen[callee] = true
		chain, decl := m.chain, m.decl
		m.chain = append(slices.Clip(chain), callee)
		m.along(seen)
		m.chain, m.decl = chain, decl
		return true
	})
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
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "err" {
				return true // whether noise failed is no part of the algorithm
			}
			for _, op := range comparisons[n.Op] {
				m.alter(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), op.String())
			}
		}
		return true
	})
}

// text is what stands between two places.
func (m *mutator) text(from, to token.Pos) string {
	at := m.fset.Position(from)
	return string(m.sources[at.Filename][at.Offset:m.fset.Position(to).Offset])
}

func begins(d *ast.FuncDecl) token.Pos {
	if d.Doc != nil {
		return d.Doc.Pos()
	}
	return d.Pos()
}

func (m *mutator) number(from, to token.Pos) {
	literal := m.text(from, to)
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

// alter adds the mutant that has a text at a place. The functions that lie between the
// one that is altered and the one with the claim are written anew with it, under names of
// their own.
func (m *mutator) alter(from, to token.Pos, text string) {
	function := m.claimed.Name.Name
	name := fmt.Sprintf("%sMutant%d", function, len(m.all))
	place := m.fset.Position(from)
	change := fmt.Sprintf("%d:%d %s -> %s", place.Line-m.fset.Position(begins(m.decl)).Line, place.Column, m.text(from, to), text)
	if m.decl != m.claimed {
		change = m.decl.Name.Name + " " + change
	}
	var altered strings.Builder
	for i, d := range m.chain {
		whole := m.text(begins(d), d.End())
		if d == m.decl {
			whole = m.text(begins(d), from) + text + m.text(to, d.End())
		}
		own := d.Name.Name + name
		if d == m.claimed {
			own = name
		} else {
			whole = strings.ReplaceAll(whole, "//dp:", "// ")
		}
		if i+1 < len(m.chain) {
			callee := m.chain[i+1].Name.Name
			whole = regexp.MustCompile(`\b`+callee+`\(`).ReplaceAllString(whole, callee+name+"(")
		}
		// The name comes last of what stands before the parameters.
		declared := regexp.MustCompile(`(?m)^(func (?:\([^)]*\) )?)` + d.Name.Name + `\(`)
		altered.WriteString(declared.ReplaceAllString(whole, "${1}"+own+"(") + "\n\n")
	}
	source := strings.TrimSuffix(altered.String(), "\n\n")
	if _, err := format.Source([]byte(source)); err != nil {
		m.t.Fatalf("%s: %s: %v", function, change, err)
	}
	m.all = append(m.all, mutant{Function: receiver(m.claimed) + function, Change: change, Name: name, source: source, receiver: receiver(m.claimed)})
}
