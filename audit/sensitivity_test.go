package audit_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/audit"
)

var nan, inf = math.NaN(), math.Inf(1)

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

func asVector(f func([]float64) float64) func([]float64) []float64 {
	return func(x []float64) []float64 { return []float64{f(x)} }
}

// What parallel databases show of sums, means and thresholds over bits: the
// largest move of the query when one record is left out.
func TestSensitivityOfTextbookQueries(t *testing.T) {
	zeros, mixed := []float64{0, 0, 0}, []float64{0, 1, 1, 0}
	above := func(k float64) func([]float64) []float64 {
		return asVector(func(x []float64) float64 {
			if sum(x) > k {
				return 1
			}
			return 0
		})
	}
	mean := asVector(func(x []float64) float64 { return sum(x) / float64(len(x)) })
	for _, tc := range []struct {
		name    string
		db      []float64
		f       func([]float64) []float64
		norm    audit.Norm
		want    float64
		witness int
	}{
		{"sum of bits", mixed, asVector(sum), audit.L1, 1, 1},
		{"sum of zeros shows nothing", zeros, asVector(sum), audit.L1, 0, -1},
		{"mean of bits", []float64{1, 0, 0, 0, 0}, mean, audit.L1, 0.2, 0},
		{"threshold at the sum minus one flips", mixed, above(1), audit.L1, 1, 1},
		{"threshold at the sum does not", mixed, above(2), audit.L1, 0, -1},
		{"threshold further below does not", mixed, above(0), audit.L1, 0, -1},
		{"histogram, L1", mixed, func(x []float64) []float64 { return []float64{float64(len(x)) - sum(x), sum(x)} }, audit.L1, 1, 0},
		{"two copies, L1", mixed, func(x []float64) []float64 { return []float64{sum(x), sum(x)} }, audit.L1, 2, 1},
		{"two copies, L2", mixed, func(x []float64) []float64 { return []float64{sum(x), sum(x)} }, audit.L2, math.Sqrt2, 1},
		{"two copies, LInf", mixed, func(x []float64) []float64 { return []float64{sum(x), -sum(x)} }, audit.LInf, 1, 1},
		{"median of two clusters", []float64{0, 0, 100, 100, 100}, asVector(median), audit.L1, 50, 2},
		{"the argument may be changed", mixed, func(x []float64) []float64 { defer clear(x); return []float64{sum(x)} }, audit.L1, 1, 1},
	} {
		got, err := audit.Sensitivity(t.Context(), tc.db, tc.f, tc.norm)
		if err != nil || math.Abs(got.LowerBound-tc.want) > 1e-12 || got.Witness != tc.witness || got.Databases != len(tc.db) {
			t.Errorf("%s: %+v, %v, want %v at %d", tc.name, got, err, tc.want, tc.witness)
		}
		if d, err := tc.norm.Distance(got.With, got.Without); tc.witness >= 0 && (err != nil || d != got.LowerBound) {
			t.Errorf("%s: the witness shows %v, %v", tc.name, d, err)
		}
	}
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	return (x[(n-1)/2] + x[n/2]) / 2
}

// The mean of n bits never moves by more than 1/(n-1), and a sum by no more than the
// largest record.
func TestSensitivityIsWithinTheTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		db := rapid.SliceOfN(rapid.Float64Range(0, 1), 2, 50).Draw(t, "db")
		ctx := context.Background()
		s, err := audit.Sensitivity(ctx, db, asVector(func(x []float64) float64 { return sum(x) / float64(len(x)) }), audit.L1)
		if err != nil || s.LowerBound > 1/float64(len(db)-1)+1e-12 {
			t.Fatalf("mean: %+v, %v", s, err)
		}
		s, err = audit.Sensitivity(ctx, db, asVector(sum), audit.L1)
		if err != nil || math.Abs(s.LowerBound-slices.Max(db)) > 1e-9 {
			t.Fatalf("sum: %+v, %v, largest %v", s, err, slices.Max(db))
		}
	})
}

// A unit's records go together.
func TestUnitSensitivity(t *testing.T) {
	type visit struct {
		patient string
		cost    float64
	}
	db := []visit{{"a", 1}, {"b", 5}, {"a", 3}, {"c", 2}, {"a", 2}}
	total := func(v []visit) []float64 {
		s := 0.0
		for _, x := range v {
			s += x.cost
		}
		return []float64{s}
	}
	s, err := audit.UnitSensitivity(t.Context(), db, func(v visit) string { return v.patient }, total, audit.L1)
	if err != nil || s.LowerBound != 6 || s.Witness != 0 || s.Databases != 3 {
		t.Errorf("%+v, %v", s, err)
	}
}

// A function that is not one has no sensitivity.
func TestSensitivityRefuses(t *testing.T) {
	db := []float64{1, 2, 0}
	for name, f := range map[string]func([]float64) []float64{
		"NaN":               asVector(func([]float64) float64 { return nan }),
		"infinite":          asVector(func([]float64) float64 { return inf }),
		"NaN for one":       asVector(func(x []float64) float64 { return 1 / (3 - sum(x)) * 0 * inf }),
		"lengths differ":    func(x []float64) []float64 { return x },
		"overflow":          asVector(func(x []float64) float64 { return math.MaxFloat64 * math.Pow(-1, float64(len(x))) }),
		"infinite for some": asVector(func(x []float64) float64 { return 1 / (sum(x) - 1) }),
	} {
		if s, err := audit.Sensitivity(t.Context(), db, f, audit.L1); !errors.Is(err, audit.ErrParameter) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	if _, err := audit.Sensitivity(t.Context(), db, asVector(sum), audit.Norm(9)); !errors.Is(err, audit.ErrParameter) {
		t.Errorf("norm 9: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := audit.Sensitivity(ctx, db, asVector(sum), audit.L1); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if s, err := audit.Sensitivity(t.Context(), nil, asVector(sum), audit.L1); err != nil || s.LowerBound != 0 || s.Witness != -1 {
		t.Errorf("nobody: %+v, %v", s, err)
	}
}
