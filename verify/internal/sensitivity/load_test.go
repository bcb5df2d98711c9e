package sensitivity_test

import (
	"context"
	"go/types"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/sensitivity"
	"github.com/discreet-dp/discreet/verify/internal/source"
)

// A subject is a function with a claim.
type subject struct {
	*source.Unit
	full string
}

// programs are those of this package's folders, which are read once.
var programs = sync.OnceValues(func() ([]subject, *sensitivity.Program) {
	return read("./testdata/fuzz", "./testdata/duet", "./testdata/pinq", "./testdata/mechanism", "./testdata/attack", "./testdata/attack/memory", "./testdata/accept")
})

// load reads packages as the verifier does.
func load(t testing.TB, patterns ...string) ([]subject, *sensitivity.Program) {
	t.Helper()
	return checked(t)(read(patterns...))
}

func checked(t testing.TB) func([]subject, *sensitivity.Program) ([]subject, *sensitivity.Program) {
	t.Helper()
	return func(all []subject, p *sensitivity.Program) ([]subject, *sensitivity.Program) {
		if p == nil {
			t.Fatal("the packages do not load")
		}
		for _, s := range all {
			if s.Claim == nil {
				t.Fatalf("%s: %v", s.full, s.Refusals)
			}
		}
		return all, p
	}
}

func read(patterns ...string) (all []subject, p *sensitivity.Program) {
	found, err := source.Load(context.Background(), ".", patterns...)
	if err != nil {
		return nil, nil
	}
	var packages []*sensitivity.Package
	claims := map[string]*claim.Claim{}
	for _, p := range found {
		packages = append(packages, &sensitivity.Package{Path: p.Path, Fset: p.Fset, Files: p.Files, Types: p.Types, Info: p.Info})
		for _, u := range p.Units {
			full := u.Info.Defs[u.Decl.Name].(*types.Func).FullName()
			all = append(all, subject{u, full})
			if u.Claim != nil {
				claims[full] = u.Claim
			}
		}
	}
	return all, sensitivity.New(packages, claims)
}

func (s subject) check(p *sensitivity.Program) sensitivity.Result {
	if s.Claim.Cost != nil {
		return p.Cost(context.Background(), s.full, s.Claim)
	}
	return p.Check(context.Background(), s.full, s.Claim)
}

func reasons(r sensitivity.Result) string {
	var all []string
	for _, f := range r.Refusals {
		all = append(all, f.Reason+" ("+f.Hint+")")
	}
	return strings.Join(all, "; ")
}

var wantLine = regexp.MustCompile(`want: (accepted|rejected)(?:: (.*))?`)

// Every program of the folders says in its comment what becomes of its claim: what is
// inferred, or why not.
func TestPrograms(t *testing.T) {
	all, p := checked(t)(programs())
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			m := wantLine.FindStringSubmatch(s.Decl.Doc.Text())
			if m == nil {
				t.Fatal("the comment does not say what is wanted")
			}
			r := s.check(p)
			if r.Proved != (m[1] == "accepted") {
				t.Fatalf("proved: %v, inferred %q: %s", r.Proved, r.Inferred, reasons(r))
			}
			if m[2] != "" && r.Proved && r.Inferred != m[2] {
				t.Errorf("inferred %q, want %q", r.Inferred, m[2])
			}
			if m[2] != "" && !r.Proved && !regexp.MustCompile(m[2]).MatchString(reasons(r)) {
				t.Errorf("refused with %q, want %q", reasons(r), m[2])
			}
			t.Log(r.Inferred, r.Over, r.Plan)
		})
	}
}
