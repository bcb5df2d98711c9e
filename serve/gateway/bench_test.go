//go:build cgo

package gateway_test

import (
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
)

// BenchmarkRepeated is a statement whose answer is stored.
func BenchmarkRepeated(b *testing.B) {
	g := gatewaytest.New(b)
	ask := func() {
		if _, err := g.Query(b.Context(), anna, grouped, rho(b, "0.001")); err != nil {
			b.Fatal(err)
		}
	}
	ask()
	for b.Loop() {
		ask()
	}
}

// BenchmarkExplain is what a page shows while a statement is typed.
func BenchmarkExplain(b *testing.B) {
	g := gatewaytest.New(b)
	for i := 0; b.Loop(); i++ {
		if _, err := g.Explain(b.Context(), anna, fmt.Sprintf("SELECT sex, avg(age) FROM visits WHERE age > %d GROUP BY sex", i%90), rho(b, "0.01")); err != nil {
			b.Fatal(err)
		}
	}
}
