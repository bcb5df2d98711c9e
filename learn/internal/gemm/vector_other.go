//go:build !amd64

package gemm

// There are no kernels, and no engine that asks for them.

func dotKernel(a, b []float32) (sum float64, done int)                      { return 0, 0 }
func axpyKernel(alpha float32, x, y []float32) (done int)                   { return 0 }
func largerKernel(tag uint32, x, best []float32, from []uint32) (done int)  { return 0 }
func addWhereKernel(tag uint32, from []uint32, x, y []float32) (done int)   { return 0 }
func rectifyKernel(x, y []float32) (done int)                               { return 0 }
func rectifyBackKernel(y, dy, dx []float32) (done int)                      { return 0 }
func shrinkKernel(f float32, v []float32) (done int)                        { return 0 }
func squashKernel(c *[squashRows][8]float32, x, y []float32) (done int)     { return 0 }
func copyRowsKernel(rows, n int, x []float32, stride int, y []float32) bool { return false }
