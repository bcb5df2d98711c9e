package transform

import (
	"fmt"
	"testing"
	"time"
)

func TestY(t *testing.T) {
	type cse struct {
		s, q float64
		n    int64
		d    float64
		dir  Direction
	}
	for _, x := range []cse{{1.5, .04, 2249, 1e-5, Remove}, {1.5, .04, 2249, 1e-5, Add}, {1.1, 256. / 60000, 14062, 1e-5, Remove}, {1.1, 256. / 60000, 14062, 1e-5, Add},
		{1, 1, 1, 1e-5, Remove}, {2, .01, 10000, 0.010224911209191894, Remove}, {2, .01, 10000, 0.1282093857106282, Replace}, {.6, 1e-4, 10000, 1e-5, Remove}, {.6, .1, 10000, 1e-5, Remove}, {10, 1e-4, 10000, 1e-5, Remove}, {10, .1, 10000, 1e-5, Remove},
		{.6, 1e-4, 10000, 1e-5, Add}, {10, 1e-4, 10000, 1e-5, Add}, {1, 1e-3, 1000000000, 1e-8, Remove}, {1, 1e-9, 1000000000, 1e-12, Remove},
		{1, .01, 10000, 1e-300, Remove}, {1, .01, 100, 1e-6, Remove}, {1, .01, 10, 1e-6, Remove}, {4, .01, 2, 1e-6, Remove}, {.6, .01, 100, 1e-6, Remove}, {2, 6.4e-3, 782, 1e-6, Remove}, {.6, 1e-4, 10000, 1e-8, Remove}, {.6, 1e-3, 10000, 1e-6, Remove}, {1, 1e-4, 10000, 1e-6, Remove}, {2, 1e-4, 10000, 1e-6, Add}} {
		c, err := New([]Term{{x.s, 1, x.q, x.n}}, x.dir)
		if err != nil {
			t.Fatal(err)
		}
		t0 := time.Now()
		b, err := c.Epsilon(x.d)
		d := time.Since(t0)
		if err != nil {
			fmt.Println(x, err, d)
			continue
		}
		e, err := c.Delta(b.Estimate)
		fmt.Println(x, b.Estimate, b.High-b.Low, (b.High-b.Low)/b.High, e.Estimate, (e.High-e.Low)/e.High, d, err)
	}
}
