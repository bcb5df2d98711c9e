// Package store opens what processes keep: databases of SQLite that are their
// owner's alone.
package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver

	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/snapshot"
)

// Open opens a file, and makes it if there is none. It refuses one that others can read
// or change. Every commit is on stable storage; what is deleted is overwritten in the file,
// though not in its log until a checkpoint.
func Open(path string) (*sql.DB, error) {
	f, err := custody.New(path)
	if err == nil {
		err = f.Close()
	} else if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	return Existing(path)
}

// Existing opens a file that there is.
func Existing(path string) (*sql.DB, error) {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := custody.Secret(path + suffix); err != nil && (suffix == "" || !errors.Is(err, fs.ErrNotExist)) {
			return nil, err
		}
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	// SQLite takes a URI; its path must not end early.
	name := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(filepath.ToSlash(abs))
	if filepath.VolumeName(abs) != "" {
		name = "/" + name
	}
	return sql.Open("sqlite", "file://"+name+"?mode=rw&_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"+
		"&_pragma=trusted_schema(OFF)&_pragma=temp_store(MEMORY)&_pragma=secure_delete(ON)")
}

// Copy copies a file that there is to one that there is not, as it is at one moment.
func Copy(ctx context.Context, from, to string) (err error) {
	db, err := Existing(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return snapshot.Take(ctx, db, to, nil)
}
