package leakage

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"
)

func TestLogOdds(t *testing.T) {
	for _, p := range []float64{1e-9, 0.1, 0.5, 0.9, 0.999} {
		if got, want := logOdds(-math.Log(p)), math.Log(p/(1-p)); math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
			t.Errorf("p = %v: %v, want %v", p, got, want)
		}
		if loss := lossOf(logOdds(-math.Log(p))); math.Abs(loss+math.Log(p)) > 1e-9 {
			t.Errorf("p = %v: loss %v", p, loss)
		}
	}
	for _, tc := range []struct{ loss, want float64 }{
		{0, limit}, {-1, limit}, {math.Inf(1), -limit}, {math.NaN(), 0}, {1e-300, limit}, {1000, -limit},
	} {
		if got := logOdds(tc.loss); got != tc.want {
			t.Errorf("loss %v: %v", tc.loss, got)
		}
	}
}

// A world in which the theory of LiRA holds to the letter: an example is as hard as it
// is, a model that saw it is surer by a gain of its own, and models vary.
type world struct{ hard, gain []float64 }

func newWorld(n int, random *rand.Rand) *world {
	w := &world{make([]float64, n), make([]float64, n)}
	for i := range w.hard {
		w.hard[i] = 3 * random.NormFloat64()
		w.gain[i] = 2 + random.Float64()
	}
	return w
}

func (w *world) learner(seed uint64) Learner {
	var models atomic.Uint64
	return LearnerFunc(func(_ context.Context, rows []int) (Scorer, error) {
		random := rand.New(rand.NewPCG(seed, models.Add(1)))
		in := map[int]bool{}
		for _, r := range rows {
			in[r] = true
		}
		return ScorerFunc(func(_ context.Context, rows []int, phi []float64) error {
			for i, r := range rows {
				phi[i] = w.hard[r] + random.NormFloat64()
				if in[r] {
					phi[i] += w.gain[r]
				}
			}
			return nil
		}), nil
	})
}

// The likelihood ratio finds what a threshold on the loss cannot. With 2,000 examples
// and 4 targets rates vary by 0.025 at most from run to run (15 runs): each comparison has 8 of
// these in hand, so that a false alarm has probability below 1e-9.
func TestLiRAFindsMembers(t *testing.T) {
	w := newWorld(2000, rand.New(rand.NewPCG(5, 6)))
	var told atomic.Int64
	g, err := Play(t.Context(), w.learner(1), w.learner(2), GameOptions{Examples: 2000, Shadows: 16, Targets: 4, Progress: func(int) { told.Add(1) }})
	if err != nil {
		t.Fatal(err)
	}
	if told.Load() != 20 {
		t.Errorf("told of %d models", told.Load())
	}
	tpr := map[string]float64{}
	for _, attack := range Attacks {
		r, err := g.ROC(attack)
		if err != nil {
			t.Fatal(err)
		}
		report, err := r.Report(attack, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		tpr[attack] = report.Rates[1].TPR
		t.Logf("%-13s TPR %.3f at FPR 1 %%, %.3f at 0.1 %%, AUC %.3f", attack, report.Rates[1].TPR, report.Rates[0].TPR, report.AUC)
		low, mean, high, err := g.Spread(attack, 0.01)
		if err != nil || low > mean || mean > high || math.Abs(mean-tpr[attack]) > 0.1 {
			t.Errorf("%s: spread %v %v %v, %v", attack, low, mean, high, err)
		}
	}
	// Two Gaussians 2.5 apart, their means known to a quarter: the best attack has 0.55.
	if !(tpr["lira-online"] > 0.3 && tpr["lira-offline"] > 0.3 && tpr["loss"] < 0.15 && tpr["calibrated"] < tpr["lira-online"]) {
		t.Errorf("true positive rates at 1 %%: %v", tpr)
	}
	b, err := g.OneRun("lira-online", 0, GuessOptions{})
	if err != nil || b.Epsilon < 1 {
		t.Errorf("one run: %+v, %v", b, err)
	}
}

// Where membership does nothing, no attack finds it. Each of four rates is that of
// 4,000 members above a threshold that 1 % of 4,000 others exceed: 0.03 is more than 8
// standard errors away.
func TestNoLeakIsFoundWhereNoneIs(t *testing.T) {
	w := newWorld(2000, rand.New(rand.NewPCG(7, 8)))
	clear(w.gain)
	g, err := Play(t.Context(), w.learner(3), w.learner(4), GameOptions{Examples: 2000, Shadows: 8, Targets: 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, attack := range Attacks {
		r, err := g.ROC(attack)
		if err != nil {
			t.Fatal(err)
		}
		if rate, err := r.At(0.01, 0.95); err != nil || rate.TPR > 0.03 {
			t.Errorf("%s: %+v, %v", attack, rate, err)
		}
		b, err := g.OneRun(attack, 0, GuessOptions{Confidence: 1 - 1e-10})
		if err != nil || b.Epsilon > 0 || b.Mu > 0 {
			t.Errorf("%s: one run proves %+v, %v", attack, b, err)
		}
	}
}

// With enough shadows each example has a variance of its own.
func TestVarianceOfOneExample(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for _, models := range []int{20, 200} {
		s := &Shadows{}
		for k := range models {
			s.In = append(s.In, []bool{k%2 == 0, k%2 == 1})
			s.Phi = append(s.Phi, []float64{0.1 * random.NormFloat64(), 10 * random.NormFloat64()})
		}
		f, err := s.fit(true, 2)
		if err != nil {
			t.Fatal(err)
		}
		if own := f.variance[0] < 1 && f.variance[1] > 10; own != (models == 200) {
			t.Errorf("%d models: variances %v", models, f.variance)
		}
	}
}

func TestShadowsRefuse(t *testing.T) {
	s := &Shadows{In: [][]bool{{true}}, Phi: [][]float64{{1}}}
	for _, attack := range append(Attacks[1:], "none") {
		if _, err := s.Scores(attack, []float64{1}); !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v", attack, err)
		}
	}
	failure := errors.New("no model")
	bad := LearnerFunc(func(context.Context, []int) (Scorer, error) { return nil, failure })
	if _, err := Train(t.Context(), bad, GameOptions{Examples: 10, Shadows: 4}); !errors.Is(err, failure) {
		t.Errorf("a learner that fails: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Train(ctx, bad, GameOptions{Examples: 10, Shadows: 4}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := Play(t.Context(), bad, bad, GameOptions{Examples: 10, Shadows: 4}); !errors.Is(err, ErrParameter) {
		t.Errorf("no targets: %v", err)
	}
}
