package learn

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/privacy"
)

// A few seconds of MNIST: two layers, an epoch, ε = 3. (bench/learn/mnist has the long run.)
func TestMNIST(t *testing.T) {
	dir := os.Getenv("DISCREET_DATA")
	if dir == "" {
		t.Skip("skip: DISCREET_DATA is not set")
	}
	read := func(part string) *example.Set {
		set, _, err := example.IDX(context.Background(), example.IDXOptions{
			Images: filepath.Join(dir, "mnist", part+"-images-idx3-ubyte.gz"),
			Labels: filepath.Join(dir, "mnist", part+"-labels-idx1-ubyte.gz"),
		})
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	p := mnist()
	p.Steps, p.Optimizer = 117, optimizer.Spec{Rate: 2}
	p, err := p.Calibrate(must(privacy.ParseEpsilon("3")))
	if err != nil {
		t.Fatal(err)
	}
	spec := network.Spec{Input: []int{784}, Layers: []network.Layer{{Type: "linear", Width: 32}, {Type: "tanh"}, {Type: "linear", Width: 10}}, Loss: network.CrossEntropy}
	r, err := Start(ctx, Options{Plan: p, Network: spec, Data: read("train"), Budget: purse(t, filter.Approx, "3", privacy.AddRemove), Statement: "MNIST"})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Train(ctx); err != nil {
		t.Fatal(err)
	}
	a := accuracy(t, r.Network(), read("t10k"))
	t.Logf("accuracy %.4f after an epoch at multiplier %v", a, p.Noise.Multiplier)
	if a < 0.8 { // of 9 runs 0.879 ± 0.004
		t.Errorf("accuracy %v", a)
	}
}
