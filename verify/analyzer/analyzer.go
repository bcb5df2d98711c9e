// Package analyzer is a go/analysis Analyzer that tells where functions claim to be
// private and no stored proof says so.
//
// It guarantees that a function with a claim of which it reports nothing keeps that
// claim, as package verify means it, in a package that type-checks: it replays what
// discreet verify has stored, and starts no solver.
//
// It does not guarantee anything about claims in test files, at which it does not look. It
// sees one package at a time, and reports calls of functions of other packages as outside.
package analyzer

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
	"strings"

	"github.com/discreet-dp/discreet/verify/internal/certificate"
	"github.com/discreet-dp/discreet/verify/internal/replay"
	"github.com/discreet-dp/discreet/verify/internal/sensitivity"
	"github.com/discreet-dp/discreet/verify/internal/source"
	"golang.org/x/tools/go/analysis"
)

// Analyzer reports claims without a proof that holds, and directives that make none.
var Analyzer = &analysis.Analyzer{
	Name: "discreet",
	Doc: `check that functions keep their claims about privacy

Functions make claims with directives such as //dp:cost eps. discreet verify proves
them and stores the proofs in discreet.proofs.json beside the code. The analyzer
replays the proofs and reports

- claims for which no proof is stored,
- proofs of a function or a claim that has changed since, and proofs that do not hold,
- directives that are malformed or stand where they mean nothing,
- what lies outside the subset of Go of which proofs speak.`,
	URL: "https://pkg.go.dev/github.com/discreet-dp/discreet/verify/analyzer",
	Run: run,
}

// The categories of diagnostics.
const (
	inProof     = "certificate"
	inDirective = "directive"
	inSubset    = "outside"
)

func run(pass *analysis.Pass) (any, error) {
	files := slices.DeleteFunc(slices.Clone(pass.Files), func(f *ast.File) bool {
		return strings.HasSuffix(pass.Fset.File(f.FileStart).Name(), "_test.go")
	})
	if len(files) == 0 {
		return nil, nil
	}
	syntax := &sensitivity.Package{Path: pass.Pkg.Path(), Fset: pass.Fset, Files: files, Types: pass.Pkg, Info: pass.TypesInfo}
	c := &checker{pass, files, sensitivity.New([]*sensitivity.Package{syntax}, nil)}
	units, strays := source.Lower(pass.Fset, files, pass.Pkg, pass.TypesInfo)
	for _, r := range strays {
		c.refused(r, inDirective, files[0].Package)
	}
	entries, err := certificate.Read(filepath.Dir(pass.Fset.File(files[0].FileStart).Name()))
	if err != nil {
		c.report(files[0].Package, inProof, "%v", err)
		return nil, nil
	}
	for _, u := range units {
		c.unit(u, entries[u.Name])
		delete(entries, u.Name)
	}
	// What is stored may be of files that are not built here.
	if len(pass.IgnoredFiles) == 0 {
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			c.report(files[0].Package, inProof, "a proof is stored for %s, which claims nothing: was a directive lost? (discreet verify drops it)", name)
		}
	}
	return nil, nil
}

type checker struct {
	pass  *analysis.Pass
	files []*ast.File // without tests
	rules *sensitivity.Program
}

func (c *checker) report(at token.Pos, category, format string, args ...any) {
	c.pass.Report(analysis.Diagnostic{Pos: at, Category: category, Message: fmt.Sprintf(format, args...)})
}

// unit checks one function: by its stored proof, or by the rules of sensitivity and
// cost, which need none.
func (c *checker) unit(u *source.Unit, e *certificate.Entry) {
	at := u.Decl.Name.Pos()
	if u.Claim == nil {
		c.refusals(u, inDirective)
		return
	}
	var err error
	searchable := u.Function != nil && u.Claim.Cost != nil && len(u.Claim.Sensitivities) == 0
	if searchable {
		if err = replay.Check(context.Background(), u.Function, u.Claim, e); err == nil {
			return
		}
	}
	open := c.ruled(u)
	switch {
	case open == nil:
	case !searchable && len(u.Refusals) > 0:
		c.refusals(u, inSubset)
	case !searchable:
		for _, r := range open {
			if len(r.Refusals) == 0 {
				c.report(at, inProof, "%s: not proved %s", u.Name, r.Note)
			}
			for _, refusal := range r.Refusals {
				c.report(refusal.Pos, inProof, "%s: %s", u.Name, hinted(refusal.Reason, refusal.Hint))
			}
		}
	case errors.Is(err, replay.ErrWrong):
		c.report(at, inProof, "%s: %v", u.Name, err)
	default:
		c.report(at, inProof, "%s: %v (run discreet verify)", u.Name, err)
	}
}

// ruled tries the rules, and returns what they leave open of a claim; nil if nothing.
func (c *checker) ruled(u *source.Unit) (open []sensitivity.Result) {
	fn, ok := u.Info.Defs[u.Decl.Name].(*types.Func)
	if !ok {
		return []sensitivity.Result{{Note: "it is no function"}}
	}
	if len(u.Claim.Sensitivities) > 0 {
		if r := c.rules.Check(context.Background(), fn.FullName(), u.Claim); !r.Proved {
			open = append(open, r)
		}
	}
	if u.Claim.Cost != nil {
		if r := c.rules.Cost(context.Background(), fn.FullName(), u.Claim).Ending(u.Function, u.Claim, source.TellingPanic); !r.Proved {
			open = append(open, r)
		}
	}
	return open
}

func (c *checker) refusals(u *source.Unit, category string) {
	for _, r := range u.Refusals {
		c.refused(r, category, u.Decl.Name.Pos())
	}
}

// refused reports a refusal at its place, or elsewhere if that is in no file of the
// package.
func (c *checker) refused(r source.Refusal, category string, elsewhere token.Pos) {
	message := hinted(r.What+": "+r.Why, r.Hint)
	for _, f := range c.files {
		file := c.pass.Fset.File(f.FileStart)
		if file.Name() == r.Position.Filename && r.Position.Offset <= file.Size() {
			c.report(file.Pos(r.Position.Offset), category, "%s", message)
			return
		}
	}
	c.report(elsewhere, category, "%s: %s", r.Position, message)
}

func hinted(message, hint string) string {
	if hint != "" {
		message += " (" + hint + ")"
	}
	return message
}
