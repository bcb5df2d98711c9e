package pate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/internal/gemm"
)

// A clustering is what k-means makes of examples (Lloyd 1982, with the first centres of
// Arthur and Vassilvitskii 2007).
type clustering struct {
	centres []float32 // row by row
	of      []int32   // the cluster of each example
	near    []float32 // the squared distance of each to its centre
}

// clusterRounds is how often centres move.
const clusterRounds = 15

func cluster(ctx context.Context, set *example.Set, k int, r *rng) (*clustering, error) {
	n, width := set.Len(), set.Width
	if k < 1 || k > n {
		return nil, fmt.Errorf("%d clusters of %d examples", k, n)
	}
	engine, norms := gemm.New(), make([]float32, n)
	for i := range norms {
		x := image(set, i)
		norms[i] = float32(engine.Dot(x, x))
	}
	c := &clustering{centres: make([]float32, 0, k*width), of: make([]int32, n), near: make([]float32, n)}
	for i := range c.near {
		c.near[i] = math.MaxFloat32
	}
	for j := range k {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		at := r.below(n)
		if j > 0 {
			at = r.weighted(c.near)
		}
		x := image(set, at)
		c.centres = append(c.centres, x...)
		for i, norm := range norms {
			d := max(0, norm+norms[at]-2*float32(engine.Dot(x, image(set, i))))
			c.near[i] = min(c.near[i], d)
		}
	}
	const block = 512
	products, lengths := make([]float32, block*k), make([]float32, k)
	for round := range clusterRounds + 1 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for j := range lengths {
			x := c.centres[j*width:][:width]
			lengths[j] = float32(engine.Dot(x, x))
		}
		for from := 0; from < n; from += block {
			m := min(block, n-from)
			engine.Multiply(false, true, m, k, width, -2, set.Features[from*width:], width, c.centres, width, 0, products, k)
			for i := range m {
				best, of := float32(math.Inf(1)), 0
				for j, p := range products[i*k:][:k] {
					if d := lengths[j] + p; d < best {
						best, of = d, j
					}
				}
				c.of[from+i], c.near[from+i] = int32(of), max(0, norms[from+i]+best)
			}
		}
		if round < clusterRounds {
			c.move(engine, set, k)
		}
	}
	return c, nil
}

// move moves each centre to the mean of its examples; one that has none stays.
func (c *clustering) move(engine *gemm.Engine, set *example.Set, k int) {
	width := set.Width
	sums, counts := make([]float32, k*width), make([]float32, k)
	for i, j := range c.of {
		engine.Axpy(1, image(set, i), sums[int(j)*width:][:width])
		counts[j]++
	}
	for j, n := range counts {
		if n > 0 {
			to := c.centres[j*width:][:width]
			clear(to)
			engine.Axpy(1/n, sums[j*width:][:width], to)
		}
	}
}

// weighted draws a place with a probability in proportion to its weight.
func (r *rng) weighted(weights []float32) int {
	total := 0.0
	for _, w := range weights {
		total += float64(w)
	}
	at := total * float64(r.next()>>11) / (1 << 53)
	for i, w := range weights {
		if at -= float64(w); at < 0 {
			return i
		}
	}
	return len(weights) - 1
}

// Representatives returns the rows of n examples to ask about: of each of n clusters the
// one in the middle, of the largest clusters first. Teachers mostly agree on these, which
// makes answers cheap, and few of them stand for many examples. It looks at the features
// of public examples alone.
func Representatives(ctx context.Context, public *example.Set, n int, seed uint64) ([]int, error) {
	r := rng(seed)
	c, err := cluster(ctx, public, n, &r)
	if err != nil {
		return nil, fmt.Errorf("choose examples: %w", err)
	}
	middle, size := make([]int, n), make([]int, n)
	for i, j := range c.of {
		if size[j] == 0 || c.near[i] < c.near[middle[j]] {
			middle[j] = i
		}
		size[j]++
	}
	order := make([]int, 0, n)
	for j := range n {
		if size[j] > 0 { // clusters can be empty where examples are equal
			order = append(order, j)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return size[b] - size[a] })
	for i, j := range order {
		order[i] = middle[j]
	}
	return order, nil
}
