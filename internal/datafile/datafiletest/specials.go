//go:build unix

package datafiletest

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Specials makes what is no file in a folder, under the given name in folders of their
// own: a FIFO, a folder, devices, a socket, and links to them.
func Specials(t testing.TB, dir, name string) (all []Spelling) {
	t.Helper()
	made := func(how string, make func(path string) error) {
		folder, err := os.MkdirTemp(dir, "special")
		must(t, err)
		path := filepath.Join(folder, name)
		must(t, make(path))
		all = append(all, Spelling{how, path})
		link := filepath.Join(folder, "link-"+name)
		must(t, os.Symlink(path, link))
		all = append(all, Spelling{"a link to " + how, link})
	}
	made("a FIFO", func(path string) error { return syscall.Mkfifo(path, 0o600) })
	made("a folder", func(path string) error { return os.Mkdir(path, 0o700) })
	for _, device := range []string{"/dev/zero", "/dev/null", "/dev/tty", "/dev/random"} {
		if exists(device) {
			made(device, func(path string) error { return os.Symlink(device, path) })
		}
	}
	made("a socket", func(path string) error {
		// The path of a socket is short, so that it is made elsewhere.
		at, err := os.MkdirTemp("", "s")
		if err != nil {
			return err
		}
		t.Cleanup(func() { must(t, os.RemoveAll(at)) })
		l, err := net.Listen("unix", filepath.Join(at, "s"))
		if err != nil {
			return err
		}
		t.Cleanup(func() { must(t, l.Close()) })
		return os.Symlink(filepath.Join(at, "s"), path)
	})
	return all
}
