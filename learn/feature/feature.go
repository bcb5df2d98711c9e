// Package feature describes the numbers of an example: each is a category, or a number between
// bounds. It is for learners that look at one column at a time.
//
// It guarantees that a Feature depends on declarations alone, and that every example lies
// in one of its bins.
//
// It does not guarantee privacy: which bin an example lies in is as private as the
// example.
package feature

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/learn/example"
)

// A Feature is a category or a number, at some place of an example's features.
type Feature struct {
	// Name is for people.
	Name string `json:"name"`
	// At is where the feature begins.
	At int `json:"at"`
	// Values is how many values a category has: the one whose number of the Values
	// from At on is the largest. 0 is a number, at At itself.
	Values int `json:"values,omitempty"`
	// Lower and Upper are a number's bounds.
	Lower float64 `json:"lower,omitempty"`
	Upper float64 `json:"upper,omitempty"`
	// Null says that the number is missing where what follows it is above 0.
	Null bool `json:"null,omitempty"`
}

// ErrFeature is wrapped by the refusal of what is no feature.
var ErrFeature = errors.New("no such feature")

// Of returns the features of an encoding, one for each column.
func Of(e *example.Encoding) []Feature {
	var all []Feature
	lower := -1.0
	if e.Unit {
		lower = 0
	}
	at := 0
	for i, width := range e.Widths() {
		c := &e.Columns[i]
		f := Feature{Name: c.Name, At: at, Lower: lower, Upper: 1, Null: true}
		if c.Values != nil {
			f = Feature{Name: c.Name, At: at, Values: width}
		}
		all = append(all, f)
		at += width
	}
	return all
}

// Check refuses features that do not lie within width, or are nothing.
func Check(all []Feature, width int) error {
	if len(all) == 0 {
		return fmt.Errorf("%w: none are given", ErrFeature)
	}
	for i, f := range all {
		end := f.At + max(f.Values, 1)
		if f.Values == 0 && f.Null {
			end++
		}
		switch {
		case f.At < 0 || f.Values < 0 || end > width || end < 0:
			return fmt.Errorf("%w: number %d, %q, lies beyond %d features", ErrFeature, i, f.Name, width)
		case f.Values == 0 && !(f.Lower < f.Upper && !math.IsInf(f.Upper-f.Lower, 0)):
			return fmt.Errorf("%w: number %d, %q, has no bounds in order", ErrFeature, i, f.Name)
		}
	}
	return nil
}

// Number returns where a number lies between its bounds, from 0 to 1, and false if it is
// missing.
func (f *Feature) Number(x []float32) (float64, bool) {
	v := float64(x[f.At])
	if f.Null && x[f.At+1] > 0 || math.IsNaN(v) {
		return 0, false
	}
	return (min(max(v, f.Lower), f.Upper) - f.Lower) / (f.Upper - f.Lower), true
}

// Cuts are points in (0, 1), in order, that divide a number's range: n−1 evenly, and n−1
// evenly in a logarithm that is a thousand times finer at the lower bound, where so many
// numbers lie. They depend on no data.
func Cuts(n int) []float64 {
	const scale = 1000
	cuts := make([]float64, 0, 2*n)
	for i := 1; i < n; i++ {
		u := float64(i) / float64(n)
		cuts = append(cuts, u, math.Expm1(u*math.Log1p(scale))/scale)
	}
	slices.Sort(cuts)
	return slices.Compact(cuts)
}

// Bins is how many bins Bin tells apart: the values of a category; or the parts that cuts
// make of a number's range, and one for what is missing.
func (f *Feature) Bins(cuts []float64) int {
	if f.Values > 0 {
		return f.Values
	}
	return len(cuts) + 2
}

// Bin returns the bin that an example lies in.
func (f *Feature) Bin(x []float32, cuts []float64) int {
	if f.Values > 0 {
		best := 0
		for v := 1; v < f.Values; v++ {
			if x[f.At+v] > x[f.At+best] {
				best = v
			}
		}
		return best
	}
	u, ok := f.Number(x)
	if !ok {
		return len(cuts) + 1
	}
	at, found := slices.BinarySearch(cuts, u)
	if found {
		at++
	}
	return at
}
