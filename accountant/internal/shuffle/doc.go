// Package shuffle bounds what the set of n users' reports, without their order,
// reveals of one of them: shuffling local randomizers amplifies their privacy.
// Neighbours replace one user's input (replace-one); the number of users is public.
//
// It guarantees that High of every bracket is a valid epsilon or delta for every
// non-interactive single-message randomizer of the kind that is named, by the theorem
// that stands beside the method, with truncation and rounding counted against the
// claim; and that Low is the privacy loss of one real randomizer on one real pair
// of data sets, so that no valid bound of that kind lies below it.
//
// It does not guarantee anything for users who collude with the observer: n counts
// honest reports alone. It knows no randomizers with a delta of their own.
package shuffle
