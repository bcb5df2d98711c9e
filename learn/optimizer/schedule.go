package optimizer

import (
	"fmt"
	"math"
)

// A Shape names how a schedule goes.
type Shape string

// The shapes. The zero Shape is Constant.
const (
	Constant Shape = "constant" // 1
	Stairs   Shape = "step"     // times Factor after every so many steps
	Cosine   Shape = "cosine"   // from 1 to Final along half a cosine
)

// A Schedule is a factor that depends on the step alone, and so on nothing private.
// The zero Schedule is 1 throughout.
type Schedule struct {
	Shape  Shape   `json:"shape,omitempty"`
	Every  int     `json:"every,omitempty"`   // of Stairs
	Factor float64 `json:"factor,omitempty"`  // of Stairs
	Final  float64 `json:"final,omitempty"`   // of Cosine
	WarmUp int     `json:"warm_up,omitempty"` // the first steps, in which the factor rises from nearly 0
}

// Validate reports what of the schedule means nothing.
func (s Schedule) Validate() error {
	switch s.Shape {
	case "", Constant:
		if s.Every != 0 || s.Factor != 0 || s.Final != 0 {
			return fmt.Errorf("a constant schedule has no every, factor or final")
		}
	case Stairs:
		if s.Every <= 0 || !(s.Factor > 0) || math.IsInf(s.Factor, 0) || s.Final != 0 {
			return fmt.Errorf("a step schedule needs every and factor, both positive, and no final")
		}
	case Cosine:
		if s.Every != 0 || s.Factor != 0 || !(s.Final >= 0) || math.IsInf(s.Final, 0) {
			return fmt.Errorf("a cosine schedule has a final that is not negative, and no every or factor")
		}
	default:
		return fmt.Errorf("schedule %q is not one of constant, step, cosine", s.Shape)
	}
	if s.WarmUp < 0 {
		return fmt.Errorf("a warm-up of %d steps", s.WarmUp)
	}
	return nil
}

// At returns the factor of a step, counted from 0, of a run of so many steps.
func (s Schedule) At(step, steps int) float64 {
	factor := 1.0
	switch s.Shape {
	case Stairs:
		factor = math.Pow(s.Factor, float64(step/s.Every))
	case Cosine:
		// The last step, steps-1, is at Final.
		at := float64(step) / float64(max(steps-1, 1))
		factor = s.Final + (1-s.Final)*(1+math.Cos(math.Pi*at))/2
	}
	if step < s.WarmUp {
		factor *= float64(step+1) / float64(s.WarmUp)
	}
	return factor
}
