// Command discreetvet is the tool for
//
//	go vet -vettool=$(which discreetvet) ./...
//
// that tells where functions claim to be private and no stored proof says so; see
// package analyzer. It calls no solver and links no database.
package main

import (
	"github.com/discreet-dp/discreet/verify/analyzer"
	"golang.org/x/tools/go/analysis/unitchecker"
)

func main() { unitchecker.Main(analyzer.Analyzer) }
