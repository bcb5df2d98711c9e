package ftrl

import "math/bits"

// A tree is the noise of prefix sums: after t steps, that of the nodes that make up the
// first t leaves, one for each bit of t. Growing by a step merges the nodes of the
// trailing ones into a new one with noise of its own.
type tree struct {
	steps uint
	width int
	draw  func() ([]float64, error)
	level [][]float64 // noise of the node of 2^l leaves, if the prefix has one
}

func newTree(width int, draw func() ([]float64, error)) *tree { return &tree{width: width, draw: draw} }

// grow is a further step.
func (t *tree) grow() error {
	t.steps++
	return t.merge(bits.TrailingZeros(t.steps))
}

// complete ends a pass of the given number of steps: steps without gradients fill the
// tree up, and the root is all that is left. (Kairouz et al. 2021, Appendix D.2.1: tree
// completion.)
func (t *tree) complete(steps int) error {
	if root := nodes(steps) - 1; t.steps != 1<<root {
		return t.merge(root)
	}
	return nil
}

// merge puts a node with fresh noise in the place of all below it.
func (t *tree) merge(level int) error {
	n, err := t.draw()
	if err != nil {
		return err
	}
	for len(t.level) <= level {
		t.level = append(t.level, nil)
	}
	for l := range level {
		t.level[l] = nil
	}
	t.level[level] = n
	return nil
}

// noise is that of the prefix sum.
func (t *tree) noise() []float64 {
	sum := make([]float64, t.width)
	for _, n := range t.level {
		for j, x := range n {
			sum[j] += x
		}
	}
	return sum
}

// A leader is weights that follow noisy sums of gradients: w = w₀ − rate·v, where v is the
// sum, or with momentum γ, after each step, γ·v + sum. That is stochastic descent with
// momentum, written in sums (DP-FTRLM), so that momentum holds for the tree's noise too.
type leader struct {
	w        []float32
	first    []float64
	before   []float64 // noisy sum of the passes before
	v        []float64
	rate     float64
	momentum float64
}

func newLeader(w []float32, rate, momentum float64) *leader {
	l := &leader{w: w, first: make([]float64, len(w)), before: make([]float64, len(w)), v: make([]float64, len(w)), rate: rate, momentum: momentum}
	for j, x := range w {
		l.first[j] = float64(x)
	}
	return l
}

// follow takes a step: sum is that of the pass so far on the grid, noise the tree's.
func (l *leader) follow(sum []int64, noise []float64) {
	for j := range l.v {
		// The noise is added first: both are multiples of the grid, and so their sum is exact.
		// What is rounded after it is post-processing; before, it would be of the exact sum.
		l.v[j] = l.momentum*l.v[j] + l.before[j] + (float64(sum[j])/one + noise[j])
		l.w[j] = float32(l.first[j] - l.rate*l.v[j])
	}
}

// rest keeps the sum of a pass, with the noise of its completed tree, for the next.
func (l *leader) rest(sum []int64, noise []float64) {
	for j := range l.before {
		l.before[j] += float64(sum[j])/one + noise[j]
	}
}
