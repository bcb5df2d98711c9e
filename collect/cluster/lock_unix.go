//go:build unix

package cluster

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/discreet-dp/discreet/internal/custody"
)

// hold takes the lock of a role's folder for this process. The system gives it back when the
// process ends. Of one process a second hold succeeds: the lock keeps processes apart.
func hold(path string) (*os.File, error) {
	f, err := custody.Append(path)
	if err != nil {
		return nil, err
	}
	whole := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	if err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &whole); err != nil {
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
			err = ErrRunning
		}
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
	}
	return f, nil
}

// holder is the process that holds the lock now; 0 where none does. The system says so, not
// a file that a dead process left.
func holder(path string) (pid int, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	defer f.Close()
	whole := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	if err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &whole); err != nil {
		return 0, fmt.Errorf("ask who holds %s: %w", path, err)
	}
	if whole.Type == unix.F_UNLCK {
		return 0, nil
	}
	return visible(whole.Pid)
}

// visible refuses what is no process here: a holder in another container, or on another machine
// by a shared folder, has no number or a negative one, and a signal to that would reach others.
func visible(pid int32) (int, error) {
	if pid <= 0 {
		return 0, errors.New("the lock is held by a process that this machine does not see")
	}
	return int(pid), nil
}

// apart gives a child process a session of its own, so that it survives the terminal that
// started it.
func apart() *unix.SysProcAttr { return &unix.SysProcAttr{Setsid: true} }
