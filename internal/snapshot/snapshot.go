// Package snapshot copies a database of SQLite that others write to.
//
// It guarantees that the copy is of one state, that writers do not wait for it, that it is
// its owner's alone and on stable storage when Take returns, and that a file of its name is
// whole: what a crash leaves has another name, and the next copy of the name removes it. Of
// several copies of one name that are made at once, one gets it, and the others fail.
//
// It does not guarantee that two databases are copied at one moment.
package snapshot

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
)

// Take writes a copy of db to path, where nothing may be, and calls check on it before it
// gets that name.
func Take(ctx context.Context, db *sql.DB, path string, check func(part string) error) (err error) {
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "copy", Path: path, Err: fs.ErrExist}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	removeAbandoned(path)
	name, done, err := newPart(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	// SQLite writes into a file that is there only where it is empty.
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", name); err != nil {
		return fmt.Errorf("copy database: %w", err)
	}
	if check != nil {
		if err := check(name); err != nil {
			return err
		}
	}
	if err := syncFile(name); err != nil {
		return err
	}
	if err := os.Link(name, path); err != nil { // unlike a renaming it puts nothing out of its place
		return err
	}
	return syncDir(filepath.Dir(path))
}

// A copy that is being made has a name of its own, so that two of one name do not meet. A file
// beside it is locked while it is made: what nobody holds was left by a copy that was killed.
// The part itself is SQLite's to lock: on some systems, and on shared file systems, a lock of
// ours on it keeps SQLite out. The lock's file is there before the part, and goes after it.
const (
	infix  = ".part-"
	suffix = ".lock"
)

// errHeld: another holds the lock.
var errHeld = errors.New("another copy holds the lock")

// newPart makes an empty part, its owner's alone, and returns what removes it again.
func newPart(path string) (name string, done func() error, err error) {
	for range 100 {
		held, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+infix+"*"+suffix)
		if err != nil {
			return "", nil, err
		}
		release := func() error {
			return errors.Join(held.Close(), removeFile(held.Name())) // nothing is left that it guards
		}
		// Who removes what is abandoned may have found it before it was locked. Where the file
		// system has no locks, nobody can lock it and nobody removes it.
		if err := lock(held); errors.Is(err, errHeld) || err == nil && !isAt(held, held.Name()) {
			_ = release()
			continue
		}
		name := strings.TrimSuffix(held.Name(), suffix)
		part, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return "", nil, errors.Join(err, release())
		}
		done := func() error { return errors.Join(remove(name), release()) }
		if err := part.Close(); err != nil {
			return "", nil, errors.Join(err, done())
		}
		return name, done, nil
	}
	return "", nil, errHeld
}

// isAt reports whether an open file still has its name.
func isAt(f *os.File, name string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(name)
	return err == nil && os.SameFile(open, there)
}

// removeAbandoned removes what copies of a name left that were killed. What cannot be removed
// stays; that hinders nobody.
func removeAbandoned(path string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return
	}
	for _, entry := range entries {
		number, ours := strings.CutPrefix(strings.TrimSuffix(entry.Name(), suffix), filepath.Base(path)+infix)
		if !ours || !entry.Type().IsRegular() || strings.Trim(number, "0123456789") != "" {
			continue
		}
		part := filepath.Join(filepath.Dir(path), filepath.Base(path)+infix+number)
		held, err := os.OpenFile(part+suffix, os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			_ = remove(part)
		}
		if err != nil {
			continue
		}
		if lock(held) == nil && isAt(held, part+suffix) {
			_ = errors.Join(remove(part), removeFile(part+suffix))
		}
		_ = held.Close()
	}
}

// remove removes a part with what SQLite has beside it.
func remove(part string) error {
	return errors.Join(removeFile(part+"-wal"), removeFile(part+"-shm"), removeFile(part))
}

func removeFile(name string) error {
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// syncFile makes what was written to a file durable.
func syncFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// syncDir makes the names in a folder durable. Windows does that by itself, and cannot be
// asked.
func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
