package house_test

// What our sources may say, outside tests. Like deps_test.go, with a reason
// beside each rule.

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A word is a name that few may use.
type word struct {
	pkg    string         // of a name that an import qualifies; "" for a method or field of anything
	name   *regexp.Regexp // the whole name
	except []string       // who may
	why    string
}

func name(pattern string) *regexp.Regexp { return regexp.MustCompile("^(?:" + pattern + ")$") }

var words = []word{
	{"", name("RevealExact"), []string{"./internal/release", "./engine/enginetest"}, // the conformance suite makes its own data
		"one place turns exact into noisy"},
	{"", name("EachRecord"), []string{"./engine/...", "./internal/cli/input"},
		"what trains on records pays for it; what answers statements never sees one"},
	{"./engine", name("Feeder|Seen"), []string{"./engine/...", "./internal/cli/workplace"},
		"records leave a database for a mapped table alone; what answers statements never sees one"},
	{"./engine", name("Call"), []string{"./engine/...", "./internal/cli/workplace", "./internal/cli/query"}, // the module of a map, which is handed nothing else
		"records leave a database for a mapped table alone; what answers statements never sees one"},
	{"./engine", name("Owner|Relator"), []string{"./engine/...", "./internal/cli/workplace", "./internal/check", "./internal/propose"},
		"the query path cannot reach the handle that shows data"},
	{"./engine/duckdb", name(".*Owner.*"), []string{"./engine/duckdb", "./internal/cli/workplace"},
		"the query path cannot reach the handle that shows data"},
	{"./engine/postgres", name(".*Owner.*"), []string{"./engine/postgres", "./internal/cli/workplace"},
		"the query path cannot reach the handle that shows data"},
	{"os", name("Getenv|LookupEnv|Environ|ExpandEnv"), []string{"./cmd/...", "./internal/cli/...", "./bench/...", "./packaging/...", "./internal/trinotest"}, // the last is told of a test run's cluster
		"no switch from outside: neither noise nor budget depend on the environment"},
	{"os", name("Stdout|Stderr|Args|Exit"), []string{"./cmd/...", "./internal/cli/...", "./examples/...", "./bench/...", "./internal/testreport", "./packaging/...", "./collect/internal/clustertest"}, // the last is a TestMain
		"a library talks to its caller"},
	{"os", name("Stdin"), []string{"./cmd/...", "./internal/cli/...", "./examples/...", "./bench/...", "./internal/testreport", "./packaging/...", "./collect/internal/clustertest", "./collect/cluster"}, // a role's standard input is where it listens
		"a library talks to its caller"},
	{"fmt", name("Print|Printf|Println"), []string{"./cmd/...", "./internal/cli/...", "./bench/...", "./internal/testreport"},
		"a library talks to its caller"},
	{"time", name("Now|Since|Until|Tick"), []string{"./cmd/...", "./internal/cli/...", "./examples/...", "./bench/...", ".", "./collect/internal/clustertest"}, // "." is the front door's default clock
		"time is passed in"},
	{"time", name("Sleep"), []string{"./internal/postgrestest", "./internal/trinotest"}, // until a server has started
		"waiting shows in real time and hides races"},
}

// A sources is one package's files without its tests.
type sources struct {
	path  string // "./noise"
	fset  *token.FileSet
	files []*ast.File
}

func TestSources(t *testing.T) {
	inRoot(t)
	all := parseTree(t, ".")
	for _, s := range all {
		for _, v := range s.violations() {
			t.Error(v)
		}
	}
	if len(all) < 10 {
		t.Errorf("found %d packages", len(all))
	}
}

// parseTree parses the packages of the module under root, whatever their build
// constraints.
func parseTree(t *testing.T, root string) (all []sources) {
	t.Helper()
	folders := map[string]*sources{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, err := os.Stat(filepath.Join(file, "go.mod"))
			otherModule := err == nil
			if n := d.Name(); file != root && (otherModule || strings.HasPrefix(n, ".") || n == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		folder := "./" + filepath.ToSlash(filepath.Dir(file))
		if folder == "./." {
			folder = "."
		}
		s := folders[folder]
		if s == nil {
			s = &sources{path: folder, fset: token.NewFileSet()}
			folders[folder] = s
		}
		parsed, err := parser.ParseFile(s.fset, file, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		s.files = append(s.files, parsed)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range folders {
		all = append(all, *s)
	}
	return all
}

func (s sources) violations() (v []string) {
	complain := func(at token.Pos, what, why string) {
		v = append(v, s.fset.Position(at).String()+": "+what+": "+why)
	}
	for _, file := range s.files {
		s.words(file, complain)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				complain(f.Pos(), "init function", "wiring is written down where it happens, in main")
			}
		}
		if seedless(s.path) {
			ast.Inspect(file, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && strings.Contains(strings.ToLower(id.Name), "seed") {
					complain(id.Pos(), id.Name, "no seed on the way of noise")
				}
				return true
			})
		}
	}
	s.globals(complain)
	return v
}

// seedless are the packages that draw noise or pass its source on.
func seedless(p string) bool {
	return matchAny([]string{".", "./noise", "./mechanism", "./internal/entropy", "./internal/release", "./engine/...", "./ledger"}, p)
}

func (s sources) words(file *ast.File, complain func(token.Pos, string, string)) {
	imports := map[string]string{} // local name to package
	for _, i := range file.Imports {
		imported := relative(strings.Trim(i.Path.Value, `"`))
		local := path.Base(imported)
		if i.Name != nil {
			local = i.Name.Name
			if local == "." {
				complain(i.Pos(), "dot import", "a name shows where it comes from")
			}
		}
		imports[local] = imported
	}
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		var from string
		if x, ok := sel.X.(*ast.Ident); ok {
			from = imports[x.Name]
		}
		for _, w := range words {
			if (w.pkg == "" || w.pkg == from) && w.name.MatchString(sel.Sel.Name) && !matchAny(w.except, s.path) {
				complain(sel.Pos(), sel.Sel.Name, w.why)
			}
		}
		return true
	})
}

// mutators are the methods that write to their receiver, of the types that our
// constants and tables have (math/big, sync, sync/atomic).
var mutators = name("Set.*|Add|Sub|Mul|Quo|Div|Mod|Rem|QuoRem|DivMod|Neg|Abs|Exp|Lsh|Rsh|And|Or|Xor|Not|Inv|Sqrt|" +
	"Scan|Unmarshal.*|GobDecode|FillBytes|Lock|RLock|Store.*|LoadOr.*|LoadAnd.*|Swap|CompareAnd.*|Put|Reset|Write.*")

// globals refuses package-level variables that change: two queries, or two
// tests, must not meet in one. What is set where it is declared and never
// written afterwards (sentinels, patterns, tables) is a constant that Go cannot
// write as one.
//
// The types are checked without the imported packages: enough to know which
// variable a name means.
func (s sources) globals(complain func(token.Pos, string, string)) {
	info := types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	config := types.Config{Error: func(error) {}, Importer: noImports{}, FakeImportC: true}
	pkg, _ := config.Check(s.path, s.fset, s.files, &info)
	if pkg == nil {
		return
	}
	const why = "state that queries share"
	// global gives the package-level variable that an operand is, or lies in.
	global := func(e ast.Expr) types.Object {
		for {
			switch x := e.(type) {
			case *ast.ParenExpr:
				e = x.X
			case *ast.SelectorExpr:
				e = x.X
			case *ast.IndexExpr:
				e = x.X
			case *ast.StarExpr:
				e = x.X
			case *ast.SliceExpr:
				e = x.X
			case *ast.Ident:
				if v, ok := info.Uses[x].(*types.Var); ok && v.Parent() == pkg.Scope() {
					return v
				}
				return nil
			default:
				return nil
			}
		}
	}
	written := func(e ast.Expr) {
		if v := global(e); v != nil {
			complain(e.Pos(), "writes to the package-level variable "+v.Name(), why)
		}
	}
	for _, file := range s.files {
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, spec := range g.Specs {
				v := spec.(*ast.ValueSpec)
				if len(v.Values) == 0 && !hasEmbed(g.Doc) && !hasEmbed(v.Doc) {
					complain(v.Pos(), "the package-level variable "+v.Names[0].Name+" has no value", why)
				}
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					for _, e := range n.Lhs {
						written(e)
					}
				}
			case *ast.IncDecStmt:
				written(n.X)
			case *ast.RangeStmt:
				if n.Tok == token.ASSIGN {
					written(n.Key)
					written(n.Value)
				}
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					written(n.X)
				}
			case *ast.SendStmt:
				written(n.Chan)
			case *ast.CallExpr:
				switch f := n.Fun.(type) {
				case *ast.Ident:
					if f.Name == "delete" || f.Name == "clear" || f.Name == "copy" {
						written(n.Args[0])
					}
				case *ast.SelectorExpr:
					if mutators.MatchString(f.Sel.Name) {
						written(f.X)
					}
				}
			}
			return true
		})
	}
}

// hasEmbed reports whether a declaration is filled by the compiler. Directives
// are no part of a comment's text.
func hasEmbed(c *ast.CommentGroup) bool {
	if c == nil {
		return false
	}
	for _, line := range c.List {
		if strings.HasPrefix(line.Text, "//go:embed ") {
			return true
		}
	}
	return false
}

// noImports makes the type checker do without other packages.
type noImports struct{}

func (noImports) Import(path string) (*types.Package, error) {
	p := types.NewPackage(path, filepath.Base(path))
	p.MarkComplete()
	return p, nil
}

// Each rule is shown code that breaks it and code that may.
func TestSourceRulesBite(t *testing.T) {
	for _, test := range []struct{ path, code, want string }{
		{"./noise", `func f(e x) { e.RevealExact() }`, "one place turns exact"},
		{"./internal/release", `func f(e x) { e.RevealExact() }`, ""},
		{"./internal/release", `import "github.com/discreet-dp/discreet/engine"; type t struct{ o engine.Owner }`, "query path cannot reach"},
		{"./internal/release", `import e "github.com/discreet-dp/discreet/engine"; type t struct{ o e.Owner }`, "query path cannot reach"},
		{"./internal/check", `import "github.com/discreet-dp/discreet/engine"; type t struct{ o engine.Owner }`, ""},
		{".", `import "github.com/discreet-dp/discreet/engine/duckdb"; func f() { duckdb.OpenOwner() }`, "query path cannot reach"},
		{"./filter", `import "os"; func f() { os.Getenv("NOISE") }`, "no switch from outside"},
		{"./filter", `import "os"; func f() { os.Stdout.Close() }`, "talks to its caller"},
		{"./filter", `import . "os"`, "where it comes from"},
		{"./ledger", `import "time"; func f() { time.Now() }`, "passed in"},
		{"./ledger", `import "time"; func f() { time.Sleep(1) }`, "waiting"},
		{"./noise", `func f(seed uint64) {}`, "no seed"},
		{"./noise", `func init() {}`, "wiring"},
		{"./noise", `type t struct{}; func (t) init() {}`, ""},
		{"./noise", `var n int`, "has no value"},
		{"./noise", `var n = 1; func f() { n = 2 }`, "writes to the package-level variable n"},
		{"./noise", `var n = 1; func f() { n++ }`, "writes"},
		{"./noise", `var n = 1; func f() { n := 2; n = 3; n++ }`, ""},
		{"./noise", `var n = 1; func f() *int { return &n }`, "writes"},
		{"./noise", `var m = map[string]int{}; func f() { m["a"] = 1 }`, "writes"},
		{"./noise", `var m = map[string]int{}; func f() { delete(m, "a") }`, "writes"},
		{"./noise", `var m = map[string]int{}; func f() int { return m["a"] }`, ""},
		{"./noise", `var c = config{}; func f() { c.a.b = 1 }`, "writes"},
		{"./noise", `import "sync"; var mu = new(sync.Mutex); func f() { mu.Lock() }`, "writes"},
		{"./noise", `import "math/big"; var one = big.NewInt(1); func f(x *big.Int) { one.Add(one, x) }`, "writes"},
		{"./noise", `import "math/big"; var one = big.NewInt(1); func f(x *big.Int) { x.Add(one, x) }`, ""},
		{"./noise", "import _ \"embed\"\n//go:embed a.txt\nvar text string", ""},
		{"./noise", `import "errors"; var ErrA = errors.New("a"); var _ I = T{}`, ""},
	} {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "a.go", "package p; "+test.code, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			t.Fatalf("%s: %v", test.code, err)
		}
		v := strings.Join(sources{test.path, fset, []*ast.File{file}}.violations(), "\n")
		if (v == "") != (test.want == "") || !strings.Contains(v, test.want) {
			t.Errorf("%s: %s\ngot  %q\nwant %q", test.path, test.code, v, test.want)
		}
	}
}
