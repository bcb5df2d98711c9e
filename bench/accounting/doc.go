// Package accounting measures package accountant beside other libraries, which
// bench/peers/setup installs, in the same run.
//
//	go test ./bench/accounting -run '^$' -bench .          absolute targets
//	go test ./bench/accounting -run Peers -peers           the table of bench/RESULTS.md
package accounting
