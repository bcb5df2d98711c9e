package pate

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
)

// A Network is a learner: plain training of a network by batches in an order that is
// shuffled anew each epoch, without noise. What it learns of private data is private.
type Network struct {
	Spec      network.Spec
	Optimizer optimizer.Spec
	Epochs    int
	Batch     int // examples; 0 is 32
	// Steps is the least number of steps, for sets that are small; 0 asks for none.
	Steps int
	// Seed fixes initial weights, shuffles and shifts, none of which protects anybody.
	Seed uint64
	// Shift moves images by up to so many pixels in each direction, drawn anew each time;
	// Height and Width are theirs, Blank is what moves in.
	Shift, Height, Width int
	Blank                float32
	Workers              int // of one training; 0 is 1
}

// A Scorer is a classifier that tells its probabilities of the classes, row by row.
type Scorer interface {
	Classifier
	Probabilities(ctx context.Context, set *example.Set) ([]float32, error)
}

// Train implements Learner; the classifier is a Scorer. Examples without a label teach
// nothing.
func (n *Network) Train(ctx context.Context, set *example.Set) (Classifier, error) {
	var rows []int
	for i := range set.Labels {
		if set.Label(i) >= 0 {
			rows = append(rows, i)
		}
	}
	if len(rows) == 0 {
		return nil, errors.New("train network: no example has a label")
	}
	if n.Shift > 0 && n.Height*n.Width != set.Width {
		return nil, fmt.Errorf("train network: images of %d×%d do not have %d features", n.Height, n.Width, set.Width)
	}
	net, err := network.New(n.Spec)
	if err != nil {
		return nil, fmt.Errorf("train network: %w", err)
	}
	if err := net.Fits(set); err != nil {
		return nil, fmt.Errorf("train network: %w", err)
	}
	net.Initialize(n.Seed)
	batch := n.Batch
	if batch == 0 {
		batch = 32
	}
	batch = min(batch, len(rows))
	epochs := n.Epochs
	if each := len(rows) / batch; n.Steps > epochs*each {
		epochs = (n.Steps + each - 1) / each
	}
	opt, err := optimizer.New(n.Optimizer, len(net.Parameters()), epochs*(len(rows)/batch))
	if err != nil {
		return nil, fmt.Errorf("train network: %w", err)
	}
	t := &training{n, net.NewPass(network.PassOptions{Workers: max(n.Workers, 1)}), rng(n.Seed), nil, nil}
	sum := make([]float32, len(net.Parameters()))
	mean := make([]float64, len(sum))
	for range epochs {
		t.rng.shuffle(rows)
		for from := 0; from+batch <= len(rows); from += batch {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			part, of := t.batch(set, rows[from:from+batch])
			if _, err := t.pass.Gradient(of, part, sum); err != nil {
				return nil, fmt.Errorf("train network: %w", err)
			}
			for i, g := range sum {
				mean[i] = float64(g) / float64(batch)
			}
			opt.Step(net.Parameters(), mean)
		}
	}
	return &trained{net}, nil
}

// A training is what one run of a learner holds.
type training struct {
	of    *Network
	pass  *network.Pass
	rng   rng
	moved *example.Set
	place []int
}

// batch returns the rows of a set, or moved copies of these images.
func (t *training) batch(set *example.Set, rows []int) ([]int, *example.Set) {
	if t.of.Shift == 0 {
		return rows, set
	}
	if t.moved == nil {
		t.moved = &example.Set{Width: set.Width, Classes: set.Classes, Outputs: set.Outputs,
			Features: make([]float32, len(rows)*set.Width), Labels: make([]int32, len(rows))}
		for i := range rows {
			t.place = append(t.place, i)
		}
	}
	for i, r := range rows {
		t.moved.Labels[i] = set.Labels[r]
		span := 2*t.of.Shift + 1
		t.of.move(t.moved.Features[i*set.Width:(i+1)*set.Width], set.Features[r*set.Width:(r+1)*set.Width],
			t.rng.below(span)-t.of.Shift, t.rng.below(span)-t.of.Shift)
	}
	return t.place, t.moved
}

// move copies an image, down and to the right.
func (n *Network) move(to, from []float32, down, right int) {
	for y := range n.Height {
		for x := range n.Width {
			v, u := y-down, x-right
			if v < 0 || v >= n.Height || u < 0 || u >= n.Width {
				to[y*n.Width+x] = n.Blank
			} else {
				to[y*n.Width+x] = from[v*n.Width+u]
			}
		}
	}
}

// trained is a network that has learned.
type trained struct{ net *network.Network }

func (c *trained) Probabilities(ctx context.Context, set *example.Set) ([]float32, error) {
	pass := c.net.NewPass(network.PassOptions{Workers: 1})
	k := c.net.OutputSize()
	out := make([]float32, set.Len()*k)
	var rows []int
	for i := range set.Len() {
		rows = append(rows, i)
	}
	const most = 4096 // between looks at the context
	for from := 0; from < len(rows); from += most {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		to := min(from+most, len(rows))
		if err := pass.Outputs(set, rows[from:to], out[from*k:to*k]); err != nil {
			return nil, fmt.Errorf("predict: %w", err)
		}
	}
	for i := range set.Len() {
		softmax(out[i*k : (i+1)*k])
	}
	return out, nil
}

func (c *trained) Predict(ctx context.Context, set *example.Set) ([]int32, error) {
	p, err := c.Probabilities(ctx, set)
	if err != nil {
		return nil, err
	}
	k := c.net.OutputSize()
	labels := make([]int32, set.Len())
	for i := range labels {
		labels[i], _ = surest(p[i*k : (i+1)*k])
	}
	return labels, nil
}

// softmax makes probabilities of scores.
func softmax(z []float32) {
	top := z[0]
	for _, x := range z {
		top = max(top, x)
	}
	sum := 0.0
	for i, x := range z {
		e := math.Exp(float64(x - top))
		z[i], sum = float32(e), sum+e
	}
	for i := range z {
		z[i] = float32(float64(z[i]) / sum)
	}
}

// surest returns the class of the largest probability.
func surest(p []float32) (class int32, of float32) {
	for j, x := range p {
		if x > p[class] {
			class = int32(j)
		}
	}
	return class, p[class]
}

// An rng shuffles and shifts (SplitMix64; Steele, Lea and Flood 2014). It protects
// nobody.
type rng uint64

func (r *rng) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *rng) below(n int) int { return int(r.next() % uint64(n)) }

func (r *rng) shuffle(rows []int) {
	for i := len(rows) - 1; i > 0; i-- {
		j := r.below(i + 1)
		rows[i], rows[j] = rows[j], rows[i]
	}
}

// ImageNetwork returns a small convolutional network for images of one channel.
func ImageNetwork(height, width, classes int) network.Spec {
	return network.Spec{Input: []int{height, width, 1}, Loss: network.CrossEntropy, Layers: []network.Layer{
		{Type: "conv2d", Width: 8, Kernel: []int{5, 5}, Stride: []int{2, 2}, Padding: []int{2, 2}}, {Type: "relu"},
		{Type: "conv2d", Width: 16, Kernel: []int{3, 3}, Stride: []int{2, 2}, Padding: []int{1, 1}}, {Type: "relu"},
		{Type: "flatten"}, {Type: "linear", Width: classes},
	}}
}
