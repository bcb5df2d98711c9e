//go:build cgo

package duckdb_test

import (
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/check"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// holding names the variable by which the test's binary, run again, holds a file open
// for writing until its standard input ends.
const holding = "DISCREET_TEST_HOLDS"

func TestHoldsAFile(t *testing.T) {
	path := os.Getenv(holding)
	if path == "" {
		t.Skip("it is a part of TestTroubles")
	}
	connector, err := driver.NewConnector(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE IF NOT EXISTS mine (x INTEGER)"); err != nil {
		t.Fatal(err)
	}
	fmt.Println("held")
	_, _ = os.Stdin.Read(make([]byte, 1))
}

// A DuckDB file that cannot be opened says what is the matter and what to do, to
// statements before they are charged and to the owner's commands; one table's trouble
// is no other's.
func TestTroubles(t *testing.T) {
	dir, c := write(t, map[string]string{"discreet.toml": lockCatalog, "notes.csv": "name\na\n"},
		"COPY (SELECT 'a' AS name) TO '%/people.parquet'", "ATTACH '%/clinic.duckdb' AS f", "CREATE TABLE f.visits AS SELECT 'a' AS name", "DETACH f")
	path := filepath.Join(dir, "clinic.duckdb")
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	restore := func() {
		if err := os.WriteFile(path, sound, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e, err := duckdb.Open(t.Context(), c, duckdb.Options{Temp: t.TempDir(), Lazy: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	prepare := func(table string) error {
		return e.Prepare(t.Context(), "SELECT name FROM "+table, []engine.Table{{Name: table, Columns: []engine.Column{{Name: "name"}}}})
	}
	expect := func(t *testing.T, why, hint string) {
		t.Helper()
		var d *diagnostic.Diagnostic
		if err := prepare("visits"); !errors.As(err, &d) || d.Code != "D101" || !strings.Contains(d.Why, why) || !strings.Contains(d.Hint, hint) {
			t.Errorf("the engine says %+v, want %q and %q", err, why, hint)
		}
		if _, err := duckdb.Open(t.Context(), c, duckdb.Options{Temp: t.TempDir()}); !errors.As(err, &d) || !strings.Contains(d.Why, why) {
			t.Errorf("all at once: %v", err)
		}
		o, err := duckdb.OpenOwner(t.Context(), duckdb.Options{Temp: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		var u *engine.Unopened
		if _, _, err := o.Rows(t.Context(), "ATTACH '"+path+"' AS f (READ_ONLY)"); !errors.As(err, &u) || !strings.Contains(u.Why, why) || !strings.Contains(u.Hint, hint) {
			t.Errorf("the owner is told %v", err)
		}
		// Who opens a ledger over it is told, and not hindered.
		unread, shut, err := check.FindUnread(t.Context(), c, o, nil)
		if err != nil || len(unread) != 0 || len(shut) != 1 || shut[0].Table.Name != "visits" || !strings.Contains(shut[0].Why, why) || !strings.Contains(shut[0].Why, hint) {
			t.Errorf("before a ledger is made: %v, %+v, %v", unread, shut, err)
		}
		for _, other := range []string{"people", "notes"} {
			if err := prepare(other); err != nil {
				t.Errorf("%s: %v", other, err)
			}
		}
	}

	t.Run("written by another process", func(t *testing.T) {
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestHoldsAFile$")
		cmd.Env = append(os.Environ(), holding+"="+path)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		said := make([]byte, 4)
		if _, err := out.Read(said); err != nil || string(said) != "held" {
			t.Fatalf("the other process says %q, %v", said, err)
		}
		expect(t, "another process writes to it", "COPY FROM DATABASE")
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		restore()
		os.Remove(path + ".wal")
	})
	t.Run("of a newer version", func(t *testing.T) {
		newer := append([]byte(nil), sound...)
		binary.LittleEndian.PutUint64(newer[12:], 9999)
		if err := os.WriteFile(path, newer, 0o600); err != nil {
			t.Fatal(err)
		}
		// DuckDB tells the checksum that such a head has.
		connector, err := driver.NewConnector("", nil)
		if err != nil {
			t.Fatal(err)
		}
		db := sql.OpenDB(connector)
		defer db.Close()
		_, err = db.ExecContext(t.Context(), "ATTACH '"+path+"' AS f (READ_ONLY)")
		if m := regexp.MustCompile(`computed checksum (\d+)`).FindStringSubmatch(fmt.Sprint(err)); m != nil {
			sum, err := strconv.ParseUint(m[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			binary.LittleEndian.PutUint64(newer, sum)
			if err := os.WriteFile(path, newer, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		expect(t, "a version of DuckDB", "STORAGE_VERSION")
		restore()
	})
	t.Run("damaged", func(t *testing.T) {
		damaged := append([]byte(nil), sound...)
		damaged[0]++
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		expect(t, "it is damaged", "restore it")
		restore()
	})
	t.Run("none", func(t *testing.T) {
		if err := os.WriteFile(path, []byte(strings.Repeat("canary5417", 5000)), 0o600); err != nil {
			t.Fatal(err)
		}
		expect(t, "not a DuckDB file", "name a file")
		restore()
	})
	// What has been put right is opened by the same engine.
	if err := prepare("visits"); err != nil {
		t.Error(err)
	}
}
