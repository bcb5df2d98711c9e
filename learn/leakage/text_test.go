package leakage_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/learn/leakage"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
)

// fixed are bits that are the same in every run, for a model that protects nobody.
type fixed struct{ *rand.PCG }

func (f fixed) Uint64() (uint64, error) { return f.PCG.Uint64(), nil }

// A model that has seen little else says a line by heart, and is not surprised by its
// digits. What it makes of a text in which the secret is rare, with and without
// privacy, is examples/memorizedsecret.
func TestASecretIsLearnedByHeart(t *testing.T) {
	text := leakage.Text{Alphabet: "abcdefghijklmnopqrstuvwxyz 0123456789", Width: 14}
	secret := leakage.Secret{Format: "the pin is ##", Value: "47", Repetitions: 20}
	never := leakage.Secret{Format: "the pin is ##", Value: "82"}
	lines := slices.Repeat([]string{secret.Line()}, secret.Repetitions)
	set, err := text.Set(lines, 0)
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]int, len(lines))
	for i := range rows {
		rows[i] = i
	}
	p := &leakage.Plain{Spec: text.Spec(6, 16), Set: set, Optimizer: optimizer.Spec{Kind: optimizer.Adam, Rate: 0.02}, Batch: 5, Epochs: 30, Bits: fixed{rand.NewPCG(5, 6)}}
	net, err := p.Network(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	r, err := text.Exposure(t.Context(), net, secret, 100)
	if err != nil || !r.Extracted || r.Rank != r.Most || r.References != 99 || r.Perplexity > 1 || r.Repetitions != 20 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err = text.Exposure(t.Context(), net, never, 100); err != nil || r.Extracted || r.Perplexity < 4 || r.Rank == r.Most {
		t.Errorf("another: %+v, %v", r, err)
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
