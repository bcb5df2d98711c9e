// Package tpch asks the 22 questions of TPC-H, of whose data a customer is the unit, each at epsilon 1, and prints how
// far the answers are from those of DuckDB: docs/tpch.md. The data are Parquet files that tpchgen-cli writes; the
// questions are those of the benchmark's specification, revision 3, with its validation parameters.
//
//	go test ./bench/tpch -run Compare -data DIR -timeout 2h
package tpch
