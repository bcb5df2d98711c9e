package source

import (
	"context"
	"errors"
	"fmt"
	"go/token"

	"golang.org/x/tools/go/packages"
)

// ErrCompile is wrapped by the error of packages that do not compile.
var ErrCompile = errors.New("the package does not compile")

// A Package is what Load read of one.
type Package struct {
	Path string
	// Dir is the folder that it lies in.
	Dir   string
	Units []*Unit
	// Refusals are of directives that belong to no function.
	Refusals []Refusal
}

// Load reads the packages that the patterns name as the go command does in the
// folder. Types of what they import come from compiled packages; functions of all
// packages that the patterns name can call each other.
func Load(ctx context.Context, dir string, patterns ...string) ([]*Package, error) {
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
	var failed []error
	for _, p := range loaded {
		for _, e := range p.Errors {
			failed = append(failed, e)
		}
		if p.Types == nil && len(p.Errors) == 0 {
			failed = append(failed, fmt.Errorf("%s: no types", p.PkgPath))
		}
	}
	if len(failed) > 0 {
		return nil, fmt.Errorf("load packages: %w: %w", ErrCompile, errors.Join(failed...))
	}
	known := bodies{}
	all := make([]*checked, len(loaded))
	for i, p := range loaded {
		all[i] = &checked{p.Fset, p.Syntax, p.Types, p.TypesInfo}
		known.add(all[i])
	}
	var read []*Package
	for i, p := range loaded {
		units, refusals := lower(all[i], known)
		read = append(read, &Package{Path: p.PkgPath, Dir: p.Dir, Units: units, Refusals: refusals})
	}
	return read, nil
}
