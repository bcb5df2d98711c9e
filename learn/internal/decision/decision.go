// Package decision turns a model's scores into what it predicts. It sees no data.
package decision

// Class returns the likeliest class: the one of the highest score, the first of several;
// of a single score, which is the logit of class 1, whether it is above 0.
func Class(scores []float64) int {
	if len(scores) == 1 {
		if scores[0] > 0 {
			return 1
		}
		return 0
	}
	best := 0
	for k := range scores {
		if scores[k] > scores[best] {
			best = k
		}
	}
	return best
}

// Target returns the target between lower and upper that a score stands for, -1 for
// lower and 1 for upper. A score beyond these stands for the nearer.
func Target(score, lower, upper float64) float64 {
	return lower + (upper-lower)*(min(max(score, -1), 1)+1)/2
}
