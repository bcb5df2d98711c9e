package filter

import (
	"testing"

	"github.com/discreet-dp/discreet/privacy"
)

// A decision is one addition and one comparison of two numbers, whatever was spent
// before; the target is 2 µs.
func BenchmarkDecision(b *testing.B) {
	for _, past := range []int64{1, 1e3, 1e9} {
		for _, m := range []Measure{Pure, Approx, ZCDP, Whitehouse, RDP, GDP} {
			f := must(New(Budget{Measure: m, Epsilon: eps("100"), Delta: map[bool]privacy.Delta{false: del("1e-6")}[m == Pure]}))
			charge := must(f.Charge([]privacy.Event{privacy.Pure{Epsilon: eps("1e-9")}}, privacy.Delta{}))
			spent := Total{charge.Loss.times(Units{}.int().SetInt64(past)), charge.Delta}
			b.Run(string(m)+"/"+map[int64]string{1: "1", 1e3: "1e3", 1e9: "1e9"}[past], func(b *testing.B) {
				limit := f.Budget()
				for b.Loop() {
					if next := spent.Add(charge); !next.Within(limit) {
						b.Fatal("exhausted")
					}
				}
			})
		}
	}
}

// The charge of one event is computed once, before the decision.
func BenchmarkCharge(b *testing.B) {
	for _, m := range []Measure{Pure, ZCDP, Whitehouse, RDP, GDP} {
		f := must(New(Budget{Measure: m, Epsilon: eps("1"), Delta: map[bool]privacy.Delta{false: del("1e-6")}[m == Pure]}))
		events := []privacy.Event{privacy.Pure{Epsilon: eps("0.01")}}
		b.Run(string(m), func(b *testing.B) {
			for b.Loop() {
				must(f.Charge(events, privacy.Delta{}))
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	for _, m := range []Measure{ZCDP, Whitehouse, RDP, GDP} {
		b.Run(string(m), func(b *testing.B) {
			for b.Loop() {
				must(New(Budget{Measure: m, Epsilon: eps("1"), Delta: del("1e-6")}))
			}
		})
	}
}

func BenchmarkAdmitted(b *testing.B) {
	for _, m := range all {
		b.Run(string(m), func(b *testing.B) {
			for b.Loop() {
				must(Admitted(m, privacy.Pure{Epsilon: eps("1e-4")}, eps("1"), del("1e-6"), privacy.AddRemove))
			}
		})
	}
}
