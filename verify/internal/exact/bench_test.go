package exact

import (
	"context"
	"testing"
)

func BenchmarkProbability(b *testing.B) {
	for _, c := range []struct {
		name, q, event string
		s              svt
	}{
		{"SVT3", "[0 1 2]", "F F T", svtRight},
		{"SVT5", "[0 0 0 0 1]", "F F F F T", svtRight},
		{"SVT5far", "[40 40 40 40 1]", "F F F F T", svtRight},
		{"SVT6distinct", "[0 1 2 3 4 5]", "F F F F F T", svtRight},
		{"Lyu6x20", "[" + rep("1", 10) + rep("-1", 10) + "]", rep("F", 10) + rep("T", 10), lyu6},
	} {
		b.Run(c.name, func(b *testing.B) {
			f, _ := c.s.build()
			code, _ := compile(f)
			m := newMeasurer(code)
			in, _ := code.values(ins("q", c.q, "T", "0", "N", "1", "eps", "1"))
			e := outs(c.event)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.event(context.Background(), in, &e, Options{Steps: 1e6, Width: 1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
