package network

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/learn/example"
)

// randomSet draws examples that fit a network; every weight and feature is
// moderate, so that rounding stays small against gradients.
func randomSet(net *Network, r *generator, n int) (*example.Set, []int) {
	l := net.loss
	set := &example.Set{Width: net.Width(), Outputs: l.outputs}
	switch l.name {
	case Logistic:
		set.Classes = 2
	case CrossEntropy:
		set.Classes = l.classes
	}
	tokens := 0
	if len(net.spec.Layers) > 0 && net.spec.Layers[0].Type == "embedding" {
		tokens = net.spec.Layers[0].Tokens
	}
	rows := make([]int, n)
	for i := range n {
		rows[i] = i
		for range set.Width {
			v := r.uniform(1)
			if tokens > 0 {
				v = float32(math.Floor(float64(v+1) / 2 * float64(tokens)))
			}
			set.Features = append(set.Features, v)
		}
		for range l.outputs {
			switch l.name {
			case Squared:
				set.Targets = append(set.Targets, r.uniform(2))
			case Logistic:
				set.Classes = 2
				set.Labels = append(set.Labels, int32((r.uniform(1) + 1)))
			default:
				set.Classes = l.classes
				set.Labels = append(set.Labels, int32((r.uniform(1)+1)/2*float32(l.classes)))
			}
		}
	}
	return set, rows
}

// everyLayer are networks that have, between them, each type of layer in each of
// its forms: with kept and with ghost norms, first and further on.
func everyLayer() map[string]Spec {
	return map[string]Spec{
		"linear":    {Input: []int{9}, Layers: []Layer{{Type: "linear", Width: 6}, {Type: "relu"}, {Type: "linear", Width: 4}}, Loss: CrossEntropy},
		"positions": {Input: []int{5, 7}, Layers: []Layer{{Type: "linear", Width: 8}, {Type: "tanh"}, {Type: "linear", Width: 3}}, Loss: CrossEntropy, Mean: true},
		"ghost":     {Input: []int{2, 40}, Layers: []Layer{{Type: "linear", Width: 30}, {Type: "tanh"}, {Type: "linear", Width: 1}}, Loss: Squared},
		"conv1d":    {Input: []int{12, 3}, Layers: []Layer{{Type: "conv1d", Width: 4, Kernel: []int{3}, Stride: []int{2}, Padding: []int{1}}, {Type: "tanh"}, {Type: "conv1d", Width: 5, Kernel: []int{2}}, {Type: "flatten"}, {Type: "linear", Width: 3}}, Loss: CrossEntropy},
		"conv2d": {Input: []int{9, 8, 2}, Layers: []Layer{{Type: "conv2d", Width: 4, Kernel: []int{4, 3}, Stride: []int{2, 1}, Padding: []int{2, 1}}, {Type: "tanh"}, {Type: "maxpool", Kernel: []int{2}, Stride: []int{1}},
			{Type: "conv2d", Width: 5, Kernel: []int{2}}, {Type: "relu"}, {Type: "avgpool", Kernel: []int{2}}, {Type: "flatten"}, {Type: "linear", Width: 1}}, Loss: Logistic},
		"pools":     {Input: []int{8, 2}, Layers: []Layer{{Type: "conv1d", Width: 4, Kernel: []int{2}}, {Type: "maxpool", Kernel: []int{3}, Stride: []int{2}}, {Type: "avgpool", Kernel: []int{2}, Stride: []int{1}}, {Type: "flatten"}, {Type: "linear", Width: 3}}, Loss: CrossEntropy},
		"sigmoid":   {Input: []int{6}, Layers: []Layer{{Type: "linear", Width: 5}, {Type: "sigmoid", Scale: 1.6, Temperature: 1.8, Offset: 0.7}, {Type: "linear", Width: 2}}, Loss: Squared},
		"layernorm": {Input: []int{4, 6}, Layers: []Layer{{Type: "linear", Width: 5}, {Type: "layernorm"}, {Type: "tanh"}, {Type: "linear", Width: 3}}, Loss: CrossEntropy},
		"groupnorm": {Input: []int{6, 6, 1}, Layers: []Layer{{Type: "conv2d", Width: 6, Kernel: []int{3}}, {Type: "groupnorm", Groups: 3}, {Type: "relu"}, {Type: "flatten"}, {Type: "linear", Width: 3}}, Loss: CrossEntropy},
		"embedding": {Input: []int{7}, Layers: []Layer{{Type: "embedding", Tokens: 4, Width: 5}, {Type: "position"}, {Type: "linear", Width: 4}}, Loss: CrossEntropy},
		"gru":       {Input: []int{6}, Layers: []Layer{{Type: "embedding", Tokens: 5, Width: 4}, {Type: "gru", Width: 7}, {Type: "linear", Width: 5}}, Loss: CrossEntropy},
		"last":      {Input: []int{5, 3}, Layers: []Layer{{Type: "gru", Width: 4}, {Type: "gru", Width: 3}, {Type: "last"}, {Type: "linear", Width: 3}}, Loss: CrossEntropy},
		"attention": {Input: []int{6}, Layers: []Layer{{Type: "embedding", Tokens: 5, Width: 8}, {Type: "position"}, {Type: "attention", Heads: 2, Residual: true}, {Type: "layernorm"}, {Type: "attention"}, {Type: "linear", Width: 5}}, Loss: CrossEntropy, Mean: true},
	}
}

// 8.1: the norms and the sum of the one backward pass are those of gradients that
// are computed one by one.
func TestNormsAreThoseOfExplicitGradients(t *testing.T) {
	for name, spec := range everyLayer() {
		t.Run(name, func(t *testing.T) {
			net, err := New(spec)
			if err != nil {
				t.Fatal(err)
			}
			net.Initialize(7)
			set, rows := randomSet(net, &generator{11}, 7)
			againstExplicit(t, net, set, rows, PassOptions{Batch: 3, Workers: 2}, false)
		})
	}
}

type failer interface{ Fatalf(string, ...any) }

func againstExplicit(t failer, net *Network, set *example.Set, rows []int, o PassOptions, random bool) {
	p := net.NewPass(o)
	explicit, err := p.Explicit(set, rows)
	if err != nil {
		t.Fatalf("%v", err)
	}
	want := make([]float64, len(net.params))
	squares := 0.0
	scaler := func(i int, squared, factors []float64) {
		for b, block := range net.blocks {
			exact := norm(explicit[i][block.From:block.To])
			got := math.Sqrt(squared[b])
			// Where several terms of an example may cancel, the bound may be larger: see
			// TestCancellingTermsCount.
			if may := random && positions(p.workers[0].learn[b]) > 1; math.Abs(got-exact) > 1e-6*exact+1e-12 && !(may && got > exact) {
				t.Fatalf("example %d, block %s: norm %.9g, explicit %.9g: off by %.2g", i, block.Name, got, exact, (got-exact)/exact)
			}
			squares = max(squares, squared[b])
			factors[b] = 0.5 / float64(b+1)
		}
	}
	p1 := net.NewPass(PassOptions{Batch: o.Batch, Workers: 1}) // t.Fatalf wants this goroutine
	sum, plain := make([]float32, len(want)), make([]float32, len(want))
	s, err := p1.Clipped(set, rows, scaler, sum)
	if err != nil || s.Invalid != 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	sum2 := make([]float32, len(want))
	if _, err := p.Clipped(set, rows, func(_ int, squared, factors []float64) {
		for b := range factors {
			factors[b] = 0.5 / float64(b+1)
		}
	}, sum2); err != nil {
		t.Fatalf("%v", err)
	}
	if _, err := p.Gradient(set, rows, plain); err != nil {
		t.Fatalf("%v", err)
	}
	for b, block := range net.blocks {
		for j := block.From; j < block.To; j++ {
			whole, size := 0.0, 0.0
			for i := range rows {
				whole += float64(explicit[i][j])
				size += math.Abs(float64(explicit[i][j]))
			}
			tolerance := 1e-5 * (size + 1e-2*math.Sqrt(squares))
			f := 0.5 / float64(b+1)
			for what, got := range map[string]float64{"scaled": float64(sum[j]) / f, "scaled by all workers": float64(sum2[j]) / f, "plain": float64(plain[j])} {
				if math.Abs(got-whole) > tolerance {
					t.Fatalf("%s sum[%d] of %s is %v, want %v", what, j, block.Name, got, whole)
				}
			}
		}
	}
}

// The gradients against central differences of the loss, parameter by parameter.
// The loss is computed in float32, so steps are large; where two steps disagree,
// a kink of relu or a maximum lies between, and the parameter is left out. Most
// must remain.
func TestGradientsAreDerivatives(t *testing.T) {
	for name, spec := range everyLayer() {
		t.Run(name, func(t *testing.T) {
			net, err := New(spec)
			if err != nil {
				t.Fatal(err)
			}
			net.Initialize(3)
			set, rows := randomSet(net, &generator{5}, 3)
			p := net.NewPass(PassOptions{Workers: 1})
			g := make([]float32, len(net.params))
			if _, err := p.Gradient(set, rows, g); err != nil {
				t.Fatal(err)
			}
			losses := make([]float64, len(rows))
			difference := func(j int, step float32) float64 {
				at := net.params[j]
				defer func() { net.params[j] = at }()
				var sides [2]float64
				for side, x := range []float32{at - step, at + step} {
					net.params[j] = x
					if _, err := p.Losses(set, rows, losses); err != nil {
						t.Fatal(err)
					}
					for _, l := range losses {
						sides[side] += l
					}
				}
				return (sides[1] - sides[0]) / float64((at+step)-(at-step))
			}
			for _, block := range net.blocks {
				checked := 0
				for j := block.From; j < block.To; j++ {
					const tolerance = 2e-3
					d1, d2 := difference(j, 4e-3), difference(j, 8e-3)
					if math.Abs(d1-d2) > tolerance/8+0.005*math.Abs(d1) {
						continue
					}
					checked++
					if got := (4*d1 - d2) / 3; math.Abs(got-float64(g[j])) > tolerance+0.005*math.Abs(got) {
						t.Errorf("block %s: difference %v, gradient %v", block.Name, got, g[j])
					}
				}
				if 2*checked < block.To-block.From {
					t.Errorf("block %s: only %d parameters of %d have no kink near them", block.Name, checked, block.To-block.From)
				}
			}
		})
	}
}

// randomSpec draws a network of a few layers.
func randomSpec(t *rapid.T) Spec {
	pick := func(name string, least, most int) int { return rapid.IntRange(least, most).Draw(t, name) }
	var spec Spec
	sequence := func() {
		for range pick("layers", 0, 3) {
			l := rapid.SampledFrom([]Layer{{Type: "tanh"}, {Type: "layernorm"}, {Type: "position"}, {Type: "gru", Width: pick("gru", 1, 6)},
				{Type: "linear", Width: 2 * pick("linear", 1, 4)}, {Type: "attention", Residual: rapid.Bool().Draw(t, "residual")},
				{Type: "conv1d", Width: pick("conv", 2, 5), Kernel: []int{2}, Padding: []int{1}}}).Draw(t, "layer")
			spec.Layers = append(spec.Layers, l)
		}
	}
	switch pick("kind", 0, 3) {
	case 0:
		spec.Input = []int{pick("features", 1, 20)}
		for range pick("layers", 0, 3) {
			spec.Layers = append(spec.Layers, Layer{Type: "linear", Width: pick("width", 1, 12)}, Layer{Type: rapid.SampledFrom([]string{"relu", "tanh", "sigmoid"}).Draw(t, "activation")})
		}
	case 1:
		spec.Input = []int{pick("text", 1, 9)}
		spec.Layers = []Layer{{Type: "embedding", Tokens: pick("tokens", 1, 6), Width: pick("embedded", 2, 6)}}
		sequence()
	case 2:
		spec.Input = []int{pick("positions", 1, 9), pick("channels", 2, 5)}
		sequence()
	case 3:
		spec.Input = []int{pick("height", 4, 9), pick("width", 4, 9), pick("channels", 1, 3)}
		for range pick("layers", 1, 2) {
			k := pick("kernel", 1, 3)
			spec.Layers = append(spec.Layers, Layer{Type: "conv2d", Width: 2 * pick("out", 1, 3), Kernel: []int{k}, Stride: []int{pick("stride", 1, 2)}, Padding: []int{pick("padding", 0, k-1)}})
			if rapid.Bool().Draw(t, "norm") {
				spec.Layers = append(spec.Layers, Layer{Type: "groupnorm", Groups: 1})
			}
			spec.Layers = append(spec.Layers, Layer{Type: rapid.SampledFrom([]string{"relu", "tanh"}).Draw(t, "activation")})
		}
		spec.Layers = append(spec.Layers, Layer{Type: rapid.SampledFrom([]string{"maxpool", "avgpool"}).Draw(t, "pool"), Kernel: []int{1 + pick("pool", 0, 1)}, Stride: []int{1}}, Layer{Type: "flatten"})
	}
	spec.Loss = rapid.SampledFrom([]string{CrossEntropy, Logistic, Squared}).Draw(t, "loss")
	spec.Mean = rapid.Bool().Draw(t, "mean")
	spec.Layers = append(spec.Layers, Layer{Type: "linear", Width: pick("scores", 2, 4)})
	return spec
}

func TestRandomNetworksAgreeWithExplicitGradients(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := randomSpec(t)
		net, err := New(spec)
		if err != nil {
			t.Skip(err)
		}
		net.Initialize(rapid.Uint64().Draw(t, "initial"))
		set, rows := randomSet(net, &generator{rapid.Uint64().Draw(t, "data")}, rapid.IntRange(0, 9).Draw(t, "examples"))
		againstExplicit(rapidFailer{t, fmt.Sprintf("%+v", spec)}, net, set, rows, PassOptions{Batch: rapid.IntRange(1, 5).Draw(t, "batch"), Workers: rapid.IntRange(1, 3).Draw(t, "workers")}, true)
	})
}

type rapidFailer struct {
	t    *rapid.T
	what string
}

func (f rapidFailer) Fatalf(format string, args ...any) {
	f.t.Fatalf(format+"\n%s", append(args, f.what)...)
}
