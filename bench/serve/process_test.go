//go:build cgo && linux

package serve

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"
	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/clinic"
	"github.com/discreet-dp/discreet/internal/postgrestest"
	"github.com/discreet-dp/discreet/serve"
)

// asCommand makes the test's program the command discreet.
const asCommand = "DISCREET_BENCH_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Unsetenv(asCommand)
		end := profiled()
		code := cli.Process()
		end()
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// profileOf names a file to which the server's process writes the profile of its processors.
const profileOf = "DISCREET_BENCH_PROFILE"

// profiled begins the profile that profileOf asks for, and returns what ends it.
func profiled() (end func()) {
	path := os.Getenv(profileOf)
	os.Unsetenv(profileOf)
	if path == "" || len(os.Args) < 2 || os.Args[1] != "serve" {
		return func() {}
	}
	f, err := os.Create(path)
	if err == nil {
		err = pprof.StartCPUProfile(f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "profile:", err)
		os.Exit(1)
	}
	return pprof.StopCPUProfile
}

// command is the command discreet as a process.
func command(b *testing.B, args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	c := exec.Command(self, args...)
	c.Env = append(os.Environ(), asCommand+"=1")
	return c
}

// visits is a small table: 10,000 rows of 4,000 patients in 8 departments, of which a patient
// has 2.3, and one in seven more than 3.
const visits = `SELECT CAST(hash(3 * i) % 4000 AS BIGINT) AS patient_id, 'ward ' || hash(3 * i + 1) % 8 AS department,
	CAST(hash(3 * i + 2) % 300000 AS DOUBLE) / 100 AS cost FROM range(10000) AS t(i)`

// catalog lets a statement run in one thread: the server runs as many at once as there are
// processors, and small ones lose more by being divided than they gain.
const catalog = `
[resources]
threads = 1
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
department = { type = "text", domain = ["ward 0", "ward 1", "ward 2", "ward 3", "ward 4", "ward 5", "ward 6", "ward 7"] }
cost = { type = "double", lower = 0, upper = 3000 }
`

// withPlaces also declares a key whose values nobody has listed, and a budget for many choices
// of groups.
var withPlaces = strings.Replace(catalog, "delta = 1e-7", "delta = 0.5\nselection_delta = 0.4", 1) + "place = { type = \"text\" }\n"

// password is that of all accounts.
const password = "correct horse battery"

// accounts ask: of the statements that run at once, one account has all but one.
const accounts = 4

// A server is discreet serve in a process of its own.
type server struct {
	serve.Addresses
	token string
}

// small starts a server over the small table.
func small(b *testing.B) server {
	b.Helper()
	dir := b.TempDir()
	if _, err := plain(b).Exec(fmt.Sprintf("COPY (%s) TO '%s' (FORMAT parquet)", visits, filepath.Join(dir, "visits.parquet"))); err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(dir, "discreet.toml")
	if err := os.WriteFile(path, []byte(catalog), 0o600); err != nil {
		b.Fatal(err)
	}
	return start(b, path)
}

// demo starts a server over the demo's data, with a budget for many statements.
func demo(b *testing.B) (s server, visits string) {
	b.Helper()
	dir := b.TempDir()
	path, err := clinic.Write(dir)
	if err != nil {
		b.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	text = bytes.Replace(text, []byte("epsilon = 3.0"), []byte("epsilon = 1000000.0"), 1)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		b.Fatal(err)
	}
	return start(b, path), "SELECT * FROM '" + filepath.Join(dir, "visits.parquet") + "'"
}

func plain(b *testing.B) *sql.DB {
	b.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	return db
}

// start starts a server whose answers leave at once.
func start(b *testing.B, catalog string) server {
	b.Helper()
	return paced(b, catalog, 0)
}

// paced starts a server whose answers take whole multiples of a step.
func paced(b *testing.B, catalog string, step time.Duration) (s server) {
	b.Helper()
	run := func(in string, args ...string) string {
		c := command(b, append(args, "--catalog", catalog)...)
		c.Stdin = strings.NewReader(in)
		out, err := c.Output()
		if err != nil {
			b.Fatalf("discreet %v: %v", args, err)
		}
		return string(out)
	}
	run("", "ledger", "create")
	for i := range accounts {
		out := run(password+"\n", "user", "add", fmt.Sprintf("analyst%d", i), "--role", "analyst", "--password-stdin", "--token")
		for _, word := range strings.Fields(out) {
			if strings.HasPrefix(word, "discreet_") {
				s.token = word
			}
		}
	}
	dir := filepath.Dir(catalog)
	config, ready := filepath.Join(dir, "serve.toml"), filepath.Join(dir, "ready.json")
	if err := os.WriteFile(config, fmt.Appendf(nil, "step = %q\n[limits]\nconnections = 1200\n", step), 0o600); err != nil {
		b.Fatal(err)
	}
	c := command(b, "serve", "--catalog", catalog, "--config", config, "--postgres", "127.0.0.1:0", "--http", "127.0.0.1:0", "--ready-file", ready)
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			b.Error(err)
		}
		if err := c.Wait(); err != nil {
			b.Errorf("the server ended with %v", err)
		}
	})
	for range 500 {
		if text, err := os.ReadFile(ready); err == nil {
			if err := json.Unmarshal(text, &s.Addresses); err != nil {
				b.Fatal(err)
			}
			return s
		}
		time.Sleep(20 * time.Millisecond)
	}
	b.Fatal("the server does not answer")
	return s
}

// connect opens connections of all accounts in turn, each of whose statements is charged
// the least, and anew if fresh says so.
func (s server) connect(b *testing.B, n int, fresh bool) []*pgx.Conn {
	b.Helper()
	all := make([]*pgx.Conn, n)
	for i := range all {
		c, err := pgx.Connect(b.Context(), fmt.Sprintf("postgres://analyst%d:%s@%s/discreet?sslmode=disable", i%accounts, strings.ReplaceAll(password, " ", "%20"), s.Postgres))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { c.Close(context.Background()) })
		set := "SET discreet.rho = '0.00001'"
		if fresh {
			set += "; SET discreet.fresh = on"
		}
		if _, err := c.Exec(b.Context(), set); err != nil {
			b.Fatal(err)
		}
		all[i] = c
	}
	return all
}

// processor is the time that the server's process has used so far.
func (s server) processor(b *testing.B) time.Duration {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.PID))
	if err != nil {
		b.Fatal(err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	ticks := 0
	for _, f := range fields[11:13] { // utime and stime, in hundredths of a second
		n, err := strconv.Atoi(f)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// resident is the memory of the server's process, in MiB.
func (s server) resident(b *testing.B) float64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var kilobytes float64
		if _, err := fmt.Sscanf(line, "VmRSS: %f kB", &kilobytes); err == nil {
			return kilobytes / 1024
		}
	}
	b.Fatal("no VmRSS")
	return 0
}

// postgres starts PostgreSQL's own server over the same rows, and returns connections to it.
func postgres(b *testing.B, n int, rows string) []*pgx.Conn {
	b.Helper()
	address := postgrestest.Start(b, "max_connections=100")
	all := make([]*pgx.Conn, n)
	for i := range all {
		c, err := pgx.Connect(b.Context(), address)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { c.Close(context.Background()) })
		all[i] = c
	}
	if _, err := all[0].Exec(b.Context(), "CREATE TABLE visits (patient_id bigint, department text, cost double precision)"); err != nil {
		b.Fatal(err)
	}
	from, err := plain(b).Query("SELECT patient_id, department, cost FROM (" + rows + ") AS t") //nolint:sqlclosecheck // closed below
	if err != nil {
		b.Fatal(err)
	}
	defer from.Close()
	copied := pgx.CopyFromFunc(func() ([]any, error) {
		if !from.Next() {
			return nil, from.Err()
		}
		var patient *int64
		var department *string
		var cost *float64
		err := from.Scan(&patient, &department, &cost)
		return []any{patient, department, cost}, err
	})
	if _, err := all[0].CopyFrom(b.Context(), pgx.Identifier{"visits"}, []string{"patient_id", "department", "cost"}, copied); err != nil {
		b.Fatal(err)
	}
	if _, err := all[0].Exec(b.Context(), "ANALYZE visits"); err != nil {
		b.Fatal(err)
	}
	return all
}
