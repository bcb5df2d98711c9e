//go:build !linux

package wall

import "os"

// shut is for Linux alone; docs/promise.md says so.
func shut() (*os.File, error) { return os.Stderr, nil }
