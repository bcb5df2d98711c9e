// Package snapshot copies a database of SQLite that others write to.
//
// It guarantees that the copy is of one state, that writers do not wait for it, that it is
// its owner's alone and on stable storage when Take returns, and that a file of its name is
// whole: what a crash leaves has another name.
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

	"github.com/discreet-dp/discreet/internal/custody"
)

// Take writes a copy of db to path, where nothing may be, and calls check on it before it
// gets that name.
func Take(ctx context.Context, db *sql.DB, path string, check func(part string) error) (err error) {
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "copy", Path: path, Err: fs.ErrExist}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	part := path + ".part"
	for _, left := range []string{part, part + "-wal", part + "-shm"} { // by a copy that was killed
		if err := os.Remove(left); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	f, err := custody.New(part)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(part))
		}
	}()
	// SQLite writes into a file that is there only where it is empty.
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", part); err != nil {
		return errors.Join(fmt.Errorf("copy database: %w", err), f.Close())
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if check != nil {
		if err := check(part); err != nil {
			return err
		}
	}
	if err := os.Link(part, path); err != nil { // unlike a renaming it puts nothing out of its place
		return err
	}
	return errors.Join(os.Remove(part), syncDir(filepath.Dir(path)))
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
