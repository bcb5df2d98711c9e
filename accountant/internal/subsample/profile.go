package subsample

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/accountant/internal/loss"
)

// A Profile is an upper bound on δ(ε) = sup_S P(S) - e^ε·Q(S) for ε >= 0, over all
// neighbours in either direction. It does not increase and is at most 1.
type Profile func(epsilon float64) (delta float64)

// tiny is added where a probability leaves the range of what it is computed in.
const tiny = 1e-305

// ofPair returns the profile of a pair that dominates an event both ways.
func ofPair(p loss.Pair) Profile {
	return func(eps float64) float64 {
		return math.Min(1, p.Delta(eps)*(1+2*loss.Precision)+tiny)
	}
}

// Epsilon returns the least ε >= 0, to a relative 10⁻¹² above it, at which the profile
// is at most delta; +Inf if there is none up to most.
func (p Profile) Epsilon(delta, most float64) float64 {
	if p(0) <= delta {
		return 0
	}
	lo, hi := 0.0, math.Min(most, 1e-9)
	for !(p(hi) <= delta) {
		if hi >= most {
			return math.Inf(1)
		}
		lo, hi = hi, math.Min(most, 4*hi)
	}
	for hi-lo > 1e-12*hi {
		if mid := lo + (hi-lo)/2; p(mid) <= delta {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// errProfile is returned for a profile that is none.
var errProfile = errors.New("not a privacy profile")

// Dots returns a pair whose profile is at least p at every ε, both ways, and equal
// to it at the given knots: increasing values of ε from 0 on. As p bounds δ(ε) of two
// directions, it bounds their greatest as a function of e^ε, which is convex and
// which the chords between knots therefore lie above; beyond the last knot δ stays
// what it is there, as the mass of an infinite loss ("connecting the dots", Doroshenko,
// Ghazi, Kamath, Kumar and Manurangsi 2022; that a convex profile has a pair is Zhu,
// Dong and Wang 2022, Proposition 8).
//
// Below 1 the profile follows from δ(-ε) = 1 - e^-ε·(1 - δ(ε)).
func Dots(p Profile, knots []float64) (loss.Pair, error) {
	xs, hs := make([]float64, 0, len(knots)), make([]float64, 0, len(knots))
	for i, eps := range knots {
		x, h := math.Expm1(eps), p(eps)
		if i > 0 {
			h = math.Min(h, hs[len(hs)-1])
		}
		if !(h >= 0 && h <= 1) || i == 0 && eps != 0 || math.IsInf(x, 0) || i > 0 && !(eps > knots[i-1]) {
			return nil, fmt.Errorf("δ(%v) = %v: %w", eps, h, errProfile)
		}
		// Keep the lower convex hull: rounding may have lifted a value off the curve.
		for n := len(xs); n > 1 && (hs[n-1]-hs[n-2])*(x-xs[n-1]) > (h-hs[n-1])*(xs[n-1]-xs[n-2]); n-- {
			xs, hs = xs[:n-1], hs[:n-1]
		}
		xs, hs = append(xs, x), append(hs, h)
	}
	if len(xs) < 2 {
		return nil, fmt.Errorf("fewer than two knots: %w", errProfile)
	}
	last := len(xs) - 1
	d := &dots{end: hs[last]}
	zero := 1 - hs[last]
	var right, left []loss.Atom
	slope := func(i int) float64 {
		if i == last {
			return 0
		}
		return (hs[i+1] - hs[i]) / (xs[i+1] - xs[i])
	}
	for i := 1; i <= last; i++ {
		q := slope(i) - slope(i-1) // of Q at loss ln(1+x)
		if !(q > 0) {
			continue
		}
		l, pm := math.Log1p(xs[i]), q*(1+xs[i])
		right = append(right, loss.Atom{Loss: l, LogP: math.Log(pm)})
		left = append(left, loss.Atom{Loss: -l, LogP: math.Log(q)})
		zero -= q + pm
	}
	slices.Reverse(left)
	d.atoms = left
	if zero < -1e-9 {
		return nil, fmt.Errorf("falls faster than 1-e^ε: %w", errProfile)
	}
	if zero > 0 {
		d.atoms = append(d.atoms, loss.Atom{LogP: math.Log(zero)})
	}
	d.atoms = append(d.atoms, right...)
	if len(d.atoms) == 0 {
		return nil, fmt.Errorf("the event may give everything away: %w", loss.ErrUnsupported)
	}
	return d, nil
}

// dots is a discrete pair that is its own mirror image.
type dots struct {
	atoms []loss.Atom
	end   float64 // P{Q = 0} and Q{P = 0}
}

func (d *dots) Atoms() []loss.Atom       { return d.atoms }
func (d *dots) Thresholds(int) []float64 { return nil }
func (d *dots) Max() float64             { return d.atoms[len(d.atoms)-1].Loss }
func (d *dots) Ends() (p, q float64)     { return d.end, d.end }

func (d *dots) Cells(t, logP, ratio []float64) loss.Rounding {
	for i := range logP {
		logP[i], ratio[i] = math.Inf(-1), 0
	}
	return loss.Rounding{}
}

func (d *dots) Delta(eps float64) float64 {
	sum := d.end
	for i := len(d.atoms) - 1; i >= 0 && d.atoms[i].Loss > eps; i-- {
		sum -= math.Exp(d.atoms[i].LogP) * math.Expm1(eps-d.atoms[i].Loss)
	}
	return sum
}

// Knots returns n+1 values of ε from 0 to top, closer together near 0, where the
// losses of many events are.
func Knots(top float64, n int) []float64 {
	knots := make([]float64, n+1)
	for i := range knots {
		x := float64(i) / float64(n)
		knots[i] = top * x * math.Sqrt(x)
	}
	return knots
}
