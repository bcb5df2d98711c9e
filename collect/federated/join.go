package federated

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
)

// A Rule says how a coordinator joins the nodes' updates.
type Rule string

// The rules. The zero Rule is Mean, with weights it is the weighted mean.
const (
	Mean    Rule = "mean"    // FedAvg (McMahan et al. 2017)
	Median  Rule = "median"  // of each weight by itself (Yin et al. 2018)
	Trimmed Rule = "trimmed" // the mean without the Trim highest and lowest of each weight (Yin et al. 2018)
	Ordered Rule = "ordered" // weights by the rank of each update's score: Sherpa.ai's IOWA
	Cluster Rule = "cluster" // centers of the nodes' centers: Sherpa.ai's cluster average
)

// Join says how updates become one.
type Join struct {
	Rule Rule `json:"rule,omitempty"`
	// Weights are public: by what a node declares, or given here. Clipped ones belong to
	// nodes that are protected: each scales its update by min(1, examples/Reference).
	Weighing  Weighing           `json:"weighing,omitempty"`
	Weights   map[string]float64 `json:"weights,omitempty"`
	Reference int                `json:"reference,omitempty"`
	Trim      int                `json:"trim,omitempty"`
	Quantify  *Quantifier        `json:"quantifier,omitempty"` // of Ordered
}

// Weighing says where weights come from.
type Weighing string

// The ways of weighing. The zero Weighing is Alike.
const (
	Alike    Weighing = "alike"
	Declared Weighing = "declared" // the number that each node declares, which is public
	Given    Weighing = "given"    // in the plan
	Clipped  Weighing = "clipped"  // each node's own number, bounded, and never told
)

func (j Join) check(p Plan) error {
	switch {
	case !slices.Contains([]Rule{"", Mean, Median, Trimmed, Ordered, Cluster}, j.Rule):
		return fmt.Errorf("the rule %q is not one of mean, median, trimmed, ordered, cluster", j.Rule)
	case !slices.Contains([]Weighing{"", Alike, Declared, Given, Clipped}, j.Weighing):
		return fmt.Errorf("weighing %q is not one of alike, declared, given, clipped", j.Weighing)
	case !j.Rule.sums() && j.Weighing != "" && j.Weighing != Alike:
		return fmt.Errorf("the rule %q has no weights", j.Rule)
	case p.Unit == Person && !(j.Rule.sums() && (j.Weighing == "" || j.Weighing == Alike)):
		return errors.New("a run that protects persons adds up what they add, each alike")
	case p.Privacy != nil && p.Privacy.Place == AtCoordinator && !j.Rule.sums():
		return fmt.Errorf("the rule %q has no central guarantee: how far one node moves it is not known. Noise at the nodes covers it", j.Rule)
	case p.Privacy != nil && j.Weighing == Declared:
		return errors.New("what a node declares bounds nothing: weights of a run with a guarantee are given, or clipped")
	case p.Privacy == nil && j.Weighing == Clipped:
		return errors.New("clipped weights belong to runs with a guarantee")
	case j.Trim < 0 || (j.Trim > 0) != (j.Rule == Trimmed) || j.Trim > 0 && 2*j.Trim >= p.Nodes.Minimum:
		return fmt.Errorf("the rule %q without the %d highest and lowest of %d nodes", j.Rule, j.Trim, p.Nodes.Minimum)
	case (j.Weighing == Given) != (len(j.Weights) > 0):
		return errors.New("weights are given, or not")
	case (j.Weighing == Clipped) != (j.Reference > 0) || j.Reference < 0:
		return errors.New("clipped weights need their reference: the number of examples that weighs 1")
	case j.Quantify != nil && j.Rule != Ordered:
		return fmt.Errorf("the rule %q has no quantifier", j.Rule)
	}
	for name, w := range j.Weights {
		if !(w > 0 && w <= 1) {
			return fmt.Errorf("the weight %v of node %q is not above 0 and at most 1", w, name)
		}
	}
	if j.Rule == Cluster {
		return p.checkClusters()
	}
	return j.Quantify.check()
}

// errUpdates refuses updates that cannot be joined.
var errUpdates = errors.New("the updates differ in length, or there are none")

func alike(updates [][]float64) error {
	if len(updates) == 0 {
		return errUpdates
	}
	for _, u := range updates {
		if len(u) != len(updates[0]) {
			return errUpdates
		}
	}
	return nil
}

// MeanOf is the weighted mean; nil weights are alike.
func MeanOf(updates [][]float64, weights []float64) ([]float64, error) {
	if err := alike(updates); err != nil || weights != nil && len(weights) != len(updates) {
		return nil, errUpdates
	}
	mean, total := make([]float64, len(updates[0])), 0.0
	for i, u := range updates {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		total += w
		for j, x := range u {
			mean[j] += w * x
		}
	}
	if !(total > 0) || math.IsInf(total, 0) {
		return nil, errors.New("the weights do not add up")
	}
	for j := range mean {
		mean[j] /= total
	}
	return mean, nil
}

// TrimmedOf is the mean of each number without the trim highest and lowest; at
// trim = (n-1)/2 it is the median.
func TrimmedOf(updates [][]float64, trim int) ([]float64, error) {
	if err := alike(updates); err != nil || trim < 0 || 2*trim >= len(updates) {
		return nil, errUpdates
	}
	out, column := make([]float64, len(updates[0])), make([]float64, len(updates))
	for j := range out {
		for i, u := range updates {
			column[i] = u[j]
		}
		slices.Sort(column)
		kept := column[trim : len(column)-trim]
		for _, x := range kept {
			out[j] += x
		}
		out[j] /= float64(len(kept))
	}
	return out, nil
}

// MedianOf is the median of each number; of an even number of updates the mean of the two
// in the middle.
func MedianOf(updates [][]float64) ([]float64, error) {
	return TrimmedOf(updates, max(0, (len(updates)-1)/2))
}

// ClustersOf joins the centers of clusters that nodes found: centers of the centers, by
// Lloyd's steps from the first node's. (Sherpa.ai's cluster average, which draws where
// it begins; from an empty cluster its old center stays.)
func ClustersOf(nodes [][][]float64) ([][]float64, error) {
	var all [][]float64
	for _, n := range nodes {
		if len(n) == 0 || len(n) != len(nodes[0]) {
			return nil, errUpdates
		}
		all = append(all, n...)
	}
	if err := alike(all); err != nil {
		return nil, err
	}
	var centers [][]float64
	for _, c := range nodes[0] {
		centers = append(centers, slices.Clone(c))
	}
	for range 100 {
		parts := make([][][]float64, len(centers))
		for _, x := range all {
			at := nearest(centers, x)
			parts[at] = append(parts[at], x)
		}
		moved := false
		for i, part := range parts {
			mean, err := MeanOf(part, nil)
			if err == nil && !slices.Equal(mean, centers[i]) {
				centers[i], moved = mean, true
			}
		}
		if !moved {
			break
		}
	}
	return centers, nil
}

func nearest(centers [][]float64, x []float64) (at int) {
	least := math.Inf(1)
	for i, c := range centers {
		square := 0.0
		for j := range c {
			square += (c[j] - x[j]) * (c[j] - x[j])
		}
		if square < least {
			least, at = square, i
		}
	}
	return at
}

// A Quantifier is the linguistic quantifier of Sherpa.ai's IOWA: a share of the best updates
// has the weight Q of that share. Q is 0 to A, rises to Height at B, and to 1 at C. Dynamic
// puts C at the share of updates that are no outliers, and B in proportion: an outlier is
// farther from the best than Far of the largest distance. (The framework's own dynamic
// mode finds none: an array is compared with "is".)
type Quantifier struct {
	A       float64 `json:"a"`
	B       float64 `json:"b"`
	C       float64 `json:"c"`
	Height  float64 `json:"height"`
	Dynamic bool    `json:"dynamic,omitempty"`
	Far     float64 `json:"far,omitempty"`
}

// DefaultQuantifier is Sherpa.ai's.
func DefaultQuantifier() Quantifier {
	return Quantifier{B: 0.2, C: 0.8, Height: 0.4, Dynamic: true, Far: 0.75}
}

func (q *Quantifier) check() error {
	if q == nil || q.A >= 0 && q.A <= q.B && q.B < q.C && q.C <= 1 && q.Height >= 0 && q.Height <= 1 && q.Far >= 0 && q.Far <= 1 {
		return nil
	}
	return fmt.Errorf("the quantifier %+v does not rise from 0 to 1", *q)
}

func (q Quantifier) of(x float64) float64 {
	switch {
	case x <= q.A:
		return 0
	case x <= q.B:
		return (x - q.A) / (q.B - q.A) * q.Height
	case x <= q.C:
		return (x-q.B)/(q.C-q.B)*(1-q.Height) + q.Height
	}
	return 1
}

// Weights returns the weight of each update by its score; they add up to 1.
func (q Quantifier) Weights(scores []float64) ([]float64, error) {
	n := len(scores)
	if n == 0 || slices.ContainsFunc(scores, func(s float64) bool { return math.IsNaN(s) || math.IsInf(s, 0) }) {
		return nil, errors.New("a score is missing or not a number")
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return scores[order[a]] > scores[order[b]] })
	if q.Dynamic {
		best, worst := scores[order[0]], scores[order[n-1]]
		outliers := 0
		for _, s := range scores {
			if best-s > q.Far*(best-worst) {
				outliers++
			}
		}
		q.C = 1 - float64(outliers)/float64(n)
		q.B *= q.C
		q.A = min(q.A, q.B)
	}
	weights := make([]float64, n)
	for rank, i := range order {
		weights[i] = q.of(float64(rank+1)/float64(n)) - q.of(float64(rank)/float64(n))
	}
	return weights, nil
}
