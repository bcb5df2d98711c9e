//go:build unix

package ledger

import (
	"os"
	"syscall"
)

// lock waits for a lock that ends when the file is closed.
func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }
