//go:build cgo && unix

package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A backup of a ledger that a server and statements write to is whole, has the accounts
// and the journal beside it, and is its owner's alone; a backup that is killed leaves
// nothing of its name. Put in the ledger's place it works where nothing was spent since,
// and is refused by the anchor where something was.
func TestBackup(t *testing.T) {
	catalog := folder(t)
	dir := filepath.Dir(catalog)
	path, anchor := filepath.Join(dir, "discreet.ledger"), filepath.Join(t.TempDir(), "anchor")
	ledger := func(want int, args ...string) string {
		t.Helper()
		_, talk := run(t, context.Background(), want, append(append([]string{"ledger"}, args...), "--catalog", catalog, "--anchor", anchor)...)
		return talk
	}
	ledger(0, "anchor")
	run(t, context.Background(), 0, "user", "add", "anna", "--role", "analyst", "--catalog", catalog, "--anchor", anchor)
	startServer(t, catalog, "--anchor", anchor)
	spend := func() *exec.Cmd {
		return exec.Command("discreet", "query", "--catalog", catalog, "--anchor", anchor, "--rho", "0.01", "SELECT count(*) FROM visits")
	}
	spending := spend()
	if err := spending.Start(); err != nil {
		t.Fatal(err)
	}
	copies := t.TempDir()
	for i := range 6 {
		to := filepath.Join(copies, "killed")
		c := exec.Command("discreet", "ledger", "backup", to, "--catalog", catalog, "--anchor", anchor)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i) * 15 * time.Millisecond)
		c.Process.Kill()
		c.Wait()
		for _, suffix := range []string{"", ".accounts", ".journal"} {
			os.Remove(to + suffix)
		}
	}
	if err := spending.Wait(); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(copies, "killed") // of which something may have been left
	if said := ledger(0, "backup", to); !strings.Contains(said, "whole") {
		t.Errorf("it says %s", said)
	}
	for _, suffix := range []string{"", ".accounts", ".journal"} {
		if info, err := os.Stat(to + suffix); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", suffix, info, err)
		}
	}
	if said := ledger(2, "backup", to); !strings.Contains(said, "exists already") {
		t.Errorf("a second copy of one name: %s", said)
	}
	restore := func() {
		t.Helper()
		for _, suffix := range []string{"-wal", "-shm"} {
			os.Remove(path + suffix)
		}
		text, err := os.ReadFile(to)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	restore()
	ledger(0, "verify")
	if err := spend().Run(); err != nil {
		t.Fatal(err)
	}
	restore()
	if said := ledger(1, "verify"); !strings.Contains(said, "D078") || !strings.Contains(said, "older copy") {
		t.Errorf("an older copy in the ledger's place: %s", said)
	}
}
