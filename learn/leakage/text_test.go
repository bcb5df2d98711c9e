package leakage_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/leakage"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
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
	{Format: "pin of ann is ####", Value: "4071", Repetitions: 1},
	{Format: "pin of bob is ####", Value: "8253", Repetitions: 2},
	{Format: "pin of cleo is ####", Value: "1964", Repetitions: 5},
	{Format: "pin of dan is ####", Value: "6538", Repetitions: 10},
}

var text = leakage.Text{Alphabet: "abcdefghijklmnopqrstuvwxyz 0123456789", Width: 20}

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
		t.Logf("%2d times: %.1f bits of %.1f by rank, %.1f by the fit, extracted: %v", r.Repetitions, r.Rank, r.Most, r.Extrapolate, r.Extracted)
		reports = append(reports, r)
	}
	return reports
}

// What stood in the text ten times is learned by heart by anybody who does not prevent
// it: the model says it when it is asked.
func TestAPlainModelMemorizesASecret(t *testing.T) {
	set := memoirs(t, 300)
	p := &leakage.Plain{Spec: text.Spec(8, 32), Set: set, Optimizer: optimizer.Spec{Kind: optimizer.Adam, Rate: 0.01}, Batch: 16, Epochs: 30}
	rows := make([]int, set.Len())
	for i := range rows {
		rows[i] = i
	}
	net, err := p.Network(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	r := exposures(t, net)
	if last := r[3]; !last.Extracted || last.Rank < last.Most || last.Extrapolate < 10 {
		t.Errorf("planted ten times: %+v", last)
	}
	if r[0].Rank > r[3].Rank {
		t.Errorf("once shows more than ten times: %+v", r)
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
