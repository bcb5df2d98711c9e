//go:build (!openblas || !cgo) && !amd64

package gemm

// New returns the fastest engine of this build and machine.
func New() Engine { return Portable() }
