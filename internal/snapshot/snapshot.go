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
	part, err := newPart(path)
	if err != nil {
		return err
	}
	name := part.Name()
	defer func() { err = errors.Join(err, remove(name), part.Close()) }() // in this order: nobody finds it unlocked
	// SQLite writes into a file that is there only where it is empty.
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", name); err != nil {
		return fmt.Errorf("copy database: %w", err)
	}
	if check != nil {
		if err := check(name); err != nil {
			return err
		}
	}
	if err := part.Sync(); err != nil {
		return err
	}
	if err := os.Link(name, path); err != nil { // unlike a renaming it puts nothing out of its place
		return err
	}
	return syncDir(filepath.Dir(path))
}

// A copy that is being made has a name of its own, so that two of one name do not meet, and is
// locked while it is made: what is not was left by a copy that was killed.
const infix = ".part-"

func newPart(path string) (*os.File, error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+infix+"*") // its owner's alone
	if err != nil {
		return nil, err
	}
	_ = lock(f) // where the file system has no locks, nobody finds it unlocked either
	return f, nil
}

// removeAbandoned removes what copies of a name left that were killed. What cannot be removed
// stays; that hinders nobody.
func removeAbandoned(path string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return
	}
	for _, entry := range entries {
		number, ours := strings.CutPrefix(entry.Name(), filepath.Base(path)+infix)
		if !ours || !entry.Type().IsRegular() || strings.Trim(number, "0123456789") != "" {
			continue
		}
		left := filepath.Join(filepath.Dir(path), entry.Name())
		f, err := os.OpenFile(left, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if info, err := f.Stat(); err == nil && info.Size() > 0 && lock(f) == nil { // one of no size may be about to be locked
			_ = remove(left)
		}
		_ = f.Close()
	}
}

// remove removes a part with what SQLite has beside it.
func remove(part string) (err error) {
	for _, suffix := range []string{"-wal", "-shm", ""} {
		if e := os.Remove(part + suffix); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
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
