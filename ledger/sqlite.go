package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/pgsql"
)

// A file is a ledger in one file of SQLite, the default. Several processes of one machine
// may use it at once; not a network file system.
type file struct {
	path   string      // absolute
	anchor string      // which stands beside it; "" if none
	named  string      // as it was named
	info   fs.FileInfo // what path named when it was found
}

func newFile(path, anchor string) (*file, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	return &file{path: abs, anchor: anchor, named: path}, nil
}

func (f *file) String() string { return f.named }

func (f *file) claim() error {
	made, err := custody.New(f.named) // a failure shows the name that was given
	if errors.Is(err, fs.ErrExist) {
		return ErrExists
	} else if err != nil {
		return err
	}
	return made.Close()
}

func (f *file) vacant(context.Context, *sql.DB) error {
	if _, err := os.Lstat(f.path); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(ErrExists, err)
	}
	return nil
}

func (f *file) abandon() {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		os.Remove(f.path + suffix) //nolint:errcheck // the failure before it is the news
	}
}

func (f *file) connect() (*sql.DB, error) {
	// SQLite takes a URI, of which the path must not end early.
	name := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(filepath.ToSlash(f.path))
	if filepath.VolumeName(f.path) != "" {
		name = "/" + name
	}
	// FULL makes SQLite sync the write-ahead log at every commit; fullfsync says
	// the same to macOS, whose fsync does not.
	db, err := sql.Open("sqlite", "file://"+name+"?mode=rw&_pragma=busy_timeout(10000)&_pragma=synchronous(FULL)"+
		"&_pragma=fullfsync(ON)&_pragma=checkpoint_fullfsync(ON)&_pragma=trusted_schema(OFF)"+
		"&_pragma=temp_store(MEMORY)") // no file that the environment places
	if err == nil {
		db.SetMaxIdleConns(max(16, 8*runtime.GOMAXPROCS(0))) // those who read at once open none anew
	}
	return db, err
}

func (f *file) found() error {
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: only its owner creates a ledger", ErrMissing)
	} else if err != nil {
		return err
	}
	f.info = info
	// With its write-ahead log, and the anchor. What is not there is missed elsewhere.
	for _, p := range []string{f.path, f.path + "-wal", f.path + "-shm", f.anchor} {
		if p == "" {
			continue
		}
		if err := custody.Guard(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// moved refuses when the path names another file than it did: an older copy put in place
// while this process holds the one it replaced.
func (f *file) moved() error {
	now, err := os.Stat(f.path)
	if err != nil || !os.SameFile(f.info, now) {
		return fmt.Errorf("%w: another file is in its place, or none", ErrRolledBack)
	}
	return nil
}

func (f *file) create(ctx context.Context, c *statements) error {
	for _, s := range []string{"PRAGMA journal_mode = WAL", "BEGIN IMMEDIATE", schema} {
		if _, err := c.ExecContext(ctx, s); err != nil {
			return storage(err)
		}
	}
	return nil
}

func (f *file) settle() error { return syncDir(filepath.Dir(f.path)) }

func (f *file) check(ctx context.Context, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, "SELECT sql FROM sqlite_schema ORDER BY rowid")
	if err != nil {
		return storage(err)
	}
	defer rows.Close()
	var have strings.Builder
	have.WriteString("\n")
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return storage(err)
		}
		have.WriteString(s + ";\n")
	}
	if err := rows.Err(); err != nil {
		return storage(err)
	}
	if have.String() != schema {
		return fmt.Errorf("%w: it does not have the tables of a ledger", ErrTampered)
	}
	return nil
}

func (f *file) whole(ctx context.Context, c *sql.Conn) error {
	var report string
	if err := c.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&report); err != nil {
		return storage(err)
	}
	if report != "ok" {
		return fmt.Errorf("%w: %s", ErrTampered, report)
	}
	return nil
}

func (f *file) begin(ctx context.Context, c *statements, writing bool, _ []pgsql.Statement) (record, error) {
	statement := "BEGIN"
	if writing {
		statement = "BEGIN IMMEDIATE"
	}
	_, err := c.ExecContext(ctx, statement)
	return record{}, storage(err)
}

func (f *file) append(ctx context.Context, c *statements, text string, args ...any) error {
	made, err := c.ExecContext(ctx, text, args...)
	if err != nil {
		return storage(err)
	}
	if n, err := made.RowsAffected(); err != nil || n != 1 {
		return fmt.Errorf("%w: it does not take a record", ErrTampered)
	}
	return nil
}

// version is counted by SQLite: https://www.sqlite.org/pragma.html#pragma_data_version.
func (f *file) version(ctx context.Context, c *statements) (n int64, err error) {
	err = c.QueryRowContext(ctx, "PRAGMA data_version").Scan(&n)
	return n, storage(err)
}

// commit leaves nothing that can be used unless the disk was merely full: a failed fsync may
// have written all or nothing, and the next one may lie. The next Open reads what there is.
// Whatever is there stays charged.
func (f *file) commit(ctx context.Context, c *statements, _ record) (usable bool, err error) {
	if _, err = c.ExecContext(ctx, "COMMIT"); err == nil {
		return true, nil
	}
	var se *sqlite.Error
	full := errors.As(err, &se) && se.Code()&0xff == sqlite3.SQLITE_FULL
	return full, fmt.Errorf("%w: commit: %v", ErrStorage, err)
}

func (f *file) confirms() bool       { return false } // SQLite shows a commit to others only after the sync
func (f *file) alive(*sql.Conn) bool { return true }

func (f *file) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return ctx, func() {}
}

func (f *file) analyst() (string, func([]byte) (string, error)) {
	return "coalesce(json_extract(CAST(body AS TEXT), '$.analyst'), '')", func(b []byte) (string, error) { return string(b), nil }
}

func (f *file) bytes(context.Context, *sql.DB) (sum int64, err error) {
	for _, name := range []string{f.path, f.path + "-wal"} {
		info, err := os.Stat(name)
		switch {
		case err == nil:
			sum += info.Size()
		case name == f.path || !errors.Is(err, fs.ErrNotExist):
			return sum, err
		}
	}
	return sum, nil
}
