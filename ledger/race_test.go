//go:build race

package ledger

// raceDetector: processes start slowly, so fewer of them are killed.
const raceDetector = true
