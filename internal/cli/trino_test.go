//go:build cgo

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a command says of a Trino that cannot be asked.
func TestTrinoIsNamed(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "discreet.toml")
	err := os.WriteFile(path, []byte(`
[engine]
kind = "trino"
url = { env = "DISCREET_ENGINE" }
[domains.people]
measure = "pure"
neighbours = "add-remove"
epsilon = 1.0
[tables.visits]
source = "lake.clinic.visits"
domain = "people"
unit = "u"
max_groups_per_unit = 1
max_rows_per_group = 1
[tables.visits.columns]
u = { type = "bigint" }
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		url  string
		args []string
		want []string
	}{
		{"", []string{"ledger", "create"}, []string{"D101", "DISCREET_ENGINE=https://discreet:PASSWORD@trino.example:8443"}},
		{"", []string{"ledger", "create", "--unread"}, nil},
		{"http://discreet@127.0.0.1:1", []string{"check"}, []string{"D101", "no answer from the coordinator"}},
		{"https://discreet:secret5417@127.0.0.1:1?sslrootcert=/nowhere", []string{"check"}, []string{"D101", "names no file with certificates"}},
		{"https://discreet:secret5417@127.0.0.1:1?sslmode=disable", []string{"check"}, []string{"D101", "parameters that are not known here"}},
		{"", []string{"query", "--epsilon", "0.1", "SELECT count(*) FROM visits"}, []string{"D101", "DISCREET_ENGINE=https://discreet:PASSWORD@trino.example:8443"}},
		{"http://discreet@127.0.0.1:1", []string{"query", "--epsilon", "0.1", "SELECT count(*) FROM visits"}, []string{"D101", "no answer from the coordinator"}},
		{"http://discreet:secret5417@127.0.0.1:1", []string{"query", "--epsilon", "0.1", "SELECT count(*) FROM visits"}, []string{"D101", "a password does not go over plain HTTP"}},
	} {
		t.Setenv("DISCREET_ENGINE", x.url)
		out, code := runCommand(t, append(x.args, "--catalog", path)...)
		if (code == 0) != (x.want == nil) || strings.Contains(out, "secret5417") {
			t.Errorf("%v: code %d: %s", x.args, code, out)
		}
		for _, want := range x.want {
			if !strings.Contains(out, want) {
				t.Errorf("%v: no %q in: %s", x.args, want, out)
			}
		}
	}
}
