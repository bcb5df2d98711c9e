package house_test

// docs/architecture.md and its drawings are made of the packages as the go command sees
// them, and of the rules of deps_test.go.

import (
	"flag"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write anew what docs/architecture.md shows of the code, where it is out of date")

const (
	architecture = "docs/architecture.md"
	drawings     = "docs/architecture"
)

// golden compares a file with what it should hold, and writes it with -rewrite.
func golden(t *testing.T, file, want string) {
	t.Helper()
	have, err := os.ReadFile(file)
	if err != nil && !(*rewrite && os.IsNotExist(err)) {
		t.Error(err)
		return
	}
	if string(have) == want {
		return
	}
	if !*rewrite {
		t.Errorf("%s is out of date: go test ./internal/house -rewrite makes it anew", file)
		return
	}
	if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// label is how the page writes a package: the root by its name.
func label(p string) string {
	if p == "." {
		return "discreet"
	}
	return strings.TrimPrefix(p, "./")
}

// stages are the packages of a statement's way, which the drawing of the rooms shows as
// one.
var stages = []string{"./internal/sqlparse", "./internal/bind", "./internal/plan", "./internal/stability", "./internal/rewrite", "./internal/render", "./internal/release"}

// room is the part of the house that a package belongs to, "" of those that the drawing
// leaves out: tests, examples, benchmarks, and what is internal and small.
func room(p string) string {
	first, _, _ := strings.Cut(label(p), "/")
	switch {
	case matchAny(testCode, p), matchAny([]string{"./examples/...", "./bench/...", "./packaging/..."}, p):
		return ""
	case matchAny([]string{"./cmd/discreet", "./internal/cli/..."}, p):
		return "cmd/discreet"
	case p == "./cmd/discreetvet":
		return "cmd/discreetvet"
	case slices.Contains(stages, p):
		return "internal/... (SQL)"
	case p == "./internal/entropy":
		return label(p)
	case first == "internal":
		return ""
	}
	return first
}

// way is a section of the page that follows one thing through packages: each item of its
// list begins with those that have a part.
var (
	way     = regexp.MustCompile(`(?s)^(The way of [^\n]+)\n(.*)`)
	wayItem = regexp.MustCompile("(?m)^[0-9]+\\. (`[^:]+`):")
	picture = regexp.MustCompile(`!\[[^\]]*\]\(architecture/([a-z]+\.svg)\)`)
)

func TestArchitecture(t *testing.T) {
	inRoot(t)
	text, err := os.ReadFile(architecture)
	if err != nil {
		t.Fatal(err)
	}
	page, all := string(text), packages(t)
	byLabel := map[string]pkg{}
	rooms := graph{}
	for _, p := range all {
		byLabel[label(p.Path)] = p
		for _, i := range p.Imports {
			if from, to := room(p.Path), room(i); match("./...", i) && from != "" && to != "" {
				rooms.add(from, to)
			}
		}
	}
	drawn := map[string]bool{"rooms.svg": true}
	draw := func(name, title string, g graph) {
		svg, err := g.svg(title)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, filepath.Join(drawings, name), svg)
	}
	draw("rooms.svg", "The rooms of Discreet: an arrow leads from a package to one that it imports", rooms)

	ways := 0
	for _, section := range strings.Split(page, "\n## ") {
		w := way.FindStringSubmatch(section)
		if w == nil {
			continue
		}
		ways++
		g := graph{}
		for _, item := range wayItem.FindAllStringSubmatch(w[2], -1) {
			for _, name := range quoted.FindAllStringSubmatch(item[1], -1) {
				if _, ok := byLabel[name[1]]; !ok {
					t.Errorf("%s passes %s, which is no package", w[1], name[1])
				}
				g.node(name[1])
			}
		}
		if len(g) < 4 {
			t.Errorf("%s has %d packages", w[1], len(g))
		}
		for name := range g {
			for _, i := range byLabel[name].Imports {
				if _, ok := g[label(i)]; ok {
					g.add(name, label(i))
				}
			}
		}
		m := picture.FindStringSubmatch(w[2])
		if m == nil {
			t.Errorf("%s has no drawing", w[1])
			continue
		}
		drawn[m[1]] = true
		draw(m[1], w[1]+": an arrow leads from a package to one that it imports", g)
	}
	if ways < 4 {
		t.Errorf("the page has %d ways", ways)
	}
	files, err := filepath.Glob(filepath.Join(drawings, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !drawn[filepath.Base(f)] || !strings.Contains(page, "](architecture/"+filepath.Base(f)+")") {
			t.Errorf("%s is shown nowhere", f)
		}
	}

	for name, table := range map[string]string{"packages": packageTable(all), "walls": wallTable(all), "reach": reachTable(all)} {
		begin, end := "<!-- "+name+" -->\n", "<!-- end -->"
		before, rest, ok := strings.Cut(page, begin)
		_, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			t.Fatalf("the page has no place for %s", name)
		}
		page = before + begin + table + end + after
	}
	golden(t, architecture, page)
}

// packageTable has the first words of each public package's comment.
func packageTable(all []pkg) string {
	out := "| Package | What it is |\n|---|---|\n"
	for _, p := range slices.SortedFunc(slices.Values(all), func(a, b pkg) int { return strings.Compare(label(a.Path), label(b.Path)) }) {
		l := label(p.Path)
		if strings.Contains("/"+l+"/", "/internal/") || matchAny(slices.Concat(testCode, []string{"./cmd/...", "./examples/...", "./bench/...", "./packaging/..."}), p.Path) {
			continue
		}
		says := strings.TrimPrefix(p.Doc, "Package "+p.Name+" ")
		for _, stop := range []string{" (", ": ", "; "} {
			says, _, _ = strings.Cut(says, stop)
		}
		out += fmt.Sprintf("| `%s` | %s |\n", l, strings.TrimPrefix(strings.TrimSuffix(says, "."), "is "))
	}
	return out
}

// code writes our own packages as code, those of others as they are.
func code(patterns []string) string {
	out := slices.Clone(patterns)
	for i, p := range out {
		if match("./...", p) || p == "." {
			out[i] = "`" + label(p) + "`"
		}
	}
	return strings.Join(out, ", ")
}

// productRules are the bans that speak of the product, not of its tests, nor of packages
// that are to come.
func productRules(all []pkg) (rules []ban) {
	for _, r := range bans {
		exists := slices.ContainsFunc(all, func(p pkg) bool { return match(r.to, p.Path) })
		if tests := r.why == "test code in the product" || matchAny(testCode, r.to) || r.to == "./internal/testreport"; !tests && (exists || !match("./...", r.to)) {
			rules = append(rules, r)
		}
	}
	return rules
}

// wallTable has what few, or nobody, may import.
func wallTable(all []pkg) string {
	out := "| What | Imported by | Because |\n|---|---|---|\n"
	for _, r := range productRules(all) {
		if r.from == "./..." {
			by := code(r.except)
			if by == "" {
				by = "nobody"
			}
			out += fmt.Sprintf("| %s | %s | %s |\n", code([]string{r.to}), by, r.why)
		}
	}
	return out
}

// reachTable has what one package may not import, or not reach by any way, those with
// one reason in a row.
func reachTable(all []pkg) string {
	out := "| Package | Does not | What | Because |\n|---|---|---|---|\n"
	type row struct{ from, how, why string }
	var order []row
	to := map[row][]string{}
	for _, r := range productRules(all) {
		if r.from == "./..." {
			continue
		}
		key := row{r.from, "import", r.why}
		if r.deep {
			key.how = "reach"
		}
		if to[key] == nil {
			order = append(order, key)
		}
		to[key] = append(to[key], r.to)
	}
	for _, r := range order {
		out += fmt.Sprintf("| %s | %s | %s | %s |\n", code([]string{r.from}), r.how, code(to[r]), r.why)
	}
	return out
}

// goName is a package's exported name as pages write it: `ledger.Reserve`.
var goName = regexp.MustCompile("`([a-z]+)\\.([A-Z]\\w*)(?:\\.([A-Z]\\w*))?`")

// The Go names that the page has exist: types, functions, methods, fields.
func TestArchitectureNamesWhatExists(t *testing.T) {
	inRoot(t)
	text, err := os.ReadFile(architecture)
	if err != nil {
		t.Fatal(err)
	}
	exported := map[string]bool{}
	for _, s := range parseTree(t, ".") {
		for _, f := range s.files {
			s.exported(f, exported)
		}
	}
	names := goName.FindAllStringSubmatch(string(text), -1)
	if len(names) < 5 {
		t.Errorf("the page has %d names", len(names))
	}
	for _, m := range names {
		if name := strings.Trim(m[0], "`"); !exported[name] {
			t.Errorf("%s does not exist", name)
		}
	}
}

// exported adds a file's exported names: package.Name, and package.Type.Method, .Field.
func (s sources) exported(file *ast.File, names map[string]bool) {
	pkg := file.Name.Name + "."
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names[pkg+d.Name.Name] = true
				continue
			}
			of := d.Recv.List[0].Type
			if star, ok := of.(*ast.StarExpr); ok {
				of = star.X
			}
			if id, ok := of.(*ast.Ident); ok {
				names[pkg+id.Name+"."+d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						names[pkg+id.Name] = true
					}
				case *ast.TypeSpec:
					names[pkg+spec.Name.Name] = true
					var fields *ast.FieldList
					switch of := spec.Type.(type) {
					case *ast.StructType:
						fields = of.Fields
					case *ast.InterfaceType:
						fields = of.Methods
					default:
						continue
					}
					for _, f := range fields.List {
						for _, id := range f.Names {
							names[pkg+spec.Name.Name+"."+id.Name] = true
						}
					}
				}
			}
		}
	}
}
