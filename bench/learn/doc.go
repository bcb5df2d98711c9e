// Package learn measures what is learned under a guarantee, on public data sets.
package learn
