package command

import "golang.org/x/sys/unix"

// atSecure is AT_SECURE of elf.h: the entry in which the kernel says that rights were lent.
const atSecure = 23

// lentRights reports whether the executed file has lent the process rights that its
// caller does not have: by a set-user-ID or set-group-ID bit, or by capabilities.
func lentRights() bool {
	all, err := unix.Auxv()
	if err != nil {
		return true // unknown: assume that the rights are lent
	}
	for _, a := range all {
		if a[0] == atSecure {
			return a[1] != 0
		}
	}
	return true
}

// lowLimit names a resource limit of the caller's shell that is so low that an answer could
// fail, or is "". Limits are inherited, also through sudo.
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
