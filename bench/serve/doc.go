// Package serve measures the server as a process, as its clients meet it, beside
// PostgreSQL's own server on the same statement without privacy, in the same run.
//
//	go test ./bench/serve -run '^$' -bench . -benchtime 3s
//
// A statement is answered with a durable reservation and a durable commit, by
// discreet serve with step = "0s". processor-ms is what the server's process used for a
// statement, of all its threads: on a machine with other work, trust it and the ratios.
package serve
