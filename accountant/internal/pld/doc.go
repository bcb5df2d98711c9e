// Package pld composes the privacy losses of events on a lattice of losses, by the
// fast Fourier transform, with certified bounds on both sides.
//
// It guarantees that Low <= δ(ε) <= High, and the same of ε(δ), for the composition
// of the given pairs: every approximation is on the safe side or has a bound that
// is added to the answer. What is valid here is valid for plans fixed in advance;
// it is no filter.
//
// The parts, each with its proof beside it: above and merge put a pair on the lattice,
// from above and from below (discretize.go); the tilt keeps the relative accuracy of
// any δ, and the window what is outside of it negligible (plan.go); spectrum composes
// and bounds its own rounding, composition reads δ off a law (compose.go); crossing
// bounds what the lattice adds to the law from below (cross.go).
package pld
