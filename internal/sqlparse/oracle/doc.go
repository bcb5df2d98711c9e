// Package oracle compares the parser that sqlparse rests on with the one it was
// ported from, PostgreSQL's own in C. It is a module of its own because the C
// code takes minutes to compile and needs cgo; it holds tests alone:
//
//	cd internal/sqlparse/oracle && go test .
package oracle
