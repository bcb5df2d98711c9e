package network

import "github.com/discreet-dp/discreet/learn/internal/gemm"

// keeper is for layers with few parameters: it keeps every example's gradient.
type keeper struct {
	engine      *gemm.Engine
	chunk, size int
	gradient    func(i int, g []float32) // adds that of example i to g
	kept        []float32
}

func (k *keeper) of(i int) []float32 { return k.kept[i*k.size:][:k.size] }

func (k *keeper) sum(n int, g []float32) {
	for i := range n {
		k.gradient(i, g)
	}
}

func (k *keeper) norms(n int, squared []float64) {
	if k.kept == nil {
		k.kept = make([]float32, k.chunk*k.size)
	}
	for i := range n {
		g := k.of(i)
		clear(g)
		k.gradient(i, g)
		squared[i] += k.engine.Dot(g, g) * roundUp(k.size)
	}
}

func (k *keeper) scaled(n int, factors []float32, g []float32) {
	for i, f := range factors[:n] {
		if f != 0 {
			k.engine.Axpy(f, k.of(i), g)
		}
	}
}
