//go:build cgo && unix

package duckdb

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// freeBytes is how much a folder's file system has left for the process's user; 0 where it
// is not known.
func freeBytes(folder string) (int64, error) {
	if folder == "" {
		folder = os.TempDir()
	}
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, fmt.Errorf("look at temporary directory: %w", err)
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}

// lockFile takes a lock that ends with the process, or fails at once.
func lockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// ours reports whether the process's user owns a file.
func ours(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Getuid()
}
