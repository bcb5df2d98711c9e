package pate

import (
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
)

// blobs are points about as many places as there are sizes.
func blobs(sizes ...int) *example.Set {
	s, r := &example.Set{Width: 2, Classes: len(sizes), Outputs: 1}, rng(5)
	for j, n := range sizes {
		for range n {
			s.Features = append(s.Features, float32(10*j)+float32(r.within(1)), float32(r.within(1)))
			s.Labels = append(s.Labels, int32(j))
		}
	}
	return s
}

// Of each cluster the example in the middle is asked about, of the largest first.
func TestRepresentatives(t *testing.T) {
	public := blobs(20, 90, 40)
	rows, err := Representatives(t.Context(), public, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	var from []int32
	for _, r := range rows {
		from = append(from, public.Labels[r])
		if x := image(public, r); math.Abs(float64(x[0])-10*float64(public.Labels[r])) > 0.5 || math.Abs(float64(x[1])) > 0.5 {
			t.Errorf("row %d is at %v, not in the middle", r, x)
		}
	}
	if !slices.Equal(from, []int32{1, 2, 0}) {
		t.Errorf("representatives of %v", from)
	}
	same := &example.Set{Width: 1, Classes: 2, Outputs: 1, Features: make([]float32, 10), Labels: make([]int32, 10)}
	if rows, err = Representatives(t.Context(), same, 4, 1); err != nil || len(rows) != 1 {
		t.Errorf("of equal examples: %v, %v", rows, err)
	}
	for _, n := range []int{0, 11} {
		if _, err := Representatives(t.Context(), same, n, 1); err == nil {
			t.Errorf("%d of 10 examples: not refused", n)
		}
	}
}

func body() network.Spec {
	return network.Spec{Input: []int{16}, Layers: []network.Layer{{Type: "linear", Width: 12}, {Type: "relu"}, {Type: "linear", Width: 6}}}
}

func encoder(t *testing.T, public *example.Set) *Encoder {
	t.Helper()
	e, err := NewEncoder(t.Context(), public, EncoderOptions{Clusters: 4, Rounds: 2, Network: Network{Spec: body(),
		Optimizer: optimizer.Spec{Kind: optimizer.Adam, Rate: 0.02}, Steps: 60, Batch: 16, Seed: 3, Distortion: Distortion{Height: 4, Width: 4, Shift: 0.3}}})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Features are learned without a look at labels, have mean 0 and variance 1 over the
// public examples, and make four labels enough.
func TestEncoder(t *testing.T) {
	public := crosses(80)
	e := encoder(t, public)
	features, err := e.Set(t.Context(), public)
	if err != nil {
		t.Fatal(err)
	}
	n := float64(public.Len())
	for j := range features.Width {
		sum, squares := 0.0, 0.0
		for i := range public.Len() {
			x := float64(image(features, i)[j])
			sum, squares = sum+x/n, squares+x*x/n
		}
		if math.Abs(sum) > 1e-3 || math.Abs(squares-1) > 0.05 {
			t.Errorf("feature %d has mean %g and mean square %g", j, sum, squares)
		}
	}
	fresh, err := network.New(e.net.Spec())
	if err != nil {
		t.Fatal(err)
	}
	fresh.Initialize(3)
	if slices.Equal(fresh.Parameters(), e.net.Parameters()) {
		t.Error("nothing is learned")
	}
	blind := *public
	blind.Labels = slices.Repeat([]int32{NoLabel}, 80)
	again, err := encoder(t, &blind).Set(t.Context(), public)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(features.Features, again.Features) {
		t.Error("features depend on labels")
	}
	linear := &Network{Spec: network.Spec{Input: []int{6}, Layers: []network.Layer{{Type: "linear", Width: 2}}, Loss: network.CrossEntropy},
		Optimizer: optimizer.Spec{Kind: optimizer.Adam, Rate: 0.1}, Epochs: 50}
	c, err := linear.Train(t.Context(), features.Pick([]int{0, 1, 2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	if a := accuracy(t, c, features); a < 0.9 {
		t.Errorf("of four labels, right in %g", a)
	}
}

func TestEncoderRefusals(t *testing.T) {
	public := crosses(20)
	good := EncoderOptions{Clusters: 2, Network: Network{Spec: body(), Optimizer: optimizer.Spec{Rate: 0.1}, Steps: 1}}
	if _, err := NewEncoder(t.Context(), public, good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*EncoderOptions){
		"no clusters":          func(o *EncoderOptions) { o.Clusters = 0 },
		"too many clusters":    func(o *EncoderOptions) { o.Clusters = 21 },
		"images of other size": func(o *EncoderOptions) { o.Network.Distortion = Distortion{Height: 5, Width: 5, Turn: 1} },
		"no network":           func(o *EncoderOptions) { o.Network.Spec = network.Spec{} },
	} {
		o := good
		change(&o)
		if _, err := NewEncoder(t.Context(), public, o); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}
