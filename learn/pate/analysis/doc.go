// Package analysis computes what the answers of a PATE ensemble reveal: Rényi
// divergences and moments of its aggregators, bounds that hold whatever the votes are
// and tighter ones that depend on them, and how much the latter may change when one
// teacher votes otherwise.
//
// Neighbours are votes of which one teacher's differ, in as many queries as you like:
// a unit is in one teacher's part of the data. (A unit that may move from one
// teacher's part to another's changes two; then nothing here applies as it stands.)
//
// It guarantees that every bound is used within the range of its theorem, which stands
// beside it, and computes in logarithms, so that a probability may be smaller than any
// float64. Its numbers are rounded to nearest: they are analysis. Charges are made of
// exact events by package pate.
//
// It does not guarantee that a bound that depends on the votes may be shown: it is
// private as the votes are. That takes a release of its own, which package pate makes.
//
// Sources: Papernot, Abadi, Erlingsson, Goodfellow and Talwar 2017 (arXiv 1610.05755),
// and Papernot, Song, Mironov, Raghunathan, Talwar and Erlingsson 2018 (arXiv
// 1802.08908).
package analysis

import "math"

// best returns the index of the largest count, the first among equals, or -1.
func best(counts []float64) int {
	at := -1
	for i, n := range counts {
		if at < 0 || n > counts[at] {
			at = i
		}
	}
	return at
}

// logCap is ln(1 − 1/k): with k classes, the most likely one has at least probability
// 1/k. The k are all classes that there are, not those that got votes.
func logCap(classes int) float64 { return math.Log1p(-1 / float64(classes)) }
