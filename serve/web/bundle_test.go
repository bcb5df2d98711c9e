package web

import (
	"bytes"
	"net/http"
	"net/http/httptest"
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
		if !bytes.Equal(unpacked(t, "assets/"+name+".gz"), unpacked(t, filepath.Join(dir, name+".gz"))) {
			t.Errorf("assets/%s is not what its source is bundled to: script/bundle makes it anew", name)
		}
	}
}

func unpacked(t *testing.T, path string) []byte {
	t.Helper()
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := unpack(packed)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestPackedAssets: who accepts gzip gets the bytes that lie here, and others what they stand for.
func TestPackedAssets(t *testing.T) {
	all, err := readAssets()
	if err != nil {
		t.Fatal(err)
	}
	address, err := all.address("ask.js")
	if err != nil {
		t.Fatal(err)
	}
	for accepted, encoding := range map[string]string{"": "", "br": "", "gzip;q=0": "", "gzip, deflate, br": "gzip", "br;q=1.0, gzip;q=0.8": "gzip", "*": ""} {
		r := httptest.NewRequest(http.MethodGet, address, nil)
		r.Header.Set("Accept-Encoding", accepted)
		w := httptest.NewRecorder()
		all.ServeHTTP(w, r)
		body := w.Body.Bytes()
		if got := w.Header().Get("Content-Encoding"); got != encoding || w.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("to %q: encoding %q, headers %v", accepted, got, w.Header())
		}
		if encoding != "" {
			if body, err = unpack(body); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(body, all["ask.js"].text) {
			t.Errorf("to %q: %d bytes that are not the script", accepted, len(body))
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
