package analysis_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/discreet-dp/discreet/learn/pate/analysis"
)

// What a thousand answers cost on which the teachers agree: whatever the votes are, and
// with these votes. The second number is private as the votes are.
func ExampleAnalyze() {
	votes, err := analysis.ReadVotes(strings.NewReader(strings.Repeat("2,247,1\n", 1000)))
	if err != nil {
		log.Fatal(err)
	}
	r, err := analysis.Analyze(votes, analysis.Options{GNMax: &analysis.GNMax{Sigma: 40}, Delta: 1e-5})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.1f %.2f\n", r.Independent.Epsilon, r.Dependent.Epsilon)
	// Output: 6.0 0.46
}
