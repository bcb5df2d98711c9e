//go:build unix

package container

import (
	"os"
	"syscall"
)

// locks reports whether there are any.
const locks = true

// errLocked says that another process has the lock, or another file of this one.
const errLocked = syscall.EWOULDBLOCK

// lock takes a lock that ends with the process, or fails at once.
func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
