//go:build cgo

package duckdb_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/sqltype"
)

// wantOfMemory names the folder in which a child process asks for more memory
// than it has.
const wantOfMemory = "DISCREET_TEST_WANT_OF_MEMORY"

// A want of memory while text is read is an error, always. An exception that
// DuckDB throws through our code would end the process, so a child asks; when
// a table function handed the records on, one query in six ended it.
func TestWantOfMemoryOverText(t *testing.T) {
	if dir := os.Getenv(wantOfMemory); dir != "" {
		askForMemory(t, dir)
		return
	}
	dir := t.TempDir()
	csv, jsonl := []byte("name\n"), []byte(nil)
	for i := range 15_000 {
		name := strings.Repeat(fmt.Sprintf("%010d", i), 30)
		csv = fmt.Appendf(csv, "%s\n", name)
		jsonl = fmt.Appendf(jsonl, "{\"name\": %q}\n", name)
	}
	toml := ""
	for _, name := range []string{"csv", "jsonl"} {
		toml += fmt.Sprintf("[tables.%[1]s]\nsource = \"visits.%[1]s\"\npublic = true\n[tables.%[1]s.columns]\nname = { type = \"text\" }\n", name)
	}
	for name, text := range map[string][]byte{"visits.csv": csv, "visits.jsonl": jsonl, "discreet.toml": []byte(toml)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWantOfMemoryOverText$", "-test.v")
	child.Env = append(os.Environ(), wantOfMemory+"="+dir)
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

func askForMemory(t *testing.T, dir string) {
	c, err := catalog.Load(filepath.Join(dir, "discreet.toml"))
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]int{}
	for i := range 12 {
		memory := "8MB"
		if i%6 == 0 {
			memory = "30MB"
		}
		e := open(t, c, duckdb.Options{Threads: 2, Memory: memory})
		for _, table := range []string{"csv", "jsonl"} {
			x, err := e.Exact(t.Context(), engine.Query{SQL: "SELECT count(DISTINCT name || name || name) FROM " + table, Tables: []string{table}, Values: 1})
			switch {
			case err == nil && sqltype.Format(x.RevealExact()[0][0]) == "15000" && memory != "8MB":
				said[memory+" answer"]++
			case errors.Is(err, engine.ErrResource) && err.Error() == engine.ErrResource.Error():
				said[memory+" "+err.(*engine.Failure).Cause().Error()]++
			default:
				t.Errorf("%s: answered %v, %v", memory, x, err)
			}
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	for what, n := range said {
		t.Logf("%d times: %s", n, what)
	}
}
