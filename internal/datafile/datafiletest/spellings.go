// Package datafiletest makes the names that one file can have, for tests of whoever
// must know a file by what it is.
package datafiletest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// A Spelling is one name of a file.
type Spelling struct {
	How  string // for messages
	Path string // relative to the file's folder, or absolute
}

// Spellings makes links beside a file, in its folder and in a new one next to it, and
// returns names that all lead to it; its own is the first. All end as the file's name
// does.
func Spellings(t testing.TB, path string) []Spelling {
	t.Helper()
	path, err := filepath.Abs(path)
	must(t, err)
	dir, name := filepath.Split(path)
	parent, folder := filepath.Split(filepath.Clean(dir))
	aside := t.TempDir()
	link := func(how string, make func(from, to string) error, from, to string) Spelling {
		must(t, make(from, to))
		return Spelling{how, to}
	}
	all := []Spelling{
		{"its name", name},
		{"./", "./" + name},
		{"../folder/", "../" + folder + "/" + name},
		{"the whole path", path},
		{"the whole path, clumsily", parent + "/./" + folder + "//" + name},
		link("a symbolic link", os.Symlink, path, filepath.Join(aside, "symbolic-"+name)),
		link("a relative symbolic link", os.Symlink, name, filepath.Join(dir, "relative-"+name)),
		link("a hard link", os.Link, path, filepath.Join(dir, "hard-"+name)),
	}
	all = append(all, link("a link to a link", os.Symlink, all[5].Path, filepath.Join(aside, "twice-"+name)))
	must(t, os.Symlink(dir, filepath.Join(aside, "linked")))
	all = append(all, Spelling{"a linked folder", filepath.Join(aside, "linked", name)})
	if f, err := os.Open(path); err == nil {
		t.Cleanup(func() { f.Close() })
		if fd := fmt.Sprintf("/proc/self/fd/%d", f.Fd()); exists(fd) {
			all = append(all, link("an open file of the process", os.Symlink, fd, filepath.Join(aside, "open-"+name)))
		}
		if cwd := "/proc/self/root" + path; exists(cwd) {
			all = append(all, Spelling{"the process's root", cwd})
		}
	}
	return all
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
