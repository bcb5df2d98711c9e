package wall

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// shut keeps others from looking into the process, and closes descriptor 2 to libraries: talk
// goes to a copy of it.
func shut() (talk *os.File, err error) {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("forbid dumps: %w", err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return nil, fmt.Errorf("forbid cores: %w", err)
	}
	nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer nowhere.Close()
	fd, err := unix.FcntlInt(2, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil { // standard error was closed
		fd, err = unix.FcntlInt(nowhere.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	}
	if err != nil {
		return nil, fmt.Errorf("keep standard error: %w", err)
	}
	if err := unix.Dup3(int(nowhere.Fd()), 2, 0); err != nil {
		return nil, fmt.Errorf("shut standard error: %w", err)
	}
	return os.NewFile(uintptr(fd), "standard error"), nil
}
