// Package duet is filled in below.
package duet
