// Package pinq is filled in below.
package pinq
