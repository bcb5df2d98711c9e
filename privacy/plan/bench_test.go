package plan

import (
	"strings"
	"testing"
)

// A ledger reads its events again whenever it is verified.
func BenchmarkUnmarshalEvent(b *testing.B) {
	data := []byte(`{"discrete_gaussian":{"sigma":"sqrt(123.4)","sensitivity":"sqrt(8)"}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := UnmarshalEvent(data); err != nil {
			b.Fatal(err)
		}
	}
}

// A thousand different events are a long plan.
func BenchmarkParse(b *testing.B) {
	text := strings.Repeat("14063*poisson(256/60000, gaussian(1.1)) + ", 1000) + "pure(1)"
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}
