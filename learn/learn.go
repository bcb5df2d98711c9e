// Package learn trains networks on private data by noisy gradient descent (DP-SGD:
// Abadi et al. 2016), with the guarantee of the plan that it was given.
//
// A [Plan] fixes everything that the guarantee depends on. [Start] charges it whole to
// a budget; a [Run] makes its steps; checkpoints survive crashes, and [Resume] goes on
// from them; a [Model] carries its certificate.
//
// It guarantees, to each privacy unit and for everything that is released of a run (all
// its checkpoints and the model), what [Plan.Guarantee] says:
//
//   - every step samples units by exact, independent coins of the plan's rate, and is
//     accounted for as just that; an empty sample is a step of noise alone;
//   - what a unit adds is clipped, and hidden by noise on every number, whose size
//     counts in what floating point may add (noise.go);
//   - the sum is divided by the expected batch, never by a count;
//   - nothing is computed that was not paid for, and after a crash nothing is paid for
//     twice, or had twice for one price (checkpoint.go);
//   - without randomness, or out of a number's range, a step fails and changes nothing.
//
// It does not guarantee anything about [Figures], which are exact and for the owner;
// about how long a step takes; or about what the plan was chosen by. Fast noise is within
// [Run.Limit] of the law that is accounted for, if AES-256 is a random function, which
// may add a tenth of delta and no more; exact noise is that law. There is no seed for sampling and noise.
package learn
