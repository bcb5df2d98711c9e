package cost

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// After each step the nodes of a prefix cover each of its leaves once, and no leaf is below
// more nodes than are charged for. Each draw is one node; a node that is drawn after t
// steps at level l covers the 2^l leaves before.
func TestTree(t *testing.T) {
	for steps := 1; steps <= 70; steps++ {
		draws := 0
		tr, draw := &Tree{}, func() ([]float64, error) {
			draws++
			return []float64{float64(draws)}, nil
		}
		above := make([]map[float64]bool, steps+1)
		for i := range above {
			above[i] = map[float64]bool{}
		}
		look := func(last int) {
			left := last
			for l := range tr.Level {
				if tr.Level[l] == nil {
					continue
				}
				for range 1 << l {
					if left > 0 && left <= steps {
						above[left][tr.Level[l][0]] = true
					}
					left--
				}
			}
			if left != 0 {
				t.Fatalf("after %d of %d steps %d leaves are not covered", tr.Steps, steps, left)
			}
		}
		for s := 1; s <= steps; s++ {
			if err := tr.Grow(draw); err != nil {
				t.Fatal(err)
			}
			look(s)
		}
		if draws != steps {
			t.Errorf("%d draws in %d steps", draws, steps)
		}
		if err := tr.Complete(steps, draw); err != nil {
			t.Fatal(err)
		}
		look(1 << (Nodes(steps) - 1))
		most := 0
		for _, a := range above {
			most = max(most, len(a))
		}
		if most > Nodes(steps) {
			t.Errorf("%d steps: a leaf is below %d nodes, charged for %d", steps, most, Nodes(steps))
		}
		if steps == 64 && most != Nodes(steps) {
			t.Errorf("%d steps: a leaf is below %d nodes at most, charged for %d", steps, most, Nodes(steps))
		}
	}
}

// What an example adds is bounded as integers, whatever its gradient is.
func TestClip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.SliceOfN(rapid.OneOf(rapid.Float32(), rapid.SampledFrom([]float32{float32(math.NaN()), float32(math.Inf(1)), 1, -1, math.MaxFloat32})), 1, 5).Draw(t, "gradient")
		clip := rapid.Float64Range(1e-6, 1e6).Draw(t, "clip")
		to := make([]int64, len(g))
		Clip(to, g, clip)
		sum := new(big.Int)
		norm := 0.0
		for j, k := range to {
			sum.Add(sum, new(big.Int).Mul(big.NewInt(k), big.NewInt(k)))
			norm = math.Hypot(norm, float64(g[j])/clip)
		}
		if sum.Cmp(big.NewInt(One*One)) > 0 {
			t.Fatalf("%v becomes %v", g, to)
		}
		if size, _ := new(big.Float).SetInt(sum).Float64(); norm > 1 && !math.IsInf(norm, 0) && size < 0.999*One*One {
			t.Fatalf("%v in units of %v becomes %v, shorter than 1", g, clip, to)
		}
		if norm < 0.99 {
			for j, k := range to {
				if math.Abs(float64(g[j])/clip-float64(k)/One) > 2.0/One {
					t.Fatalf("%v becomes %v", g, to)
				}
			}
		}
	})
}
