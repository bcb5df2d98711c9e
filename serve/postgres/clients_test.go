//go:build cgo

package postgres_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
)

// TestClients lets the clients of other languages ask, reflect and be refused: psycopg, psycopg2,
// asyncpg, SQLAlchemy, pandas and polars, node-postgres, JDBC, R's. testdata/clients/setup and
// .ci/setup install them.
func TestClients(t *testing.T) {
	s := start(t, nil)
	dir, err := filepath.Abs("testdata/clients")
	if err != nil {
		t.Fatal(err)
	}
	in := func(path string) string { return filepath.Join(dir, path) }
	for name, test := range map[string]struct {
		needs   string
		command []string
	}{
		"Python": {"venv/installed", []string{in("venv/bin/python"), in("clients.py")}},
		"Node":   {"node_modules/installed", []string{"node", in("clients.js")}},
		"Java":   {"lib/postgresql-42.7.7.jar", []string{"java", "-cp", in("lib/postgresql-42.7.7.jar"), in("Clients.java")}},
		"R":      {"/usr/lib/R/site-library/DBI", []string{"Rscript", "--vanilla", in("clients.R")}},
	} {
		t.Run(name, func(t *testing.T) {
			needs := test.needs
			if !filepath.IsAbs(needs) {
				needs = in(needs)
			}
			if _, err := os.Stat(needs); err != nil {
				t.Skipf("skip: %s has no clients of PostgreSQL here; testdata/clients/setup installs them", name)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			c := exec.CommandContext(ctx, test.command[0], append(test.command[1:], s.host, s.port, gatewaytest.Password)...)
			c.WaitDelay = time.Second
			out, err := c.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}
