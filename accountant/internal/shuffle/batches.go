package shuffle

// Batches returns the parallel parts and the sequential rounds of a training run
// whose batches are cut from one random permutation of the data, drawn anew or not
// in each epoch: a record is in one batch of an epoch, and in each epoch.
//
// The sound account of the run is rounds times one step that every record takes part
// in, unsampled: within an epoch the batches are disjoint (parallel composition),
// and nothing is amplified by the order. For add-remove neighbours that is exactly
// rounds × the step's event; for replace-one neighbours the step's replace-one
// event, since the two records' batches may differ and then each changes by one
// addition or removal: the larger of the two is what parallel composition states.
//
// Accounting such a run as Poisson sampling at rate batch/records understates it:
// a fixed-size or shuffled sampler is another mechanism, and its epsilon can be
// larger by far (Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha and Zhang, "How
// Private are DP-SGD Implementations?", ICML 2024, arXiv 2403.17673, and arXiv
// 2411.04205 for several epochs: lower bounds that exceed the Poisson account).
// No better general upper bound than the above is used here.
//
// steps is the number of batches in all, perEpoch that of one epoch; a last epoch
// that is cut short counts as whole.
func Batches(steps, perEpoch int64) (rounds int64, ok bool) {
	if steps < 1 || perEpoch < 1 {
		return 0, false
	}
	return (steps-1)/perEpoch + 1, true
}
