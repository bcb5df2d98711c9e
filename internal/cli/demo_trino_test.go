//go:build cgo && unix

package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/clinic"
	"github.com/discreet-dp/discreet/internal/trinotest"
)

// The demo in a Trino cluster asks its five questions there, as often as one likes; its catalog fits what
// check finds, and a module runs over its visits. A schema of its name that is somebody else's stays as it is.
func TestDemoInTrino(t *testing.T) {
	c := trinotest.Start(t)
	t.Setenv("DISCREET_ENGINE", c.As("owner"))
	dir := filepath.Join(t.TempDir(), "demo")
	catalog := filepath.Join(dir, "discreet.toml")
	for _, x := range []struct {
		args []string
		want []string
	}{
		{[]string{"demo", "--engine", "trino", "--dir", dir}, []string{"in schema lake." + clinic.Schema + " of " + c.URL, "5. ", "\n   ICU "}},
		{[]string{"check", "--catalog", catalog}, []string{"visits (lake.discreet_demo.visits): 200000 rows of 20000 units", "departments (lake.discreet_demo.departments): 8 rows", "0 problems"}},
		{[]string{"explain", "--sql", "--rho", "0.01", "SELECT sex, sum(cost) FROM visits GROUP BY sex", "--catalog", catalog}, []string{"engine SQL", "$salt"}},
		{mapOver(catalog, "5"), []string{"\n75+ "}},
		{[]string{"demo", "--engine", "trino", "--files", "--dir", dir}, []string{"afresh"}},
	} {
		out, code := runCommand(t, x.args...)
		if code != 0 {
			t.Fatalf("%v: code %d: %s", x.args, code, out)
		}
		for _, want := range x.want {
			if !strings.Contains(out, want) {
				t.Errorf("%v: no %q in: %s", x.args, want, out)
			}
		}
	}
	c.Exec(t, "DROP TABLE lake.discreet_demo.made_by_discreet_demo")
	if out, code := runCommand(t, "demo", "--engine", "trino", "--dir", dir); code != 2 || !strings.Contains(out, "D116") || !strings.Contains(out, "did not make it") {
		t.Errorf("over somebody else's schema: code %d: %s", code, out)
	}
	if rows := c.Exec(t, "SELECT count(*) FROM lake.discreet_demo.visits"); *rows[0][0] != "200000" {
		t.Errorf("somebody else's table was written: %s rows", *rows[0][0])
	}
	for _, statement := range []string{"DROP TABLE lake.discreet_demo.visits", "DROP TABLE lake.discreet_demo.departments", "DROP SCHEMA lake.discreet_demo"} {
		c.Exec(t, statement)
	}
}
