package local

import (
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/noise"
)

var benched = []FrequencyOptions{
	{Protocol: GRR, Values: 100}, {Protocol: OUE, Values: 1000}, {Protocol: SUE, Values: 1000}, {Protocol: THE, Values: 1000},
	{Protocol: Subset, Values: 1000}, {Protocol: OLH, Values: 1000}, {Protocol: FastLH, Values: 1000}, {Protocol: Hadamard, Values: 1000},
	{Protocol: SHE, Values: 1000}, {Protocol: RAPPOR, Values: 1000}, {Protocol: CMS, Values: 1000}, {Protocol: HCMS, Values: 1000},
}

func BenchmarkReport(b *testing.B) {
	for _, o := range benched {
		o.Epsilon = eps("1")
		f := must(NewFrequency(o))
		b.Run(fmt.Sprintf("%s/%d", o.Protocol, o.Values), func(b *testing.B) {
			s := noise.NewStream(noise.System())
			for i := range b.N {
				if _, err := f.Randomize(s, i%o.Values); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDecode counts reports, without the one pass at the end.
func BenchmarkDecode(b *testing.B) {
	for _, o := range benched {
		o.Epsilon = eps("1")
		f := must(NewFrequency(o))
		s := noise.NewStream(noise.System())
		reports := make([]Report, 256)
		for i := range reports {
			reports[i] = must(f.Randomize(s, i%o.Values))
		}
		b.Run(fmt.Sprintf("%s/%d", o.Protocol, o.Values), func(b *testing.B) {
			t := f.NewTally()
			for i := range b.N {
				if err := t.Add(reports[i%len(reports)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNumbers(b *testing.B) {
	for _, p := range Numbers() {
		n := must(NewNumber(NumberOptions{Protocol: p, Epsilon: eps("1")}))
		b.Run(string(p), func(b *testing.B) {
			s, t := noise.NewStream(noise.System()), n.NewTally()
			for range b.N {
				if err := t.Add(must(n.Randomize(s, 0.3))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
