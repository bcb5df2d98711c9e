package container

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
)

// Files appear whole or not at all: they are written under a name of their own, with
// partMark, and renamed. A process that is killed leaves such a file behind. Whoever
// writes one has a lock on it, which ends with the process, until it is Closed: so Sweep
// can tell what is nobody's any more, and a sweep and a write at once do no harm:
//
//   - a file that is locked is not swept;
//   - one that is swept between its creation and its lock is seen to be gone by who made
//     it, or to be locked, and is made again under another name.
const partMark = ".part-"

// A File is a file that was written whole, and is on stable storage.
type File struct{ f *os.File }

// Close lets go of the file, wherever it was renamed to.
func (f *File) Close() error {
	if f.f == nil {
		return nil
	}
	return f.f.Close()
}

// Write puts data at path, all or nothing: after it returns nil they are on stable
// storage, and whatever crashes, path holds them or what it held before.
func Write(path string, data []byte, mode os.FileMode) error {
	f, err := Hold(path, data, mode)
	if err != nil {
		return err
	}
	return f.Close()
}

// Hold is Write; Sweep leaves the file alone until it is closed.
func Hold(path string, data []byte, mode os.FileMode) (_ *File, err error) {
	f, err := create(path)
	if err != nil {
		return nil, err
	}
	name := f.Name()
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
			os.Remove(name) //nolint:errcheck // the error is on its way
		}
	}()
	if err := f.Chmod(mode); err != nil {
		return nil, err
	}
	if _, err := f.Write(data); err != nil {
		return nil, err
	}
	if err := f.Sync(); err != nil {
		return nil, err
	}
	if !locks { // systems without locks cannot rename open files either
		return &File{}, errors.Join(f.Close(), Rename(name, path))
	}
	return &File{f}, Rename(name, path)
}

// create makes a file for what path shall hold, and locks it.
func create(path string) (*os.File, error) {
	for {
		f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+partMark+"*")
		if err != nil {
			return nil, err
		}
		if err := lock(f); !errors.Is(err, errLocked) { // without locks nobody sweeps files away, and f is ours too
			mine, err := f.Stat()
			if err != nil {
				return nil, errors.Join(err, f.Close())
			}
			if there, err := os.Stat(f.Name()); err == nil && os.SameFile(mine, there) {
				return f, nil
			}
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}

// Rename moves a file within its folder, durably.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Sweep removes what processes that are gone left of files which were to be at paths that
// match: a pattern of names in a folder. With stale, also files of such names that were
// written whole, where it says so of their content. What cannot be told stays: a sweep
// has no errors.
func Sweep(folder string, match *regexp.Regexp, stale func(data []byte) bool) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		name := e.Name()
		whole := match.MatchString(name)
		cut := part.FindStringIndex(name)
		if !e.Type().IsRegular() || !(whole && stale != nil || cut != nil && match.MatchString(name[:cut[0]])) {
			continue
		}
		if whole {
			sweep(filepath.Join(folder, name), stale)
		} else {
			sweep(filepath.Join(folder, name), func([]byte) bool { return true })
		}
	}
}

var part = regexp.MustCompile(regexp.QuoteMeta(partMark) + `[0-9]+$`)

// sweep removes one file, unless somebody has it.
func sweep(name string, stale func([]byte) bool) {
	f, err := os.Open(name)
	if err != nil {
		return
	}
	defer f.Close() // close after the removal, so that nobody else gets the lock before
	if lock(f) != nil {
		return
	}
	if data, err := os.ReadFile(name); err == nil && stale(data) {
		os.Remove(name) //nolint:errcheck // then it stays
	}
}
