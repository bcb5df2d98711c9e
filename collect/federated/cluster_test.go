package federated

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// clustersPlan looks for three centers in a plane.
func clustersPlan() Plan {
	p := nodesPlan(6)
	p.Network = network.Spec{Input: []int{2}, Layers: []network.Layer{{Type: "linear", Width: 3}}, Loss: network.CrossEntropy}
	p.Initial = []float32{-0.2, 0, 0.2 /* of the first number */, 0, 0.3, 0.1, 9, 0, -9 /* whatever they are */}
	p.Local, p.Join, p.Privacy, p.Nodes.Minimum = Local{Epochs: 3, Rate: 1}, Join{Rule: Cluster}, nil, 2
	return p
}

// spots are examples around three points, with labels of another kind.
func spots(n, seed int) *example.Set {
	s := &example.Set{Width: 2, Classes: 2, Outputs: 1}
	around := [][2]float64{{-0.5, -0.5}, {0, 0.6}, {0.6, -0.2}}
	for i := range n {
		a, r := float64(i*7+seed)*2.39996, 0.15*math.Sqrt(math.Mod(float64(i+seed)*0.618034, 1))
		s.Features = append(s.Features, float32(around[i%3][0]+r*math.Cos(a)), float32(around[i%3][1]+r*math.Sin(a)))
		s.Labels = append(s.Labels, int32(i%2))
	}
	return s
}

// Nodes of unlike parts find the centers of all; the model names the nearest one, because its biases are those
// of its centers; with noise at the nodes the centers are near, and a state that was written goes on. Noise moves a center's
// coordinates by 0.011 (15 runs): beyond 0.1 with probability exp(-0.1²/(2·0.011²)) < 1e-17.
func TestClusters(t *testing.T) {
	for _, private := range []bool{false, true} {
		p := clustersPlan()
		if private {
			p.Privacy = nodesPlan(6).Privacy
			p.Privacy.Place, p.Privacy.Clip, p.Privacy.Noise = AtNodes, 2, 0.01 // little noise: what is looked at is the rule
		}
		var parts []*Part
		for i := range 4 {
			parts = append(parts, must(NewPart(p, fmt.Sprint(i), spots(150, 31*i), nil)))
		}
		s := must(p.Begin())
		for s.Round < p.Rounds {
			var answers []Answer
			for i, part := range parts {
				u := must(part.Update(ctx, noise.System(), s.Round, s.Weights, s.Clip))
				if private {
					var blur Blur
					blur.Next = s.Round
					if err := blur.Add(p, noise.System(), s.Round, &u); err != nil {
						t.Fatal(err)
					}
				} else if slices.ContainsFunc(u.Raw[6:], func(x float32) bool { return x != 0 }) {
					t.Errorf("biases are sent: %v", u.Raw)
				}
				answers = append(answers, Answer{Node: fmt.Sprint(i), Declared: 150, Update: u})
			}
			if err := s.Join(p, noise.System(), answers); err != nil {
				t.Fatal(err)
			}
		}
		for c, want := range [][2]float64{{-0.5, -0.5}, {0, 0.6}, {0.6, -0.2}} {
			if got := p.centers(s.Weights)[c]; math.Hypot(got[0]-want[0], got[1]-want[1]) > 0.1 {
				t.Errorf("private %v: center %d is %v, and not near %v", private, c, got, want)
			}
		}
		encoding := &example.Encoding{Columns: []example.Column{{Name: "x"}, {Name: "y"}}, Target: &example.Column{Name: "ill", Type: "boolean"}}
		if m := must(s.Model(p, privacy.AddRemove, []string{"a"}, encoding, time.Time{})); !strings.Contains(string(m.Encoding), `"cluster 3"`) || strings.Contains(string(m.Encoding), "ill") {
			t.Errorf("the model is about %s", m.Encoding)
		}
		// The model's class is the nearest center.
		net := must(p.Net())
		copy(net.Parameters(), s.Weights)
		set := spots(60, 999)
		set.Classes = 3
		said := make([]float32, 3*set.Len())
		rows := make([]int, set.Len())
		for i := range rows {
			rows[i] = i
		}
		if err := net.NewPass(network.PassOptions{}).Outputs(set, rows, said); err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			scores := said[3*i : 3*i+3]
			if !(scores[i%3] >= slices.Max(scores)) {
				t.Errorf("example %d of cluster %d: %v", i, i%3, scores)
			}
		}
	}
}

// What is no plan of clusters is refused, and says why.
func TestClusterPlans(t *testing.T) {
	for want, change := range map[string]func(*Plan){
		"one linear layer":     func(p *Plan) { p.Network.Layers = append(p.Network.Layers, network.Layer{Type: "relu"}) },
		"the plan gives":       func(p *Plan) { p.Initial = nil },
		"no central guarantee": func(p *Plan) { p.Privacy = nodesPlan(1).Privacy },
		"at most 1":            func(p *Plan) { p.Local.Rate = 1.5 },
		"no weights":           func(p *Plan) { p.Join.Weighing = Declared },
	} {
		p := clustersPlan()
		change(&p)
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := NewPart(clustersPlan(), "a", &example.Set{Width: 3, Features: []float32{1, 2, 3}, Classes: 2, Outputs: 1, Labels: []int32{0}}, nil); err == nil {
		t.Error("examples of another width are taken")
	}
	p := clustersPlan()
	nan := spots(9, 1)
	nan.Features[0] = float32(math.NaN())
	u, err := must(NewPart(p, "a", nan, nil)).Update(ctx, noise.System(), 0, must(p.Begin()).Weights, 0)
	if err != nil || slices.ContainsFunc(u.Raw, func(x float32) bool { return x-x != 0 }) {
		t.Errorf("an example that is no number: %v, %v", u.Raw, err)
	}
}
