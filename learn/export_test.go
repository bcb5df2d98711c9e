package learn

import "github.com/discreet-dp/discreet/learn/network"

// Stages are the parts of a run's steps, which tests outside of this package may break:
// see stages.
type Stages struct {
	Load        func(rows []int, weights []float64) ([]int, []float64, error)
	Add         func(rows []int, clip float64, sum []float32) (network.Statistics, error)
	Blur        func(sum []float32, sigma float64) error
	Denominator float64
}

// Break replaces parts of a run's steps.
func (r *Run) Break(f func(*Stages)) {
	s := r.trainer.stages
	broken := Stages{s.load, s.add, s.blur, s.denominator}
	f(&broken)
	r.trainer.stages = stages{broken.Load, broken.Add, broken.Blur, broken.Denominator}
}
