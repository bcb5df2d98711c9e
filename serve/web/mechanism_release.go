package web

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"strconv"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/internal/bounds"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/serve/problem"
)

// A release is what a mechanism does at a setting. Its figures are those of packages
// mechanism and noise; what it reveals, the accountants say of its event.
type release struct {
	noise      string // in words
	event      privacy.Event
	neighbours privacy.Neighbours
	within     float64 // how far off a release is at most, at the confidence
	of         string  // what is that far off
	picture    func() (picture, error)
	epsilon    *big.Rat // of a pure guarantee; else nil
	rho        privacy.Rho
}

// unfit refuses what a mechanism has no guarantee for.
func unfit(err error) error {
	if errors.Is(err, mechanism.ErrParameter) || errors.Is(err, noise.ErrParameter) {
		return problem.Request(http.StatusBadRequest, err.Error(), "")
	}
	return err
}

func laplaceRelease(s setting) (*release, error) {
	epsilon, err := amountOf(s.number["epsilon"])
	if err != nil {
		return nil, err
	}
	m, err := mechanism.NewVector(mechanism.VectorOptions{L1: s.number["sensitivity"], Epsilon: epsilon})
	if err != nil {
		return nil, err
	}
	within, err := m.Bound(s.beta())
	if err != nil {
		return nil, err
	}
	scale := new(big.Rat).Quo(s.number["sensitivity"], s.number["epsilon"])
	return &release{noise: "Laplace noise of scale " + figures(m.Scale()), event: privacy.Laplace{Scale: scale, Sensitivity: s.number["sensitivity"]},
		within: within, of: "a release", epsilon: s.number["epsilon"], picture: func() (picture, error) {
			p := fine(s.number["sensitivity"], scale)
			law, err := noise.NewDiscreteLaplace(new(big.Rat).Quo(scale, p.step))
			if err != nil {
				return p, err
			}
			return p.of(law)
		}}, nil
}

func gaussianRelease(s setting) (*release, error) {
	rho, err := s.rho()
	if err != nil {
		return nil, err
	}
	m, err := mechanism.NewVector(mechanism.VectorOptions{L2: s.number["sensitivity"], Rho: rho})
	if err != nil {
		return nil, err
	}
	within, err := m.Bound(s.beta())
	if err != nil {
		return nil, err
	}
	square := new(big.Rat).Mul(s.number["sensitivity"], s.number["sensitivity"])
	variance := new(big.Rat).Quo(square, new(big.Rat).Add(rho.Rat(), rho.Rat()))
	return &release{noise: "Gaussian noise of standard deviation " + figures(m.Scale()), event: privacy.Gaussian{Variance: variance, SensitivitySquared: square},
		within: within, of: "a release", rho: rho, picture: func() (picture, error) {
			p := fine(s.number["sensitivity"], numeric.Of(variance).Sqrt().Lo())
			law, err := noise.NewDiscreteGaussian(new(big.Rat).Quo(variance, new(big.Rat).Mul(p.step, p.step)))
			if err != nil {
				return p, err
			}
			return p.of(law)
		}}, nil
}

// rho is what a Gaussian may cost.
func (s setting) rho() (privacy.Rho, error) {
	if s.byRho {
		return privacy.NewRho(s.number["rho"])
	}
	epsilon, err := amountOf(s.number["epsilon"])
	if err != nil {
		return privacy.Rho{}, err
	}
	delta, err := privacy.NewDelta(s.number["delta"])
	if err != nil {
		return privacy.Rho{}, err
	}
	return accountant.GaussianRho(epsilon, delta)
}

// steps is a sensitivity of whole numbers.
func (s setting) steps() (*big.Rat, error) {
	if x := s.number["sensitivity"]; x.IsInt() {
		return x, nil
	}
	return nil, problem.Request(http.StatusBadRequest, "sensitivity: whole numbers change by whole numbers", "choose the mechanism for numbers that are not whole")
}

func geometricRelease(s setting) (*release, error) {
	steps, err := s.steps()
	if err != nil {
		return nil, err
	}
	epsilon, err := amountOf(s.number["epsilon"])
	if err != nil {
		return nil, err
	}
	m, err := mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: steps, Epsilon: epsilon})
	if err != nil {
		return nil, err
	}
	r, err := wholeRelease(m, s)
	if err != nil {
		return nil, err
	}
	r.noise, r.epsilon = "discrete Laplace noise of scale "+figures(m.ScaleIn(big.NewRat(1, 1))), s.number["epsilon"]
	r.picture = func() (picture, error) {
		law, err := noise.NewDiscreteLaplace(new(big.Rat).Quo(steps, s.number["epsilon"]))
		if err != nil {
			return picture{}, err
		}
		return whole(steps).of(law)
	}
	return r, nil
}

func discreteGaussianRelease(s setting) (*release, error) {
	steps, err := s.steps()
	if err != nil {
		return nil, err
	}
	rho, err := s.rho()
	if err != nil {
		return nil, err
	}
	square := new(big.Rat).Mul(steps, steps)
	m, err := mechanism.NewGaussian(mechanism.GaussianOptions{SensitivitySquared: square, Rho: rho})
	if err != nil {
		return nil, err
	}
	r, err := wholeRelease(m, s)
	if err != nil {
		return nil, err
	}
	r.noise, r.rho = "discrete Gaussian noise of standard deviation "+figures(m.ScaleIn(big.NewRat(1, 1))), rho
	r.picture = func() (picture, error) {
		law, err := noise.NewDiscreteGaussian(new(big.Rat).Quo(square, new(big.Rat).Add(rho.Rat(), rho.Rat())))
		if err != nil {
			return picture{}, err
		}
		return whole(steps).of(law)
	}
	return r, nil
}

// wholeRelease is what noise on whole numbers has in common.
func wholeRelease(m mechanism.Additive, s setting) (*release, error) {
	q, err := m.Bound(s.beta())
	if err != nil {
		return nil, err
	}
	within, _ := new(big.Float).SetInt(q).Float64()
	return &release{event: m.Event(), within: within, of: "a release"}, nil
}

func responseRelease(s setting) (*release, error) {
	epsilon, err := amountOf(s.number["epsilon"])
	if err != nil {
		return nil, err
	}
	answers := int(s.number["answers"].Num().Int64())
	m, err := mechanism.NewRandomizedResponse(mechanism.RandomizedResponseOptions{Answers: answers, Epsilon: epsilon})
	if err != nil {
		return nil, err
	}
	n := s.number["respondents"].Num().Int64()
	within, err := m.Bound(n, s.beta())
	if err != nil {
		return nil, err
	}
	truth, _ := m.Truth().Float64()
	return &release{noise: "the truth is told with probability " + figures(truth), event: m.Event(), neighbours: privacy.ReplaceOne,
		within: within, of: fmt.Sprintf("the share that %d respondents let one estimate", n), epsilon: m.Epsilon().Rat(),
		picture: func() (picture, error) { return responses(m.Truth(), answers), nil }}, nil
}

// reckon makes the page: the release, its picture, and what other costs would do.
func (a *showing) reckon(ctx context.Context) error {
	r, err := a.Kind.make(a.setting)
	if err != nil {
		return unfit(err)
	}
	overlap, told, err := r.overlap(ctx)
	if err != nil {
		return err
	}
	guarantee, err := a.guarantee(ctx, r)
	if err != nil {
		return err
	}
	confidence := percentOf(a.setting.number["confidence"])
	a.Facts = []fact{
		{"Guarantee", guarantee, ""},
		{"Error", "±" + r.error(), fmt.Sprintf("at confidence %s, of %s", confidence, r.of)},
		{"Noise", r.noise, ""},
		{"Overlap", overlap, told},
	}
	a.Plan, a.PlanAt = r.event.String(), "/accountant?"+a.asPlan(r).Encode()
	p, err := r.picture()
	if err != nil {
		return unfit(err)
	}
	if a.Figure, err = figure(p.sheet(a, r, overlap)); err != nil {
		return err
	}
	a.Columns, a.Numbers = p.numbers()
	return a.others(ctx)
}

// guarantee words what a release promises.
func (a *showing) guarantee(ctx context.Context, r *release) (string, error) {
	if r.epsilon != nil {
		x, _ := numeric.CeilDigits(r.epsilon, 6).Float64()
		return "ε " + tidy(strconv.FormatFloat(x, 'g', 6, 64)), nil
	}
	rho, _ := numeric.CeilDigits(r.rho.Rat(), 6).Float64()
	text := "ρ " + tidy(strconv.FormatFloat(rho, 'g', 6, 64))
	report, err := accountant.Epsilon(ctx, r.event, bounds.Below(a.setting.number["delta"]), accountant.Options{Neighbours: r.neighbours, Accountant: accountant.PLD})
	if err != nil {
		return "", fmt.Errorf("account for a release: %w", err)
	}
	if best, ok := report.Best(); ok {
		text += fmt.Sprintf(", which is ε %s at δ %s", tidy(bounds.AtMost(best.Epsilon.High)), tidy(bounds.Decimal(a.setting.number["delta"]).String()))
	}
	return text, nil
}

// overlap is how much two neighbours' releases have in common: 1 less δ at ε = 0, which is
// their total variation distance. Half of what they do not have in common is what a guess
// at which it was is better than a coin, at most.
func (r *release) overlap(ctx context.Context) (share, told string, err error) {
	report, err := accountant.Delta(ctx, r.event, 0, accountant.Options{Neighbours: r.neighbours, Accountant: accountant.PLD})
	if err != nil {
		return "", "", fmt.Errorf("account for a release: %w", err)
	}
	best, ok := report.Best()
	if !ok {
		return "unknown", "", nil
	}
	distance := min(1, best.Delta.High)
	return inPercent(1-distance, false), "who guesses which of two neighbours it was is right at most " + inPercent(0.5+distance/2, true) + " of the time", nil
}

// inPercent prints a share in percent with one digit, rounded up or down.
func inPercent(share float64, up bool) string {
	r := new(big.Rat)
	if r.SetFloat64(share) == nil {
		return "unknown"
	}
	r.Mul(r, big.NewRat(1000, 1))
	n := new(big.Int).Quo(r.Num(), r.Denom())
	if up && !r.IsInt() {
		n.Add(n, big.NewInt(1))
	}
	return percentOf(new(big.Rat).SetFrac(n, big.NewInt(1000)))
}

// percentOf is a share in percent.
func percentOf(share *big.Rat) string {
	x, _ := new(big.Rat).Mul(share, big.NewRat(100, 1)).Float64()
	return strconv.FormatFloat(x, 'g', 6, 64) + " %"
}

// error is how far off a release is, in four digits.
func (r *release) error() string {
	x := new(big.Rat)
	if x.SetFloat64(r.within) == nil {
		return "unknown"
	}
	f, _ := numeric.CeilDigits(x, 4).Float64()
	return tidy(strconv.FormatFloat(f, 'g', 4, 64))
}

// others are the same mechanism at a quarter to four times its cost.
func (a *showing) others(ctx context.Context) error {
	a.Cost = symbols[a.setting.cost()]
	for _, times := range []*big.Rat{big.NewRat(1, 4), big.NewRat(1, 2), big.NewRat(1, 1), big.NewRat(2, 1), big.NewRat(4, 1)} {
		cost := new(big.Rat).Mul(a.setting.number[a.setting.cost()], times)
		r, err := a.Kind.make(a.setting.with(cost))
		if err != nil {
			continue // a cost that the mechanism does not have
		}
		overlap, _, err := r.overlap(ctx)
		if err != nil {
			return err
		}
		text := tidy(bounds.Decimal(cost).String())
		a.Others = append(a.Others, otherCost{a.address(text), text, "±" + r.error(), overlap, times.Cmp(big.NewRat(1, 1)) == 0})
	}
	return nil
}
