// Package scale measures what bounding each unit's contribution costs in a database, beside
// the database's own grouping by unit and group, in one run.
//
//	go test ./bench/scale -run '^$' -bench . -benchtime 3x
//
// The server is started for it, with one process for each query and 256 MB to sort and group
// in. ratio is the processor time of that process over the one that answers
//
//	SELECT g, sum(s) FROM (SELECT g, unit, sum(x) AS s FROM t GROUP BY g, unit) AS q GROUP BY g
//
// by turns with it: on a machine with other work, trust it and not the seconds.
package scale
