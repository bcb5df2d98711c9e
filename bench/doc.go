// Package bench holds the benchmarks that compare Discreet with the plain
// engine in the same run, as ratios. RESULTS.md has what was measured, with
// command, machine and date.
package bench
