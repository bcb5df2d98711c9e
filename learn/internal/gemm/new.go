package gemm

// New returns the fastest engine of this build and machine.
func New() Engine { return Portable() }
