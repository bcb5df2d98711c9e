package cost

import "math/bits"

// A Tree is the noise of prefix sums: after t steps, that of the nodes that make up the
// first t leaves, one for each bit of t. Growing by a step merges the nodes of the
// trailing ones into a new one with noise of its own. Its fields are its whole state.
type Tree struct {
	Steps uint
	Level [][]float64 // noise of the node of 2^l leaves, if the prefix has one
}

// Nodes is how many nodes of a tree over steps leaves, filled up to a power of two, a
// leaf is in, itself included.
func Nodes(steps int) int { return bits.Len(uint(steps-1)) + 1 }

// Grow is a further step. Draw draws the noise of one node.
func (t *Tree) Grow(draw func() ([]float64, error)) error {
	t.Steps++
	return t.merge(bits.TrailingZeros(t.Steps), draw)
}

// Complete ends a tree of the given number of steps: steps without gradients fill it up,
// and the root is all that is left. (Kairouz et al. 2021, Appendix D.2.1: tree completion.)
func (t *Tree) Complete(steps int, draw func() ([]float64, error)) error {
	if root := Nodes(steps) - 1; t.Steps != 1<<root {
		return t.merge(root, draw)
	}
	return nil
}

// merge puts a node with fresh noise in the place of all below it.
func (t *Tree) merge(level int, draw func() ([]float64, error)) error {
	n, err := draw()
	if err != nil {
		return err
	}
	for len(t.Level) <= level {
		t.Level = append(t.Level, nil)
	}
	for l := range level {
		t.Level[l] = nil
	}
	t.Level[level] = n
	return nil
}

// Noise is that of the prefix sum, of so many numbers.
func (t *Tree) Noise(width int) []float64 {
	sum := make([]float64, width)
	for _, n := range t.Level {
		for j, x := range n {
			sum[j] += x
		}
	}
	return sum
}
