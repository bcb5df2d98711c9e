package audit_test

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/audit"
	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// falseReject is the probability with which a statistical test here may reject what
// is right.
const falseReject = 1e-9

// seeded bits make a test repeat itself.
type seeded struct{ *rand.Rand }

func (s seeded) Uint64() (uint64, error) { return s.Rand.Uint64(), nil }

func bits(seed uint64) noise.Bits { return seeded{rand.New(rand.NewPCG(seed, 35))} }

func newFund(t testing.TB, e string) *budget.InMemory {
	t.Helper()
	b, err := budget.NewInMemory("test", filter.Budget{Measure: filter.Pure, Epsilon: epsilon(t, e)})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// checkSpent fails unless so much of a budget was charged.
func checkSpent(t testing.TB, b *budget.InMemory, want string) {
	t.Helper()
	if got, err := b.Spent(context.Background()); err != nil || got.Epsilon.String() != want {
		t.Errorf("spent %v, %v, want %s", got.Epsilon, err, want)
	}
}

func epsilon(t testing.TB, text string) privacy.Epsilon {
	t.Helper()
	e, err := privacy.ParseEpsilon(text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// laplace is Discreet's noise on a count, for an epsilon.
func laplace(t testing.TB, e string) mechanism.Additive {
	t.Helper()
	m, err := mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: big.NewRat(1, 1), Epsilon: epsilon(t, e)})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// private answers queries of epsilon each from a budget of total.
func private(t testing.TB, b noise.Bits, each, total string) func([]bool) (audit.Oracle, error) {
	m := laplace(t, each)
	return func(secret []bool) (audit.Oracle, error) {
		return audit.Private(b, secret, audit.PrivateOptions{Mechanism: m, Budget: newFund(t, total)})
	}
}

func ones(n int) []bool {
	out := make([]bool, n)
	for i := range out {
		out[i] = true
	}
	return out
}

// The exact oracle counts, the bounded one is within its bound and not constant, the
// private one charges each answer and refuses what is not covered.
func TestOracles(t *testing.T) {
	ctx := t.Context()
	secret := []bool{true, false, true, true}
	q := audit.Subset{true, true, false, true}
	if a, err := audit.Exact(secret)(ctx, q); err != nil || a != 2 {
		t.Errorf("exact: %v, %v", a, err)
	}
	o, err := audit.Bounded(bits(1), secret, 0.25)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[float64]bool{}
	for range 100 {
		a, err := o(ctx, q)
		if err != nil || a < 1.75 || a > 2.25 {
			t.Fatalf("bounded: %v, %v", a, err)
		}
		seen[a] = true
	}
	if len(seen) < 90 {
		t.Errorf("bounded: %d answers", len(seen))
	}
	f := newFund(t, "1")
	o, err = audit.Private(bits(2), secret, audit.PrivateOptions{Mechanism: laplace(t, "0.3"), Budget: f})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := o(ctx, q); err != nil {
			t.Error(err)
		}
	}
	if _, err := o(ctx, q); !errors.Is(err, audit.ErrRefused) || !errors.Is(err, budget.ErrExceeded) {
		t.Errorf("the fourth answer: %v", err)
	}
	checkSpent(t, f, "0.9")
}

// What means nothing is refused, and nothing is charged for it.
func TestBadParameters(t *testing.T) {
	ctx := t.Context()
	f := newFund(t, "1")
	good, err := audit.Private(bits(1), ones(3), audit.PrivateOptions{Mechanism: laplace(t, "1"), Budget: f})
	if err != nil {
		t.Fatal(err)
	}
	replacing, err := budget.NewInMemory("test", filter.Budget{Measure: filter.Pure, Epsilon: epsilon(t, "1"), Neighbours: privacy.ReplaceOne})
	if err != nil {
		t.Fatal(err)
	}
	attack := func(a audit.Attack, n, target int) error { _, err := a(ctx, good, n, target); return err }
	for name, err := range map[string]error{
		"query of another size":       second(good(ctx, make(audit.Subset, 4))),
		"exact, another size":         second(audit.Exact(ones(3))(ctx, nil)),
		"negative noise":              second(audit.Bounded(bits(1), ones(3), -1)),
		"NaN noise":                   second(audit.Bounded(bits(1), ones(3), nan)),
		"infinite noise":              second(audit.Bounded(bits(1), ones(3), inf)),
		"no mechanism":                second(audit.Private(bits(1), ones(3), audit.PrivateOptions{Budget: f})),
		"no budget":                   second(audit.Private(bits(1), ones(3), audit.PrivateOptions{Mechanism: laplace(t, "1")})),
		"replace-one":                 second(audit.Private(bits(1), ones(3), audit.PrivateOptions{Mechanism: laplace(t, "1"), Budget: replacing})),
		"target beyond":               attack(audit.Difference, 3, 3),
		"target below":                attack(audit.Probe, 3, -1),
		"no units":                    attack(audit.Average(1), 0, 0),
		"no queries":                  attack(audit.Average(0), 3, 0),
		"reconstruction of nobody":    second(audit.Reconstruct(ctx, bits(1), good, 0, audit.ReconstructOptions{})),
		"negative queries":            second(audit.Reconstruct(ctx, bits(1), good, 3, audit.ReconstructOptions{Queries: -1})),
		"queries without end":         second(audit.Reconstruct(ctx, bits(1), good, 3, audit.ReconstructOptions{Queries: 1000})),
		"no attack":                   second(audit.Trials(ctx, bits(1), audit.TrialOptions{Units: 1, Runs: 1})),
		"no runs":                     second(audit.Trials(ctx, bits(1), audit.TrialOptions{Attack: audit.Difference, Oracle: exact, Units: 1})),
		"trial of nobody":             second(audit.Trials(ctx, bits(1), audit.TrialOptions{Attack: audit.Difference, Oracle: exact, Runs: 1})),
		"others of another number":    second(audit.Trials(ctx, bits(1), audit.TrialOptions{Attack: audit.Difference, Oracle: exact, Runs: 1, Units: 2, Others: ones(3)})),
		"confidence 1":                second(audit.Counts{Members: 1, Others: 1}.EpsilonLowerBound(0, 1)),
		"confidence NaN":              second(audit.Counts{Members: 1, Others: 1}.EpsilonLowerBound(0, nan)),
		"delta 1":                     second(audit.Counts{Members: 1, Others: 1}.EpsilonLowerBound(1, 0.95)),
		"no members":                  second(audit.Counts{Others: 1}.EpsilonLowerBound(0, 0.95)),
		"more right than guesses":     second(audit.OneRunEpsilon(10, 5, 6, 0, 0.95)),
		"more guesses than units":     second(audit.OneRunEpsilon(10, 11, 6, 0, 0.95)),
		"one run, delta NaN":          second(audit.OneRunEpsilon(10, 5, 5, nan, 0.95)),
		"an answer that is no number": second(audit.Reconstruct(ctx, bits(1), func(context.Context, audit.Subset) (float64, error) { return nan, nil }, 3, audit.ReconstructOptions{})),
	} {
		if !errors.Is(err, audit.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	checkSpent(t, f, "0")
}

func second[T any](_ T, err error) error { return err }

func exact(secret []bool) (audit.Oracle, error) { return audit.Exact(secret), nil }

// Bits that fail end everything: no guess, and no answer that would be taken for noisy.
func TestFailingBits(t *testing.T) {
	ctx := t.Context()
	if _, err := audit.Bits(broken{}, 3); !errors.Is(err, errBroken) {
		t.Errorf("bits: %v", err)
	}
	o, err := audit.Bounded(broken{}, ones(3), 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o(ctx, ones(3)); !errors.Is(err, errBroken) {
		t.Errorf("bounded: %v", err)
	}
	p, err := private(t, broken{}, "1", "9")(ones(3))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p(ctx, ones(3)); !errors.Is(err, errBroken) {
		t.Errorf("private: %v", err)
	}
	if _, err := audit.Reconstruct(ctx, broken{}, audit.Exact(ones(3)), 3, audit.ReconstructOptions{}); !errors.Is(err, errBroken) {
		t.Errorf("reconstruct: %v", err)
	}
	if _, err := audit.Trials(ctx, broken{}, audit.TrialOptions{Attack: audit.Difference, Oracle: exact, Units: 1, Runs: 1}); !errors.Is(err, errBroken) {
		t.Errorf("trials: %v", err)
	}
}

var errBroken = errors.New("no bits")

type broken struct{}

func (broken) Uint64() (uint64, error) { return 0, errBroken }
