package analysis_test

import (
	"fmt"
	"log"
	"math"
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

// One answer by Gaussian noise: how likely it is not the teachers' choice, what it costs
// at a Rényi order, and what a thousand of them cost as an epsilon.
func ExampleGNMax() {
	m := analysis.GNMax{Sigma: 40}
	logq := m.LogQ([]float64{2, 247, 1})
	fmt.Printf("q = %.1e\n", math.Exp(logq))
	var orders, rdp []float64
	for order := 2.0; order < 60; order++ {
		orders, rdp = append(orders, order), append(rdp, 1000*m.RDP(logq, order))
	}
	fmt.Printf("%.2f\n", analysis.Epsilon(orders, rdp, 1e-5).Epsilon)
	// Output:
	// q = 1.4e-05
	// 0.46
}

// The same by Laplace noise, in moments: with these votes, and whatever the votes are.
func ExampleLNMax() {
	m := analysis.LNMax{Gamma: 0.05}
	logq := m.LogQ([]float64{2, 247, 1})
	fmt.Printf("%.2g %.2g\n", m.Moment(logq, 8), m.IndependentMoment(8))
	// Output: 6.9e-05 0.36
}
