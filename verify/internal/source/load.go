package source

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// ErrCompile is matched by the error of packages that do not compile, a
// *CompileError.
var ErrCompile = errors.New("the package does not compile")

// A CompileError lists what keeps packages from being read.
type CompileError struct{ Faults []Fault }

// A Fault is one, with its place where that is known.
type Fault struct {
	Position token.Position
	Text     string
}

func (e *CompileError) Error() string {
	var b strings.Builder
	b.WriteString("load packages: " + ErrCompile.Error())
	for _, f := range e.Faults {
		b.WriteString("\n")
		if f.Position.Filename != "" {
			b.WriteString(f.Position.String() + ": ")
		}
		b.WriteString(f.Text)
	}
	return b.String()
}

func (e *CompileError) Unwrap() error { return ErrCompile }

// faults are those of a package and of what it imports. The go command, the compiler and
// the type checker may each speak of one place: the first says why, and it is said once.
func faults(p *packages.Package, dir string, said map[token.Position]bool) (all []Fault) {
	add := func(e packages.Error) {
		for _, f := range reported(e) {
			if name := f.Position.Filename; name != "" && !filepath.IsAbs(name) {
				f.Position.Filename = filepath.Join(dir, name)
			}
			if !f.Position.IsValid() || !said[f.Position] {
				all = append(all, f)
			}
			said[f.Position] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(p.Imports)) {
		for _, e := range p.Imports[path].Errors {
			add(e)
		}
	}
	for _, e := range p.Errors {
		add(e)
	}
	return all
}

// reported is what an error says: one fault, or of the compiler's output one a line.
func reported(e packages.Error) (all []Fault) {
	msg := strings.ReplaceAll(e.Msg, "\n\t", ", ") // a line that goes on
	if !strings.HasPrefix(msg, "# ") {             // the package that was compiled
		return []Fault{{position(e.Pos), msg}}
	}
	for _, line := range strings.Split(msg, "\n")[1:] {
		place, text, ok := strings.Cut(line, ": ")
		if !ok {
			place, text = "", line
		}
		all = append(all, Fault{position(place), text})
	}
	return all
}

// position takes "file:line:column" apart; "" or "-" is none.
func position(place string) (at token.Position) {
	rest, column, last := cutLast(place)
	file, line, middle := cutLast(rest)
	switch {
	case middle: // file:line:column
		at = token.Position{Filename: file, Line: line, Column: column}
	case last: // file:line
		at = token.Position{Filename: rest, Line: column}
	case place != "-":
		at.Filename = place
	}
	return at
}

// cutLast cuts a number behind the last colon off, if there is one.
func cutLast(s string) (before string, n int, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, 0, false
	}
	n, err := strconv.Atoi(s[i+1:])
	if err != nil {
		return s, 0, false
	}
	return s[:i], n, true
}

// A Package is what Load read of one.
type Package struct {
	Path string
	// Dir is the folder that it lies in.
	Dir   string
	Units []*Unit
	// Refusals are of directives that belong to no function.
	Refusals []Refusal
	// Partial says that build constraints leave some of its files out.
	Partial bool
	// Alone says that files were named, and not their package: its path is not known then.
	Alone bool

	// The syntax of all files, for those who read it themselves.
	Fset  *token.FileSet
	Files []*ast.File
	Types *types.Package
	Info  *types.Info
}

// Load reads the packages that the patterns name as the go command does in the
// folder. Types of what they import come from compiled packages. Functions that they
// call are written out if they are of a package that was named, or of the same module.
func Load(ctx context.Context, dir string, patterns ...string) ([]*Package, error) {
	named, err := load(ctx, dir, patterns)
	if err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	for _, p := range named {
		wanted[p.PkgPath] = true
	}
	all, asked := named, map[string]bool{}
	for {
		read := readAll(all, wanted)
		more := missing(all, read, asked)
		if len(more) == 0 || slices.ContainsFunc(named, alone) { // which the go command loads without others
			return read, nil
		}
		patterns = append(slices.Clip(patterns), more...)
		if all, err = load(ctx, dir, patterns); err != nil {
			return nil, err
		}
	}
}

// alone reports whether a package is made of files that were named, by what the go command
// calls such ones.
func alone(p *packages.Package) bool { return p.PkgPath == "command-line-arguments" }

// missing returns packages of the same modules whose functions are called, and that
// were not asked for.
func missing(all []*packages.Package, read []*Package, asked map[string]bool) (more []string) {
	modules := map[string]bool{}
	for _, p := range all {
		asked[p.PkgPath] = true
		if p.Module != nil {
			modules[p.Module.Path] = true
		}
	}
	for _, p := range read {
		for _, u := range p.Units {
			for _, path := range u.missing {
				for m := range modules {
					if !asked[path] && (path == m || strings.HasPrefix(path, m+"/")) {
						asked[path] = true
						more = append(more, path)
					}
				}
			}
		}
	}
	return more
}

func readAll(all []*packages.Package, wanted map[string]bool) (read []*Package) {
	known := bodies{}
	in := make([]*checked, len(all))
	for i, p := range all {
		in[i] = &checked{p.Fset, p.Syntax, p.Types, p.TypesInfo}
		known.add(in[i])
	}
	for i, p := range all {
		if wanted[p.PkgPath] {
			units, refusals := lower(in[i], known)
			read = append(read, &Package{Path: p.PkgPath, Dir: p.Dir, Units: units, Refusals: refusals, Partial: len(p.IgnoredFiles) > 0, Alone: alone(p), Fset: p.Fset, Files: p.Syntax, Types: p.Types, Info: p.TypesInfo})
		}
	}
	return read
}

// load type-checks packages.
func load(ctx context.Context, dir string, patterns []string) ([]*packages.Package, error) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedModule |
			packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedExportFile,
		Context: ctx,
		Dir:     dir,
		Fset:    token.NewFileSet(),
	}, patterns...)
	if err != nil {
		return nil, fmt.Errorf("load packages: %w", err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("load packages: %w", err)
	}
	var all []Fault
	said := map[token.Position]bool{}
	for _, p := range loaded {
		all = append(all, faults(p, dir, said)...)
		if p.Types == nil && len(all) == 0 {
			all = append(all, Fault{Text: p.PkgPath + ": no types"})
		}
	}
	if len(loaded) == 0 { // outside a module the go command may say nothing
		all = append(all, Fault{Text: "no package matches " + strings.Join(patterns, " ") + ": is there a go.mod?"})
	}
	if len(all) > 0 {
		return nil, &CompileError{all}
	}
	return loaded, nil
}
