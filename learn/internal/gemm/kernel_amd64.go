package gemm

// The kernels need AVX2 and FMA; kernel_amd64.s says what they do.

//go:noescape
func kernel6x16(k int, a *float32, row, step int, b *float32, width int, c *float32, stride int, add bool)

//go:noescape
func dot(n int, a, b *float32) float64

//go:noescape
func axpy(n int, alpha float32, x, y *float32)

//go:noescape
func pack16(k int, b *float32, width int, p *float32)
