//go:build cgo

package duckdb_test

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/engine/duckdb"
)

// elsewhere marks a child process that lives in another time zone.
const elsewhere = "DISCREET_TEST_ELSEWHERE"

// Every setting of an instance holds on every connection of its pool, and no
// statement changes one: a setting of one session alone would be the process's
// own on the next connection. In 1.5 the time zone is such a setting unless it
// is set globally, and timestamps with a zone are read in it.
//
// The settings that differ from a plain instance's are exactly those that are
// named here, so that a new one is tested too. The children live in other time
// zones and languages: nothing of that may show.
func TestSettings(t *testing.T) {
	if os.Getenv(elsewhere) != "" {
		testSettings(t)
		return
	}
	for _, home := range []string{"TZ=UTC", "TZ=Asia/Tokyo", "TZ=America/St_Johns", "LC_ALL=tr_TR.UTF-8"} {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSettings$", "-test.v")
		child.Env = append(os.Environ(), elsewhere+"=1", "LANG=de_DE.UTF-8", home)
		if out, err := child.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", home, err, out)
		}
	}
}

func testSettings(t *testing.T) {
	_, c := write(t, publicTable("t.duckdb#t", `z = { type = "timestamp" }`, `d = { type = "date" }`, `x = { type = "text" }`),
		"SET TimeZone = 'UTC'", "ATTACH '%/t.duckdb' AS f",
		"CREATE TABLE f.t AS SELECT TIMESTAMPTZ '2024-01-01 23:30:00+00' AS z, TIMESTAMPTZ '2024-01-01 23:30:00+00' AS d, TIMESTAMPTZ '2024-01-01 23:30:00+00' AS x", "DETACH f")
	temp := t.TempDir()
	e, err := duckdb.Open(t.Context(), c, duckdb.Options{Memory: "100MiB", Threads: 3, Temp: temp})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s, err := e.Scratch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	o, err := duckdb.OpenOwner(t.Context(), duckdb.Options{Memory: "100MiB", Threads: 3, Temp: temp})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	plain, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	standard := settings(t, session(t, plain))

	everywhere := map[string]string{
		"TimeZone": "UTC", "autoinstall_known_extensions": "false", "autoload_known_extensions": "false", "allow_community_extensions": "false",
		"allow_persistent_secrets": "false", "enable_external_file_cache": "false", "disabled_optimizers": "top_n_window_elimination", "memory_limit": "100.0 MiB", "max_memory": "100.0 MiB", "temp_directory": "*",
	} // * is anything but the standard
	locked := with(everywhere, map[string]string{"enable_external_access": "false", "lock_configuration": "true",
		"allowed_directories": "*"}) // the temporary one
	for _, instance := range []struct {
		name string
		db   *sql.DB
		want map[string]string
	}{
		{"engine", duckdb.DB(e), with(locked, map[string]string{"preserve_insertion_order": "false", "threads": "3", "worker_threads": "3",
			"allowed_paths": "*"})},
		{"scratch", duckdb.DB(s), with(locked, map[string]string{"threads": "1", "worker_threads": "1"})},
		{"owner", duckdb.DB(o), with(everywhere, map[string]string{"threads": "3", "worker_threads": "3"})},
	} {
		// Held at the same time, so that the pool has to make them all.
		for i, conn := range []*sql.Conn{session(t, instance.db), session(t, instance.db), session(t, instance.db)} {
			got := settings(t, conn)
			for name, value := range got {
				want, ours := instance.want[name]
				if !ours {
					want = standard[name]
				}
				if want == "*" && value != standard[name] {
					continue
				}
				if value != want && !(strings.HasPrefix(name, "write_buffer") || name == "duckdb_api") { // follow from the others
					t.Errorf("%s, connection %d: %s is %q, want %q", instance.name, i, name, value, want)
				}
			}
			for name := range instance.want {
				if _, ok := got[name]; !ok {
					t.Errorf("%s: there is no setting %s", instance.name, name)
				}
				if instance.name == "owner" {
					continue
				}
				for _, scope := range []string{"", "SESSION", "GLOBAL"} {
					text := fmt.Sprintf("SET %s %s = '%s'", scope, name, strings.ReplaceAll(standard[name], "'", "''"))
					if _, err := conn.ExecContext(t.Context(), text); err == nil {
						t.Errorf("%s, connection %d: %s", instance.name, i, text)
					}
				}
			}
		}
	}
	for range 3 {
		conn := session(t, duckdb.DB(e))
		var z, d, x string
		if err := conn.QueryRowContext(t.Context(), "SELECT z::VARCHAR, d::VARCHAR, x FROM t").Scan(&z, &d, &x); err != nil {
			t.Fatal(err)
		}
		if got := z + " " + d + " " + x; got != "2024-01-01 23:30:00 2024-01-01 2024-01-01 23:30:00+00" {
			t.Errorf("read %s", got)
		}
	}
}

// session takes a connection out of a pool until the test ends.
func session(t *testing.T, db *sql.DB) *sql.Conn {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func settings(t *testing.T, conn *sql.Conn) map[string]string {
	t.Helper()
	rows, err := conn.QueryContext(t.Context(), "SELECT name, coalesce(value, '') FROM duckdb_settings()")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	out := map[string]string{}
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			t.Fatal(err)
		}
		out[name] = value
	}
	if err := rows.Err(); err != nil || len(out) < 100 {
		t.Fatalf("%d settings, %v", len(out), err)
	}
	return out
}

func with(a, b map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range []map[string]string{a, b} {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}
