package leakage

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/audit"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/noise"
)

// A Trainer trains a network on some rows of a set and shows what it releases: the
// parameters before the first step, after each step if it shows steps, and at the end.
// What it shows is read before it returns, and never kept.
type Trainer interface {
	Run(ctx context.Context, set *example.Set, rows []int, see func(parameters []float32)) error
}

// TrainerFunc is a Trainer that is a function.
type TrainerFunc func(ctx context.Context, set *example.Set, rows []int, see func(parameters []float32)) error

// Run implements Trainer.
func (f TrainerFunc) Run(ctx context.Context, set *example.Set, rows []int, see func(parameters []float32)) error {
	return f(ctx, set, rows, see)
}

// A View is one way to look at a run: a score for each canary, which is larger for one
// that was in.
type View struct {
	Name   string
	Scores []float64
}

// An Observer looks at the parameters that a run shows.
type Observer interface {
	See(parameters []float32)
	// Views are what it has seen. How many there are must not depend on the run.
	Views() ([]View, error)
}

// A CanaryReport is what one run with canaries proves.
type CanaryReport struct {
	Bound
	View  string  `json:"view"`  // by which most was guessed right
	Views int     `json:"views"` // that were tried; the confidence is of all together
	Steps int     `json:"steps"` // that the trainer showed, the start not counted
	Alone []Bound `json:"each"`  // what each view proves, at the confidence of all together
}

// Refutes is the p-value of the claim that the trainer keeps the trade-off f: each view
// gives one, and the least counts as often as there are views (Bonferroni).
func (r *CanaryReport) Refutes(f audit.TradeOff) float64 {
	least := 1.0
	for i := range r.Alone {
		least = min(least, r.Alone[i].Refutes(f))
	}
	return min(1, least*float64(r.Views))
}

// OneRun audits a trainer in a single run (Steinke, Nasr and Jagielski 2023): of the
// rows of a set, those from first on are canaries, and each is trained on by a fair coin
// of its own; those before are trained on always. An observer who knows the canaries
// guesses each coin from what the trainer shows.
//
// The bound is of the trainer's privacy against the addition of one row. It holds
// however the canaries look, and whether or not their effects mix: canaries that
// interfere make it weaker, never wrong.
func OneRun(ctx context.Context, t Trainer, set *example.Set, first int, o Observer, bits noise.Bits, options GuessOptions) (*CanaryReport, error) {
	n := set.Len() - first
	if t == nil || o == nil || first < 0 || n < 1 {
		return nil, bad("%d canaries", n)
	}
	if bits == nil {
		bits = noise.System()
	}
	in, err := coins(bits, n)
	if err != nil {
		return nil, err
	}
	rows := make([]int, first)
	for i := range rows {
		rows[i] = i
	}
	steps := -1
	if err := t.Run(ctx, set, append(rows, rowsOf(in, first)...), func(p []float32) { steps++; o.See(p) }); err != nil {
		return nil, fmt.Errorf("train with canaries: %w", err)
	}
	views, err := o.Views()
	if err != nil {
		return nil, fmt.Errorf("look at canaries: %w", err)
	}
	if len(views) == 0 {
		return nil, bad("an observer without a view")
	}
	if options.Confidence == 0 {
		options.Confidence = 0.95
	}
	options.Confidence = 1 - (1-options.Confidence)/float64(len(views))
	r := &CanaryReport{Views: len(views), Steps: max(0, steps)}
	for i, v := range views {
		b, err := Guess(v.Scores, in, options)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.Name, err)
		}
		r.Alone = append(r.Alone, *b)
		if i == 0 || b.Correct > r.Correct {
			r.Bound, r.View = *b, v.Name
		}
	}
	return r, nil
}

// Dirac returns n canaries for networks whose first layer is linear over n features and
// whose loss is squared: canary i has the feature i alone, and a target so far off that
// its gradient is nearly all in that feature's weights and always longer than any
// clipping bound. No two move the same weight, so that they don't hide each other: the
// strongest insertion there is against a sum of clipped gradients.
func Dirac(n int) *example.Set {
	s := &example.Set{Width: n, Features: make([]float32, n*n), Outputs: 1, Targets: make([]float32, n)}
	for i := range n {
		s.Features[i*n+i], s.Targets[i] = 1e3, 1e6
	}
	return s
}

// Mislabelled returns n canaries that any network can be given: features drawn evenly between low
// and high, a class drawn evenly. A model can only memorise them: they follow no rule.
func Mislabelled(bits noise.Bits, n, width, classes int, low, high float32) (*example.Set, error) {
	if n < 1 || width < 1 || classes < 2 || !(low <= high) {
		return nil, bad("%d canaries of %d features and %d classes", n, width, classes)
	}
	s := &example.Set{Width: width, Features: make([]float32, n*width), Classes: classes, Outputs: 1, Labels: make([]int32, n)}
	for i := range s.Features {
		w, err := bits.Uint64()
		if err != nil {
			return nil, fmt.Errorf("draw canaries: %w", err)
		}
		s.Features[i] = low + (high-low)*float32(float64(w>>11)/(1<<53))
	}
	for i := range s.Labels {
		w, err := bits.Uint64()
		if err != nil {
			return nil, fmt.Errorf("draw canaries: %w", err)
		}
		s.Labels[i] = int32(w % uint64(classes)) // off even by 2^-60
	}
	return s, nil
}

// A GradientObserver sees the parameters of each step, and looks along each canary's
// own gradient: how far the whole run moved that way in each block of the network, and
// how much its steps differ (noise that is drawn once and used again stays the same, the
// canary's part does not).
type GradientObserver struct {
	// Turn, if set, says at which steps, from 0, a canary is used by a loader that does
	// not draw its batches: one more view of each block, which looks at those alone.
	Turn func(canary, step int) bool

	blocks     []network.Block
	directions [][]direction // of each block and canary
	last       []float32
	drift      [][]float64 // of each block and canary
	low, high  [][]float64 // of the steps along it
	turns      [][]float64 // over its turns
	steps      int
}

// A direction is a vector of length 1, or 0, without its zeros.
type direction struct {
	at []int32
	x  []float64
}

// downhill is where descent along a gradient moves the parameters of a block.
func downhill(gradient []float32, b network.Block) (d direction) {
	length := 0.0
	for _, x := range gradient[b.From:b.To] {
		length += float64(x) * float64(x)
	}
	length = math.Sqrt(length)
	for i := b.From; i < b.To; i++ {
		if gradient[i] != 0 {
			d.at = append(d.at, int32(i))
			d.x = append(d.x, -float64(gradient[i])/length)
		}
	}
	return d
}

// NewGradientObserver computes the canaries' gradients, those of the rows of the set
// from first on, where the network stands now: before training.
func NewGradientObserver(net *network.Network, set *example.Set, first int) (*GradientObserver, error) {
	o := &GradientObserver{blocks: net.Blocks()}
	n := set.Len() - first
	for range o.blocks {
		o.directions = append(o.directions, make([]direction, n))
		o.drift = append(o.drift, make([]float64, n))
		o.low = append(o.low, make([]float64, n))
		o.high = append(o.high, make([]float64, n))
		o.turns = append(o.turns, make([]float64, n))
	}
	pass := net.NewPass(network.PassOptions{Workers: 1})
	for c := range n {
		g, err := pass.Explicit(set, []int{first + c})
		if err != nil {
			return nil, err
		}
		for b, block := range o.blocks {
			o.directions[b][c] = downhill(g[0], block)
		}
	}
	return o, nil
}

// See implements Observer.
func (o *GradientObserver) See(parameters []float32) {
	if o.last == nil {
		o.last = append(o.last, parameters...)
		return
	}
	for b := range o.blocks {
		for c, d := range o.directions[b] {
			along := 0.0
			for k, i := range d.at {
				along += d.x[k] * (float64(parameters[i]) - float64(o.last[i]))
			}
			o.drift[b][c] += along
			if o.Turn != nil && o.Turn(c, o.steps) {
				o.turns[b][c] += along
			}
			if o.steps == 0 {
				o.low[b][c], o.high[b][c] = along, along
			}
			o.low[b][c], o.high[b][c] = min(o.low[b][c], along), max(o.high[b][c], along)
		}
	}
	copy(o.last, parameters)
	o.steps++
}

// Views implements Observer: two of each block, three with Turn.
func (o *GradientObserver) Views() (views []View, err error) {
	for b, block := range o.blocks {
		spread := make([]float64, len(o.drift[b]))
		for c := range spread {
			spread[c] = o.high[b][c] - o.low[b][c]
		}
		views = append(views, View{"drift of " + block.Name, o.drift[b]}, View{"spread of " + block.Name, spread})
		if o.Turn != nil {
			views = append(views, View{"turns of " + block.Name, o.turns[b]})
		}
	}
	return views, nil
}

// A LossObserver sees the last parameters alone, like a person who gets the model: the canaries'
// log-odds, less those at the start.
type LossObserver struct {
	net   *network.Network
	set   *example.Set
	first int
	start []float32
}

// NewLossObserver scores the rows of the set from first on by a network of its own
// with this description.
func NewLossObserver(spec network.Spec, set *example.Set, first int) (*LossObserver, error) {
	net, err := network.New(spec)
	if err != nil {
		return nil, err
	}
	if err := net.Fits(set); err != nil {
		return nil, err
	}
	return &LossObserver{net: net, set: set, first: first}, nil
}

// See implements Observer.
func (o *LossObserver) See(parameters []float32) {
	if o.start == nil {
		o.start = append(o.start, parameters...)
	}
	copy(o.net.Parameters(), parameters)
}

// Views implements Observer: one.
func (o *LossObserver) Views() ([]View, error) {
	var rows []int
	for i := o.first; i < o.set.Len(); i++ {
		rows = append(rows, i)
	}
	scores, before := make([]float64, len(rows)), make([]float64, len(rows))
	if err := NewScorer(o.net, o.set).Scores(context.Background(), rows, scores); err != nil {
		return nil, err
	}
	copy(o.net.Parameters(), o.start)
	if err := NewScorer(o.net, o.set).Scores(context.Background(), rows, before); err != nil {
		return nil, err
	}
	for i := range scores {
		scores[i] -= before[i]
	}
	return []View{{"log-odds", scores}}, nil
}

// Repeat plays a game of independent runs: in each a fair coin says whether the canary
// is in, and play returns the score of what was then released. Runs and audit.PValue
// say what the scores prove. It is for faults that show in one example's effect on the
// whole, which no single run with many canaries isolates.
func Repeat(ctx context.Context, bits noise.Bits, runs int, play func(ctx context.Context, in bool) (float64, error)) (scores []float64, in []bool, err error) {
	if in, err = coins(bits, runs); err != nil {
		return nil, nil, err
	}
	scores = make([]float64, runs)
	for i := range scores {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if scores[i], err = play(ctx, in[i]); err != nil {
			return nil, nil, fmt.Errorf("run %d: %w", i+1, err)
		}
	}
	return scores, in, nil
}
