package audit

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// A Norm measures the distance between two vectors.
type Norm int

// The norms: of sums of absolute differences (Laplace noise), of Euclid (Gaussian
// noise), and of the largest difference.
const (
	L1 Norm = iota
	L2
	LInf
)

// String returns "L1", "L2" or "LInf".
func (n Norm) String() string {
	switch n {
	case L1:
		return "L1"
	case L2:
		return "L2"
	case LInf:
		return "LInf"
	}
	return fmt.Sprintf("Norm(%d)", int(n))
}

// Distance returns the distance of two vectors. It refuses vectors of different
// lengths, and what is not finite.
func (n Norm) Distance(x, y []float64) (float64, error) {
	if len(x) != len(y) {
		return 0, bad("%d numbers and %d: their distance is not defined", len(x), len(y))
	}
	d := 0.0
	for i := range x {
		if !finite(x[i]) || !finite(y[i]) {
			return 0, bad("%v and %v: their distance is not defined", x[i], y[i])
		}
		switch diff := math.Abs(x[i] - y[i]); n {
		case L1:
			d += diff
		case L2:
			d = math.Hypot(d, diff)
		case LInf:
			d = max(d, diff)
		default:
			return 0, bad("%v", n)
		}
	}
	if !finite(d) {
		return 0, bad("a distance beyond what a float64 holds")
	}
	return d, nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// A SensitivityLowerBound is how far a function moved when something was removed
// from one database.
type SensitivityLowerBound struct {
	// LowerBound is the largest distance that was seen. The function's sensitivity is
	// a supremum over all databases: at least this, and no larger one is excluded.
	// (It is the local sensitivity at this database, towards smaller ones.)
	LowerBound float64 `json:"lower_bound"`
	// Witness is the place, among what was removed, at which it was seen: the first
	// such; -1 if nothing moved the function.
	Witness int `json:"witness"`
	// With and Without are the values before and after the witness was removed.
	With    []float64 `json:"with"`
	Without []float64 `json:"without"`
	// Databases is how many parallel databases were looked at.
	Databases int `json:"databases"`
}

// Sensitivity measures how far f moves when one record is removed from db, over all
// parallel databases, of which there are as many as records. f sees copies.
func Sensitivity[T any](ctx context.Context, db []T, f func([]T) []float64, norm Norm) (SensitivityLowerBound, error) {
	return Parallel(ctx, len(db), norm, func(_ context.Context, i int) ([]float64, error) {
		if i < 0 {
			return f(slices.Clone(db)), nil
		}
		return f(slices.Concat(db[:i], db[i+1:])), nil
	})
}

// UnitSensitivity is Sensitivity when all records of one unit are removed together.
// The witness counts units in the order of their first records.
func UnitSensitivity[T any, K comparable](ctx context.Context, db []T, unit func(T) K, f func([]T) []float64, norm Norm) (SensitivityLowerBound, error) {
	var units []K
	known := map[K]bool{}
	for _, r := range db {
		if k := unit(r); !known[k] {
			known[k] = true
			units = append(units, k)
		}
	}
	return Parallel(ctx, len(units), norm, func(_ context.Context, i int) ([]float64, error) {
		if i < 0 {
			return f(slices.Clone(db)), nil
		}
		return f(slices.DeleteFunc(slices.Clone(db), func(r T) bool { return unit(r) == units[i] })), nil
	})
}

// Parallel is Sensitivity of a function that is asked about its n parallel databases
// by number, 0 to n-1, and about the whole database by -1.
func Parallel(ctx context.Context, n int, norm Norm, f func(ctx context.Context, without int) ([]float64, error)) (SensitivityLowerBound, error) {
	whole, err := f(ctx, -1)
	if err != nil {
		return SensitivityLowerBound{}, fmt.Errorf("sensitivity: %w", err)
	}
	if _, err := norm.Distance(whole, whole); err != nil {
		return SensitivityLowerBound{}, fmt.Errorf("sensitivity: the whole database: %w", err)
	}
	whole = slices.Clone(whole)
	s := SensitivityLowerBound{Witness: -1, With: whole, Databases: n}
	for i := range n {
		if err := ctx.Err(); err != nil {
			return SensitivityLowerBound{}, err
		}
		part, err := f(ctx, i)
		if err != nil {
			return SensitivityLowerBound{}, fmt.Errorf("sensitivity: without %d: %w", i, err)
		}
		d, err := norm.Distance(whole, part)
		if err != nil {
			return SensitivityLowerBound{}, fmt.Errorf("sensitivity: without %d: %w", i, err)
		}
		if d > s.LowerBound {
			s.LowerBound, s.Witness, s.Without = d, i, slices.Clone(part)
		}
	}
	return s, nil
}
