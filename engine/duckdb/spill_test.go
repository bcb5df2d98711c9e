//go:build cgo && unix

package duckdb_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine/duckdb"
)

// spillIn names the temporary directory of a child that waits to be killed.
const spillIn = "DISCREET_TEST_SPILL"

// What a killed process has spilled is removed by the next one; what one that
// lives has spilled is not, nor is anything else.
func TestAbandonedSpill(t *testing.T) {
	if temp := os.Getenv(spillIn); temp != "" {
		if _, err := duckdb.Open(t.Context(), &catalog.Catalog{}, duckdb.Options{Temp: temp}); err != nil {
			t.Fatal(err)
		}
		_, _ = os.Stdout.WriteString("open\n")
		select {}
	}
	temp := t.TempDir()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAbandonedSpill$")
	child.Env = append(os.Environ(), spillIn+"="+temp)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if said, _ := bufio.NewReader(out).ReadString('\n'); said != "open\n" {
		t.Fatalf("the child says %q", said)
	}
	theirs := folders(t, temp)
	if len(theirs) != 1 {
		t.Fatalf("the child made %v", theirs)
	}
	if info, err := os.Stat(theirs[0]); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("others may enter: %v, %v", info.Mode(), err)
	}
	if err := os.Mkdir(filepath.Join(temp, "discreet-notes"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, alive := range []bool{true, false} {
		if !alive {
			_ = child.Process.Kill()
			_ = child.Wait()
		}
		e, err := duckdb.Open(t.Context(), &catalog.Catalog{}, duckdb.Options{Temp: temp})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(theirs[0]); (err == nil) != alive {
			t.Errorf("alive %v: the child's folder: %v", alive, err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if left := folders(t, temp); len(left) != 1 || filepath.Base(left[0]) != "discreet-notes" {
		t.Errorf("left %v", left)
	}
}

func folders(t *testing.T, in string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(in, "discreet-*"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}
