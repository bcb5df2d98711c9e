// Package subsample turns what is known of an event into what is known of it on a
// random sample, or for a group of units, in terms of privacy profiles: δ as a
// function of ε.
//
// It guarantees upper bounds, by the theorem that stands beside each function, for
// the neighbouring relation that it names. It does not check that the sample was
// really drawn so, nor that a base profile is true.
package subsample
