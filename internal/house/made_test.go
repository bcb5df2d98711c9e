package house_test

// Who may read the files that our code makes.

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// makers are the functions that make files and folders, or names for them.
var makers = name("Create|OpenFile|WriteFile|CreateTemp|MkdirTemp|Mkdir|MkdirAll|OpenRoot|Symlink|Link|Mknod|Mkfifo|CopyFS|Creat|Openat2?")

// made has every call that makes a file outside of tests and test packages, or opens one to
// write, as FILE FUNCTION, with the mode. What can hold private data goes through
// internal/custody.
var made = map[string]string{
	"internal/custody/custody.go OpenFile":   "0600 for the owner alone: new and exclusive, or no link is followed",
	"internal/custody/custody.go Create":     "0666 less the umask, by Public alone: nothing private",
	"internal/custody/custody.go CreateTemp": "0600, exclusive: whether a folder can be written to; empty",
	"internal/custody/custody.go MkdirAll":   "0700 by Folder; 0777 less the umask by PublicFolder",

	"engine/duckdb/spill.go MkdirTemp": "0700, exclusive: the spill folder",
	"engine/duckdb/spill.go OpenFile":  "0600 in that folder, which nobody else enters; and the lock of another's, which is not made",
	"engine/duckdb/spill.go WriteFile": "0600 in that folder: nothing private",

	"internal/snapshot/snapshot.go CreateTemp": "0600, exclusive: the copy that is being made",
	"internal/snapshot/snapshot.go OpenFile":   "not made: the lock of what a copy left that was killed",
	"internal/snapshot/snapshot.go Link":       "a name for the copy",

	"internal/datafile/datafile.go OpenFile": "not made: sources are read",

	"ledger/anchor.go CreateTemp": "0600, exclusive",
	"ledger/anchor.go OpenFile":   "not made: the anchor is guarded when it is opened",

	"collect/cluster/launch.go MkdirTemp":   "0700, exclusive: the folder of a cluster until it is whole",
	"collect/cluster/lock_unix.go OpenFile": "not made: the lock is asked who holds it",

	"learn/internal/container/file.go CreateTemp":           "0600, exclusive: models, checkpoints, teachers",
	"verify/internal/certificate/certificate.go CreateTemp": "0644 at last: proofs stand beside sources",
	"internal/cli/cluster/demo.go MkdirTemp":                "0700, exclusive: the demo's cluster, whose people are made",
	"internal/cli/wall/wall_linux.go OpenFile":              "not made: /dev/null",
}

// unmade are packages of tests, examples and benchmarks, whose files are nobody's.
var unmade = []string{"./engine/enginetest", "./internal/datafile/datafiletest", "./internal/postgrestest", "./internal/trinotest", "./serve/internal/gatewaytest", "./collect/internal/clustertest", "./examples/...", "./bench/...", "./tools/...", "./internal/cli/manual"}

func TestFilesThatAreMade(t *testing.T) {
	inRoot(t)
	have := map[string]bool{}
	for _, s := range parseTree(t, ".") {
		if matchAny(unmade, s.path) {
			continue
		}
		for _, call := range s.made() {
			if have[call] = true; made[call] == "" {
				t.Errorf("%s makes a file: say its mode here, or use internal/custody", call)
			}
		}
	}
	for call := range made {
		if !have[call] {
			t.Errorf("%s is no more", call)
		}
	}
}

// made returns the calls by which a package makes files, once each.
func (s sources) made() (calls []string) {
	for _, file := range s.files {
		from := map[string]bool{} // local names of the packages that make files
		for _, i := range file.Imports {
			switch imported := strings.Trim(i.Path.Value, `"`); imported {
			case "os", "syscall", "golang.org/x/sys/unix", "io/ioutil":
				local := path.Base(imported)
				if i.Name != nil {
					local = i.Name.Name
				}
				from[local] = true
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok || !makers.MatchString(sel.Sel.Name) {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && from[x.Name] {
				calls = append(calls, s.fset.Position(sel.Pos()).Filename+" "+sel.Sel.Name)
			}
			return true
		})
	}
	slices.Sort(calls)
	return slices.Compact(calls)
}

// A call that makes a file is seen under any name of the package, also where it is only
// named.
func TestFilesThatAreMadeAreSeen(t *testing.T) {
	for code, want := range map[string]string{
		`import "os"; func f() { os.WriteFile("x", nil, 0o644) }`:                           "x.go WriteFile",
		`import o "os"; var create = o.Create`:                                              "x.go Create",
		`import "golang.org/x/sys/unix"; func f() { unix.Openat(0, "x", unix.O_CREAT, 0) }`: "x.go Openat",
		`import "os"; func f() { os.Open("x") }`:                                            "",
		`import os "example.org/os"; func f() { os.Create("x") }`:                           "",
	} {
		s := sources{path: "./x", fset: token.NewFileSet()}
		file, err := parser.ParseFile(s.fset, "x.go", "package x; "+code, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		s.files = append(s.files, file)
		if got := strings.Join(s.made(), ","); got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}
