package leakage

import (
	"math"
	"slices"

	"github.com/discreet-dp/discreet/audit"
)

// A ROC is how well a score tells members from others: the larger, the more it
// speaks for membership.
type ROC struct {
	members, others []float64 // falling
}

// NewROC sorts the scores by membership. A score that is no number speaks for nobody.
func NewROC(scores []float64, member []bool) (*ROC, error) {
	if len(scores) != len(member) {
		return nil, bad("%d scores of %d examples", len(scores), len(member))
	}
	r := &ROC{}
	for i, s := range scores {
		if math.IsNaN(s) {
			s = math.Inf(-1)
		}
		if member[i] {
			r.members = append(r.members, s)
		} else {
			r.others = append(r.others, s)
		}
	}
	if len(r.members) == 0 || len(r.others) == 0 {
		return nil, bad("%d members and %d others: there must be some of each", len(r.members), len(r.others))
	}
	falling := func(x []float64) { slices.Sort(x); slices.Reverse(x) }
	falling(r.members)
	falling(r.others)
	return r, nil
}

// above is how many of falling scores are greater than t.
func above(falling []float64, t float64) int {
	n, _ := slices.BinarySearchFunc(falling, t, func(x, t float64) int {
		if x > t {
			return -1
		}
		return 1
	})
	return n
}

// A Rate is the attack at one threshold: examples with a higher score are called members.
type Rate struct {
	Target    float64 `json:"target"` // the false positive rate asked for
	Threshold float64 `json:"-"`
	// FPR is the share of others above the threshold, at most Target, and FPRHigh
	// what it is at most. Where Others·Target < 1 it is resolved no further.
	FPR     float64 `json:"fpr"`
	FPRHigh float64 `json:"fpr_high"`
	// TPR is the share of members above it, within TPRLow and TPRHigh.
	TPR     float64 `json:"tpr"`
	TPRLow  float64 `json:"tpr_low"`
	TPRHigh float64 `json:"tpr_high"`
}

// At returns the true positive rate at a false positive rate.
//
// The threshold is an order statistic of the others, so that given it the members
// above are a binomial count: the interval of TPR is Clopper's and Pearson's at the
// confidence, exact for members drawn independently from a population, under the models
// that were attacked. It is silent on other models.
func (r *ROC) At(fpr, confidence float64) (Rate, error) {
	if !(fpr >= 0 && fpr < 1) || !(confidence > 0 && confidence < 1) {
		return Rate{}, bad("false positive rate %v, confidence %v", fpr, confidence)
	}
	allowed := min(len(r.others)-1, int(math.Floor(fpr*float64(len(r.others))+1e-9)))
	out := Rate{Target: fpr, Threshold: r.others[allowed]}
	fp, tp := above(r.others, out.Threshold), above(r.members, out.Threshold)
	alpha := (1 - confidence) / 2
	var err error
	if out.TPRLow, out.TPRHigh, err = audit.ClopperPearson(tp, len(r.members), alpha); err != nil {
		return Rate{}, err
	}
	if _, out.FPRHigh, err = audit.ClopperPearson(fp, len(r.others), alpha); err != nil {
		return Rate{}, err
	}
	out.FPR, out.TPR = float64(fp)/float64(len(r.others)), float64(tp)/float64(len(r.members))
	return out, nil
}

// A Step is a corner of the curve.
type Step struct{ FPR, TPR float64 }

// Steps are the corners, from (0, 0) to (1, 1); scores that tie are one step.
func (r *ROC) Steps() []Step {
	steps := []Step{{}}
	i, j := 0, 0
	for i < len(r.members) || j < len(r.others) {
		t := math.Inf(-1)
		if i < len(r.members) {
			t = r.members[i]
		}
		if j < len(r.others) {
			t = max(t, r.others[j])
		}
		for i < len(r.members) && r.members[i] == t {
			i++
		}
		for j < len(r.others) && r.others[j] == t {
			j++
		}
		steps = append(steps, Step{float64(j) / float64(len(r.others)), float64(i) / float64(len(r.members))})
	}
	return steps
}

// Resolution is the least false positive rate above 0 that the curve can show.
func (r *ROC) Resolution() float64 { return 1 / float64(len(r.others)) }

// AUC is the probability that a member scores higher than another, ties counted half.
func (r *ROC) AUC() float64 {
	area, last := 0.0, Step{}
	for _, s := range r.Steps()[1:] {
		area += (s.FPR - last.FPR) * (s.TPR + last.TPR) / 2
		last = s
	}
	return area
}

// BalancedAccuracy is the mean of true positive and true negative rate at the
// threshold where it is greatest on these scores, which flatters it.
func (r *ROC) BalancedAccuracy() float64 {
	best := 0.5
	for _, s := range r.Steps() {
		best = max(best, (s.TPR+1-s.FPR)/2)
	}
	return best
}

// A Report is what an attack's scores say.
type Report struct {
	Attack     string  `json:"attack"`
	Members    int     `json:"members"`
	Others     int     `json:"others"`
	Confidence float64 `json:"confidence"`
	Rates      []Rate  `json:"rates"` // at FPR 0.1 % and 1 %
	// Averages over all examples, which hide the few who are found out for certain.
	AUC              float64 `json:"auc"`
	BalancedAccuracy float64 `json:"balanced_accuracy"`
}

// Report measures the curve where few are accused wrongly.
func (r *ROC) Report(attack string, confidence float64) (Report, error) {
	out := Report{Attack: attack, Members: len(r.members), Others: len(r.others), Confidence: confidence, AUC: r.AUC(), BalancedAccuracy: r.BalancedAccuracy()}
	for _, fpr := range []float64{0.001, 0.01} {
		rate, err := r.At(fpr, confidence)
		if err != nil {
			return Report{}, err
		}
		out.Rates = append(out.Rates, rate)
	}
	return out, nil
}
