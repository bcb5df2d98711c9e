package pate

import (
	"math"
	"slices"
	"testing"
)

// A ramp that is moved is the ramp less how far it moved: by at most what was said,
// drawn anew each time, and the same for all places.
func TestShift(t *testing.T) {
	const side = 12
	ramp, to := make([]float32, side*side), make([]float32, side*side)
	for i := range ramp {
		ramp[i] = float32(i%side) + 100*float32(i/side)
	}
	d, r := Distortion{Height: side, Width: side, Shift: 2, Blank: -1}, rng(1)
	var least, most float64
	for range 200 {
		d.apply(&r, ramp, to)
		middle := (side/2)*side + side/2
		by := to[middle] - ramp[middle]
		down := math.Round(float64(by) / 100)
		for y := 3; y < side-3; y++ {
			for x := 3; x < side-3; x++ {
				if at := y*side + x; math.Abs(float64(to[at]-ramp[at]-by)) > 1e-3 {
					t.Fatalf("%d, %d moved by %g, the middle by %g", y, x, to[at]-ramp[at], by)
				}
			}
		}
		least, most = min(least, down), max(most, down)
		if math.Abs(float64(by)) > 202.01 {
			t.Fatalf("moved by %g", by)
		}
	}
	if least != -2 || most != 2 {
		t.Errorf("moved by %g to %g rows", least, most)
	}
}

// Each kind of distortion does something, stays near what it distorts, and is a
// function of the generator; none of them leaves the image alone.
func TestDistortions(t *testing.T) {
	const side = 16
	image, to, again := make([]float32, side*side), make([]float32, side*side), make([]float32, side*side)
	for y := 5; y < 11; y++ { // a bar, off the middle
		for x := 6; x < 9; x++ {
			image[y*side+x] = 1
		}
	}
	for name, d := range map[string]Distortion{
		"shift": {Shift: 1}, "turn": {Turn: 20}, "stretch": {Stretch: 0.2}, "slant": {Slant: 0.3}, "bend": {Bend: 1}, "erase": {Erase: 4}, "none": {},
	} {
		d.Height, d.Width = side, side
		changed := 0
		for seed := range uint64(20) {
			r, same := rng(seed), rng(seed)
			d.apply(&r, image, to)
			d.apply(&same, image, again)
			if !slices.Equal(to, again) {
				t.Fatalf("%s: two results of one seed", name)
			}
			sum := float32(0)
			for i, v := range to {
				if sum += v; v < 0 || v > 1+1e-6 {
					t.Fatalf("%s: %g at %d", name, v, i)
				}
			}
			if sum > 30 || sum < 8 && d.Erase == 0 {
				t.Errorf("%s: %g of the 18 pixels are left", name, sum)
			}
			if !slices.Equal(to, image) {
				changed++
			}
		}
		if want := name != "none"; (changed > 3) != want {
			t.Errorf("%s: changed %d images of 20", name, changed)
		}
	}
}

func TestErase(t *testing.T) {
	d, r := Distortion{Height: 5, Width: 7, Erase: 3, Blank: 9}, rng(1)
	image, to := make([]float32, 35), make([]float32, 35)
	for range 50 {
		d.apply(&r, image, to)
		n := 0
		for _, v := range to {
			if v == 9 {
				n++
			}
		}
		if n != 9 {
			t.Fatalf("%d of 9 pixels erased", n)
		}
	}
}

func TestDistortionRefusals(t *testing.T) {
	for name, d := range map[string]Distortion{
		"another size":      {Height: 3, Width: 3, Turn: 1},
		"no size":           {Turn: 1},
		"a negative turn":   {Height: 4, Width: 4, Turn: -1},
		"no number":         {Height: 4, Width: 4, Bend: math.NaN()},
		"too large a hole":  {Height: 4, Width: 4, Erase: 5},
		"an infinite slant": {Height: 4, Width: 4, Slant: math.Inf(1)},
	} {
		if d.validate(16) == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}
