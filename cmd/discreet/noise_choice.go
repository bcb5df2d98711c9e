package main

import (
	"context"
	"math/big"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

func exponentialNoise() *Command {
	c := &Command{
		UsageLine: "exponential --sensitivity S --epsilon E --domain DOMAIN [--candidates A,B,...] --value V,...",
		Short:     "the best of several public candidates by private scores; cheap in zCDP",
		Long: `The values are the scores of the candidates, in their order; higher ones are chosen
with exponentially higher probability. The sensitivity is what one unit moves a
single score at most. Its bounded range makes it ε²/8-zCDP.`,
		Examples: [2]string{
			"discreet noise exponential --domain patient --sensitivity 1 --monotone --epsilon 0.5 --candidates ER,ICU --value 310,120",
			"discreet noise exponential --domain patient --sensitivity 1 --rho 0.01 --json -f scores.txt",
		},
	}
	return choiceCommand(c, 8, func(o mechanism.ScoreOptions) (chooser, error) { return mechanism.NewExponential(o) })
}

// A chooser is a mechanism that chooses by scores.
type chooser interface {
	Choose(bits noise.Bits, scores []float64) (int, error)
	Bound(n int, beta *big.Rat) (float64, error)
	Event() privacy.Event
}

// choiceCommand completes the command of a chooser that is ε²/f-zCDP.
func choiceCommand(c *Command, f int64, make func(mechanism.ScoreOptions) (chooser, error)) *Command {
	var n choosing
	n.define(c)
	c.Run = func(ctx context.Context, t *terminal, args []string) error {
		if err := n.ready(ctx, t, args); err != nil {
			return err
		}
		epsilon, err := n.epsilonOf(f)
		if err != nil {
			return err
		}
		return n.run(ctx, t, func(p population) (*draw, error) {
			if err := p.monotone(n.options.Monotone); err != nil {
				return nil, err
			}
			n.options.Epsilon = epsilon
			m, err := make(n.options)
			if err != nil {
				return nil, err
			}
			return n.prepare(m, p)
		})
	}
	return c
}

// A choosing is what choices by scores have in common.
type choosing struct {
	noising
	scores      []float64
	candidates  []string
	sensitivity distance
	options     mechanism.ScoreOptions
}

func (n *choosing) define(c *Command) {
	n.noising.define(c, floats(&n.scores))
	n.definePure(&c.Flags)
	n.defineConfidence(&c.Flags, "`C` of the error, between 0 and 1 (default 0.95)")
	c.Flags.Func("sensitivity", "`S` is how far one unit moves one score", func(text string) error { return n.sensitivity.parse(text, false) })
	c.Flags.BoolVar(&n.options.Monotone, "monotone", false, "a unit moves all scores in one direction, as it does counts: half the noise")
	c.Flags.Func("candidates", "the names `A,B,...` in the order of the scores (default their numbers)", func(text string) error {
		for name := range strings.SplitSeq(text, ",") {
			n.candidates = append(n.candidates, strings.TrimSpace(name))
		}
		return nil
	})
}

// ready reads the scores and holds them against the candidates.
func (n *choosing) ready(ctx context.Context, t *terminal, args []string) error {
	if n.sensitivity.value == nil {
		return missing("how far one unit moves a score", "--sensitivity S")
	}
	if err := n.read(ctx, t, args); err != nil {
		return err
	}
	n.options.Sensitivity = n.sensitivity.value
	switch k := len(n.scores); {
	case k == 0:
		return diagnostic.New("D142", diagnostic.Span{}, "there are no candidates").Because("a choice needs one at least; nothing was charged")
	case n.candidates != nil && k != len(n.candidates):
		return diagnostic.New("D142", diagnostic.Span{}, "%d scores for %d candidates", k, len(n.candidates)).
			Because("each candidate has one score, in their order; nothing was charged")
	}
	n.parameters = map[string]any{"candidates": len(n.scores)}
	return nil
}

// name is what a candidate is called.
func (n *choosing) name(i int) string {
	if n.candidates != nil {
		return n.candidates[i]
	}
	return strconv.Itoa(i + 1)
}

func (n *choosing) prepare(m chooser, p population) (*draw, error) {
	off, err := m.Bound(len(n.scores), p.beta)
	if err != nil {
		return nil, err
	}
	d := &draw{event: m.Event(), answer: noised{Mechanism: mechanismName(n.command), Sensitivity: n.sensitivity.text, Norm: "each score",
		Accuracy: jsonNumber(off), Unit: "below the best score"}}
	d.release = func(bits noise.Bits, to *noised) error {
		i, err := m.Choose(bits, n.scores)
		if err == nil {
			to.Choice = n.name(i)
		}
		return err
	}
	return d, nil
}

// mechanismName is a verb's name as JSON and events have it.
func mechanismName(c *Command) string { return strings.ReplaceAll(c.Name(), "-", "_") }
