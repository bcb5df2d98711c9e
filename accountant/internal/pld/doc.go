// Package pld composes the privacy losses of events on a lattice of losses, by the
// fast Fourier transform, with certified bounds on both sides.
//
// It guarantees that Low <= δ(ε) <= High, and the same of ε(δ), for the composition
// of the given pairs: every approximation is on the safe side or has a bound that
// is added to the answer. What is valid here is valid for plans fixed in advance;
// it is no filter.
//
// The parts, each with its proof beside it: discretize (a lattice law above and one
// below each pair), tilt and fold (profiles keep a relative error at any δ), power
// (the law of the sum), read (δ and ε off the law of the sum).
package pld
