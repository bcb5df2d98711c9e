//go:build cgo && linux

package scale

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/engine/postgres"
	"github.com/discreet-dp/discreet/internal/postgrestest"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
)

// BenchmarkAdded asks for counts of 1,000 and 10,000 rows by group, with a durable reservation and a
// durable commit, and the server for the same without privacy, by turns. added-p50-ms is the
// difference of the medians, which mean something on an idle machine alone; server-cpu-ms and
// client-cpu-ms are the processor time of the server's processes and of this one, of which
// plain-cpu-ms is the server's for the statement without privacy, and by-unit-cpu-ms for its
// own grouping by group and unit.
//
// Where the time goes, as medians: prepare-ms until the charge could be reserved, reserve-ms,
// measure-ms in the server with the noise, commit-ms, and rest-ms after it. What no statement can do
// without is beside it: by-unit-ms is the server's own grouping by group and unit, and fsync-ms a write
// of a page to the disk.
func BenchmarkAdded(b *testing.B) {
	url := postgrestest.Start(b, "fsync=on", "max_connections=20")
	admin, err := pgconn.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { admin.Close(context.Background()) })
	for _, c := range []struct {
		rows  int
		where string
	}{{10_000, "file"}, {10_000, "same server"}, {1000, "file"}, {1000, "same server"}} {
		where := c.where
		b.Run(fmt.Sprintf("rows=%d/ledger=%s", c.rows, where), func(b *testing.B) {
			exec(b, admin, "DROP TABLE IF EXISTS t")
			exec(b, admin, fmt.Sprintf("CREATE TABLE t AS SELECT n / 10 AS unit, 'group' || n %% 20 AS g, n %% 5000 * 1.0::float8 AS x FROM generate_series(1, %d) AS n", c.rows))
			exec(b, admin, "ALTER TABLE t ALTER unit TYPE bigint")
			exec(b, admin, "VACUUM ANALYZE t")
			cat, err := catalog.Parse("discreet.toml", fmt.Sprintf(declared, 20, 4, groups()))
			if err != nil {
				b.Fatal(err)
			}
			post, err := duckdb.Open(b.Context(), &catalog.Catalog{}, duckdb.Options{})
			if err != nil {
				b.Fatal(err)
			}
			e, err := postgres.Open(b.Context(), cat, postgres.Options{URL: url, Connections: 1, Post: post}) // which it closes
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { e.Close() })
			o := ledger.Options{Domains: discreet.Budgets(cat), Anchor: filepath.Join(b.TempDir(), "head"), Now: time.Now()}
			place := filepath.Join(b.TempDir(), "ledger")
			if where != "file" {
				config, err := pgconn.ParseConfig(url)
				if err != nil {
					b.Fatal(err)
				}
				exec(b, admin, "DROP DATABASE IF EXISTS books WITH (FORCE)")
				exec(b, admin, "CREATE DATABASE books")
				place = fmt.Sprintf("postgres://%s@/books?host=%s", config.User, config.Host)
			}
			l, err := ledger.Create(b.Context(), place, o)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { l.Close() })
			db, err := discreet.Open(b.Context(), discreet.Config{Catalog: cat, Engine: e, Ledger: l})
			if err != nil {
				b.Fatal(err)
			}
			rho, err := privacy.ParseRho("1e-9")
			if err != nil {
				b.Fatal(err)
			}
			parts := map[string][]time.Duration{}
			timed := func(name string) (end func()) {
				began := time.Now()
				return func() { parts[name] = append(parts[name], time.Since(began)) }
			}
			disk, err := os.Create(filepath.Join(b.TempDir(), "page"))
			if err != nil {
				b.Fatal(err)
			}
			defer disk.Close()
			for range b.N {
				end := timed("fsync")
				_, err := disk.WriteAt(make([]byte, 8192), 0)
				if err = errors.Join(err, disk.Sync()); err != nil {
					b.Fatal(err)
				}
				end()
			}
			before := processor(b, admin)
			for range b.N {
				end := timed("by-unit")
				exec(b, admin, "SELECT g, sum(n) FROM (SELECT g, unit, count(*) AS n FROM t GROUP BY g, unit) AS q GROUP BY g")
				end()
			}
			byUnit := processor(b, admin)
			for range b.N {
				exec(b, admin, "SELECT g, count(*) FROM t GROUP BY g")
			}
			b.ReportMetric((byUnit-before).Seconds()*1000/float64(b.N), "by-unit-cpu-ms")
			alone := processor(b, admin) - byUnit
			before, own := processor(b, admin), ownTime()
			for i := range b.N + 1 {
				end := timed("plain")
				exec(b, admin, "SELECT g, count(*) FROM t GROUP BY g")
				end()
				answered, prepared := timed("answered"), timed("prepare")
				s, err := db.Prepare(b.Context(), "SELECT g, count(*) FROM t GROUP BY g", &discreet.QueryOptions{Spend: discreet.Spend{Rho: rho}, Analyst: "ada"})
				if err != nil {
					b.Fatal(err)
				}
				prepared()
				var rest func()
				_, err = s.Answer(b.Context(), discreet.Payer{Part: func(name string) (end func()) {
					done := timed(name)
					return func() { done(); rest = timed("rest") }
				}})
				if err != nil {
					b.Fatal(err)
				}
				rest()
				answered()
				if i == 0 { // what is prepared once is
					for _, name := range []string{"plain", "answered", "prepare", "reserve", "measure", "commit", "rest"} {
						parts[name] = nil
					}
				}
			}
			b.ReportMetric((processor(b, admin)-before-alone).Seconds()*1000/float64(b.N), "server-cpu-ms")
			b.ReportMetric((ownTime()-own).Seconds()*1000/float64(b.N), "client-cpu-ms")
			b.ReportMetric(alone.Seconds()*1000/float64(b.N), "plain-cpu-ms")
			p50 := func(name string) float64 {
				all := parts[name]
				slices.Sort(all)
				return all[len(all)/2].Seconds() * 1000
			}
			for _, name := range []string{"fsync", "by-unit", "prepare", "reserve", "measure", "commit", "rest"} {
				b.ReportMetric(p50(name), name+"-ms")
			}
			b.ReportMetric(p50("plain"), "plain-p50-ms")
			b.ReportMetric(p50("answered")-p50("plain"), "added-p50-ms")
		})
	}
}
