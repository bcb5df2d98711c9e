//go:build cgo && unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/cli/command"
)

// Whoever may run discreet map by sudo does not choose who is sent private records.
func TestCallersNameNoWorkers(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, by := range []string{"", "54321"} {
		t.Setenv("SUDO_UID", by)
		for _, flag := range command.RecordsLeave {
			out, code := runCommand(t, "map", "--module", "-", "--table", "visits", "--"+flag, "127.0.0.1:1="+strings.Repeat("0", 64))
			if refused := strings.Contains(out, "D118") && strings.Contains(out, "where you say"); code == 0 || refused != (by != "") {
				t.Errorf("--%s by %q: code %d: %s", flag, by, code, out)
			}
		}
	}
}

// A command that runs with other rights than its caller's takes no database of the caller's: the
// URL could name files and servers.
func TestCallersNameNoDatabase(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile(filepath.Join(dir, "discreet.toml"), []byte("[engine]\nkind = \"postgres\"\nurl = { env = \"DISCREET_ENGINE\" }\n"+
		"[domains.d]\nmeasure = \"pure\"\nepsilon = 1\n[tables.t]\nsource = \"public.t\"\ndomain = \"d\"\nunit = \"u\"\ncolumns.u = { type = \"text\" }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("DISCREET_ENGINE", "postgres://secret:secret@/clinic?host=/nowhere")
	for _, by := range []string{"", "54321"} {
		t.Setenv("SUDO_UID", by)
		for _, args := range [][]string{{"check"}, {"init", "--engine", "postgres", "--catalog", "other.toml"}, {"demo", "--engine", "postgres"}} {
			out, code := runCommand(t, args...)
			refused := strings.Contains(out, "D118") && strings.Contains(out, "the caller's environment cannot name the owner's database")
			if code == 0 || refused != (by != "") || strings.Contains(out, "secret") {
				t.Errorf("%v by %q: code %d: %s", args, by, code, out)
			}
		}
	}
}
