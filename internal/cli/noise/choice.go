package noise

import (
	"context"
	"flag"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

func exponentialNoise() *command.Command {
	c := &command.Command{
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
	var n choosing
	n.define(c)
	return n.chooses(func() int64 { return 8 }, func() (chooser, error) { return mechanism.NewExponential(n.options) })
}

func permuteAndFlipNoise() *command.Command {
	c := &command.Command{
		UsageLine: "permute-and-flip --sensitivity S --epsilon E --domain DOMAIN [--candidates A,B,...] --value V,...",
		Short:     "the best of several candidates, never worse than exponential at the same epsilon",
		Long: `The values are the scores of the candidates, in their order. Candidates are gone
through in random order, and each is taken with a probability that falls
exponentially with how far its score is below the best. The sensitivity is what one
unit moves a single score at most.`,
		Examples: [2]string{
			"discreet noise permute-and-flip --domain shop --sensitivity 1 --epsilon 0.5 --candidates ER,ICU --value 310,120",
			"discreet noise permute-and-flip --domain shop --sensitivity 2 --epsilon 0.5 --json -f scores.txt",
		},
	}
	var n choosing
	n.define(c)
	return n.chooses(func() int64 { return 2 }, func() (chooser, error) { return mechanism.NewPermuteAndFlip(n.options) })
}

func noisyMaxNoise() *command.Command {
	c := &command.Command{
		UsageLine: "noisy-max --sensitivity S --epsilon E --domain DOMAIN [--noise NAME] [--gap] --value V,...",
		Short:     "the candidate with the largest noisy score; with --gap by how much, for free",
		Long: `The values are the scores of the candidates, in their order; each gets noise, and
the largest wins. Exponential (one-sided) noise is the most accurate, Gumbel noise
the cheapest in zCDP, and with Laplace noise the gap to the runner-up costs nothing.
The sensitivity is what one unit moves a single score at most.`,
		Examples: [2]string{
			"discreet noise noisy-max --domain shop --sensitivity 1 --epsilon 0.5 --gap --candidates ER,ICU --value 310,120",
			"discreet noise noisy-max --domain patient --sensitivity 1 --rho 0.01 --noise gumbel --json -f scores.txt",
		},
	}
	var n choosing
	n.define(c)
	n.defineNoise(&c.Flags)
	return n.chooses(n.bounded(1), func() (chooser, error) {
		return mechanism.NewNoisyMax(mechanism.NoisyMaxOptions{ScoreOptions: n.options, Noise: n.noise})
	})
}

func topKNoise() *command.Command {
	c := &command.Command{
		UsageLine: "top-k -k K --sensitivity S --epsilon E --domain DOMAIN [--noise NAME] [--gap] --value V,...",
		Short:     "the k candidates with the largest noisy scores, in order",
		Long: `The values are the scores of the candidates, in their order. The noise is that of
noisy-max, k times as large; Gumbel noise is k choices by the exponential mechanism
and the cheapest in zCDP. With Laplace noise --gap tells how far each is ahead of
the next one. The sensitivity is what one unit moves a single score at most.`,
		Examples: [2]string{
			"discreet noise top-k -k 2 --domain patient --sensitivity 1 --monotone --epsilon 0.5 --candidates ER,ICU,Surgery --value 310,120,80",
			"discreet noise top-k -k 10 --domain patient --sensitivity 1 --rho 0.01 --noise gumbel --json -f scores.txt",
		},
	}
	var n choosing
	n.define(c)
	n.defineNoise(&c.Flags)
	k := int64(0)
	c.Flags.Func("k", "how many: `K`", count(&k))
	n.bound = func() error {
		if k == 0 {
			return command.Missing("the number of candidates to choose", "-k K")
		}
		if k > int64(len(n.scores)) {
			return diagnostic.New("D142", diagnostic.Span{}, "%d of %d candidates are wanted", k, len(n.scores)).Because("nothing was charged")
		}
		return nil
	}
	// k choices of ε/k each are k·(ε/k)²/8-zCDP.
	return n.chooses(func() int64 { return n.bounded(k)() }, func() (chooser, error) {
		m, err := mechanism.NewTopK(mechanism.TopKOptions{ScoreOptions: n.options, K: int(k), Noise: n.noise})
		return several{m}, err
	})
}

// A chooser is a mechanism that chooses by scores.
type chooser interface {
	Bound(n int, beta *big.Rat) (float64, error)
	Event() privacy.Event
}

// several is a chooser of several candidates.
type several struct{ *mechanism.TopK }

// choose returns the chosen candidates and, if they are wanted, the gaps.
func choose(m chooser, bits noise.Bits, scores []float64, gap bool) (chosen []int, gaps []float64, err error) {
	one, by := 0, 0.0
	switch m := m.(type) {
	case several:
		if gap {
			return m.ChooseGaps(bits, scores)
		}
		chosen, err = m.Choose(bits, scores)
		return chosen, nil, err
	case *mechanism.NoisyMax:
		if gap {
			one, by, err = m.ChooseGap(bits, scores)
			return []int{one}, []float64{by}, err
		}
		one, err = m.Choose(bits, scores)
	case interface {
		Choose(noise.Bits, []float64) (int, error)
	}:
		one, err = m.Choose(bits, scores)
	}
	return []int{one}, nil, err
}

// A choosing is what all choices by scores share.
type choosing struct {
	noising
	scores      []float64
	candidates  []string
	sensitivity distance
	options     mechanism.ScoreOptions
	noise       mechanism.MaxNoise
	gap         bool
	bound       func() error // what else the flags must satisfy
}

func (n *choosing) define(c *command.Command) {
	n.noising.define(c, floats(&n.scores))
	n.definePure(&c.Flags)
	n.DefineConfidence(&c.Flags, "`C` of the error, between 0 and 1 (default 0.95)")
	c.Flags.Func("sensitivity", "`S` is how far one unit moves one score", func(text string) error { return n.sensitivity.parse(text, false) })
	c.Flags.BoolVar(&n.options.Monotone, "monotone", false, "a unit moves all scores in one direction, as it does counts: half the noise")
	c.Flags.Func("candidates", "the names `A,B,...` in the order of the scores (default their numbers)", func(text string) error {
		for name := range strings.SplitSeq(text, ",") {
			n.candidates = append(n.candidates, strings.TrimSpace(name))
		}
		return nil
	})
}

// defineNoise adds the flags of choices by the largest noisy score.
func (n *choosing) defineNoise(fs *flag.FlagSet) {
	fs.Func("noise", "its law is `laplace|exponential|gumbel` (default laplace)", func(text string) error {
		var name string
		laws := []string{"laplace", "exponential", "gumbel"}
		err := command.OneOf(&name, text, laws)
		n.noise = mechanism.MaxNoise(max(slices.Index(laws, name), 0)) // in the order of the constants
		return err
	})
	fs.BoolVar(&n.gap, "gap", false, "tell also how far ahead of the next one; with Laplace noise")
}

// bounded returns the f for which k choices with the noise of the flags, ε together, are
// ε²/f-zCDP: of bounded range with Gumbel noise (Durfee and Rogers 2019).
func (n *choosing) bounded(k int64) func() int64 {
	return func() int64 {
		if n.noise == mechanism.GumbelNoise {
			return 8 * k
		}
		return 2
	}
}

// chooses completes the command of a mechanism that chooses and is ε²/f-zCDP.
func (n *choosing) chooses(f func() int64, make func() (chooser, error)) *command.Command {
	n.command.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if err := n.ready(ctx, t, args); err != nil {
			return err
		}
		var err error
		if n.options.Epsilon, err = n.epsilonOf(f()); err != nil {
			return err
		}
		return n.run(ctx, t, func(p population) (*draw, error) {
			if err := p.monotone(n.options.Monotone); err != nil {
				return nil, err
			}
			m, err := make()
			if err != nil {
				return nil, err
			}
			return n.prepare(m, p)
		})
	}
	return n.command
}

// ready reads the scores and checks that they fit the candidates.
func (n *choosing) ready(ctx context.Context, t *terminal.Terminal, args []string) error {
	if n.sensitivity.value == nil {
		return command.Missing("the sensitivity, how far one unit moves a score,", "--sensitivity S")
	}
	if n.gap && n.noise != mechanism.LaplaceNoise {
		return diagnostic.New("D115", diagnostic.Span{}, "--gap and --noise exclude each other").
			Because("the gap is free with Laplace noise alone")
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
	if n.bound != nil {
		return n.bound()
	}
	return nil
}

// name is the name of a candidate.
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
		Accuracy: terminal.JSONNumber(off), Unit: "below the best score"}}
	_, severalWanted := m.(several)
	if severalWanted {
		d.answer.Unit = "below a better one that was left out"
	}
	d.release = func(bits noise.Bits, to *noised) error {
		chosen, gaps, err := choose(m, bits, n.scores, n.gap)
		if err != nil {
			return err
		}
		for _, i := range chosen {
			to.Choices = append(to.Choices, n.name(i))
		}
		for _, gap := range gaps {
			to.Gaps = append(to.Gaps, gapOf(gap))
		}
		if !severalWanted {
			to.one()
		}
		return nil
	}
	return d, nil
}

// gapOf is a gap, nil if there is no next one.
func gapOf(gap float64) *float64 {
	if math.IsInf(gap, 0) {
		return nil
	}
	return &gap
}

// mechanismName is a verb's name as JSON and events have it.
func mechanismName(c *command.Command) string { return strings.ReplaceAll(c.Name(), "-", "_") }
