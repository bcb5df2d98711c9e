// Package delta has programs whose claims have a delta: what it pays for is rare, and
// happens once.
package delta
