// Package learntest has what the tests of learners share: budgets, sets, and an audit of
// what runs over neighbours tell apart.
package learntest

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/discreet-dp/discreet/audit"
	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/cost"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/privacy"
)

// Purse returns a budget that suffices for many runs.
func Purse(t testing.TB, measure filter.Measure, n privacy.Neighbours) *budget.InMemory {
	t.Helper()
	f := filter.Budget{Measure: measure, Epsilon: Epsilon(t, "1000000"), Neighbours: n}
	if measure != filter.Pure {
		f.Delta = Delta(t, "0.5")
	}
	m, err := budget.NewInMemory("people", f)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Epsilon, Delta and Rho read amounts.
func Epsilon(t testing.TB, s string) privacy.Epsilon { return must(privacy.ParseEpsilon(s))(t) }

// Delta reads an amount.
func Delta(t testing.TB, s string) privacy.Delta { return must(privacy.ParseDelta(s))(t) }

// Rho reads an amount.
func Rho(t testing.TB, s string) privacy.Rho { return must(privacy.ParseRho(s))(t) }

// Pure, Approx and Concentrated are guarantees.
func Pure(t testing.TB, epsilon string) cost.Options {
	return cost.Options{Epsilon: Epsilon(t, epsilon)}
}

// Approx is an (ε, δ).
func Approx(t testing.TB, epsilon, delta string) cost.Options {
	return cost.Options{Epsilon: Epsilon(t, epsilon), Delta: Delta(t, delta)}
}

// Concentrated is a rho.
func Concentrated(t testing.TB, rho string) cost.Options { return cost.Options{Rho: Rho(t, rho)} }

func must[T any](x T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}

// Labelled returns a set of examples with labels.
func Labelled(classes int, labels []int32, features ...[]float32) *example.Set {
	s := &example.Set{Width: 1, Outputs: 1, Classes: classes, Labels: labels}
	for _, f := range features {
		s.Width = len(f)
		s.Features = append(s.Features, f...)
	}
	return s
}

// Regression returns a set of examples with targets.
func Regression(targets []float32, features ...[]float32) *example.Set {
	s := Labelled(0, nil, features...)
	s.Targets = targets
	return s
}

// Empty returns a set of the same form without examples.
func Empty(s *example.Set) *example.Set { return s.Pick(nil) }

// alpha is the probability with which each of two bounds of an audit is wrong: together,
// a correct learner fails it with at most 1e-9.
const alpha = 5e-10

// rates returns a lower bound of how often with says yes, and an upper one of without.
func rates(t testing.TB, runs int, with, without func() bool) (lo, hi float64) {
	t.Helper()
	yes, no := 0, 0
	for range runs {
		if with() {
			yes++
		}
		if without() {
			no++
		}
	}
	lo, _, err := audit.ClopperPearson(yes, runs, alpha)
	if err != nil {
		t.Fatal(err)
	}
	_, hi, err = audit.ClopperPearson(no, runs, alpha)
	if err != nil {
		t.Fatal(err)
	}
	return lo, hi
}

// EpsilonBound returns an ε that runs with and without a unit prove at δ, with
// confidence 1 − 1e-9.
func EpsilonBound(t testing.TB, runs int, delta float64, with, without func() bool) float64 {
	t.Helper()
	lo, hi := rates(t, runs, with, without)
	return math.Log(max(lo-delta, 0) / hi)
}

// MuBound is EpsilonBound for μ of Gaussian differential privacy (Dong, Roth and Su
// 2022): a test with error rates α and β shows Φ⁻¹(1−β) − Φ⁻¹(α). Gaussian noise that is
// ρ-zCDP has √(2ρ).
func MuBound(t testing.TB, runs int, with, without func() bool) float64 {
	t.Helper()
	lo, hi := rates(t, runs, with, without)
	return distuv.UnitNormal.Quantile(lo) - distuv.UnitNormal.Quantile(hi)
}
