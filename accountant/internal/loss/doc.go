// Package loss knows the privacy loss of one event: for each direction in which
// two databases may be neighbours it gives a dominating pair (P, Q) of laws, that
// is, one whose hockey-stick divergence at every epsilon is at least that of the
// event's outputs on any two neighbours (Zhu, Dong and Wang 2022, Definition 7).
// By Theorem 10 there, products of dominating pairs dominate adaptive composition
// of events that are fixed in advance, which is what package pld computes.
//
// It guarantees masses and divergences with a stated relative error, in logarithms
// where a float64 underflows. It composes nothing and reads no plan.
package loss
