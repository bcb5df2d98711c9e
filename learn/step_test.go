package learn

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/internal/gaussian"
	"github.com/discreet-dp/discreet/learn/internal/normal"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

var errBroken = errors.New("no randomness")

// circles is a task that no line solves: is a point within the circle? It protects
// nobody, so any generator will do.
func circles(n int, seed uint64) *example.Set {
	s := &example.Set{Width: 2, Classes: 2, Outputs: 1}
	next := func() float32 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return float32(seed>>40)/(1<<23) - 1
	}
	for range n {
		x, y := next(), next()
		s.Features = append(s.Features, x, y)
		label := int32(0)
		if x*x+y*y < 2/math.Pi {
			label = 1
		}
		s.Labels = append(s.Labels, label)
	}
	return s
}

func mlp(width int) network.Spec {
	return network.Spec{Input: []int{2}, Layers: []network.Layer{{Type: "linear", Width: width}, {Type: "relu"}, {Type: "linear", Width: 2}}, Loss: network.CrossEntropy}
}

// small is a plan for sets of 1000.
func small() Plan {
	return Plan{
		Population: Population{Units: 1000, Basis: Public}, Batch: 100, Steps: 10,
		Clip: Clip{Norm: 1}, Noise: Noise{Multiplier: 1}, Optimizer: optimizer.Spec{Rate: 0.5},
		Delta: must(privacy.ParseDelta("1e-5")),
	}
}

func makeTrainer(t testing.TB, p Plan, set *example.Set, spec network.Spec) *trainer {
	t.Helper()
	net, err := network.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	net.Initialize(1)
	tr, err := newTrainer(p, set, net, 2)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// A witness records what passes between the stages of a step.
type witness struct {
	rows          []int
	clipped       []float32 // before the noise
	noisy         []float32
	sigma, clip   float64
	count, csigma float64 // of Adaptive
}

func (t *trainer) watch(w *witness) {
	inner := t.stages
	t.stages.load = func(rows []int, weights []float64) ([]int, []float64, error) {
		rows, weights, err := inner.load(rows, weights)
		w.rows = slices.Clone(rows)
		return rows, weights, err
	}
	t.stages.add = func(rows []int, clip float64, sum []float32) (network.Statistics, error) {
		w.clip = clip
		return inner.add(rows, clip, sum)
	}
	t.stages.blur = func(sum []float32, sigma float64) error {
		if len(sum) == 1 {
			w.count, w.csigma = float64(sum[0]), sigma
			return inner.blur(sum, sigma)
		}
		w.clipped, w.sigma = slices.Clone(sum), sigma
		err := inner.blur(sum, sigma)
		w.noisy = slices.Clone(sum)
		return err
	}
}

func norm(v []float32) float64 {
	s := 0.0
	for _, x := range v {
		s += float64(x) * float64(x)
	}
	return math.Sqrt(s)
}

// What a step is, in one: parameters move by the noisy sum over the expected batch;
// noise is on every number, with the deviation that the clip and the multiplier make;
// every example of the sample is in, clipped.
func TestStep(t *testing.T) {
	p := small()
	p.Clip.Schedule, p.Noise.Schedule = stairs(2, 0.5), stairs(5, 0.5)
	set := circles(1000, 1)
	tr := makeTrainer(t, p, set, mlp(16))
	var w witness
	tr.watch(&w)
	bare := map[int]int{} // how often a number had no noise
	for step := range p.Steps {
		before := slices.Clone(tr.net.Parameters())
		want := make([]float32, len(before))
		if _, err := tr.step(); err != nil {
			t.Fatal(err)
		}
		after := tr.net.Parameters()
		clip := math.Pow(0.5, float64(step/2))
		z := math.Pow(0.5, float64(step/5))
		if w.clip != clip || w.sigma < z*clip || w.sigma > z*clip*1.02 {
			t.Errorf("step %d: clip %v, sigma %v", step, w.clip, w.sigma)
		}
		still := 0
		for i := range after {
			// The denominator is the expected batch, 100, whatever the sample's size.
			want[i] = float32(float64(before[i]) - 0.5*(float64(w.noisy[i])/100))
			if after[i] != want[i] {
				t.Fatalf("step %d: parameter %d is %v, not %v", step, i, after[i], want[i])
			}
			if w.noisy[i] == w.clipped[i] {
				bare[i]++
				still++
			}
		}
		if still > 3 { // a draw is 0 once in 2.6 million times, and four of a step's with odds below 1e-18
			t.Errorf("step %d: %d numbers have no noise", step, still)
		}
		// The sum is the reference's: gradients one by one, each clipped.
		copy(tr.net.Parameters(), before)
		sum := make([]float64, len(before))
		for _, g := range must(tr.pass.Explicit(set, w.rows)) {
			f := min(1, clip/norm(g))
			for i, x := range g {
				sum[i] += f * float64(x)
			}
		}
		copy(tr.net.Parameters(), after)
		for i, x := range sum {
			if math.Abs(x-float64(w.clipped[i])) > 1e-4*clip {
				t.Fatalf("step %d: the sum has %v at %d, the reference %v", step, w.clipped[i], i, x)
			}
		}
	}
	for i, n := range bare { // three draws of a number's ten are 0 with odds of 1e-17
		if n > 2 {
			t.Errorf("number %d has no noise in %d steps", i, n)
		}
	}
	if _, err := tr.step(); err != nil || tr.done != 11 {
		t.Log("beyond the plan: the run, not the trainer, counts") // see TestRunEnds
	}
}

// Noise has the deviation it was asked for, in every block, and is new in every step.
// The mean square of n = 5·98·100 draws is off by more than 5 % with probability below
// 2exp(-n·0.05²/8)... of n = 98,000: 2exp(-30) < 1e-12; correlations likewise.
func TestNoise(t *testing.T) {
	for _, sampler := range []Sampler{Fast, Exact} {
		p := small()
		p.Noise.Sampler, p.Noise.Multiplier, p.Steps = sampler, 2, 2000
		set := circles(1000, 1)
		tr := makeTrainer(t, p, set, mlp(64))
		tr.stages.load = func(rows []int, weights []float64) ([]int, []float64, error) { return rows, weights, nil } // nobody: noise alone
		var w witness
		tr.watch(&w)
		squares, n := map[string]float64{}, map[string]int{}
		var cross float64
		var last []float32
		for range 300 {
			if _, err := tr.step(); err != nil {
				t.Fatal(err)
			}
			for _, b := range tr.net.Blocks() {
				for _, x := range w.noisy[b.From:b.To] {
					squares[b.Name] += float64(x) * float64(x)
					n[b.Name]++
				}
			}
			for i, x := range last {
				cross += float64(x) * float64(w.noisy[i])
			}
			last = slices.Clone(w.noisy)
		}
		if w.sigma < 2 || w.sigma > 2.01*(1+tr.allowance.part) {
			t.Errorf("%s: sigma %v for multiplier 2 at clip 1", sampler, w.sigma)
		}
		total := 0
		for name, s := range squares {
			total += n[name]
			// Sums of squares of normals: the same bound as for 5 % above, for each block.
			if v, tolerance := s/float64(n[name])/(w.sigma*w.sigma), math.Sqrt(8*28/float64(n[name])); math.Abs(v-1) > tolerance {
				t.Errorf("%s, block %s: the noise has %v of its variance (±%.2g)", sampler, name, v, tolerance)
			}
		}
		if c, tolerance := cross/float64(total)/(w.sigma*w.sigma), math.Sqrt(8*28/float64(total)); math.Abs(c) > tolerance {
			t.Errorf("%s: noise of successive steps has correlation %v", sampler, c)
		}
	}
}

// An empty sample is a step of noise alone.
func TestEmptyBatch(t *testing.T) {
	p := small()
	p.Population.Units, p.Batch = 1_000_000_000, 1 // of which the set has 20: samples are empty
	set := circles(20, 1)
	for _, mode := range []ClipMode{Flat, PerLayer, Adaptive} {
		p.Clip.Mode = mode
		if p.Clip.Quantile = 0; mode == Adaptive {
			p.Clip.Quantile, p.Clip.CountNoise = 0.5, 1
		}
		tr := makeTrainer(t, p, set, mlp(4))
		var w witness
		tr.watch(&w)
		before := slices.Clone(tr.net.Parameters())
		f, err := tr.step()
		if err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		if len(w.rows) != 0 || norm(w.clipped) != 0 || f.Examples != 0 {
			t.Errorf("%s: an empty batch has %d rows, norm %v", mode, len(w.rows), norm(w.clipped))
		}
		for i, x := range tr.net.Parameters() {
			if x == before[i] {
				t.Errorf("%s: parameter %d has not moved", mode, i)
			}
		}
	}
	// So is a set of nobody.
	tr := makeTrainer(t, small(), &example.Set{Width: 2, Classes: 2, Outputs: 1}, mlp(4))
	if _, err := tr.step(); err != nil {
		t.Error(err)
	}
}

// hostile is a set of which some examples are huge, infinite or not a number.
func hostile(t *rapid.T) *example.Set {
	n := rapid.SampledFrom([]int{0, 1, 4, 8, 12}).Draw(t, "examples")
	s := &example.Set{Width: 2, Classes: 2, Outputs: 1}
	value := rapid.Float32Range(-4, 4)
	odd := rapid.SampledFrom([]float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, -1e30, 1e-40})
	for range n {
		for range 2 {
			if rapid.IntRange(0, 19).Draw(t, "odd") == 19 {
				s.Features = append(s.Features, odd.Draw(t, "value"))
			} else {
				s.Features = append(s.Features, value.Draw(t, "value"))
			}
		}
		s.Labels = append(s.Labels, rapid.SampledFrom([]int32{0, 0, 0, 1, 1, 1, -1}).Draw(t, "label"))
	}
	return s
}

// Whatever the data, one unit more moves the sum, in units of what the noise is made
// for, by at most 1: flat, per layer and adaptive, with units of several examples, in
// chunks of any size, with samples that are summed at once or singly.
func TestSensitivity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := hostile(t)
		p := small()
		p.Population.Units, p.Batch = int64(max(set.Len(), 1)), int64(max(set.Len(), 1)) // everybody is in
		p.Physical = rapid.IntRange(1, 5).Draw(t, "physical")
		p.Clip.Norm = rapid.SampledFrom([]float64{1e-3, 1e-4, 0.1, 100}).Draw(t, "clip")
		p.Clip.Mode = rapid.SampledFrom([]ClipMode{Flat, PerLayer, Adaptive}).Draw(t, "mode")
		if p.Clip.Mode == Adaptive {
			p.Clip.Quantile, p.Clip.CountNoise = 0.5, 2
		}
		if set.Len() > 0 && rapid.Bool().Draw(t, "units") {
			p.Units = Units{Bounded, rapid.IntRange(1, 3).Draw(t, "k")}
			size := rapid.IntRange(1, 4).Draw(t, "size")
			for i := range set.Len() {
				set.Units = append(set.Units, int32(i/size))
			}
		}
		spec := mlp(3)
		net := must(network.New(spec))
		net.Initialize(rapid.Uint64().Draw(t, "seed"))
		tr, err := newTrainer(p, set, net, rapid.IntRange(1, 3).Draw(t, "workers"))
		if err != nil {
			t.Fatal(err)
		}
		tr.allowance.most = rapid.SampledFrom([]int{tr.allowance.most, 1 + set.Len()/2, 1}).Draw(t, "most")
		tr.allowance.fast = rapid.SampledFrom([]int{tr.allowance.most, 0}).Draw(t, "fast")
		rows, weights, err := tr.stages.load(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) == 0 {
			return
		}
		// The unit that is left out: rows of a unit lie together.
		units := set.Units
		if units == nil {
			units = make([]int32, set.Len())
			for i := range units {
				units[i] = int32(i)
			}
		}
		gone := units[rows[rapid.IntRange(0, len(rows)-1).Draw(t, "gone")]]
		var others []int
		var rest []float64
		for i, r := range rows {
			if units[r] != gone {
				others, rest = append(others, r), append(rest, weights[i])
			}
		}
		z := 1.0
		count := func(rows []int, weights []float64) (sum []float32, number float64) {
			sum = make([]float32, len(net.Parameters()))
			tr.weights, tr.below = weights, make([]bool, len(rows))
			if _, err := tr.addClipped(rows, p.Clip.Norm, sum); err != nil {
				t.Fatal(err)
			}
			for i, w := range weights {
				if tr.below[i] {
					number += w / 2
				} else {
					number -= w / 2
				}
			}
			return sum, number
		}
		with, a := count(rows, weights)
		without, b := count(others, rest)
		for i := range with {
			if math.IsNaN(float64(with[i])) || math.IsInf(float64(with[i]), 0) {
				t.Fatalf("the sum has %v", with[i])
			}
			with[i] -= without[i]
		}
		zd := z
		moved := 0.0
		if p.Clip.Mode == Adaptive {
			zd = must(p.gradientNoise(z))
			if math.Abs(a-b) > 0.5+1e-9 {
				t.Errorf("a unit moves the count by %v", a-b)
			}
			m := math.Abs(a-b) / must(tr.allowance.countDeviation(p.countNoise()))
			moved = m * m
		}
		sigma := must(tr.allowance.deviation(zd, p.Clip.Norm, len(with)))
		m := norm(with) / sigma
		if moved = math.Sqrt(moved + m*m); moved*z > 1 {
			t.Errorf("a unit moves the step by %v of what its noise is made for", moved)
		}
		if got := norm(with); got > p.Clip.Norm*(1+tr.allowance.part) {
			t.Errorf("a unit moves the sum by %v, clipped at %v", got, p.Clip.Norm)
		}
	})
}

// Sums in chunks of any size, on any number of workers, and singly, are the same up to
// rounding; noise is added after them, once.
func TestAccumulation(t *testing.T) {
	set := circles(500, 3)
	rows := make([]int, 500)
	for i := range rows {
		rows[i] = i
	}
	var reference []float32
	for _, physical := range []int{1, 7, 64, 500, 0} {
		p := small()
		p.Physical = physical
		tr := makeTrainer(t, p, set, mlp(16))
		for _, most := range []int{10_000, 250} {
			tr.allowance.most, tr.allowance.fast = most, most
			sum := make([]float32, len(tr.sum))
			if _, err := tr.addClipped(rows, 1, sum); err != nil {
				t.Fatal(err)
			}
			if reference == nil {
				reference = sum
			}
			for i, x := range sum {
				if math.Abs(float64(x-reference[i])) > 500*1e-6 {
					t.Fatalf("%d at a time, singly above %d: %v is %v", physical, most, x, reference[i])
				}
			}
		}
		blurs := 0
		blur := tr.stages.blur
		tr.stages.blur = func(v []float32, sigma float64) error { blurs++; return blur(v, sigma) }
		tr.allowance.most, tr.allowance.fast = 10_000, 10_000
		if _, err := tr.step(); err != nil || blurs != 1 {
			t.Errorf("%d at a time: noise was added %d times, %v", physical, blurs, err)
		}
	}
}

// A population far larger than the plan says is no error, which would show its size, and
// one example more moves the sum and the count by what it may: on both sides of 4·most
// examples, and on the ball where sums end.
func TestUnderstatedPopulation(t *testing.T) {
	const same, most = 60, 10
	set := circles(1, 3)
	for range same {
		set.Features, set.Labels = append(set.Features, set.Features[:2]...), append(set.Labels, set.Labels[0])
	}
	p := small()
	p.Clip = Clip{Mode: Adaptive, Norm: 1e-3, Quantile: 0.5, CountNoise: 2}
	tr := makeTrainer(t, p, set, mlp(4))
	tr.allowance.most, tr.allowance.fast = most, most
	var blurred []float64 // the sum's norm and the count, before the noise
	tr.stages.blur = func(v []float32, _ float64) error {
		if len(v) == 1 {
			blurred = append(blurred, float64(v[0]))
		}
		return nil
	}
	var last []float32
	for n := range same + 1 {
		rows, sum := make([]int, n), make([]float32, len(tr.sum))
		for i := range rows {
			rows[i] = i
		}
		tr.weights, tr.below = slices.Repeat([]float64{1}, n), make([]bool, n)
		if _, err := tr.addClipped(rows, p.Clip.Norm, sum); err != nil {
			t.Fatalf("%d examples: %v", n, err)
		}
		if _, err := tr.follow(p.Clip.Norm); err != nil {
			t.Fatal(err)
		}
		length, moved := 0.0, 0.0
		for i, x := range sum {
			length += float64(x) * float64(x)
			if last != nil {
				moved += math.Pow(float64(x)-float64(last[i]), 2)
			}
		}
		// All examples point in one direction, and are longer than the clip.
		if want := p.Clip.Norm * float64(min(n, 4*most)); math.Abs(math.Sqrt(length)-want) > 1e-4*want {
			t.Errorf("%d examples: a sum of norm %v, want %v", n, math.Sqrt(length), want)
		}
		if math.Sqrt(moved) > p.Clip.Norm*1.0001 {
			t.Errorf("example %d moves the sum by %v", n, math.Sqrt(moved))
		}
		if want := -float64(min(n, 4*most)) / 2; blurred[n] != want {
			t.Errorf("%d examples: the count is %v, want %v", n, blurred[n], want)
		}
		last = sum
	}
}

// An example's part is the same bits whoever else is in the step: the bounds of
// noise.go rest on it.
func TestExampleIsIndependentOfItsBatch(t *testing.T) {
	images := &example.Set{Width: 64, Classes: 2, Outputs: 1}
	points := circles(100*32, 5)
	images.Features, images.Labels = points.Features, points.Labels[:100]
	for name, c := range map[string]struct {
		set  *example.Set
		spec network.Spec
	}{
		"mlp": {circles(100, 5), mlp(33)},
		"cnn": {images, network.Spec{Input: []int{8, 8, 1}, Layers: []network.Layer{
			{Type: "conv2d", Width: 5, Kernel: []int{3, 3}, Padding: []int{1, 1}}, {Type: "tanh"}, {Type: "maxpool", Kernel: []int{2, 2}},
			{Type: "conv2d", Width: 7, Kernel: []int{2, 2}}, {Type: "relu"}, {Type: "flatten"}, {Type: "linear", Width: 2},
		}, Loss: network.CrossEntropy}},
	} {
		t.Run(name, func(t *testing.T) { independent(t, c.set, c.spec) })
	}
}

func independent(t *testing.T, set *example.Set, spec network.Spec) {
	p := small()
	p.Physical = 16
	tr := makeTrainer(t, p, set, spec)
	rows := make([]int, set.Len())
	for i := range rows {
		rows[i] = i
	}
	scores, alone := make([]float32, 2*len(rows)), make([]float32, 2)
	if err := tr.pass.Outputs(set, rows, scores); err != nil {
		t.Fatal(err)
	}
	// All but one example scaled to nothing.
	keep := func(at int) network.Scaler {
		return func(j int, squared, factors []float64) {
			network.Clip(0.01)(j, squared, factors)
			if j != at {
				clear(factors)
			}
		}
	}
	one, among := make([]float32, len(tr.sum)), make([]float32, len(tr.sum))
	for i := range rows {
		if err := tr.pass.Outputs(set, rows[i:i+1], alone); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(alone, scores[2*i:2*i+2]) {
			t.Fatalf("example %d has scores %v, and %v among others", i, alone, scores[2*i:2*i+2])
		}
		if i%7 != 0 {
			continue
		}
		if _, err := tr.pass.Clipped(set, rows[i:i+1], keep(0), one); err != nil {
			t.Fatal(err)
		}
		if _, err := tr.pass.Clipped(set, rows, keep(i), among); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(one, among) {
			t.Errorf("example %d adds something else among others", i)
		}
	}
}

// Adaptive clipping finds the quantile of the norms.
func TestAdaptiveClipFollows(t *testing.T) {
	p := small()
	p.Steps, p.Batch = 300, 500
	p.Clip = Clip{Mode: Adaptive, Norm: 50, Quantile: 0.7, CountNoise: 10}
	p.Optimizer.Rate = 1e-9 // norms stay
	set := circles(1000, 1)
	tr := makeTrainer(t, p, set, mlp(16))
	norms := []float64{}
	rows := make([]int, 1000)
	for i := range rows {
		rows[i] = i
	}
	for _, g := range must(tr.pass.Explicit(set, rows)) {
		norms = append(norms, norm(g))
	}
	slices.Sort(norms)
	for range p.Steps {
		if _, err := tr.step(); err != nil {
			t.Fatal(err)
		}
	}
	if tr.clip < norms[550] || tr.clip > norms[850] {
		t.Errorf("the clip is %v; the norms' quantiles at 0.55 and 0.85 are %v and %v", tr.clip, norms[550], norms[850])
	}
}

// A step whose randomness fails changes nothing.
func TestStepFailsClosed(t *testing.T) {
	for _, fault := range []func(*trainer){
		func(tr *trainer) {
			tr.stages.load = must(newLoader(tr.set, tr.plan, broken{})).load
		},
		func(tr *trainer) { tr.stages.blur = gaussian.New(noReader{}, 1).Add },
		func(tr *trainer) {
			tr.stages.blur = normal.New(func() noise.Bits { return broken{} }, 1).Add
		},
	} {
		tr := makeTrainer(t, small(), circles(1000, 1), mlp(4))
		before := slices.Clone(tr.net.Parameters())
		fault(tr)
		if _, err := tr.step(); !errors.Is(err, errBroken) {
			t.Error(err)
		}
		if !slices.Equal(before, tr.net.Parameters()) || tr.done != 0 || norm(tr.sum) != 0 {
			t.Error("a step without randomness left something")
		}
	}
}

type noReader struct{}

func (noReader) Read([]byte) (int, error) { return 0, errBroken }
