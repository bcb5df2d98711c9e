//go:build cgo

package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/engine/duckdb"
)

const startCatalog = `
[domains.patient]
measure = "zcdp"
epsilon = 1000000.0
delta = 1e-7
[tables.visits]
source = "visits.parquet"
domain = "patient"
unit = "patient_id"
max_groups_per_unit = 3
max_rows_per_group = 5
[tables.visits.columns]
patient_id = { type = "bigint" }
department = { type = "text", domain = ["A", "B", "C", "D", "E", "F", "G", "H"] }
cost = { type = "double", lower = 0, upper = 5000 }
`

// A query over a Parquet file of 1 MB (100,000 rows), from the start of the
// process to its answer: under 150 ms on a machine with nothing else to do.
func BenchmarkQueryFromStart(b *testing.B) {
	dir := b.TempDir()
	owner, err := duckdb.OpenOwner(context.Background(), duckdb.Options{Temp: dir})
	if err != nil {
		b.Fatal(err)
	}
	parquet := filepath.Join(dir, "visits.parquet")
	if _, _, err := owner.Rows(context.Background(), `COPY (SELECT CAST(hash(i) % 10000 AS BIGINT) AS patient_id,
		chr(CAST(65 + hash(13 * i) % 8 AS INTEGER)) AS department, CAST(hash(17 * i) % 500000 AS DOUBLE) / 100 AS cost
		FROM range(100000) AS t(i)) TO '`+parquet+`' (FORMAT parquet)`); err != nil {
		b.Fatal(err)
	}
	owner.Close()
	if info, err := os.Stat(parquet); err != nil || info.Size() < 700_000 || info.Size() > 1_300_000 {
		b.Fatalf("the file is not of 1 MB: %v, %v", info.Size(), err)
	}
	catalog := filepath.Join(dir, "discreet.toml")
	if err := os.WriteFile(catalog, []byte(startCatalog), 0o600); err != nil {
		b.Fatal(err)
	}
	discreet := func(b *testing.B, args ...string) {
		if out, err := exec.Command("discreet", append(args, "--catalog", catalog)...).CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	discreet(b, "ledger", "create")
	for name, sql := range map[string]string{
		"count":  "SELECT count(*) FROM visits",
		"groups": "SELECT department, count(*) FROM visits GROUP BY department",
		"avg":    "SELECT department, count(*), avg(cost) FROM visits GROUP BY department",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				discreet(b, "query", "--rho", "0.01", sql)
			}
		})
	}
	b.Run("explain", func(b *testing.B) {
		for b.Loop() {
			discreet(b, "explain", "--rho", "0.01", "SELECT count(*) FROM visits")
		}
	})
}
