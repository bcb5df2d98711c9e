package house_test

// What packages show to those who import them.

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// notRun are packages whose examples compile and do not run, with the reason.
var notRun = map[string]string{
	"./engine/enginetest": "it runs in the test of an adapter",
}

// public says whether a package is a library that other modules import.
func (s sources) public() bool { return library(s.path) && s.files[0].Name.Name != "main" }

// library says whether others can, and would, import the package at a path.
func library(path string) bool {
	first := strings.Split(path+"/", "/")[1]
	return first != "bench" && first != "examples" && first != "serve" && // a process's parts, not a library
		!strings.Contains(path+"/", "/internal/")
}

// comment is the package comment.
func (s sources) comment() string {
	for _, f := range s.files {
		if f.Doc != nil {
			return f.Doc.Text()
		}
	}
	return ""
}

// Each public package begins with what it is, and says where its promise ends.
func TestPackageComments(t *testing.T) {
	inRoot(t)
	for _, s := range parseTree(t, ".") {
		if !s.public() {
			continue
		}
		comment := strings.Join(strings.Fields(s.comment()), " ")
		if !strings.HasPrefix(comment, "Package "+s.files[0].Name.Name+" ") {
			t.Errorf("%s: the package comment does not begin with the package's name", s.path)
		}
		if !strings.Contains(comment, "t does not guarantee ") && !strings.Contains(comment, "t guarantees nothing ") {
			t.Errorf("%s: the package comment does not say what the package does not guarantee", s.path)
		}
	}
}

// Each public package has an example that a reader can copy: it is tested, and needs
// nothing that others cannot import.
func TestExamples(t *testing.T) {
	inRoot(t)
	packages := 0
	for _, s := range parseTree(t, ".") {
		if !s.public() {
			continue
		}
		packages++
		tested := false
		for _, e := range examples(t, s) {
			tested = tested || e.Output != "" || notRun[s.path] != ""
		}
		if !tested {
			t.Errorf("%s: example_test.go has no example with an output", s.path)
		}
	}
	if packages < 30 {
		t.Errorf("found %d public packages", packages)
	}
}

// examples are those of a package's example_test.go, which is a test from outside.
func examples(t *testing.T, s sources) []*doc.Example {
	t.Helper()
	path := filepath.Join(s.path, "example_test.go")
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		t.Error(err)
		return nil
	}
	if file.Name.Name != s.files[0].Name.Name+"_test" {
		t.Errorf("%s: is in package %s", path, file.Name.Name)
	}
	for _, imported := range file.Imports {
		if p, _ := strconv.Unquote(imported.Path.Value); strings.Contains(p, "/internal/") {
			t.Errorf("%s: imports %s, which no reader can", path, p)
		}
	}
	return doc.Examples([]*ast.File{file}...)
}
