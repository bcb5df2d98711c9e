//go:build !unix

package cluster

import (
	"errors"
	"os"
	"syscall"
)

var errNoLocks = errors.New("clusters need locks that name their holder, which this system does not have")

func hold(string) (*os.File, error) { return nil, errNoLocks }

func holder(string) (int, error) { return 0, errNoLocks }

func apart() *syscall.SysProcAttr { return nil }
