// Package pate labels public examples by a private ensemble: teachers that are trained
// on disjoint parts of the private data vote, and of each vote a noisy winner is
// released, which a student may learn from (Papernot et al. 2017 and 2018, "private
// aggregation of teacher ensembles").
//
// It guarantees that one privacy unit's data reach one teacher (Assignment), so that
// one unit changes one vote a query; that what an Aggregator releases is drawn exactly
// from the law that its events state, over integers, and reserved from a budget before
// it leaves, at a cost that holds whatever the votes are; and that a released label
// and whether a query was answered are all that leaves. Classes are declared and never
// counted from the votes.
//
// It does not guarantee that votes, teachers or the costs that depend on votes
// (package analysis) may be shown: these are private. Publish releases such a cost, at
// a charge of its own; it refunds nothing. How long training and aggregation take is
// not hidden. A learner that looks at more than the part that it is given breaks the
// guarantee, and so does who lets private data choose the public examples.
package pate
