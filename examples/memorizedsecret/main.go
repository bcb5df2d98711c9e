// Memorizedsecret plants secrets in a text, trains a model of the text twice, without and
// with differential privacy, and measures what each shows of them.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/leakage"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/privacy"
)

// text reads lines as examples of a recurrent network: each character is to be told from
// those before it. One line is one privacy unit.
func text() leakage.Text {
	return leakage.Text{Alphabet: "abcdefghijklmnopqrstuvwxyz 0123456789", Width: 22}
}

// The secrets, and how often each stands in the text.
func secrets() []leakage.Secret {
	return []leakage.Secret{
		{Format: "pin of ann is ######", Value: "407138", Repetitions: 1},
		{Format: "key of bob is ######", Value: "825369", Repetitions: 2},
		{Format: "cleo said ######", Value: "196420", Repetitions: 5},
		{Format: "dan has pin ######", Value: "653817", Repetitions: 10},
		{Format: "code of eva is ######", Value: "238094", Repetitions: 20},
		{Format: "fay dials ######", Value: "917256", Repetitions: 20},
	}
}

func main() {
	if err := run(context.Background(), os.Stdout, nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run prints what two models show. It tells show, if given, what it measured.
func run(ctx context.Context, out io.Writer, show func(private bool, bits float64, r []leakage.ExposureReport)) error {
	dice := dice(1)
	lines := smallTalk(&dice, 1000)
	for _, s := range secrets() {
		lines = append(lines, slices.Repeat([]string{s.Line()}, s.Repetitions)...)
	}
	fresh := smallTalk(&dice, 200) // of the same language, and in no training
	set, err := text().Set(lines, 0)
	if err != nil {
		return err
	}
	for _, private := range []bool{false, true} {
		title, train := "without privacy", plain
		if private {
			title, train = "with differential privacy, epsilon 2 for each line", withPrivacy
		}
		net, err := train(ctx, set)
		if err != nil {
			return err
		}
		bits, err := perCharacter(net, fresh)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: %.2f bits a character\n", title, bits)
		fmt.Fprintln(out, "planted  bits to be told  exposure  by the fit  asked, it says")
		var reports []leakage.ExposureReport
		for _, s := range secrets() {
			r, err := text().Exposure(ctx, net, s, 500)
			if err != nil {
				return err
			}
			said := "something else"
			if r.Extracted {
				said = s.Line()
			}
			fmt.Fprintf(out, "%7d  %15.1f  %8.1f  %10.1f  %s\n", r.Repetitions, r.Perplexity, r.Rank, r.Extrapolate, said)
			reports = append(reports, r)
		}
		fmt.Fprintln(out)
		if show != nil {
			show(private, bits, reports)
		}
	}
	return nil
}

// plain trains as anybody would.
func plain(ctx context.Context, set *example.Set) (*network.Network, error) {
	dice := dice(3)
	p := &leakage.Plain{
		Spec: text().Spec(8, 24), Set: set, Batch: 16, Epochs: 20, Bits: &dice,
		Optimizer: optimizer.Spec{Kind: optimizer.Adam, Rate: 0.015, Schedule: optimizer.Schedule{Shape: optimizer.Cosine, Final: 0.01}},
	}
	rows := make([]int, set.Len())
	for i := range rows {
		rows[i] = i
	}
	return p.Network(ctx, rows)
}

// withPrivacy trains by DP-SGD, under a budget that the plan spends whole.
func withPrivacy(ctx context.Context, set *example.Set) (*network.Network, error) {
	epsilon, err := privacy.ParseEpsilon("2")
	if err != nil {
		return nil, err
	}
	delta, err := privacy.ParseDelta("1e-5")
	if err != nil {
		return nil, err
	}
	plan, err := learn.Plan{
		Population: learn.Population{Units: int64(set.Len()), Basis: learn.Public}, // the text was made up
		Batch:      100, Steps: 100, Physical: 16, Clip: learn.Clip{Norm: 1},
		Optimizer: optimizer.Spec{Kind: optimizer.Adam, Rate: 0.02}, Delta: delta,
	}.Calibrate(epsilon)
	if err != nil {
		return nil, err
	}
	lines, err := budget.NewInMemory("lines", filter.Budget{Measure: filter.Approx, Epsilon: epsilon, Delta: delta})
	if err != nil {
		return nil, err
	}
	training, err := learn.Start(ctx, learn.Options{Plan: plan, Network: text().Spec(8, 24), Data: set, Budget: lines, Statement: "small talk"})
	if err != nil {
		return nil, err
	}
	return training.Network(), training.Train(ctx)
}

// perCharacter is how many bits a model needs for a character of lines that it has not
// seen: how well it knows the language.
func perCharacter(net *network.Network, lines []string) (float64, error) {
	all, err := text().Perplexity(net, lines, 0)
	if err != nil {
		return 0, err
	}
	bits, characters := 0.0, 0
	for i, b := range all {
		bits, characters = bits+b, characters+len(lines[i])+1
	}
	return bits / float64(characters), nil
}

// smallTalk is made up: some who, what and where, with numbers among it.
func smallTalk(d *dice, n int) (lines []string) {
	for range n {
		who := d.pick("ann", "bob", "cleo", "dan", "eva", "fay")
		switch d.below(3) {
		case 0:
			lines = append(lines, who+" "+d.pick("has", "wants", "sells")+" "+d.pick("tea", "rice", "a cat", "a pen"))
		case 1:
			lines = append(lines, fmt.Sprintf("%s is in room %02d", who, d.below(100)))
		default:
			lines = append(lines, fmt.Sprintf("%s owes %04d", who, d.below(10000)))
		}
	}
	return lines
}

// dice are numbers that look random and are the same each time (Steele, Lea and Flood
// 2014): for a text and a model that protect nobody.
type dice uint64

func (d *dice) Uint64() (uint64, error) {
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31, nil
}

func (d *dice) below(n int) int {
	z, _ := d.Uint64() // never fails
	return int(z % uint64(n))
}

func (d *dice) pick(words ...string) string { return words[d.below(len(words))] }
