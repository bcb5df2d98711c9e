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
	// Seed fixes initial weights, shuffles and distortions, none of which protects anybody.
	Seed uint64
	// Distortion is drawn anew for each image each time; the zero value leaves examples
	// as they are.
	Distortion Distortion
	Workers    int // of one training; 0 is 1
}

// A Scorer is a classifier that tells its probabilities of the classes, row by row.
type Scorer interface {
	Classifier
	Probabilities(ctx context.Context, set *example.Set) ([]float32, error)
}

// Train implements Learner; the classifier is a Scorer. Examples without a label teach
// nothing.
func (n *Network) Train(ctx context.Context, set *example.Set) (Classifier, error) {
	net, err := network.New(n.Spec)
	if err != nil {
		return nil, fmt.Errorf("train network: %w", err)
	}
	net.Initialize(n.Seed)
	if err := n.fit(ctx, net, set); err != nil {
		return nil, fmt.Errorf("train network: %w", err)
	}
	return &trained{net}, nil
}

// fit trains a network from the weights that it has.
func (n *Network) fit(ctx context.Context, net *network.Network, set *example.Set) error {
	var rows []int
	for i := range set.Labels {
		if set.Label(i) >= 0 {
			rows = append(rows, i)
		}
	}
	if len(rows) == 0 {
		return errors.New("no example has a label")
	}
	if err := n.Distortion.validate(set.Width); err != nil {
		return err
	}
	if err := net.Fits(set); err != nil {
		return err
	}
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
		return err
	}
	r, pass := rng(n.Seed), net.NewPass(network.PassOptions{Workers: max(n.Workers, 1)})
	seen := &canvas{Distortion: n.Distortion}
	sum := make([]float32, len(net.Parameters()))
	for range epochs {
		r.shuffle(rows)
		for from := 0; from+batch <= len(rows); from += batch {
			if err := ctx.Err(); err != nil {
				return err
			}
			of, part := seen.draw(&r, set, rows[from:from+batch])
			if _, err := pass.Gradient(of, part, sum); err != nil {
				return err
			}
			opt.StepMean(net.Parameters(), sum, float64(batch))
		}
	}
	return nil
}

// trained is a network that has learned.
type trained struct{ net *network.Network }

func (c *trained) Probabilities(ctx context.Context, set *example.Set) ([]float32, error) {
	out, err := outputs(ctx, c.net, set)
	if err != nil {
		return nil, fmt.Errorf("predict: %w", err)
	}
	k := c.net.OutputSize()
	for i := range set.Len() {
		softmax(out[i*k : (i+1)*k])
	}
	return out, nil
}

// outputs returns what a network makes of all examples.
func outputs(ctx context.Context, net *network.Network, set *example.Set) ([]float32, error) {
	pass := net.NewPass(network.PassOptions{Workers: 1})
	k := net.OutputSize()
	out := make([]float32, set.Len()*k)
	rows := upTo(set.Len())
	const most = 4096 // between looks at the context
	for from := 0; from < len(rows); from += most {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		to := min(from+most, len(rows))
		if err := pass.Outputs(set, rows[from:to], out[from*k:to*k]); err != nil {
			return nil, err
		}
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

// within draws from −most to most.
func (r *rng) within(most float64) float64 {
	if most == 0 {
		return 0
	}
	return (float64(r.next()>>11)/(1<<52) - 1) * most
}
