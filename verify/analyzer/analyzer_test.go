package analyzer_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/verify/analyzer"
	"github.com/discreet-dp/discreet/verify/internal/certificate"
	"github.com/discreet-dp/discreet/verify/internal/ratio"
	"github.com/discreet-dp/discreet/verify/internal/replay"
	"github.com/discreet-dp/discreet/verify/internal/source"
	"golang.org/x/tools/go/analysis/analysistest"
)

// Diagnostics stand in comments of testdata.
func TestAnalyzer(t *testing.T) {
	dir := module(t, "testdata")
	storeProofs(t, filepath.Join(dir, "claims"))
	analysistest.Run(t, dir, analyzer.Analyzer, "./...")
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
	read, err := source.Load(t.Context(), dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	units := map[string]*source.Unit{}
	for _, u := range read[0].Units {
		units[u.Name] = u
	}
	proved := units["Proved"]
	o, err := ratio.Prove(t.Context(), proved.Function, proved.Claim)
	if err != nil {
		t.Fatal(err)
	}
	proof, err := json.Marshal(o.Certificate)
	if err != nil {
		t.Fatal(err)
	}
	right := &certificate.Entry{Program: replay.Hash(proved.Function, proved.Claim), Kind: replay.Ratio, Proof: proof}
	wrong := &certificate.Entry{Program: replay.Hash(units["Wrong"].Function, units["Wrong"].Claim), Kind: replay.Ratio, Proof: proof}
	found := map[string]*certificate.Entry{"Proved": right, "Stale": right, "Wrong": wrong, "Renamed": right}
	if _, err := certificate.Update(dir, found, []string{"Proved", "Stale", "Wrong", "Renamed"}); err != nil {
		t.Fatal(err)
	}
}
