package snapshot

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	_ "modernc.org/sqlite" // the driver
)

func database(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func source(t *testing.T) *sql.DB {
	t.Helper()
	db := database(t, filepath.Join(t.TempDir(), "source"))
	if _, err := db.ExecContext(t.Context(), "PRAGMA journal_mode = WAL; CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1), (2)"); err != nil {
		t.Fatal(err)
	}
	return db
}

// names are the files of a folder.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// TestTakeAtOnce: of copies of one name that are made at once, each its own, one gets the name.
func TestTakeAtOnce(t *testing.T) {
	db, dir := source(t), t.TempDir()
	path := filepath.Join(dir, "copy")
	const n = 4
	errs := make([]error, n)
	var begun, taking sync.WaitGroup
	begun.Add(n)
	for i := range n {
		taking.Go(func() {
			mine := sync.OnceFunc(begun.Done)
			defer mine()
			errs[i] = Take(t.Context(), db, path, func(part string) error {
				mine()
				begun.Wait() // all are being made
				var rows int
				return errors.Join(database(t, part).QueryRowContext(t.Context(), "SELECT count(*) FROM t").Scan(&rows), whole(rows))
			})
		})
	}
	taking.Wait()
	taken := 0
	for _, err := range errs {
		switch {
		case err == nil:
			taken++
		case !errors.Is(err, fs.ErrExist):
			t.Error(err)
		}
	}
	if left := names(t, dir); taken != 1 || left != "copy" {
		t.Errorf("%d copies have the name, and %s is left", taken, left)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

func whole(rows int) error {
	if rows != 2 {
		return errors.New("it is not whole")
	}
	return nil
}

// TestTakeAfterAKill: what a copy left that was killed goes when the next one of the name is
// made; what is being made stays, and so does what is called otherwise.
func TestTakeAfterAKill(t *testing.T) {
	db, dir := source(t), t.TempDir()
	path := filepath.Join(dir, "copy")
	for _, name := range []string{"copy.part-17", "copy.part-17-wal", "copy.part-18", "copy.part-18.lock", "copy.part-19.lock", "copy.part-mine", "other.part-17", "other.part-17.lock"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("SQLite format 3"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	failed := errors.New("it does not fit")
	err := Take(t.Context(), db, path, func(outer string) error {
		if err := Take(context.WithoutCancel(t.Context()), db, path, nil); err != nil {
			return err
		}
		if _, err := os.Stat(outer); err != nil {
			return err
		}
		return failed
	})
	if !errors.Is(err, failed) {
		t.Fatal(err)
	}
	if left := names(t, dir); left != "copy copy.part-mine other.part-17 other.part-17.lock" {
		t.Errorf("%s is left", left)
	}
}

// TestPartIsNotLocked: what SQLite writes is SQLite's alone to lock. A lock of another kind on
// it would keep SQLite out where the two kinds are one, as on NFS and BSD; what is locked lies
// beside it.
func TestPartIsNotLocked(t *testing.T) {
	locked := func(name string) bool {
		t.Helper()
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		err = lock(f)
		if errors.Is(err, errors.ErrUnsupported) {
			t.Skip("no locks here")
		}
		return err != nil
	}
	dir := t.TempDir()
	err := Take(t.Context(), source(t), filepath.Join(dir, "copy"), func(part string) error {
		if locked(part) || !locked(part+".lock") {
			t.Error("the part is locked, or nothing beside it")
		}
		return nil
	})
	if left := names(t, dir); err != nil || left != "copy" {
		t.Errorf("%s is left: %v", left, err)
	}
}
