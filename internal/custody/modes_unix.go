//go:build unix

package custody

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// noFollow refuses a link, and waits for no reader of a pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// isLink tells the error of noFollow; BSDs have names of their own for it.
func isLink(err error) bool {
	return errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EMLINK)
}

func oneName(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink == 1
}

func writable(info fs.FileInfo) bool { return info.Mode().Perm()&0o022 != 0 }

func readable(info fs.FileInfo) bool { return info.Mode().Perm()&0o044 != 0 }

// Foreign returns the file, or the folder on the way to it, that neither root nor the user
// owns; "" if there is none.
func Foreign(path string, uid int) (string, error) {
	real, err := filepath.Abs(path)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	for err == nil {
		var info fs.FileInfo
		if info, err = os.Stat(real); err != nil {
			break
		}
		if s, ok := info.Sys().(*syscall.Stat_t); !ok || s.Uid != 0 && int64(s.Uid) != int64(uid) {
			return real, nil
		}
		if real == filepath.Dir(real) {
			return "", nil
		}
		real = filepath.Dir(real)
	}
	return "", err
}
