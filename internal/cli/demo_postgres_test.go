//go:build cgo && unix

package cli

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/internal/clinic"
	"github.com/discreet-dp/discreet/internal/postgrestest"
)

// mapOver runs a module over the demo's visits.
func mapOver(catalog, thousandths string, more ...string) []string {
	return append([]string{"map", "--catalog", catalog, "--module", "../../sandbox/testdata/c/mapper.wasm", "--table", "visits", "--columns", "age,cost",
		"--keys", "0-24,25-49,50-74,75+", "--value", "0..3000", "--rho", "0.00" + thousandths}, more...)
}

// The demo in a PostgreSQL database asks its five questions there, as often as one likes; its catalog
// fits what check finds, and explain shows the server's SQL without the salt. A schema of its name
// that is somebody else's stays as it is.
func TestDemoInPostgres(t *testing.T) {
	url := postgrestest.Start(t)
	t.Setenv("DISCREET_ENGINE", url)
	dir := filepath.Join(t.TempDir(), "demo")
	catalog := filepath.Join(dir, "discreet.toml")
	over := func(thousandths string, more ...string) []string { return mapOver(catalog, thousandths, more...) }
	for _, x := range []struct {
		args []string
		want []string
	}{
		{[]string{"demo", "--engine", "postgres", "--dir", dir}, []string{"in schema " + clinic.Schema + " of postgres://", "5. ", "\n   ICU "}},
		{[]string{"check", "--catalog", catalog}, []string{"visits (discreet_demo.visits): 200000 rows of 20000 units", "departments (discreet_demo.departments): 8 rows", "0 problems"}},
		{[]string{"explain", "--sql", "--rho", "0.01", "SELECT sex, sum(cost) FROM visits GROUP BY sex", "--catalog", catalog}, []string{"engine SQL", "CAST($1 AS BIGINT)"}},
		{over("4"), []string{"\n75+ "}},
		{over("5", "--per", "unit", "SELECT key, count(*) FROM mapped GROUP BY key"), []string{"\n75+ "}},
		{[]string{"demo", "--engine", "postgres", "--files", "--dir", dir}, []string{"afresh"}},
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
	admin, err := pgconn.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.Background())
	// Explain says that a table is laid out by its unit once it is, and not before.
	for _, laid := range []bool{false, true} {
		if laid {
			if _, err := admin.Exec(t.Context(), "CREATE INDEX by_unit ON discreet_demo.visits (patient_id); CLUSTER discreet_demo.visits USING by_unit").ReadAll(); err != nil {
				t.Fatal(err)
			}
		}
		out, code := runCommand(t, "explain", "--rho", "0.01", "SELECT sex, sum(cost) FROM visits GROUP BY sex", "--catalog", catalog)
		if code != 0 || strings.Contains(out, "visits: laid out by its unit") != laid {
			t.Errorf("laid out by unit %t: code %d: %s", laid, code, out)
		}
	}
	// What is made of records in a database joins nothing there, and that costs nothing.
	if out, code := runCommand(t, "ledger", "create", "--catalog", catalog); code != 0 {
		t.Fatalf("code %d: %s", code, out)
	}
	if out, code := runCommand(t, over("6", "SELECT sum(cost) FROM mapped JOIN visits USING (patient_id)")...); code != 1 || !strings.Contains(out, "D146") || !strings.Contains(out, "--columns") {
		t.Errorf("a join: code %d: %s", code, out)
	}
	if out, code := runCommand(t, "budget", "--catalog", catalog); code != 0 || strings.Contains(out, "JOIN") {
		t.Errorf("after a join: code %d: %s", code, out)
	}
	if _, err := admin.Exec(t.Context(), "COMMENT ON SCHEMA discreet_demo IS 'mine'; DELETE FROM discreet_demo.visits").ReadAll(); err != nil {
		t.Fatal(err)
	}
	if out, code := runCommand(t, "demo", "--engine", "postgres", "--dir", dir); code != 2 || !strings.Contains(out, "D116") || !strings.Contains(out, "did not make it") {
		t.Errorf("over somebody else's schema: code %d: %s", code, out)
	}
	results, err := admin.Exec(t.Context(), "SELECT count(*) FROM discreet_demo.visits").ReadAll()
	if err != nil || string(results[0].Rows[0][0]) != "0" {
		t.Errorf("somebody else's table was written: %v", err)
	}
}
