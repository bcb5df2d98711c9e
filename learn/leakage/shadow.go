package leakage

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/discreet-dp/discreet/noise"
)

// A Learner trains a model on some rows of data that it knows. It is called from several goroutines
// at once. A seed of its own must not depend on who is in.
type Learner interface {
	Train(ctx context.Context, rows []int) (Scorer, error)
}

// A Scorer says how sure a model is of examples.
type Scorer interface {
	// Scores writes the log-odds of each row's own label (LogOdds of its loss).
	Scores(ctx context.Context, rows []int, phi []float64) error
}

// LearnerFunc is a Learner that is a function.
type LearnerFunc func(ctx context.Context, rows []int) (Scorer, error)

// Train implements Learner.
func (f LearnerFunc) Train(ctx context.Context, rows []int) (Scorer, error) { return f(ctx, rows) }

// ScorerFunc is a Scorer that is a function.
type ScorerFunc func(ctx context.Context, rows []int, phi []float64) error

// Scores implements Scorer.
func (f ScorerFunc) Scores(ctx context.Context, rows []int, phi []float64) error {
	return f(ctx, rows, phi)
}

// GameOptions say how membership is played.
type GameOptions struct {
	Examples int // the rows 0 to Examples−1; each is in a model's training set by a fair coin
	Shadows  int // models that the attacker trains, on any learner; 4 or more
	Targets  int // models under attack, 1 or more
	Workers  int // models trained at once; 0: one a processor
	// Bits are what decides who is in; nil: the system's.
	Bits     noise.Bits
	Progress func(models int) // told how many models are trained
}

// A Game is the membership game played out.
type Game struct {
	Shadows Shadows
	Targets Shadows // what they say of each example, and who was in
}

// Play trains the targets by one learner and the shadows by another, which may be the
// same: the attacker does as the owner did, on data from where the owner's came.
func Play(ctx context.Context, target, shadow Learner, o GameOptions) (*Game, error) {
	if target == nil || shadow == nil || o.Examples < 2 || o.Shadows < 4 || o.Targets < 1 {
		return nil, bad("%d examples, %d shadows, %d targets", o.Examples, o.Shadows, o.Targets)
	}
	if o.Bits == nil {
		o.Bits = noise.System()
	}
	var learners []Learner
	for range o.Targets {
		learners = append(learners, target)
	}
	for range o.Shadows {
		learners = append(learners, shadow)
	}
	all, err := trainAll(ctx, learners, o)
	if err != nil {
		return nil, err
	}
	return &Game{
		Targets: Shadows{all.In[:o.Targets], all.Phi[:o.Targets]},
		Shadows: Shadows{all.In[o.Targets:], all.Phi[o.Targets:]},
	}, nil
}

// Train trains shadow models alone, for a target that exists: Targets means nothing.
func Train(ctx context.Context, shadow Learner, o GameOptions) (*Shadows, error) {
	if shadow == nil || o.Examples < 2 || o.Shadows < 4 {
		return nil, bad("%d examples, %d shadows", o.Examples, o.Shadows)
	}
	if o.Bits == nil {
		o.Bits = noise.System()
	}
	learners := make([]Learner, o.Shadows)
	for i := range learners {
		learners[i] = shadow
	}
	return trainAll(ctx, learners, o)
}

func trainAll(ctx context.Context, learners []Learner, o GameOptions) (*Shadows, error) {
	s := &Shadows{make([][]bool, len(learners)), make([][]float64, len(learners))}
	every := make([]int, o.Examples)
	for i := range every {
		every[i] = i
	}
	for k := range learners {
		var err error
		if s.In[k], err = coins(o.Bits, o.Examples); err != nil {
			return nil, err
		}
		s.Phi[k] = make([]float64, o.Examples)
	}
	workers := o.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var group sync.WaitGroup
	var mu sync.Mutex
	trained := 0
	for range min(workers, len(learners)) {
		group.Go(func() {
			for k := range next {
				m, err := learners[k].Train(ctx, rowsOf(s.In[k], 0))
				if err == nil {
					err = m.Scores(ctx, every, s.Phi[k])
				}
				if err != nil {
					cancel(fmt.Errorf("train model %d of %d: %w", k+1, len(learners), err))
					continue
				}
				mu.Lock()
				trained++
				if o.Progress != nil {
					o.Progress(trained)
				}
				mu.Unlock()
			}
		})
	}
	for k := range learners {
		select {
		case next <- k:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	group.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return s, nil
}

// Attacks are the names of what Scores can do, the cheapest first.
var Attacks = []string{"loss", "calibrated", "lira-offline", "lira-online"}

// Scores runs an attack on what a target says of all examples.
func (s *Shadows) Scores(attack string, phi []float64) ([]float64, error) {
	switch attack {
	case "loss": // Yeom et al. 2018: φ falls with the loss, so that a threshold is one on both
		return phi, nil
	case "calibrated":
		return s.Calibrated(phi)
	case "lira-offline":
		return s.Offline(phi)
	case "lira-online":
		return s.Online(phi)
	}
	return nil, bad("there is no attack %q", attack)
}

// ROC pools an attack's scores over all targets.
func (g *Game) ROC(attack string) (*ROC, error) {
	var scores []float64
	var member []bool
	for k, phi := range g.Targets.Phi {
		s, err := g.Shadows.Scores(attack, phi)
		if err != nil {
			return nil, err
		}
		scores = append(scores, s...)
		member = append(member, g.Targets.In[k]...)
	}
	return NewROC(scores, member)
}

// Spread is the least, the mean and the greatest true positive rate at a false
// positive rate over the targets, each with a threshold of its own.
func (g *Game) Spread(attack string, fpr float64) (low, mean, high float64, err error) {
	low = 1
	for k, phi := range g.Targets.Phi {
		s, err := g.Shadows.Scores(attack, phi)
		if err != nil {
			return 0, 0, 0, err
		}
		r, err := NewROC(s, g.Targets.In[k])
		if err != nil {
			return 0, 0, 0, err
		}
		rate, err := r.At(fpr, 0.95)
		if err != nil {
			return 0, 0, 0, err
		}
		low, mean, high = min(low, rate.TPR), mean+rate.TPR/float64(len(g.Targets.Phi)), max(high, rate.TPR)
	}
	return low, mean, high, nil
}

// OneRun is what one target proves of μ and ε: its members were drawn by fair coins,
// each its own, so that it is a one-run audit with the examples as canaries.
func (g *Game) OneRun(attack string, target int, o GuessOptions) (*Bound, error) {
	if target < 0 || target >= len(g.Targets.Phi) {
		return nil, bad("target %d of %d", target, len(g.Targets.Phi))
	}
	s, err := g.Shadows.Scores(attack, g.Targets.Phi[target])
	if err != nil {
		return nil, err
	}
	return Guess(s, g.Targets.In[target], o)
}
