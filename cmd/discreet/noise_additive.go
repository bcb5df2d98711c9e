package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

func geometricNoise() *Command {
	c := &Command{
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
	c.Run = func(ctx context.Context, t *terminal, args []string) error {
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

func discreteGaussianNoise() *Command {
	c := &Command{
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
	n.defineGaussian(&c.Flags)
	c.Run = func(ctx context.Context, t *terminal, args []string) error {
		if err := n.ready(ctx, t, args); err != nil {
			return err
		}
		rho, err := n.rho()
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

// An additive is what mechanisms have in common that add noise to numbers.
type additive struct {
	noising
	values      *privateValues
	sensitivity distance
	norm        string
}

func (n *additive) define(c *Command, values *privateValues, norm string) {
	n.noising.define(c)
	n.values, n.norm = values, norm
	values.define(&c.Flags)
	n.defineConfidence(&c.Flags, "`C` of the interval, between 0 and 1 (default 0.95)")
	usage := "`S` is how far one unit moves the values, in " + norm
	if norm == "L2" {
		usage += "; sqrt(S) is its root"
	}
	c.Flags.Func("sensitivity", usage, func(text string) error { return n.sensitivity.parse(text, norm == "L2") })
}

// ready reads the values and holds the flags against each other.
func (n *additive) ready(ctx context.Context, t *terminal, args []string) error {
	t.json = n.json
	if n.sensitivity.value == nil && n.sensitivity.square == nil {
		return diagnostic.New("D113", diagnostic.Span{}, "nothing says how far one unit moves the values").
			Try("--sensitivity S, in %s", n.norm)
	}
	if err := n.values.read(ctx, t.in, args); err != nil {
		return err
	}
	if n.values.count == 0 {
		return diagnostic.New("D113", diagnostic.Span{}, "no private value").Try("an empty list has nothing to release")
	}
	n.parameters = map[string]any{"values": n.values.count} // the answer shows it
	return nil
}

// defineGaussian adds the flags of what Gaussian noise costs.
func (n *additive) defineGaussian(fs *flag.FlagSet) {
	fs.Func("epsilon", "spend `E`, with --delta", amount(&n.Spend.Epsilon, privacy.ParseEpsilon))
	fs.Func("delta", "spend `D`, with --epsilon", amount(&n.Spend.Delta, privacy.ParseDelta))
	fs.Func("rho", "spend `R` of zero-concentrated differential privacy", amount(&n.Spend.Rho, privacy.ParseRho))
}

// rho is what Gaussian noise may cost: what was asked for, or what implies the
// epsilon and delta that were, on the safe side (accountant.GaussianRho).
func (n *additive) rho() (privacy.Rho, error) {
	s := n.Spend
	switch {
	case s.Rho.Sign() > 0 && s.Epsilon.Sign() > 0:
		return s.Rho, twoCosts()
	case s.Rho.Sign() > 0 && s.Delta.Sign() > 0:
		return s.Rho, diagnostic.New("D143", diagnostic.Span{}, "--rho takes no --delta here").
			Because("Gaussian noise costs rho and nothing else")
	case s.Rho.Sign() > 0:
		return s.Rho, nil
	case s.Epsilon.Sign() == 0 && s.Delta.Sign() == 0:
		return s.Rho, noCost("--epsilon E and --delta D")
	case s.Epsilon.Sign() == 0 || s.Delta.Sign() == 0:
		return s.Rho, diagnostic.New("D143", diagnostic.Span{}, "Gaussian noise has no epsilon without a delta").
			Try("--epsilon E --delta D, or --rho R; Laplace and geometric noise take an epsilon alone")
	}
	rho, err := accountant.GaussianRho(s.Epsilon, s.Delta)
	if err != nil {
		return rho, diagnostic.New("D142", diagnostic.Span{}, "epsilon %v at delta %v: %v", s.Epsilon, s.Delta, err)
	}
	return rho, nil
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
		Scale: jsonNumber(m.ScaleIn(big.NewRat(1, 1))), Sensitivity: n.sensitivity.text, Norm: n.norm, Accuracy: json.Number(all.String())}}
	d.release = func(bits noise.Bits, to *noised) error {
		if err := m.AddTo(bits, xs); err != nil {
			return err
		}
		for _, x := range xs {
			to.Values = append(to.Values, json.Number(x.String()))
			to.Intervals = append(to.Intervals, [2]json.Number{json.Number(new(big.Int).Sub(x, each).String()), json.Number(new(big.Int).Add(x, each).String())})
		}
		to.single()
		return nil
	}
	return d, nil
}

// single says one value as one.
func (a *noised) single() {
	if len(a.Values) == 1 {
		a.Value, a.Values = a.Values[0], nil
		a.Interval, a.Intervals = &a.Intervals[0], nil
	}
}

// A distance is a sensitivity, exactly, or its square.
type distance struct {
	value, square *big.Rat // value is nil of a root that is not rational
	text          json.Number
}

// parse reads a decimal above zero, or the root of one.
func (d *distance) parse(text string, roots bool) error {
	inner, root := strings.CutPrefix(text, "sqrt(")
	if root = root && roots; root {
		inner = strings.TrimSuffix(inner, ")")
	} else {
		inner = text
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
		d.text = jsonNumber(f)
	default:
		d.value, d.square = r, new(big.Rat).Mul(r, r)
		f, _ := r.Float64()
		d.text = jsonNumber(f)
	}
	return nil
}

// jsonNumber is a float64 in JSON, and for people.
func jsonNumber(f float64) json.Number {
	text, err := json.Marshal(f)
	if err != nil {
		return "null" // not finite
	}
	return json.Number(text)
}
