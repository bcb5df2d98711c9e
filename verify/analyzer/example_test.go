package analyzer_test

import (
	"fmt"
	"log"

	"github.com/discreet-dp/discreet/verify/analyzer"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// The analyzer runs beside others, in a program of one's own or as go vet's tool
// (cmd/discreetvet). This package's claims have no stored proofs.
func Example() {
	read, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax}, "../testdata/wrong")
	if err != nil {
		log.Fatal(err)
	}
	found, err := checker.Analyze([]*analysis.Analyzer{analyzer.Analyzer}, read, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range found.Roots[0].Diagnostics[:2] {
		fmt.Println(d.Message)
	}
	// Output:
	// WithoutSource: no proof is stored (run discreet verify)
	// WithoutSettings: no proof is stored (run discreet verify)
}
