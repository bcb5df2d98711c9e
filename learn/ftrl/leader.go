package ftrl

import "github.com/discreet-dp/discreet/learn/cost"

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
		l.v[j] = l.momentum*l.v[j] + l.before[j] + (float64(sum[j])/cost.One + noise[j])
		l.w[j] = float32(l.first[j] - l.rate*l.v[j])
	}
}

// rest keeps the sum of a pass, with the noise of its completed tree, for the next.
func (l *leader) rest(sum []int64, noise []float64) {
	for j := range l.before {
		l.before[j] += float64(sum[j])/cost.One + noise[j]
	}
}
