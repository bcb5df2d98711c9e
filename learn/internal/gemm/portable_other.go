//go:build !amd64

package gemm

// New returns the fastest engine of this machine.
func New() *Engine { return Portable() }
