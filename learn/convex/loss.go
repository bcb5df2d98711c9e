package convex

import "math"

// A loss is convex in the margin m = w·x, with a slope in [-1, 1].
type loss interface {
	value(m, y float64) float64
	slope(m, y float64) float64
	curvature(m, y float64) float64
	// smoothness is the most that curvature returns.
	smoothness() float64
}

// logistic is ln(1+e^m) − y·m, for y of 0 or 1.
type logistic struct{}

func (logistic) value(m, y float64) float64 {
	return max(m, 0) + math.Log1p(math.Exp(-math.Abs(m))) - y*m
}
func (logistic) slope(m, y float64) float64 { return sigmoid(m) - y }
func (logistic) curvature(m, _ float64) float64 {
	p := sigmoid(m)
	return p * (1 - p)
}
func (logistic) smoothness() float64 { return 0.25 }

func sigmoid(m float64) float64 {
	if m < 0 {
		e := math.Exp(m)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-m))
}

// huber is r²/2 for a residual r = m − y in [-1, 1], and |r| − 1/2 beyond.
type huber struct{}

func (huber) value(m, y float64) float64 {
	r := math.Abs(m - y)
	if r <= 1 {
		return r * r / 2
	}
	return r - 0.5
}
func (huber) slope(m, y float64) float64 { return min(max(m-y, -1), 1) }
func (huber) curvature(m, y float64) float64 {
	if math.Abs(m-y) <= 1 {
		return 1
	}
	return 0
}
func (huber) smoothness() float64 { return 1 }
