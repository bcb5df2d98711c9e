package command

import "golang.org/x/sys/unix"

// atSecure is AT_SECURE of elf.h: the entry by which the kernel says so.
const atSecure = 23

// lentRights reports whether the file that is executed has lent the process rights that
// its caller does not have: a set-user-ID or set-group-ID bit, or capabilities.
func lentRights() bool {
	all, err := unix.Auxv()
	if err != nil {
		return true // who cannot tell does not trust
	}
	for _, a := range all {
		if a[0] == atSecure {
			return a[1] != 0
		}
	}
	return true
}

// lowLimit names a limit of the caller's shell that could make an answer fail, or is "".
// Limits are inherited, also by what sudo runs.
func lowLimit() string {
	for _, l := range []struct {
		what  int
		name  string
		least uint64
	}{
		{unix.RLIMIT_AS, "ulimit -v", unix.RLIM_INFINITY},
		{unix.RLIMIT_DATA, "ulimit -d", unix.RLIM_INFINITY},
		{unix.RLIMIT_FSIZE, "ulimit -f", unix.RLIM_INFINITY},
		{unix.RLIMIT_CPU, "ulimit -t", unix.RLIM_INFINITY},
		{unix.RLIMIT_STACK, "ulimit -s", 1 << 20},
		{unix.RLIMIT_NOFILE, "ulimit -n", 256},
	} {
		var have unix.Rlimit
		if err := unix.Getrlimit(l.what, &have); err != nil || have.Cur < l.least {
			return l.name
		}
	}
	return ""
}
