//go:build !openblas || !cgo

package gemm

// New returns the fastest engine of this build and machine.
func New() Engine {
	if hasKernels() {
		return &blocked{}
	}
	return Portable()
}
