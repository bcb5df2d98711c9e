//go:build unix

package custody

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// What is made is its owner's alone, whatever the umask and whatever was there; links,
// pipes, folders and files with another name are not written to.
func TestMade(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	for name, make := range map[string]func(string) (*os.File, error){"create": Create, "append": Append, "new": New} {
		dir := must(filepath.EvalSymlinks(t.TempDir()))
		path := filepath.Join(dir, "file")
		f := must(make(path))
		must(f.WriteString("one"))
		f.Close()
		if info := must(os.Stat(path)); info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v", name, info.Mode())
		}
		if err := os.Chmod(path, 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := make(path)
		if (err != nil) != (name == "new") {
			t.Errorf("%s again: %v", name, err)
		}
		if err == nil {
			must(f.WriteString("two"))
			f.Close()
			if info := must(os.Stat(path)); info.Mode().Perm() != 0o600 {
				t.Errorf("%s again: mode %v", name, info.Mode())
			}
			if want := map[string]string{"create": "two", "append": "onetwo"}[name]; string(must(os.ReadFile(path))) != want {
				t.Errorf("%s again: not %q", name, want)
			}
		}
		before := must(os.ReadFile(path))
		link, twin, pipe, folder, dangling := path+".link", path+".twin", path+".pipe", path+".dir", path+".dangling"
		if err := errors.Join(os.Symlink(path, link), os.Link(path, twin), syscall.Mkfifo(pipe, 0o600), os.Mkdir(folder, 0o700), os.Symlink(path+".none", dangling)); err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{link, twin, path, pipe, folder, dangling} { // path has two names by now
			if f, err := make(p); err == nil {
				t.Errorf("%s: opened %s", name, p)
				f.Close()
			}
		}
		if string(must(os.ReadFile(path))) != string(before) {
			t.Errorf("%s: written through another name", name)
		}
		if _, err := os.Lstat(path + ".none"); err == nil {
			t.Errorf("%s: made what a link names", name)
		}
	}
}

// A probe leaves nothing behind, and says where no file can be made.
func TestProbe(t *testing.T) {
	dir := t.TempDir()
	if err := Probe(filepath.Join(dir, "plot.svg")); err != nil {
		t.Error(err)
	}
	if left := must(os.ReadDir(dir)); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if Probe(filepath.Join(dir, "none", "plot.svg")) == nil {
		t.Error("a file can be made in a folder that is not there")
	}
}

// Guard passes a file exactly if neither it nor a folder on the way can be written to by
// others, wherever a link on the way leads.
func TestGuard(t *testing.T) {
	root := t.TempDir()
	dir, elsewhere := filepath.Join(root, "a", "b"), filepath.Join(root, "c")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Mkdir(elsewhere, 0o700)); err != nil {
		t.Fatal(err)
	}
	file, link := filepath.Join(dir, "file"), filepath.Join(elsewhere, "link")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink(file, link)); err != nil {
		t.Fatal(err)
	}
	for _, open := range []struct {
		path       string
		file, link bool // passes as
	}{
		{root, false, false}, {filepath.Join(root, "a"), false, false}, {dir, false, false}, {elsewhere, true, false}, {file, false, false},
	} {
		mode := must(os.Stat(open.path)).Mode()
		for _, more := range []os.FileMode{0o020, 0o002, 0o022} {
			if err := os.Chmod(open.path, mode|more); err != nil {
				t.Fatal(err)
			}
			for path, passes := range map[string]bool{file: open.file, link: open.link} {
				if err := Guard(path); (err == nil) != passes || err != nil && !errors.Is(err, ErrExposed) {
					t.Errorf("%s is %v: %s: %v", open.path, mode|more, path, err)
				}
				if err := Secret(path); (err == nil) != passes {
					t.Errorf("%s is %v: secret %s: %v", open.path, mode|more, path, err)
				}
			}
		}
		if mode.IsDir() { // a sticky folder lets nobody exchange what is another's
			if err := os.Chmod(open.path, mode|0o022|os.ModeSticky); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(Guard(file), Guard(link)); err != nil {
				t.Errorf("%s is sticky: %v", open.path, err)
			}
		}
		if err := os.Chmod(open.path, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, more := range []os.FileMode{0o040, 0o004} {
		if err := os.Chmod(file, 0o600|more); err != nil {
			t.Fatal(err)
		}
		if err := Guard(file); err != nil {
			t.Errorf("others may read: %v", err)
		}
		if err := Secret(file); !errors.Is(err, ErrExposed) {
			t.Errorf("others may read a secret: %v", err)
		}
	}
	if err := Guard(dir); err == nil {
		t.Error("a folder is a file")
	}
	if err := Guard(file + "s"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

// A file is replaced whole: its owner's alone, also where a writer was killed before it was done.
func TestReplaced(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	path := filepath.Join(must(filepath.EvalSymlinks(t.TempDir())), "file")
	if err := os.WriteFile(path+".part", []byte("a long text that was not finished"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "another", ""} {
		if err := Replace(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := string(must(os.ReadFile(path))); got != text {
			t.Errorf("%q was written, %q is read", text, got)
		}
		if info := must(os.Stat(path)); info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v", info.Mode())
		}
		if _, err := os.Lstat(path + ".part"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the part is left: %v", err)
		}
	}
}
