package federated

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
)

// A plan whose rule is Cluster looks for k centers (k-means, by Lloyd's steps at each node and once more over
// all nodes' centers: see ClustersOf). Its network is one linear layer of width k: column c of the matrix is a
// center, and its bias −|center|²/2, so that the highest score x·c − |c|²/2 is that of the nearest center, and
// the model says which cluster an example is in. Biases follow from the centers: they are never sent, and
// cost nothing of the clip. Labels are not looked at.

// checkClusters refuses what is no plan of clusters.
func (p Plan) checkClusters() error {
	s := p.Network
	switch {
	case len(s.Input) != 1 || len(s.Layers) != 1 || s.Layers[0].Type != "linear" || s.Layers[0].Width < 2 || s.Loss != network.CrossEntropy:
		return fmt.Errorf("clusters are the outputs of one linear layer of width 2 or more, over a row of numbers, with the loss %q", network.CrossEntropy)
	case p.Initial == nil:
		return errors.New("clusters begin at centers that the plan gives: initial, a row of each number of all centers, and a bias of each")
	case p.Unit != Node:
		return errors.New("nodes look for clusters: the unit is the node")
	case p.Local.Rate > 1 || p.Local.Batch != 0 || p.Local.Proximal != 0:
		return errors.New("local training: the rate of clusters is the part of the way to the mean, at most 1, and there are no batches")
	}
	return nil
}

// fits reports whether a set is one that the plan can learn from.
func (p Plan) fits(net *network.Network, set *example.Set) error {
	if p.Join.Rule != Cluster {
		return net.Fits(set)
	}
	if set.Width != net.Width() {
		return fmt.Errorf("examples have %d features, the centers %d", set.Width, net.Width())
	}
	return nil
}

// centers of weights.
func (p Plan) centers(w []float32) [][]float64 {
	k, width := p.Network.Layers[0].Width, p.Network.Input[0]
	all := make([][]float64, k)
	for c := range all {
		all[c] = make([]float64, width)
		for i := range all[c] {
			all[c][i] = float64(w[i*k+c])
		}
	}
	return all
}

// settle sets the biases to those of the centers.
func (p Plan) settle(w []float32) {
	if p.Join.Rule != Cluster {
		return
	}
	centers := p.centers(w)
	for c, center := range centers {
		square := 0.0
		for _, x := range center {
			square += x * x
		}
		w[len(center)*len(centers)+c] = float32(-square / 2)
	}
}

// less is how far centers lie from those of weights, in the order of weights; biases do not move.
func (p Plan) less(from []float32, centers [][]float64) []float64 {
	k := len(centers)
	out := make([]float64, len(from))
	for c, center := range centers {
		for i, x := range center {
			out[i*k+c] = float64(from[i*k+c]) - x
		}
	}
	return out
}

// lloyd makes a node's own steps: each example is given to its nearest center, and each center goes to the mean of
// its examples, or the plan's part of the way. One that has none stays.
func (p *Part) lloyd(ctx context.Context, from []float32) ([]float32, error) {
	centers, width := p.plan.centers(from), p.set.Width
	x := make([]float64, width)
	for range max(p.plan.Local.Epochs, 1) {
		sums, counts := make([][]float64, len(centers)), make([]float64, len(centers))
		for c := range sums {
			sums[c] = make([]float64, width)
		}
		for row := range p.set.Len() {
			if row%1024 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			finite := true
			for i := range x {
				x[i] = float64(p.set.Features[row*width+i])
				finite = finite && !math.IsNaN(x[i]) && !math.IsInf(x[i], 0)
			}
			if !finite {
				continue
			}
			c := nearest(centers, x)
			counts[c]++
			for i, v := range x {
				sums[c][i] += v
			}
		}
		for c, n := range counts {
			for i, sum := range sums[c] {
				if n > 0 {
					centers[c][i] += p.plan.Local.Rate * (sum/n - centers[c][i])
				}
			}
		}
	}
	moved := make([]float32, len(from))
	for j, x := range p.plan.less(from, centers) {
		if moved[j] = float32(x); moved[j]-moved[j] != 0 {
			return make([]float32, len(from)), nil // not finite: it adds nothing
		}
	}
	return moved, nil
}

// joinCenters is what the joined centers are less than those before.
func (p Plan) joinCenters(before []float32, updates [][]float64) ([]float64, error) {
	nodes := make([][][]float64, len(updates))
	w := make([]float32, len(before))
	for n, moved := range updates {
		if len(moved) != len(before) {
			return nil, errUpdates
		}
		for j, x := range moved {
			w[j] = float32(float64(before[j]) - x)
		}
		nodes[n] = p.centers(w)
	}
	centers, err := ClustersOf(nodes)
	if err != nil {
		return nil, err
	}
	return p.less(before, centers), nil
}

// clusterNames name the classes of a model.
func (p Plan) clusterNames() []string {
	var names []string
	for c := range p.Network.Layers[0].Width {
		names = append(names, fmt.Sprintf("cluster %d", c+1))
	}
	return names
}
