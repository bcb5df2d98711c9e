package network

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/learn/example"
)

// perceptron is a small network with its data.
func perceptron(t *testing.T, n int) (*Network, *example.Set, []int) {
	t.Helper()
	net, err := New(Spec{Input: []int{7}, Layers: []Layer{{Type: "linear", Width: 5}, {Type: "relu"}, {Type: "linear", Width: 3}}, Loss: CrossEntropy})
	if err != nil {
		t.Fatal(err)
	}
	net.Initialize(1)
	r := &generator{2}
	set := &example.Set{Width: 7, Classes: 3, Outputs: 1}
	rows := make([]int, n)
	for i := range n {
		rows[i] = i
		for range 7 {
			set.Features = append(set.Features, r.uniform(2))
		}
		set.Labels = append(set.Labels, int32(i%3))
	}
	return net, set, rows
}

func norm(v []float32) float64 {
	s := 0.0
	for _, x := range v {
		s += float64(x) * float64(x)
	}
	return math.Sqrt(s)
}

func TestClippedIsTheSumOfClippedExplicitGradients(t *testing.T) {
	net, set, rows := perceptron(t, 20)
	for _, workers := range []int{1, 2, 3} {
		p := net.NewPass(PassOptions{Batch: 4, Workers: workers})
		explicit, err := p.Explicit(set, rows)
		if err != nil {
			t.Fatal(err)
		}
		const bound = 0.7
		want, plain := make([]float64, len(net.params)), make([]float64, len(net.params))
		for _, g := range explicit {
			f := min(1, bound/norm(g))
			for j, x := range g {
				want[j] += f * float64(x)
				plain[j] += float64(x)
			}
		}
		sum := make([]float32, len(net.params))
		s, err := p.Clipped(set, rows, Clip(bound), sum)
		if err != nil || s.Examples != 20 || s.Invalid != 0 || s.Clipped == 0 {
			t.Fatalf("%+v, %v", s, err)
		}
		for j := range sum {
			if math.Abs(float64(sum[j])-want[j]) > 1e-5 {
				t.Fatalf("%d workers: sum[%d] = %v, want %v", workers, j, sum[j], want[j])
			}
		}
		if _, err := p.Gradient(set, rows, sum); err != nil {
			t.Fatal(err)
		}
		for j := range sum {
			if math.Abs(float64(sum[j])-plain[j]) > 1e-5 {
				t.Fatalf("%d workers: plain sum[%d] = %v, want %v", workers, j, sum[j], plain[j])
			}
		}
	}
}
