package network

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/internal/gemm"
)

// added gives what each example added to a learner's part of the last sum of a
// single chunk, from the numbers that the sum was taken over, without rounding.
func added(l learner, i int, f float32) []float64 {
	switch s := l.(type) {
	case *linearState:
		return addedAffine(&s.affine, i, f)
	case *convState:
		return addedAffine(&s.affine, i, f)
	case *gruState:
		return append(addedAffine(s.first, i, f), addedAffine(s.second, i, f)...)
	case *attentionState:
		return append(addedAffine(s.first, i, f), addedAffine(s.second, i, f)...)
	case *normalizeState:
		return times(f, s.of(i))
	case *positionState:
		return times(f, s.slope(i))
	case *embeddingState:
		g := make([]float64, s.parameters())
		for p := i * s.t; p < (i+1)*s.t; p++ {
			for j, v := range s.slope(p) {
				if s.token[p] >= 0 {
					g[int(s.token[p])*s.c+j] += float64(v)
				}
			}
		}
		return g
	}
	panic(fmt.Sprintf("%T", l))
}

func times(f float32, v []float32) []float64 {
	g := make([]float64, len(v))
	for j, x := range v {
		if f != 0 {
			g[j] = float64(f) * float64(x)
		}
	}
	return g
}

func addedAffine(l *affine, i int, f float32) []float64 {
	size := affineSize(l.in, l.out)
	if l.keeps() {
		return times(f, l.kept[i*size:][:size])
	}
	g := make([]float64, size)
	for p := i * l.t; p < (i+1)*l.t; p++ {
		for q, b := range l.b[p*l.out:][:l.out] {
			for r, a := range l.a[p*l.in:][:l.in] {
				g[r*l.out+q] += float64(a) * float64(b)
			}
			g[l.in*l.out+q] += float64(b)
		}
	}
	return g
}

func norm64(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x * x
	}
	return math.Sqrt(s)
}

// 8.2: whatever the data, each example adds a vector of at most the bound, an
// invalid one exactly 0, and the sum is off by no more than Rounding tells.
func TestWhatAnExampleAddsIsNeverAboveTheClip(t *testing.T) {
	specs := everyLayer()
	names := make([]string, 0, len(specs))
	for name := range specs {
		names = append(names, name)
	}
	for engine, create := range engines() {
		t.Run(engine, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { addsAtMostTheClip(t, specs, names, create) })
		})
	}
}

func addsAtMostTheClip(t *rapid.T, specs map[string]Spec, names []string, engine func() *gemm.Engine) {
	spec := specs[rapid.SampledFrom(names).Draw(t, "network")]
	net, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	net.Initialize(rapid.Uint64().Draw(t, "initial"))
	n := rapid.IntRange(1, 8).Draw(t, "examples")
	set, rows := randomSet(net, &generator{rapid.Uint64().Draw(t, "data")}, n)
	odd := rapid.SampledFrom([]float32{0, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, -1e30, 1e19, 1e-30, 1e-45})
	for range rapid.IntRange(0, 5).Draw(t, "odd values") {
		set.Features[rapid.IntRange(0, len(set.Features)-1).Draw(t, "where")] = odd.Draw(t, "odd")
	}
	if rapid.Bool().Draw(t, "odd parameters") {
		net.params[rapid.IntRange(0, len(net.params)-1).Draw(t, "parameter")] = odd.Draw(t, "value")
	}
	bound := rapid.SampledFrom([]float64{1e-20, 1e-3, 0.1, 1, 1e6}).Draw(t, "bound")
	p := net.newPass(PassOptions{Batch: 8, Workers: 1}, engine)
	sum := make([]float32, len(net.params))
	s, err := p.Clipped(set, rows, Clip(bound), sum)
	if err != nil {
		t.Fatal(err)
	}
	w := p.workers[0]
	exact := make([]float64, len(sum))
	invalid := 0
	for i := range rows {
		var whole []float64
		for b, l := range w.learn {
			whole = append(whole, added(l, i, w.factors[b*w.chunk+i])...)
		}
		// norm64 itself rounds, by far less than the room that norms leave.
		if got := norm64(whole); !(got <= bound*(1+1e-13)) {
			t.Fatalf("example %d adds a vector of norm %.17g, bound %g", i, got, bound)
		} else if w.invalid[i] {
			invalid++
			if got != 0 {
				t.Fatalf("invalid example %d adds a vector of norm %g", i, got)
			}
		}
		for j, x := range whole {
			exact[j] += x
		}
	}
	if s.Invalid != invalid || s.Examples != n {
		t.Fatalf("%+v, but %d of %d examples are invalid", s, invalid, n)
	}
	for j := range sum {
		exact[j] -= float64(sum[j])
	}
	if off := norm64(exact); !(off <= p.Rounding(n)*bound+1e-40) {
		t.Fatalf("the sum is off by %g, Rounding says %g", off, p.Rounding(n)*bound)
	}
}

// A bad feature, wherever it is, costs its example and nothing else: the sum is
// that of the others, bit for bit.
func TestInvalidExamplesLeaveTheOthersAlone(t *testing.T) {
	for name, spec := range everyLayer() {
		t.Run(name, func(t *testing.T) {
			net, err := New(spec)
			if err != nil {
				t.Fatal(err)
			}
			net.Initialize(1)
			set, rows := randomSet(net, &generator{2}, 6)
			p := net.NewPass(PassOptions{Batch: 6, Workers: 1})
			sums := func() (sums [2][]float32, stats [2]Statistics) {
				for i, f := range []func([]float32) (Statistics, error){
					func(sum []float32) (Statistics, error) { return p.Clipped(set, rows, Clip(0.3), sum) },
					func(sum []float32) (Statistics, error) { return p.Gradient(set, rows, sum) },
				} {
					sums[i] = make([]float32, len(net.params))
					var err error
					if stats[i], err = f(sums[i]); err != nil {
						t.Fatal(err)
					}
				}
				return sums, stats
			}
			at := func(i int) []float32 { return set.Features[i*set.Width:][:set.Width] }
			copy(at(3), at(2))
			var want [2][]float32
			for round, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
				at(3)[set.Width/2] = bad
				got, stats := sums()
				for i, s := range stats {
					if s.Invalid != 1 || s.Examples != 6 || !finite(s.Loss) {
						t.Errorf("%+v", s)
					}
					for j, x := range got[i] {
						if !finite(float64(x)) {
							t.Fatalf("%v in the data is %v in the sum", bad, x)
						}
						if round > 0 && x != want[i][j] {
							t.Fatalf("sum[%d] is %v with one bad value, %v with another", j, want[i][j], x)
						}
					}
				}
				want = got
			}
		})
	}
}

// A label that is none of the classes is missing, whichever it is: its example adds what
// one without a label does, to the bit.
func TestLabelsOfNoClass(t *testing.T) {
	net, set, rows := perceptron(t, 4)
	var want []float32
	for _, none := range []int32{-1, math.MinInt32, 3, math.MaxInt32} {
		set.Labels[1], set.Labels[2] = none, -1
		sum := make([]float32, len(net.params))
		s, err := net.NewPass(PassOptions{}).Clipped(set, rows, Clip(1), sum)
		if err != nil || s.Invalid != 0 || s.Labels != 2 {
			t.Errorf("label %d: %+v, %v: want none invalid, 2 labels", none, s, err)
		}
		if want == nil {
			want = sum
		}
		if !slices.Equal(sum, want) {
			t.Errorf("label %d adds something else than -1", none)
		}
		losses := make([]float64, 4)
		if _, err := net.NewPass(PassOptions{}).Losses(set, rows, losses); err != nil || losses[1] != 0 || losses[2] != 0 || losses[0] == 0 {
			t.Errorf("label %d: losses %v, %v", none, losses, err)
		}
	}
}

// A plain sum that is beyond float32 is reported: by one example's gradient, by a sum of
// finite ones within a chunk, and by one of the workers' sums.
func TestGradientOverflow(t *testing.T) {
	spec := Spec{Input: []int{1}, Layers: []Layer{{Type: "linear", Width: 1}}, Loss: Squared}
	for _, o := range []PassOptions{{Workers: 1}, {Workers: 1, Batch: 1}, {Workers: 2}} {
		for name, set := range map[string]*example.Set{
			"one":         {Width: 1, Outputs: 1, Features: []float32{1e30, 1}, Targets: []float32{1e30, 1}},
			"both":        {Width: 1, Outputs: 1, Features: []float32{1e19, 1e19}, Targets: []float32{2e19, 2e19}},
			"of opposite": {Width: 1, Outputs: 1, Features: []float32{1e30, -1e30}, Targets: []float32{1e30, 1e30}},
		} {
			net, err := New(spec)
			if err != nil {
				t.Fatal(err)
			}
			p := net.NewPass(o)
			sum := []float32{1, 1}
			if _, err := p.Gradient(set, []int{0, 1}, sum); !errors.Is(err, ErrOverflow) || sum[0] != 0 || sum[1] != 0 {
				t.Errorf("%s, %+v: %v, sum %v", name, o, err, sum)
			}
			// The clipped sum of the same has no such error.
			if _, err := p.Clipped(set, []int{0, 1}, Clip(1), sum); err != nil || !finite(float64(sum[0])) || math.Abs(float64(sum[0])) > 2 {
				t.Errorf("%s, %+v: clipped: %v, sum %v", name, o, err, sum)
			}
			if each, err := p.Explicit(set, []int{0, 1}); err != nil || !finite(float64(each[0][0])) {
				t.Errorf("%s: explicit %v, %v", name, each, err)
			}
			fine := &example.Set{Width: 1, Outputs: 1, Features: []float32{1}, Targets: []float32{1}}
			if _, err := p.Gradient(fine, []int{0}, sum); err != nil || sum[0] != -1 {
				t.Errorf("%s: %v, sum %v", name, err, sum)
			}
		}
	}
}

// What a scaler answers is not trusted: a factor that is negative or no number
// leaves its example out.
func TestOddFactors(t *testing.T) {
	net, set, rows := perceptron(t, 5)
	odd := []float64{math.NaN(), math.Inf(1), -1, 0, 1}
	sum, want := make([]float32, len(net.params)), make([]float32, len(net.params))
	p := net.NewPass(PassOptions{Workers: 1})
	s, err := p.Clipped(set, rows, func(i int, _, factors []float64) { factors[1] = odd[i] }, sum)
	if err != nil || s.Invalid != 3 || s.Clipped != 1 {
		t.Errorf("%+v, %v: want 3 invalid, 1 clipped", s, err)
	}
	if _, err := p.Gradient(set, rows[3:], want); err != nil {
		t.Fatal(err)
	}
	first := net.blocks[0]
	for j := first.From; j < first.To; j++ {
		if math.Abs(float64(sum[j]-want[j])) > 1e-6 {
			t.Fatalf("sum[%d] = %v, want %v", j, sum[j], want[j])
		}
	}
}

// Gradients so long that their factor has no full precision as a float32 are within the
// bound all the same, also where the layer keeps them.
func TestTinyFactors(t *testing.T) {
	for _, layers := range [][]Layer{
		{{Type: "linear", Width: 1}},
		{{Type: "position"}, {Type: "linear", Width: 1}},
	} {
		net, err := New(Spec{Input: []int{1}, Layers: layers, Loss: Squared})
		if err != nil {
			t.Fatal(err)
		}
		for i := range net.params {
			net.params[i] = 1
		}
		p := net.NewPass(PassOptions{Workers: 1})
		sum := make([]float32, len(net.params))
		for bound := 1e-15; bound < 1e-6; bound *= 3.3 {
			for target := 1e20; target < 3e38; target *= 1.7 {
				set := &example.Set{Width: 1, Features: []float32{1}, Outputs: 1, Targets: []float32{float32(target)}}
				if _, err := p.Clipped(set, []int{0}, Clip(bound), sum); err != nil {
					t.Fatal(err)
				}
				if n := norm(sum); n > bound*(1+1e-7) {
					t.Errorf("a gradient of about %.1e is %v times the bound %.1e", target, n/bound, bound)
				}
			}
		}
	}
}

// Terms of an example that cancel make its norm count as a share of their mass.
func TestCancellingTermsCount(t *testing.T) {
	net, err := New(Spec{Input: []int{2, 60}, Layers: []Layer{{Type: "linear", Width: 40}}, Loss: Squared})
	if err != nil {
		t.Fatal(err)
	}
	// Both positions see the same input; their errors are opposite.
	set := &example.Set{Width: 120, Outputs: 80}
	for range 120 {
		set.Features = append(set.Features, 1)
	}
	for j := range 80 {
		set.Targets = append(set.Targets, float32(1-2*(j/40)))
	}
	var got float64
	p := net.NewPass(PassOptions{Workers: 1})
	if p.workers[0].learn[0].(*linearState).keeps() {
		t.Fatal("the layer keeps its gradients: nothing is tested")
	}
	if _, err := p.Clipped(set, []int{0}, func(_ int, squared, _ []float64) { got = math.Sqrt(squared[0]) }, make([]float32, len(net.params))); err != nil {
		t.Fatal(err)
	}
	mass := 2 * math.Sqrt(61*40)
	if want := mass / massBound; math.Abs(got-want) > 1e-6*want {
		t.Errorf("norm %v, want %v: the gradient is 0, of two terms of norm %v", got, want, mass/2)
	}
}

// Terms that cancel still do where one of them is too small for a float32.
func TestCancellingTermsOfLongInputs(t *testing.T) {
	net, err := New(Spec{Input: []int{2, 16}, Layers: []Layer{{Type: "linear", Width: 16}}, Loss: Squared})
	if err != nil {
		t.Fatal(err)
	}
	p := net.NewPass(PassOptions{Workers: 1})
	if p.workers[0].learn[0].(*linearState).keeps() {
		t.Fatal("the layer keeps its gradients: nothing is tested")
	}
	sum := make([]float32, len(net.params))
	for _, x := range []float32{1, 1e8, 1e12, 1e20, 1e27, 1e30} {
		set := &example.Set{Width: 32, Outputs: 32, Features: make([]float32, 32), Targets: make([]float32, 32)}
		set.Features[0], set.Features[16] = x, x
		set.Targets[0], set.Targets[16] = 1e-8, -1.06e-8
		for bound := 1e-12; bound < 1e-3; bound *= 1.05 {
			s, err := p.Clipped(set, []int{0}, Clip(bound), sum)
			if err != nil {
				t.Fatal(err)
			}
			if n := norm(sum); n > bound*(1+1e-7) {
				t.Errorf("inputs of %v add %v times the bound %v", x, n/bound, bound)
			}
			if invalid := x > 0x1p40; invalid != (s.Invalid == 1) {
				t.Errorf("inputs of %v are invalid: %v", x, !invalid)
			}
		}
	}
}

func TestClipBlocks(t *testing.T) {
	net, set, rows := perceptron(t, 6)
	bounds := []float64{0.02, 0.5}
	p := net.NewPass(PassOptions{Workers: 1})
	sum := make([]float32, len(net.params))
	for i := range rows {
		s, err := p.Clipped(set, rows[i:i+1], ClipBlocks(bounds), sum)
		if err != nil || s.Clipped != 1 {
			t.Fatalf("%+v, %v", s, err)
		}
		for b, block := range net.blocks {
			got := norm(sum[block.From:block.To])
			if got > bounds[b]*(1+1e-7) || b == 0 && got < bounds[b]*(1-1e-6) {
				t.Errorf("block %d has norm %v, bound %v", b, got, bounds[b])
			}
		}
	}
	if _, err := p.Clipped(set, rows, Clip(0), sum); err != nil || norm(sum) != 0 {
		t.Errorf("bound 0 gives norm %v, %v", norm(sum), err)
	}
	if _, err := p.Clipped(set, rows, Clip(math.NaN()), sum); err != nil || norm(sum) != 0 {
		t.Errorf("bound NaN gives norm %v, %v", norm(sum), err)
	}
}

// No rows, one row, the same row twice, more rows than a chunk: for any number of
// workers the same but for rounding.
func TestBatches(t *testing.T) {
	net, set, _ := perceptron(t, 10)
	for _, rows := range [][]int{nil, {}, {4}, {4, 4}, {9, 0, 3, 3, 1, 2, 8, 7, 5}} {
		want := make([]float64, len(net.params))
		for _, r := range rows {
			g, err := net.NewPass(PassOptions{}).Explicit(set, []int{r})
			if err != nil {
				t.Fatal(err)
			}
			f := min(1, 0.4/norm(g[0]))
			for j, x := range g[0] {
				want[j] += f * float64(x)
			}
		}
		for _, o := range []PassOptions{{}, {Workers: 1}, {Batch: 1, Workers: 3}, {Batch: 2, Workers: 2}, {Batch: 100, Workers: 20}} {
			sum := make([]float32, len(net.params))
			sum[0] = 7 // is overwritten
			s, err := net.NewPass(o).Clipped(set, rows, Clip(0.4), sum)
			if err != nil || s.Examples != len(rows) || s.Labels != len(rows) {
				t.Fatalf("%v: %+v, %v", rows, s, err)
			}
			for j := range sum {
				if math.Abs(float64(sum[j])-want[j]) > 1e-5 {
					t.Fatalf("rows %v, %+v: sum[%d] = %v, want %v", rows, o, j, sum[j], want[j])
				}
			}
		}
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	for name, spec := range everyLayer() {
		net, err := New(spec)
		if err != nil {
			t.Fatal(err)
		}
		net.Initialize(1)
		set, rows := randomSet(net, &generator{2}, 6)
		p := net.NewPass(PassOptions{Batch: 2, Workers: 1})
		sum := make([]float32, len(net.params))
		scaler := Clip(1)
		if n := testing.AllocsPerRun(10, func() {
			if _, err := p.Clipped(set, rows, scaler, sum); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Gradient(set, rows, sum); err != nil {
				t.Fatal(err)
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// Errors speak of shapes.
func TestMisuse(t *testing.T) {
	net, set, rows := perceptron(t, 3)
	p := net.NewPass(PassOptions{})
	sum := make([]float32, len(net.params))
	other := *set
	other.Width = 3
	fewer := *set
	fewer.Classes = 2
	for name, f := range map[string]func() error{
		"width":     func() error { _, err := p.Gradient(&other, rows, sum); return err },
		"classes":   func() error { _, err := p.Gradient(&fewer, rows, sum); return err },
		"row":       func() error { _, err := p.Gradient(set, []int{3}, sum); return err },
		"negative":  func() error { _, err := p.Gradient(set, []int{-1}, sum); return err },
		"sum":       func() error { _, err := p.Gradient(set, rows, sum[1:]); return err },
		"no scaler": func() error { _, err := p.Clipped(set, rows, nil, sum); return err },
		"losses":    func() error { _, err := p.Losses(set, rows, nil); return err },
		"outputs":   func() error { return p.Outputs(set, rows, nil) },
		"scores":    func() error { return p.Outputs(&other, rows, make([]float32, 9)) },
	} {
		if err := f(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestSpecsAreRefusedWithTheirPlace(t *testing.T) {
	linear := Layer{Type: "linear", Width: 2}
	for want, spec := range map[string]Spec{
		"input":                                     {Layers: []Layer{linear}, Loss: CrossEntropy},
		"shape [0] is empty":                        {Input: []int{0}, Layers: []Layer{linear}, Loss: CrossEntropy},
		"no layer has parameters":                   {Input: []int{2}, Layers: []Layer{{Type: "relu"}}, Loss: CrossEntropy},
		"unknown type \"batchnorm\"":                {Input: []int{2}, Layers: []Layer{linear, {Type: "batchnorm"}}, Loss: CrossEntropy},
		"layer 1 (linear) after shape [2]: width 0": {Input: []int{2}, Layers: []Layer{linear, {Type: "linear"}}, Loss: CrossEntropy},
		"unknown loss":                              {Input: []int{2}, Layers: []Layer{linear}, Loss: "hinge"},
		"at least 2 classes":                        {Input: []int{2}, Layers: []Layer{{Type: "linear", Width: 1}}, Loss: CrossEntropy},
		"3 sizes":                                   {Input: []int{28, 28}, Layers: []Layer{{Type: "conv2d", Width: 2, Kernel: []int{3}}}, Loss: CrossEntropy},
		"kernel [9]":                                {Input: []int{8, 8, 1}, Layers: []Layer{{Type: "conv2d", Width: 2, Kernel: []int{9}}}, Loss: CrossEntropy},
		"kernel [] has neither":                     {Input: []int{8, 8, 1}, Layers: []Layer{{Type: "conv2d", Width: 2}}, Loss: CrossEntropy},
		"padding [2]":                               {Input: []int{8, 8, 1}, Layers: []Layer{{Type: "conv2d", Width: 2, Kernel: []int{2}, Padding: []int{2}}}, Loss: CrossEntropy},
		"no padding":                                {Input: []int{8, 8, 1}, Layers: []Layer{{Type: "maxpool", Kernel: []int{2}, Padding: []int{1}}}, Loss: CrossEntropy},
		"not divisible into 3":                      {Input: []int{4, 4}, Layers: []Layer{{Type: "groupnorm", Groups: 3}}, Loss: CrossEntropy},
		"normalize single":                          {Input: []int{4}, Layers: []Layer{{Type: "groupnorm", Groups: 4}}, Loss: CrossEntropy},
		"divisible into 3 heads":                    {Input: []int{4, 4}, Layers: []Layer{{Type: "attention", Heads: 3}}, Loss: CrossEntropy},
		"0 tokens":                                  {Input: []int{4}, Layers: []Layer{{Type: "embedding", Width: 3}}, Loss: CrossEntropy},
		"positions and channels":                    {Input: []int{4}, Layers: []Layer{{Type: "gru", Width: 3}}, Loss: CrossEntropy},
		"more than":                                 {Input: []int{1 << 20}, Layers: []Layer{{Type: "linear", Width: 1 << 20}}, Loss: CrossEntropy},
	} {
		_, err := New(spec)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", spec, err, want)
		}
	}
}

// A spec survives its file.
func TestSpecAsJSON(t *testing.T) {
	for name, spec := range everyLayer() {
		text, err := json.Marshal(spec)
		if err != nil {
			t.Fatal(err)
		}
		var back Spec
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(back) != fmt.Sprint(spec) {
			t.Errorf("%s: %s came back as %+v", name, text, back)
		}
	}
}

// No spec panics: it is refused, or its network computes.
func FuzzSpec(f *testing.F) {
	for _, spec := range everyLayer() {
		text, err := json.Marshal(spec)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		var spec Spec
		if json.Unmarshal([]byte(text), &spec) != nil || len(spec.Layers) > 10 {
			return
		}
		net, err := New(spec)
		if err != nil {
			return
		}
		work := net.Width()
		for _, l := range net.layers {
			work += size(l.output()) + l.parameters() + l.scratch()
		}
		if work > 1<<16 {
			return
		}
		net.Initialize(1)
		set, rows := randomSet(net, &generator{2}, 2)
		sum := make([]float32, len(net.params))
		if _, err := net.NewPass(PassOptions{Workers: 1}).Clipped(set, rows, Clip(1), sum); err != nil {
			t.Fatal(err)
		}
		if got := norm(sum); !(got <= 2.001) {
			t.Fatalf("two clipped gradients have norm %v", got)
		}
	})
}

func TestOutputs(t *testing.T) {
	net, set, rows := perceptron(t, 7)
	p := net.NewPass(PassOptions{Batch: 2, Workers: 2})
	scores, losses := make([]float32, 7*3), make([]float64, 7)
	if err := p.Outputs(set, rows, scores); err != nil {
		t.Fatal(err)
	}
	s, err := p.Losses(set, rows, losses)
	if err != nil {
		t.Fatal(err)
	}
	total, correct := 0.0, 0
	for i := range rows {
		var sum float64
		best := 0
		for j, v := range scores[3*i:][:3] {
			sum += math.Exp(float64(v))
			if v > scores[3*i+best] {
				best = j
			}
		}
		label := int(set.Labels[i])
		want := math.Log(sum) - float64(scores[3*i+label])
		if math.Abs(losses[i]-want) > 1e-9 {
			t.Errorf("loss %d is %v, want %v", i, losses[i], want)
		}
		total += want
		if best == label {
			correct++
		}
	}
	if math.Abs(s.Loss-total) > 1e-8 || s.Correct != correct || s.Labels != 7 {
		t.Errorf("%+v, want loss %v, %d correct", s, total, correct)
	}
}
