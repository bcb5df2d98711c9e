// Package openblas calls OpenBLAS's product of matrices, on the calling thread. It
// is built under the tag openblas alone, and lies apart from package gemm because
// Go allows no assembly beside cgo.
package openblas
