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
//
// BenchmarkTPCH takes the tables of TPC-H, as Parquet and as CSV files of one folder. tpchgen-cli
// (pip install tpchgen-cli) makes them:
//
//	tpchgen-cli parquet -s 0.1 --output-dir=FOLDER
//	tpchgen-cli csv -s 0.1 --output-dir=FOLDER
//	go test ./bench/scale -run '^$' -bench TPCH -benchtime 1x -tpch FOLDER -engines duckdb,postgres,trino
//
// BenchmarkBoundedTrino and BenchmarkGrowthTrino start clusters, which bench/peers/setup trino has
// installed; BenchmarkTPCH starts one where it is to ask it. Above a million rows they need more than
// the memory that tests have: -heap 3000.
package scale
