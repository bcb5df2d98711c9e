package source_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/program"
	"github.com/discreet-dp/discreet/verify/internal/source"
)

func TestLoadPlain(t *testing.T) {
	read, err := source.Load(context.Background(), ".", "./testdata/plain")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range read {
		for _, r := range p.Refusals {
			t.Error(r)
		}
		for _, u := range p.Units {
			for _, r := range u.Refusals {
				t.Error(r)
			}
			if u.Claim == nil || u.Function == nil {
				t.Errorf("%s has no claim, or no function", u.Name)
				continue
			}
			t.Logf("%s\n%s", u.Claim.Text, program.Print(u.Function))
		}
	}
}

// Functions of other packages of the module are written out, with their directives.
func TestLoadCalls(t *testing.T) {
	read, err := source.Load(context.Background(), ".", "./testdata/calls")
	if err != nil {
		t.Fatal(err)
	}
	if len(read) != 1 || len(read[0].Units) != 1 || read[0].Units[0].Function == nil {
		t.Fatalf("%v", read[0].Units[0].Refusals)
	}
	want := `func github.com/discreet-dp/discreet/verify/internal/source/testdata/calls.Noisy
	input x real
	input eps real
	Add.draw.k real ~ Laplace((real 1 / eps))
		align int -1
	return (x + Add.draw.k)
`
	if got := program.Print(read[0].Units[0].Function); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module example.org/broken\n\ngo 1.26.0\n",
		"a/a.go":  "package a\n\nfunc F() int { return \"x\" }\n",
		"b/b.go":  "package b\n\nfunc F( {\n",
		"d/d.go":  "package d\n\nimport \"example.org/broken/a\"\n\nvar G = a.F\n",
		"ok/c.go": "package ok\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for pattern, place := range map[string]string{"./a": "a.go:3:23", "./b": "b.go:3:9", "./d": "a.go:3:23", "./none": "none"} {
		_, err := source.Load(context.Background(), dir, "./ok", pattern)
		if !errors.Is(err, source.ErrCompile) || !strings.Contains(err.Error(), place) {
			t.Errorf("%s: %v", pattern, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := source.Load(ctx, dir, "./ok"); err == nil {
		t.Error("a load that was cancelled gives packages")
	}
}
