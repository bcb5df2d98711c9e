package noise

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
)

func geometricNoise() *command.Command {
	c := &command.Command{
		UsageLine: "geometric --sensitivity S --epsilon E --domain DOMAIN --value V,...",
		Short:     "whole numbers with a pure guarantee: counts",
		Long: `Two-sided geometric (discrete Laplace) noise on each whole number. The sensitivity
is in L1: what one unit moves all numbers together, added up.`,
		Examples: [2]string{
			"discreet noise geometric --domain patient --sensitivity 1 --epsilon 0.5 --value 42",
			"discreet noise geometric --domain patient --sensitivity 8 --epsilon 0.5 --json -f counts.txt",
		},
	}
	var n additive
	var xs []*big.Int
	n.define(c, integers(&xs), "L1")
	n.definePure(&c.Flags)
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if err := n.ready(ctx, t, args); err != nil {
			return err
		}
		epsilon, err := n.epsilon()
		if err != nil {
			return err
		}
		return n.run(ctx, t, func(p population) (*draw, error) {
			m, err := mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: n.sensitivity.value, Epsilon: epsilon})
			if err != nil {
				return nil, err
			}
			return n.whole("geometric", "discrete laplace", m, xs, p)
		})
	}
	return c
}

func discreteGaussianNoise() *command.Command {
	c := &command.Command{
		UsageLine: "discrete-gaussian --sensitivity S --rho R --domain DOMAIN --value V,...",
		Short:     "whole numbers with lighter tails, for many at once: zCDP, or epsilon with delta",
		Long: `Discrete Gaussian noise on each whole number. The sensitivity is in L2: what one
unit moves all numbers together, as the root of the sum of squares. With --epsilon
and --delta the noise is that of the rho which implies them.`,
		Examples: [2]string{
			"discreet noise discrete-gaussian --domain patient --sensitivity sqrt(8) --rho 0.01 --value 42",
			"discreet noise discrete-gaussian --domain patient --sensitivity 1 --epsilon 0.5 --delta 1e-6 --json -f counts.txt",
		},
	}
	var n additive
	var xs []*big.Int
	n.define(c, integers(&xs), "L2")
	n.defineGaussian(&c.Flags, "spend `E`, with --delta")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if err := n.ready(ctx, t, args); err != nil {
			return err
		}
		rho, err := n.gaussianRho()
		if err != nil {
			return err
		}
		return n.run(ctx, t, func(p population) (*draw, error) {
			m, err := mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: n.sensitivity.square, Rho: rho})
			if err != nil {
				return nil, err
			}
			return n.whole("discrete_gaussian", "discrete gaussian", m, xs, p)
		})
	}
	return c
}

func laplaceNoise() *command.Command {
	c := &command.Command{
		UsageLine: "laplace --sensitivity S --epsilon E --domain DOMAIN --value V,...",
		Short:     "numbers with a pure guarantee: one, or a few",
		Long: `Laplace noise on each number, drawn exactly on a grid that the numbers are rounded
to. The sensitivity is in L1: what one unit moves all numbers together, added up.
--lower and --upper clamp each number first, so that a bound on it can be kept.`,
		Examples: [2]string{
			"discreet noise laplace --domain patient --sensitivity 1 --epsilon 0.5 --value 42",
			"discreet noise laplace --domain patient --sensitivity 5000 --lower 0 --upper 5000 --epsilon 0.5 --json -f costs.txt",
		},
	}
	var n additive
	r := n.defineReals(c, "L1")
	n.definePure(&c.Flags)
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if err := n.ready(ctx, t, args); err != nil {
			return err
		}
		epsilon, err := n.epsilon()
		if err != nil {
			return err
		}
		return n.run(ctx, t, func(p population) (*draw, error) {
			r.options.L1, r.options.Epsilon = n.sensitivity.value, epsilon
			return r.prepare(&n, "laplace", p)
		})
	}
	return c
}

func gaussianNoise() *command.Command {
	c := &command.Command{
		UsageLine: "gaussian --sensitivity S --rho R --domain DOMAIN --value V,...",
		Short:     "numbers with lighter tails, for many at once: zCDP, or epsilon with delta",
		Long: `Gaussian noise on each number, drawn exactly on a grid that the numbers are rounded
to. The sensitivity is in L2: what one unit moves all numbers together, as the root
of the sum of squares. With --epsilon and --delta the noise is that of the rho which
implies them. --lower and --upper clamp each number first.`,
		Examples: [2]string{
			"discreet noise gaussian --domain patient --sensitivity 2.5 --rho 0.01 --value 42.5",
			"discreet noise gaussian --domain patient --sensitivity 1 --epsilon 0.5 --delta 1e-6 --json -f means.txt",
		},
	}
	var n additive
	r := n.defineReals(c, "L2")
	n.defineGaussian(&c.Flags, "spend `E`, with --delta")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if err := n.ready(ctx, t, args); err != nil {
			return err
		}
		rho, err := n.gaussianRho()
		if err != nil {
			return err
		}
		return n.run(ctx, t, func(p population) (*draw, error) {
			r.options.L2, r.options.Rho = n.sensitivity.rootUp(), rho
			return r.prepare(&n, "gaussian", p)
		})
	}
	return c
}

// reals are the real numbers of a release, and the flags that clamp them.
type reals struct {
	xs           []float64
	lower, upper *big.Rat
	options      mechanism.VectorOptions
}

func (n *additive) defineReals(c *command.Command, norm string) *reals {
	r := &reals{}
	n.define(c, floats(&r.xs), norm)
	c.Flags.Func("lower", "clamp each value to at least `L`", exactNumber(&r.lower))
	c.Flags.Func("upper", "clamp each value to at most `U`", exactNumber(&r.upper))
	return r
}

// prepare prepares a release of real numbers.
func (r *reals) prepare(n *additive, name string, p population) (*draw, error) {
	o := r.options
	o.Length = len(r.xs)
	if (r.lower == nil) != (r.upper == nil) {
		return nil, command.Missing("the other bound", "--lower L and --upper U")
	}
	if r.lower != nil {
		o.Lower, _ = r.lower.Float64()
		o.Upper, _ = r.upper.Float64()
		if !(o.Lower < o.Upper) {
			return nil, diagnostic.New("D142", diagnostic.Span{}, "the lower bound is not below the upper one")
		}
	}
	m, err := mechanism.NewVector(o)
	if err != nil {
		return nil, err
	}
	each, err := m.Bound(p.beta)
	if err != nil {
		return nil, err
	}
	all, err := m.Bound(new(big.Rat).Quo(p.beta, big.NewRat(int64(o.Length), 1)))
	if err != nil {
		return nil, err
	}
	d := &draw{event: m.Event(), delta: n.Spend.Delta, answer: noised{Mechanism: name, Noise: name,
		Scale: terminal.JSONNumber(m.Scale()), Sensitivity: n.sensitivity.text, Norm: n.norm, Accuracy: terminal.JSONNumber(all)}}
	d.release = func(bits noise.Bits, to *noised) error {
		noisy, err := m.Release(bits, r.xs)
		for _, x := range noisy {
			to.Values = append(to.Values, terminal.JSONNumber(x))
			to.Intervals = append(to.Intervals, outward(x, each))
		}
		to.single()
		return err
	}
	return d, nil
}

// An additive is what all mechanisms share that add noise to numbers.
type additive struct {
	noising
	sensitivity distance
	norm        string
}

func (n *additive) define(c *command.Command, values *privateValues, norm string) {
	n.noising.define(c, values)
	n.norm = norm
	n.DefineConfidence(&c.Flags, "`C` of the interval, between 0 and 1 (default 0.95)")
	usage := "`S` is how far one unit moves the values, in " + norm
	if norm == "L2" {
		usage += "; sqrt(S) is its root"
	}
	c.Flags.Func("sensitivity", usage, func(text string) error { return n.sensitivity.parse(text, norm == "L2") })
}

// ready reads the values and checks that the flags fit together.
func (n *additive) ready(ctx context.Context, t *terminal.Terminal, args []string) error {
	if n.sensitivity.square == nil {
		return command.Missing("the sensitivity, how far one unit moves the values,", "--sensitivity S, in "+n.norm)
	}
	if err := n.read(ctx, t, args); err != nil {
		return err
	}
	return n.some()
}

// whole prepares a release of whole numbers.
func (n *additive) whole(name, noiseName string, m mechanism.Additive, xs []*big.Int, p population) (*draw, error) {
	each, err := m.Bound(p.beta)
	if err != nil {
		return nil, fmt.Errorf("bound noise: %w", err)
	}
	all, err := m.Bound(new(big.Rat).Quo(p.beta, big.NewRat(int64(len(xs)), 1)))
	if err != nil {
		return nil, fmt.Errorf("bound noise: %w", err)
	}
	d := &draw{event: m.Event(), delta: n.Spend.Delta, answer: noised{Mechanism: name, Noise: noiseName,
		Scale: terminal.JSONNumber(m.ScaleIn(big.NewRat(1, 1))), Sensitivity: n.sensitivity.text, Norm: n.norm, Accuracy: json.Number(all.String())}}
	d.release = func(bits noise.Bits, to *noised) error {
		if err := m.AddTo(bits, xs); err != nil {
			return err
		}
		for _, x := range xs {
			to.interval(x, each)
		}
		to.single()
		return nil
	}
	return d, nil
}

// A distance is a sensitivity, exactly, or its square.
type distance struct {
	value, square *big.Rat // value is nil if the root is not rational
	text          json.Number
}

// rootUp is the sensitivity, rounded up where it is an irrational root.
func (d *distance) rootUp() *big.Rat {
	if d.value != nil {
		return d.value
	}
	return numeric.CeilDigits(numeric.Of(d.square).Sqrt().Hi(), 20)
}

// parse reads a decimal above zero, or the root of one.
func (d *distance) parse(text string, roots bool) error {
	inner, root := text, roots && strings.HasPrefix(text, "sqrt(") && strings.HasSuffix(text, ")")
	if root {
		inner = text[len("sqrt(") : len(text)-1]
	}
	r, err := numeric.ParseRat(inner)
	switch {
	case err != nil:
		return err
	case r.Sign() <= 0:
		return errors.New("a sensitivity is above zero")
	case root:
		d.square = r
		if value, ok := numeric.ExactSqrt(r); ok {
			d.value = value
		}
		f, _ := numeric.Of(r).Sqrt().Hi().Float64()
		d.text = terminal.JSONNumber(f)
	default:
		d.value, d.square = r, new(big.Rat).Mul(r, r)
		f, _ := r.Float64()
		d.text = terminal.JSONNumber(f)
	}
	return nil
}
