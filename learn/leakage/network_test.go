package leakage

import (
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/noise"
)

// A scorer's log-odds are those of the loss, and where that has lost them to rounding,
// those of the scores.
func TestScorerAgreesWithLosses(t *testing.T) {
	set, err := Mislabelled(noise.System(), 200, 5, 3, -1, 1)
	if err != nil {
		t.Fatal(err)
	}
	net, err := network.New(network.Spec{Input: []int{5}, Layers: []network.Layer{{Type: "linear", Width: 3}}, Loss: network.CrossEntropy})
	if err != nil {
		t.Fatal(err)
	}
	net.Initialize(7)
	rows := make([]int, 200)
	for i := range rows {
		rows[i] = 199 - i
	}
	phi, losses := make([]float64, 200), make([]float64, 200)
	if err := NewScorer(net, set).Scores(t.Context(), rows, phi); err != nil {
		t.Fatal(err)
	}
	if _, err := net.NewPass(network.PassOptions{}).Losses(set, rows, losses); err != nil {
		t.Fatal(err)
	}
	for i := range phi {
		if math.Abs(phi[i]-logOdds(losses[i])) > 1e-4 {
			t.Fatalf("example %d: %v, by the loss %v", rows[i], phi[i], logOdds(losses[i]))
		}
	}
	if a, b := margin([]float32{0, 40}, 1), margin([]float32{0, 30}, 1); !(a > b) {
		t.Errorf("margins %v and %v: sure and surer look the same", a, b)
	}
	nan := float32(math.NaN())
	if margin([]float32{nan, 1}, 1) != 0 || margin([]float32{1, 1}, -1) != 0 {
		t.Error("what says nothing must be 0")
	}
}

// Networks that learned by heart are found out: all there is to learn of these examples
// is themselves. With 600 examples a target, an AUC of 0.7 is 8 standard errors from
// chance, and as many from the 0.93 that is seen.
func TestAnOverfittedNetworkLeaks(t *testing.T) {
	set, err := Mislabelled(noise.System(), 600, 60, 2, -1, 1)
	if err != nil {
		t.Fatal(err)
	}
	learner := &Plain{
		Spec: network.Spec{Input: []int{60}, Layers: []network.Layer{{Type: "linear", Width: 32}, {Type: "relu"}, {Type: "linear", Width: 2}}, Loss: network.CrossEntropy},
		Set:  set, Optimizer: optimizer.Spec{Kind: optimizer.Adam, Rate: 0.01}, Batch: 32, Epochs: 30,
	}
	g, err := Play(t.Context(), learner, learner, GameOptions{Examples: 600, Shadows: 8, Targets: 2})
	if err != nil {
		t.Fatal(err)
	}
	r, err := g.ROC("lira-online")
	if err != nil {
		t.Fatal(err)
	}
	if a := r.AUC(); a < 0.7 {
		t.Errorf("AUC %v", a)
	}
	b, err := g.OneRun("lira-online", 0, GuessOptions{Guesses: 100})
	if err != nil || b.Epsilon < 0.5 {
		t.Errorf("one run proves %+v, %v", b, err)
	}
}

// What is given away by the last model alone, by canaries that any network takes.
func TestMislabelledCanariesInAPlainTrainer(t *testing.T) {
	spec := network.Spec{Input: []int{100}, Layers: []network.Layer{{Type: "linear", Width: 4}}, Loss: network.CrossEntropy}
	set, err := Mislabelled(noise.System(), 100, 100, 4, -1, 1)
	if err != nil {
		t.Fatal(err)
	}
	o, err := NewLossObserver(spec, set, 0)
	if err != nil {
		t.Fatal(err)
	}
	trainer := &Plain{Spec: spec, Set: set, Optimizer: optimizer.Spec{Rate: 1}, Batch: 10, Epochs: 60}
	r, err := OneRun(t.Context(), trainer, set, 0, o, nil, GuessOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// Of 50 guesses this network gets 49.2 (15 runs), and fewer than 38 with probability 1e-11; an honest
	// coin gets so many once in 6,000 runs.
	if r.Correct < 38 || r.Epsilon < 0.5 || r.Views != 1 {
		t.Errorf("%+v", r)
	}
}

func TestShuffledIsAPermutation(t *testing.T) {
	rows := []int{3, 1, 4, 15, 9, 2, 6, 5, 35, 8}
	s, err := shuffled(noise.System(), rows)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(s)
	if want := slices.Sorted(slices.Values(rows)); !slices.Equal(s, want) {
		t.Errorf("%v", s)
	}
}
