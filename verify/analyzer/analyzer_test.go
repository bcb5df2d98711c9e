package analyzer_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/verify/analyzer"
	"github.com/discreet-dp/discreet/verify/internal/certificate"
	"github.com/discreet-dp/discreet/verify/internal/prove"
	"github.com/discreet-dp/discreet/verify/internal/ratio"
	"github.com/discreet-dp/discreet/verify/internal/replay"
	"github.com/discreet-dp/discreet/verify/internal/source"
	"golang.org/x/tools/go/analysis/analysistest"
)

// Diagnostics stand in comments of testdata.
func TestAnalyzer(t *testing.T) {
	dir := module(t, "testdata")
	storeProofs(t, filepath.Join(dir, "claims"))
	analysistest.Run(t, dir, analyzer.Analyzer, "./claims", "./damaged", "./quiet")
}

// A coupling that was found by a solver is replayed without one.
func TestCoupling(t *testing.T) {
	if _, err := exec.LookPath("z3"); err != nil {
		t.Skip("skip: missing tool z3")
	}
	dir := module(t, "testdata")
	units := load(t, filepath.Join(dir, "coupled"))
	above, swapped := units["Above"], units["Swapped"]
	o, err := prove.Prove(t.Context(), above.Function, above.Claim, prove.Options{})
	if err != nil || o.Status != prove.Proved {
		t.Fatalf("no proof: %v, %v", o, err)
	}
	right := entry(t, above, replay.Alignment, o.Certificate)
	forged := *o.Certificate
	forged.Program = prove.Hash(swapped.Function, swapped.Claim)
	wrong := entry(t, swapped, replay.Alignment, &forged)
	found := map[string]*certificate.Entry{"Above": right, "Swapped": wrong}
	if _, err := certificate.Update(filepath.Join(dir, "coupled"), found, []string{"Above", "Swapped"}); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", onlyGo(t))
	analysistest.Run(t, dir, analyzer.Analyzer, "./coupled")
}

// onlyGo is a PATH on which there is the go command and no solver.
func onlyGo(t *testing.T) string {
	t.Helper()
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(tool, filepath.Join(bin, "go")); err != nil {
		t.Fatal(err)
	}
	return bin
}

// load reads the functions of a package.
func load(t *testing.T, dir string) map[string]*source.Unit {
	t.Helper()
	read, err := source.Load(t.Context(), dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	units := map[string]*source.Unit{}
	for _, u := range read[0].Units {
		units[u.Name] = u
	}
	return units
}

// entry stores a proof.
func entry(t *testing.T, u *source.Unit, kind string, proof any) *certificate.Entry {
	t.Helper()
	text, err := json.Marshal(proof)
	if err != nil {
		t.Fatal(err)
	}
	return &certificate.Entry{Program: replay.Hash(u.Function, u.Claim), Kind: kind, Proof: text}
}

// module makes a module of its own of the packages in a folder.
func module(t *testing.T, from string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	// What this module needs, one that imports it needs too.
	text := strings.Replace(string(mod), "module github.com/discreet-dp/discreet\n", "module example.org/m\n", 1) +
		"\nrequire github.com/discreet-dp/discreet v0.0.0\n\nreplace github.com/discreet-dp/discreet => " + root + "\n"
	for name, data := range map[string][]byte{"go.mod": []byte(text), "go.sum": sum} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// storeProofs stores one proof that holds, and others that do not.
func storeProofs(t *testing.T, dir string) {
	t.Helper()
	units := load(t, dir)
	proved := units["Proved"]
	o, err := ratio.Prove(t.Context(), proved.Function, proved.Claim)
	if err != nil {
		t.Fatal(err)
	}
	right, wrong := entry(t, proved, replay.Ratio, o.Certificate), entry(t, units["Wrong"], replay.Ratio, o.Certificate)
	found := map[string]*certificate.Entry{"Proved": right, "Stale": right, "Wrong": wrong, "Renamed": right}
	if _, err := certificate.Update(dir, found, []string{"Proved", "Stale", "Wrong", "Renamed"}); err != nil {
		t.Fatal(err)
	}
}
