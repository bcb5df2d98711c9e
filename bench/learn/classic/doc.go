// Package classic measures what the learners beside DP-SGD learn under a guarantee, on a
// public data set. ../../RESULTS.md has the figures.
package classic
