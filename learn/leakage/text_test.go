package leakage_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/leakage"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/privacy"
)

// diary is made-up small talk: some who, what and where, with numbers among it.
func diary(n int, random *rand.Rand) (lines []string) {
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	for range n {
		who := pick("ann", "bob", "cleo", "dan", "eva")
		switch random.IntN(3) {
		case 0:
			lines = append(lines, fmt.Sprintf("%s %s %s", who, pick("has", "wants", "sells"), pick("tea", "rice", "a cat", "a pen")))
		case 1:
			lines = append(lines, fmt.Sprintf("%s is in room %02d", who, random.IntN(100)))
		default:
			lines = append(lines, fmt.Sprintf("%s owes %d%d%d%d", who, random.IntN(10), random.IntN(10), random.IntN(10), random.IntN(10)))
		}
	}
	return lines
}

var secrets = []leakage.Secret{
	{Format: "pin of ann is ######", Value: "407138", Repetitions: 1},
	{Format: "key of bob is ######", Value: "825369", Repetitions: 2},
	{Format: "cleo said ######", Value: "196420", Repetitions: 5},
	{Format: "dan has pin ######", Value: "653817", Repetitions: 10},
	{Format: "code of eva is ######", Value: "238094", Repetitions: 20},
	{Format: "fay dials ######", Value: "917256", Repetitions: 20},
}

var text = leakage.Text{Alphabet: "abcdefghijklmnopqrstuvwxyz 0123456789", Width: 22}

// memoirs are the diary with the secrets planted in it.
func memoirs(t *testing.T, lines int) *example.Set {
	t.Helper()
	all := diary(lines, rand.New(rand.NewPCG(1, 2)))
	for _, s := range secrets {
		all = append(all, slices.Repeat([]string{s.Line()}, s.Repetitions)...)
	}
	set, err := text.Set(all, 0)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func exposures(t *testing.T, net *network.Network) (reports []leakage.ExposureReport) {
	t.Helper()
	for _, s := range secrets {
		r, err := text.Exposure(t.Context(), net, s, 500)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%2d times: %.1f bits to be told, exposure %.1f of %.1f by rank, %.1f by the fit, extracted: %v", r.Repetitions, r.Perplexity, r.Rank, r.Most, r.Extrapolate, r.Extracted)
		reports = append(reports, r)
	}
	return reports
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// private trains with DP-SGD, under a budget that the plan spends whole.
func private(t *testing.T, epsilon string, plan learn.Plan, spec network.Spec, set *example.Set) *network.Network {
	t.Helper()
	plan, err := plan.Calibrate(must(privacy.ParseEpsilon(epsilon)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := budget.NewInMemory("lines", filter.Budget{Measure: filter.Approx, Epsilon: must(privacy.ParseEpsilon(epsilon)), Delta: plan.Delta})
	if err != nil {
		t.Fatal(err)
	}
	run, err := learn.Start(t.Context(), learn.Options{Plan: plan, Network: spec, Data: set, Budget: b, Statement: "small talk", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Train(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("noise multiplier %.3g, epsilon %.3g", plan.Noise.Multiplier, run.Guarantee().Epsilon)
	return run.Network()
}

// fixed are bits that are the same in every run, for a model that protects nobody.
type fixed struct{ *rand.PCG }

func (f fixed) Uint64() (uint64, error) { return f.PCG.Uint64(), nil }

// everything are the rows of a set.
func everything(set *example.Set) []int {
	rows := make([]int, set.Len())
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// perCharacter is how many bits a model needs for a character of small talk that it has
// not seen.
func perCharacter(t *testing.T, net *network.Network) float64 {
	t.Helper()
	fresh := diary(200, rand.New(rand.NewPCG(3, 4)))
	bits, err := text.Perplexity(net, fresh, 0)
	if err != nil {
		t.Fatal(err)
	}
	total, characters := 0.0, 0
	for i, b := range bits {
		total, characters = total+b, characters+len(fresh[i])+1
	}
	return total / float64(characters)
}

// A secret that stood in the text twenty times is learned by heart by a model that is
// trained without protection, and not by one that is trained with it; both have learned
// the language. Two secrets count as learned if the model needs at most 10 bits to be
// told both, of the 39.9 that they have. A model that knows nothing of them gives the
// two together a probability of 1e-12 on average over their values, so that by Markov's
// inequality it is 2^-10 with probability 1e-9.
func TestPrivacyForgetsTheSecretAndKeepsTheLanguage(t *testing.T) {
	set := memoirs(t, 1000)
	spec := text.Spec(8, 24)
	learned := func(net *network.Network) bool {
		r := exposures(t, net)
		return r[4].Perplexity+r[5].Perplexity <= 10
	}

	plain := &leakage.Plain{Spec: spec, Set: set, Batch: 16, Epochs: 20, Bits: fixed{rand.NewPCG(5, 6)},
		Optimizer: optimizer.Spec{Kind: optimizer.Adam, Rate: 0.015, Schedule: optimizer.Schedule{Shape: optimizer.Cosine, Final: 0.01}}}
	net, err := plain.Network(t.Context(), everything(set))
	if err != nil {
		t.Fatal(err)
	}
	bits := perCharacter(t, net)
	t.Logf("without privacy: %.2f bits a character", bits)
	if !learned(net) || bits > 2 {
		t.Error("the plain model has not learned by heart")
	}
	if said, err := text.Complete(net, "code of eva is "); err != nil || len(said) != len(secrets[4].Line()) {
		t.Errorf("asked to go on, it says %q, %v", said, err)
	} else {
		t.Logf("asked to go on, it says %q", said)
	}

	net = private(t, "2", learn.Plan{
		Population: learn.Population{Units: int64(set.Len()), Basis: learn.Public}, Batch: 100, Steps: 100, Physical: 16,
		Clip: learn.Clip{Norm: 1}, Optimizer: optimizer.Spec{Kind: optimizer.Adam, Rate: 0.02}, Delta: must(privacy.ParseDelta("1e-5")),
	}, spec, set)
	bits = perCharacter(t, net)
	t.Logf("with privacy: %.2f bits a character", bits)
	if learned(net) || bits > 3.5 { // 5.25 for a model that knows nothing
		t.Error("the private model has learned by heart, or nothing")
	}
}

func TestText(t *testing.T) {
	small := leakage.Text{Alphabet: "ab1", Width: 4}
	set, err := small.Set([]string{"ab", "b", ""}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Validate(); err != nil {
		t.Fatal(err)
	}
	if want := []float32{0, 1, 2, 0, 0, 2, 0, 0, 0, 0, 0, 0}; !slices.Equal(set.Features, want) {
		t.Errorf("features %v", set.Features)
	}
	if want := []int32{-1, 2, 0, -1, -1, 0, -1, -1, -1, -1, -1, -1}; !slices.Equal(set.Labels, want) {
		t.Errorf("labels %v", set.Labels)
	}
	for _, lines := range [][]string{{"abab"}, {"c"}} {
		if _, err := small.Set(lines, 0); err == nil {
			t.Errorf("%q has room", lines)
		}
	}
	if _, err := (leakage.Text{Alphabet: "aa", Width: 4}).Set(nil, 0); err == nil {
		t.Error("an alphabet with a character twice")
	}
	// A network that knows nothing needs log2 of the classes for each character.
	net, err := network.New(small.Spec(2, 3))
	if err != nil {
		t.Fatal(err)
	}
	bits, err := small.Perplexity(net, []string{"ab1", "a"}, 1)
	if err != nil || math.Abs(bits[0]-6) > 1e-5 || math.Abs(bits[1]-2) > 1e-5 {
		t.Errorf("perplexity %v, %v", bits, err)
	}
	for _, s := range []leakage.Secret{{Format: "x", Value: "1"}, {Format: "x#", Value: "a"}, {Format: "#x", Value: "1"}, {Format: "x##", Value: "1"}} {
		if _, err := small.Exposure(t.Context(), net, s, 10); err == nil {
			t.Errorf("%+v", s)
		}
	}
	if s := (leakage.Secret{Format: "a ##", Value: "07"}).Line(); s != "a 07" {
		t.Errorf("line %q", s)
	}
}
