package main

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/examples/internal/program"
	"github.com/discreet-dp/discreet/examples/internal/round"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
)

// features are random ones whose inner products are near a Gaussian kernel's (Rahimi and Recht 2007): a
// cosine and a sine of each direction, so that every point has norm 1. They are public.
type features [][]float64

func newFeatures(width, pairs int, scale float64) features {
	r := round.Make(3)
	f := make(features, pairs)
	for i := range f {
		f[i] = make([]float64, width)
		for j := range f[i] {
			f[i][j] = scale * r.Normal()
		}
	}
	return f
}

func (f features) of(x []float64) []float64 {
	out := make([]float64, 0, 2*len(f))
	for _, direction := range f {
		turn := 0.0
		for j, d := range direction {
			turn += d * x[j]
		}
		sin, cos := math.Sincos(turn)
		out = append(out, cos/math.Sqrt(float64(len(f))), sin/math.Sqrt(float64(len(f))))
	}
	return out
}

// A svm is a support vector machine with the Huberized hinge loss (Chapelle 2007), whose slope is at most 1
// and whose curvature is at most 1/2h.
type svm struct {
	lambda, h float64
	steps     int
}

// train makes so many steps downhill of the mean loss + λ/2·|w|². Points have norm 1, labels are 1 and −1.
func (v svm) train(points [][]float64, labels []float64) []float64 {
	w, slope := make([]float64, len(points[0])), make([]float64, len(points[0]))
	rate, n := 1/v.curvature(), float64(len(points))
	for range v.steps {
		for j := range slope {
			slope[j] = v.lambda * w[j]
		}
		for i, x := range points {
			short := 1 + v.h - labels[i]*dot(w, x)
			if short <= 0 {
				continue
			}
			by := min(short/(2*v.h), 1) * labels[i] / n
			for j := range slope {
				slope[j] -= by * x[j]
			}
		}
		for j := range w {
			w[j] -= rate * slope[j]
		}
	}
	return w
}

func (v svm) curvature() float64 { return 1/(2*v.h) + v.lambda }

// sensitivity is how far the weights move if one of n people is replaced, at most.
//
// Theorem (Chaudhuri, Monteleoni and Sarwate 2011, Corollary 8). The minimum of a mean of n losses of slope at
// most 1, over points of norm at most 1, plus λ/2·|w|² moves by at most 2/nλ. Each step brings w nearer to it
// by the factor 1 − λ/curvature, and it begins no farther away than 1/λ: what is left of the way is added for
// both databases, and 1e-9 for floats, whose errors in a step are below 1e-14 and add up to 1/λ as much.
func (v svm) sensitivity(n int) float64 {
	left := math.Pow(1-v.lambda/v.curvature(), float64(v.steps)) / v.lambda
	return 2/(float64(n)*v.lambda) + 2*left + 1e-9
}

// release adds Gaussian noise to the weights of n people's machine.
func (v svm) release(w []float64, n int, epsilon string) ([]float64, error) {
	rho, err := filter.ZCDPRho(program.Epsilon(epsilon), program.Delta("1e-6"))
	if err != nil {
		return nil, err
	}
	bound, err := numeric.FromFloat(v.sensitivity(n))
	if err != nil {
		return nil, fmt.Errorf("sensitivity: %w", err)
	}
	bound.Mul(bound, big.NewRat(1_000_001, 1_000_000)) // its own rounding
	m, err := mechanism.NewVector(mechanism.VectorOptions{Length: len(w), L2: bound, Rho: rho})
	if err != nil {
		return nil, err
	}
	return m.Release(noise.System(), w)
}

func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}
