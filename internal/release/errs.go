package release

import (
	"math"

	"github.com/discreet-dp/discreet/internal/stability"
)

// ErrsLess reports whether the noise of a design errs less than that of another one of the same statement, bounded another way: by the geometric mean of
// the variances of all values, and of a choice of what stands for one. Of one kind of noise that is as expected errors compare, at whatever
// cost and confidence, since all grow with what a unit moves. But Laplace noise on integers of a scale below 1 or so has less than the variance 2s²: of
// several releases that are nearly as good either way another is taken at an ε of 30, say, than at 1.
//
// A choice of scale s among n values is off by s·ln(n/β) at most, and one by Gaussian counts by 2σ·√ln(n/β) (stability's choiceErrsLess): it stands for
// a variance of s²·ln(n/β)/4.
func (d *Design) ErrsLess(than *Design) bool {
	const rounded = 1e-9
	return d.meanLog() < than.meanLog()-rounded
}

// meanLog is the mean of the logarithms of variances.
func (d *Design) meanLog() float64 {
	sum, values := 0.0, 0.0
	add := func(log float64) { sum, values = sum+log, values+1 }
	for _, r := range d.Releases {
		if r.Chosen {
			scale, _ := r.Choice.Scale().Float64()
			add(2*math.Log(scale) + math.Log(math.Log(float64(r.Choice.Candidates)/stability.Missed)/4))
			continue
		}
		for _, n := range r.Noise {
			log := math.Log(n.Variance())
			if n.Shape.Levels > 0 { // of which quantiles are read at about this variance
				log += math.Log(float64(n.Shape.Levels * (n.Shape.Branching - 1)))
			}
			add(log)
			for _, of := range r.Sums {
				add(log + math.Log(float64(of)))
			}
		}
	}
	return sum / values
}
