package web

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestScriptsAreBundled: what is served is what the sources are bundled to, byte for byte.
func TestScriptsAreBundled(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("skip: missing tool npm")
	}
	if _, err := os.Stat("script/node_modules/installed"); err != nil {
		t.Skip("skip: missing tool esbuild (.ci/setup installs it)")
	}
	dir := t.TempDir()
	if text, err := exec.Command("script/bundle", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	sources, err := filepath.Glob("script/*.js")
	if err != nil || len(sources) == 0 {
		t.Fatal(sources, err)
	}
	for _, source := range sources {
		name := filepath.Base(source)
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile("assets/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("assets/%s is not what its source is bundled to: script/bundle makes it anew", name)
		}
	}
}

// TestAssetsAreSmall: all together are less than a mebibyte, and none asks anything of
// another server.
func TestAssetsAreSmall(t *testing.T) {
	all, err := readAssets()
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for name, a := range all {
		size += len(a.text)
		for _, word := range []string{"@import", "url(http", "src=\"http", "importScripts", "sourceMappingURL"} {
			if bytes.Contains(a.text, []byte(word)) {
				t.Errorf("%s has %s", name, word)
			}
		}
	}
	if size >= 1<<20 {
		t.Errorf("assets have %d bytes", size)
	}
	t.Logf("%d bytes", size)
}
