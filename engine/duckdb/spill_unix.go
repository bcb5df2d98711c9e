//go:build cgo && unix

package duckdb

import (
	"io/fs"
	"os"
	"syscall"
)

// lockFile takes a lock that ends with the process, or fails at once.
func lockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// ours reports whether the process's user owns a file.
func ours(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Getuid()
}
