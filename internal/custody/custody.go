// Package custody makes the files that are their owner's alone, and refuses those that
// others can change.
//
// It guarantees that a file it makes can be read and written by its owner only, whatever
// the umask, that a link in the file's place is not followed, and that Guard passes no
// file whose mode, or the mode of a folder on the way to it, lets others put something
// else in its place. It speaks of modes alone: not of access control lists, mounts, root,
// nor of who owns the file. Where the system has no such modes (Windows) it guards nothing.
package custody

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrExposed is what Guard and Secret refuse with.
var ErrExposed = errors.New("it is not its owner's alone")

// An Exposed error says which file or folder others can reach, and what closes it. It
// wraps ErrExposed.
type Exposed struct {
	Path string // the file or folder
	Why  string
	Fix  string // a command
}

func (e *Exposed) Error() string { return fmt.Sprintf("%s: %v: %s", e.Path, ErrExposed, e.Why) }

// Unwrap returns ErrExposed.
func (e *Exposed) Unwrap() error { return ErrExposed }

// private is the mode of files that are their owner's alone.
const private = 0o600

// New makes a file for its owner alone. It refuses a name that exists.
func New(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, private)
}

// Create makes a file for its owner alone, or empties one that is there and makes it so.
func Create(path string) (*os.File, error) {
	f, err := claim(path, os.O_WRONLY|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Append opens a log of its owner alone, and makes it if there is none.
func Append(path string) (*os.File, error) {
	return claim(path, os.O_RDWR|os.O_CREATE|os.O_APPEND)
}

// Public makes a file that anybody may read, or empties the one that is there: for what
// tells nothing of private data. It follows links.
func Public(path string) (*os.File, error) { return os.Create(path) }

// Probe returns why no file can be made beside path, by making one and removing it.
func Probe(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".part-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// claim opens a regular file that has one name, which is no link, and closes it to others.
func claim(path string, flags int) (_ *os.File, err error) {
	f, err := os.OpenFile(path, flags|noFollow, private)
	if isLink(err) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("is a link, which is not followed")}
	} else if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || !oneName(info)) {
		err = &fs.PathError{Op: "open", Path: path, Err: errors.New("is not a file of this one name")}
	}
	if err == nil && info.Mode().Perm() != private {
		err = f.Chmod(private)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Guard refuses a file that group or others may write to, or that lies in a folder, or on
// a way of folders, whose entries they may exchange: as ssh refuses a key. A folder that is
// sticky lets nobody exchange what is another's. Links are followed, and the folders that
// hold them are guarded too.
func Guard(path string) error {
	at, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(at)
	if err != nil {
		return err
	}
	info, err := os.Stat(real)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return &fs.PathError{Op: "open", Path: path, Err: errors.New("is not a file")}
	}
	if writable(info) {
		return &Exposed{path, "group or others may write to it", "chmod go-w " + path}
	}
	if err := guardFolders(real); err != nil || real == at {
		return err
	}
	return guardFolders(at)
}

func guardFolders(path string) error {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		if writable(info) && info.Mode()&fs.ModeSticky == 0 {
			return &Exposed{dir, "group or others may write to this folder, and so put another file in the place of one below it", "chmod go-w " + dir}
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// Secret refuses a file that Guard refuses, or that group or others may read.
func Secret(path string) error {
	if err := Guard(path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err == nil && readable(info) {
		return &Exposed{path, "group or others may read it", "chmod go-rwx " + path}
	}
	return err
}

// Write makes a file for its owner alone with a text in it, as Create does.
func Write(path string, text []byte) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// Replace writes a file for its owner alone, whole or not at all: it and its name are on
// stable storage when Replace returns. One writer at a time; a kill can leave path.part, which
// the next one takes.
func Replace(path string, text []byte) error {
	f, err := Create(path + ".part")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".part", path); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// Folder makes a folder, and those on the way to it, that its owner alone can enter, where
// there is none.
func Folder(path string) error { return os.MkdirAll(path, 0o700) }

// PublicFolder makes a folder that anybody may enter, where there is none.
func PublicFolder(path string) error { return os.MkdirAll(path, 0o777) }
