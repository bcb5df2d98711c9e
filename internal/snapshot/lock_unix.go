//go:build unix

package snapshot

import (
	"errors"
	"os"
	"syscall"
)

// lock takes a lock that ends with the process, or fails at once: with errHeld if another has it.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errHeld
	}
	return err
}
