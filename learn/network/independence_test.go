package network

import (
	"flag"
	"fmt"
	"math"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/internal/gemm"
)

// engines are all of this machine.
func engines() map[string]func() *gemm.Engine {
	all := map[string]func() *gemm.Engine{"portable": gemm.Portable}
	if name := gemm.New().Name(); name != gemm.Portable().Name() {
		all[name] = gemm.New
	}
	return all
}

// wideLayers have more than 64 outputs over positions, and more rows in a batch than
// libraries of products take at once: what everyLayer is too small for.
func wideLayers() map[string]Spec {
	specs := map[string]Spec{
		"wide conv": {Input: []int{10, 9, 1}, Layers: []Layer{{Type: "conv2d", Width: 70, Kernel: []int{3}, Padding: []int{1}}, {Type: "relu"}, {Type: "maxpool", Kernel: []int{2}}, {Type: "conv2d", Width: 66, Kernel: []int{2}}, {Type: "relu"}, {Type: "flatten"}, {Type: "linear", Width: 3}}, Loss: CrossEntropy},
		"wide gru":  {Input: []int{3, 2}, Layers: []Layer{{Type: "gru", Width: 30}, {Type: "last"}, {Type: "linear", Width: 2}}, Loss: Squared},
		"wide heads": {Input: []int{4}, Layers: []Layer{{Type: "embedding", Tokens: 6, Width: 66}, {Type: "position"}, {Type: "attention", Heads: 3, Residual: true}, {Type: "layernorm"},
			{Type: "linear", Width: 70}, {Type: "relu"}, {Type: "linear", Width: 2}}, Loss: CrossEntropy},
		"deep": {Input: []int{2, 300}, Layers: []Layer{{Type: "linear", Width: 66}, {Type: "relu"}, {Type: "linear", Width: 2}}, Loss: Squared},
	}
	for _, activation := range []Layer{{Type: "relu"}, {Type: "tanh"}, {Type: "sigmoid"}, {Type: "groupnorm", Groups: 2}, {Type: "maxpool", Kernel: []int{2}}} {
		specs["wide "+activation.Type] = Spec{Input: []int{8, 1}, Layers: []Layer{{Type: "linear", Width: 2}, activation, {Type: "linear", Width: 128}, activation, {Type: "linear", Width: 2}}, Loss: Squared}
	}
	return specs
}

// part is what one example adds to one learner's part of a sum, as the numbers that the
// sum is taken over: after a single chunk.
func part(l learner, i int) []float32 {
	switch s := l.(type) {
	case *linearState:
		return partAffine(&s.affine, i)
	case *convState:
		return partAffine(&s.affine, i)
	case *gruState:
		return append(partAffine(s.first, i), partAffine(s.second, i)...)
	case *attentionState:
		return append(partAffine(s.first, i), partAffine(s.second, i)...)
	case *normalizeState:
		return append([]float32{}, s.of(i)...)
	case *positionState:
		return append([]float32{}, s.slope(i)...)
	case *embeddingState:
		var all []float32
		for p := i * s.t; p < (i+1)*s.t; p++ {
			all = append(append(all, float32(s.token[p])), s.slope(p)...)
		}
		return all
	}
	panic(fmt.Sprintf("%T", l))
}

func partAffine(l *affine, i int) []float32 {
	if l.keeps() {
		size := affineSize(l.in, l.out)
		return append([]float32{}, l.kept[i*size:][:size]...)
	}
	return append(append([]float32{}, l.a[i*l.t*l.in:][:l.t*l.in]...), l.b[i*l.t*l.out:][:l.t*l.out]...)
}

// own is all that a batch computes of one example.
type own struct {
	scores  []float32
	loss    float64
	squared []float64
	factors []float32
	parts   []float32
}

// owned computes a batch and gives each row's own; parts only where every worker has a
// single chunk.
func owned(t *rapid.T, p *Pass, set *example.Set, rows []int, bound float64) []own {
	all := make([]own, len(rows))
	scores, losses := make([]float32, len(rows)*p.net.OutputSize()), make([]float64, len(rows))
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(p.Outputs(set, rows, scores))
	_, err := p.Losses(set, rows, losses)
	must(err)
	clip := Clip(bound)
	_, err = p.Clipped(set, rows, func(i int, squared, factors []float64) {
		all[i].squared = append([]float64{}, squared...)
		clip(i, squared, factors)
	}, make([]float32, len(p.net.params)))
	must(err)
	for i := range all {
		all[i].scores = scores[i*p.net.OutputSize():][:p.net.OutputSize()]
		all[i].loss = losses[i]
	}
	workers := min(len(p.workers), len(rows))
	for w := range workers {
		from, to := w*len(rows)/workers, (w+1)*len(rows)/workers
		if to-from > p.batch {
			continue
		}
		me := p.workers[w]
		for i := from; i < to; i++ {
			for b, l := range me.learn {
				all[i].factors = append(all[i].factors, me.factors[b*me.chunk+i-from])
				all[i].parts = append(all[i].parts, part(l, i-from)...)
			}
		}
	}
	return all
}

// differs says where two are not the same to the bit; NaN is NaN.
func (o own) differs(p own) string {
	if s := different32("score", o.scores, p.scores); s != "" {
		return s
	}
	if s := different64("loss", []float64{o.loss}, []float64{p.loss}); s != "" {
		return s
	}
	if s := different64("squared norm", o.squared, p.squared); s != "" {
		return s
	}
	if o.parts == nil || p.parts == nil {
		return ""
	}
	if s := different32("factor", o.factors, p.factors); s != "" {
		return s
	}
	return different32("part", o.parts, p.parts)
}

func different32(what string, a, b []float32) string {
	if len(a) != len(b) {
		return fmt.Sprintf("%d numbers of %s, alone %d", len(a), what, len(b))
	}
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) && !(a[i] != a[i] && b[i] != b[i]) {
			return fmt.Sprintf("%s %d is %v, alone %v", what, i, a[i], b[i])
		}
	}
	return ""
}

func different64(what string, a, b []float64) string {
	if len(a) != len(b) {
		return fmt.Sprintf("%d numbers of %s, alone %d", len(a), what, len(b))
	}
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) && !(a[i] != a[i] && b[i] != b[i]) {
			return fmt.Sprintf("%s %d is %v, alone %v", what, i, a[i], b[i])
		}
	}
	return ""
}

// hostile gives a network weights around a power of ten and, in its first matrix,
// biases that bring what comes out for the first example to the cusp of what follows:
// to 0 but for rounding. The other examples are the first one again, others at random,
// and some with numbers of no use.
func hostile(t *rapid.T, net *Network, engine func() *gemm.Engine, n int) (*example.Set, []int) {
	net.Initialize(rapid.Uint64().Draw(t, "initial"))
	set, rows := randomSet(net, &generator{rapid.Uint64().Draw(t, "data")}, n)
	factor := float32(math.Pow(10, float64(rapid.IntRange(-12, 12).Draw(t, "decade"))))
	first := net.blocks[0]
	for j := first.From; j < first.To; j++ {
		net.params[j] *= factor
	}
	if l, ok := net.layers[0].(linear); ok && rapid.Bool().Draw(t, "cusp") {
		out := make([]float32, l.t*l.p)
		bias := net.params[first.To-l.p : first.To]
		clear(bias)
		engine().Multiply(false, false, l.t, l.p, l.in, 1, set.Features, l.in, net.params[first.From:], l.p, 0, out, l.p)
		for j := range bias {
			bias[j] = -out[rapid.IntRange(0, l.t-1).Draw(t, "position")*l.p+j]
		}
	}
	for i := 1; i < n; i++ {
		if rapid.Bool().Draw(t, "again") {
			copy(set.Features[i*set.Width:][:set.Width], set.Features)
		}
	}
	odd := rapid.SampledFrom([]float32{0, float32(math.Copysign(0, -1)), float32(math.NaN()), float32(math.Inf(1)), math.MaxFloat32, -1e30, 1e19, 1e-30, 1e-45})
	for range rapid.IntRange(0, 3).Draw(t, "odd values") {
		set.Features[rapid.IntRange(0, len(set.Features)-1).Draw(t, "where")] = odd.Draw(t, "odd")
	}
	return set, rows
}

// What a batch computes of an example is, to the bit, what is computed of it alone:
// whoever else is in the batch, in whatever place and chunk, by however many workers,
// whatever was computed before. The bounds in learn/noise.go rest on that. CI draws 25 batches
// of each layer, DISCREET_SOAK 10,000.
func TestAnExamplesPartIsItsOwn(t *testing.T) {
	times := 1
	if os.Getenv("DISCREET_SOAK") != "" {
		times = 100
	} else if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		if err := checks.Value.Set("25"); err != nil {
			t.Fatal(err)
		}
		defer checks.Value.Set(checks.DefValue)
	}
	for engine, create := range engines() {
		for _, specs := range []map[string]Spec{everyLayer(), wideLayers()} {
			for name, spec := range specs {
				t.Run(engine+"/"+name, func(t *testing.T) {
					for range times {
						rapid.Check(t, func(t *rapid.T) { ownOf(t, spec, create) })
					}
				})
			}
		}
	}
}

func ownOf(t *rapid.T, spec Spec, engine func() *gemm.Engine) {
	net, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	const n = 8
	set, all := hostile(t, net, engine, n)
	bound := rapid.SampledFrom([]float64{1e-20, 1e-3, 1, 1e6}).Draw(t, "bound")
	alone := make([]own, n)
	for i := range all {
		alone[i] = owned(t, net.newPass(PassOptions{Batch: 1, Workers: 1}, engine), set, all[i:i+1], bound)[0]
	}
	o := PassOptions{Batch: rapid.IntRange(1, 48).Draw(t, "batch"), Workers: rapid.IntRange(1, 3).Draw(t, "workers")}
	p := net.newPass(o, engine)
	for range 2 { // what one batch leaves behind is of no account to the next
		rows := rapid.SliceOfN(rapid.IntRange(0, n-1), 1, 48).Draw(t, "rows")
		for i, got := range owned(t, p, set, rows, bound) {
			if s := got.differs(alone[rows[i]]); s != "" {
				t.Fatalf("example %d, place %d of %d, %+v: %s", rows[i], i, len(rows), o, s)
			}
		}
	}
}

// One more example moves the clipped sum by a clip and what rounding may add, also
// where what weights of every decade bring back through the wide layer cancels but for
// rounding, which decides the direction of every example's gradient.
func TestOneMoreExampleMovesTheSumByAClip(t *testing.T) {
	const positions, outputs, examples = 4, 128, 64
	spec := Spec{Input: []int{positions, 1}, Layers: []Layer{{Type: "position"}, {Type: "linear", Width: outputs}}, Loss: Squared}
	for engine, create := range engines() {
		t.Run(engine, func(t *testing.T) {
			worst := 0.0
			for decade := -6; decade <= 12; decade++ {
				net, err := New(spec)
				if err != nil {
					t.Fatal(err)
				}
				net.Initialize(uint64(decade + 6))
				weights := net.params[positions:][:outputs]
				for j := range weights {
					weights[j] *= float32(math.Pow(10, float64(decade)))
				}
				// Inputs of 0 make the outputs the biases, exactly, and so the slopes what
				// the targets say.
				clear(net.params[:positions])
				set := &example.Set{Width: positions, Outputs: positions * outputs, Features: make([]float32, examples*positions)}
				r, rows := &generator{uint64(decade + 100)}, []int(nil)
				for i := range examples {
					rows = append(rows, i)
				}
				p := net.newPass(PassOptions{Batch: examples, Workers: 1}, create)
				scores := make([]float32, examples*positions*outputs)
				if err := p.Outputs(set, rows, scores); err != nil {
					t.Fatal(err)
				}
				set.Targets = make([]float32, len(scores))
				for at := 0; at < len(scores); at += outputs {
					back := 0.0
					for j, w := range weights {
						slope := float64(r.uniform(1))
						if j == outputs-1 {
							slope = -back / float64(w)
						}
						set.Targets[at+j] = scores[at+j] - float32(slope)
						back += (float64(scores[at+j]) - float64(set.Targets[at+j])) * float64(w)
					}
				}
				before, after := make([]float32, len(net.params)), make([]float32, len(net.params))
				for n := 1; n < examples; n++ {
					if _, err := p.Clipped(set, rows[:n], Clip(1), before); err != nil {
						t.Fatal(err)
					}
					if _, err := p.Clipped(set, rows[:n+1], Clip(1), after); err != nil {
						t.Fatal(err)
					}
					for j := range after {
						after[j] -= before[j]
					}
					moved := norm(after)
					worst = max(worst, moved)
					if most := 1 + 2*p.Rounding(examples); !(moved <= most) {
						t.Fatalf("weights of 1e%d: example %d moves the sum by %v clips, charged %v", decade, n, moved, most)
					}
				}
			}
			t.Logf("at most %v clips", worst)
		})
	}
}
