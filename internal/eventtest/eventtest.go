// Package eventtest has an event of every type, for tests of whatever takes events.
package eventtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/privacy/plan"
)

// texts are plans that are one event each.
var texts = []string{
	"laplace(2, sensitivity=1.5)", "discrete_laplace(2, sensitivity=3)", "gaussian(2, sensitivity=1.5)", "discrete_gaussian(2, sensitivity=3)",
	"skellam(100, sensitivity=2, l1=4)", "tree(4, 8, sensitivity=1)", "pure(0.1)", "approx(0.1, 1e-9)", "selection(0.1, 1e-9)",
	"exponential(0.2)", "permute_and_flip(0.2)", "noisy_max(0.2)", "sparse_vector(0.2)", "randomized_response(0.75, k=4)",
	"zcdp(0.01)", "gdp(0.1)", "rdp(2: 0.1, 8: 0.5)", "pair(0.75: 0.25, 0.25: 0.75)",
	"poisson(0.1, gaussian(2))", "truncated_poisson(0.1, 1000, 120, gaussian(2))", "without_replacement(5, 100, gaussian(2))",
	"with_replacement(5, 100, pure(0.1))", "shuffled(100, randomized_response(0.75))", "repeat_and_select(10, gaussian(4), shape=2)",
	"parallel(pure(0.1), gaussian(3))", "pure(0.1) + gaussian(3)", "3*laplace(2)", "replace_one(gaussian(2))",
}

// Every returns an event of each type that package privacy has, read anew each time. It
// fails for a type of the source that it lacks.
func Every(t testing.TB) []privacy.Event {
	t.Helper()
	var all []privacy.Event
	types := sourceTypes(t)
	for _, text := range texts {
		p, err := plan.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		e, err := p.Event()
		if err != nil {
			t.Fatal(err)
		}
		types = slices.DeleteFunc(types, func(name string) bool { return name == reflect.TypeOf(e).Name() })
		all = append(all, e)
	}
	if len(types) > 0 {
		t.Fatalf("no event here is a %s", strings.Join(types, ", nor a "))
	}
	return all
}

// sourceTypes lists the types of package privacy that have the method of events.
func sourceTypes(t testing.TB) (types []string) {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "privacy", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != "event" {
				continue
			}
			if id, ok := f.Recv.List[0].Type.(*ast.Ident); ok {
				types = append(types, id.Name)
			}
		}
	}
	if len(types) < 28 {
		t.Fatalf("found %d types of events in %s", len(types), dir)
	}
	return types
}
