package pate

import (
	"errors"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/learn/example"
)

// A Distortion changes images at random by as much as leaves their class alone. What it
// may do to them is public knowledge, and says much that few labels do not.
//
// Each number is the most in either direction, drawn uniformly; 0 leaves that out.
type Distortion struct {
	Height, Width int     // of the images, which have one channel
	Shift         float64 // pixels, down and to the right
	Turn          float64 // degrees
	Stretch       float64 // each axis by a factor from e^−Stretch to e^Stretch
	Slant         float64 // columns a row
	Bend          float64 // pixels by which places move, smoothly, apart from each other
	Erase         int     // the side of a square of which all is blanked, anywhere
	Blank         float32 // what is outside
}

// validate says why images of so many features cannot be distorted.
func (d *Distortion) validate(features int) error {
	switch {
	case d.none():
		return nil
	case d.Height <= 0 || d.Width <= 0 || d.Height*d.Width != features:
		return fmt.Errorf("images of %d×%d do not have %d features", d.Height, d.Width, features)
	case d.Erase < 0 || d.Erase > min(d.Height, d.Width):
		return fmt.Errorf("a square of side %d is erased of images of %d×%d", d.Erase, d.Height, d.Width)
	}
	for _, x := range []float64{d.Shift, d.Turn, d.Stretch, d.Slant, d.Bend} {
		if !(x >= 0 && x <= 1000) {
			return errors.New("a distortion is from 0 to 1000")
		}
	}
	return nil
}

// none tells whether images stay as they are.
func (d *Distortion) none() bool {
	return d.Shift == 0 && d.Turn == 0 && d.Stretch == 0 && d.Slant == 0 && d.Bend == 0 && d.Erase == 0
}

// bends is the number of places in each direction that move by themselves; between
// them the movement is interpolated.
const bends = 5

// apply writes a distorted image.
func (d *Distortion) apply(r *rng, from, to []float32) {
	if d.none() {
		copy(to, from)
		return
	}
	// What is drawn is the map from places of the result to places of the image.
	sin, cos := math.Sincos(r.within(d.Turn) * math.Pi / 180)
	high, wide := math.Exp(r.within(d.Stretch)), math.Exp(r.within(d.Stretch))
	slant := r.within(d.Slant)
	yy, yx := cos*high, -sin*high
	xy, xx := (sin+slant*cos)*wide, (cos-slant*sin)*wide
	middleY, middleX := float64(d.Height-1)/2, float64(d.Width-1)/2
	offY, offX := middleY+r.within(d.Shift), middleX+r.within(d.Shift)
	var bent [2][bends * bends]float64
	if d.Bend > 0 {
		for i := range bent {
			for j := range bent[i] {
				bent[i][j] = r.within(d.Bend)
			}
		}
	}
	for y := range d.Height {
		v := float64(y) - middleY
		for x := range d.Width {
			u := float64(x) - middleX
			sourceY, sourceX := yy*v+yx*u+offY, xy*v+xx*u+offX
			if d.Bend > 0 {
				dy, dx := bend(&bent, float64(y)/float64(d.Height), float64(x)/float64(d.Width))
				sourceY, sourceX = sourceY+dy, sourceX+dx
			}
			to[y*d.Width+x] = d.at(from, sourceY, sourceX)
		}
	}
	if d.Erase > 0 {
		top, left := r.below(d.Height-d.Erase+1), r.below(d.Width-d.Erase+1)
		for y := top; y < top+d.Erase; y++ {
			for x := left; x < left+d.Erase; x++ {
				to[y*d.Width+x] = d.Blank
			}
		}
	}
}

// bend interpolates movements at a place of the unit square.
func bend(bent *[2][bends * bends]float64, y, x float64) (dy, dx float64) {
	y, x = y*(bends-1), x*(bends-1)
	i, j := int(y), int(x)
	y, x = y-float64(i), x-float64(j)
	at := i*bends + j
	between := func(b *[bends * bends]float64) float64 {
		return (1-y)*((1-x)*b[at]+x*b[at+1]) + y*((1-x)*b[at+bends]+x*b[at+bends+1])
	}
	return between(&bent[0]), between(&bent[1])
}

// at interpolates an image.
func (d *Distortion) at(image []float32, y, x float64) float32 {
	i, j := int(math.Floor(y)), int(math.Floor(x))
	b, a := float32(y-float64(i)), float32(x-float64(j))
	if i >= 0 && i+1 < d.Height && j >= 0 && j+1 < d.Width { // the fast way, for points inside the image
		upper, lower := image[i*d.Width+j:][:2], image[(i+1)*d.Width+j:][:2]
		return (1-b)*((1-a)*upper[0]+a*upper[1]) + b*((1-a)*lower[0]+a*lower[1])
	}
	pixel := func(i, j int) float32 {
		if i < 0 || i >= d.Height || j < 0 || j >= d.Width {
			return d.Blank
		}
		return image[i*d.Width+j]
	}
	return (1-b)*((1-a)*pixel(i, j)+a*pixel(i, j+1)) + b*((1-a)*pixel(i+1, j)+a*pixel(i+1, j+1))
}

// A canvas is where distorted images are written.
type canvas struct {
	Distortion
	set *example.Set
}

// draw returns distorted copies of the rows of a set, or these, if nothing distorts them.
func (c *canvas) draw(r *rng, set *example.Set, rows []int) (*example.Set, []int) {
	if c.none() {
		return set, rows
	}
	if c.set == nil || c.set.Len() < len(rows) {
		c.set = &example.Set{Width: set.Width, Classes: set.Classes, Outputs: set.Outputs,
			Features: make([]float32, len(rows)*set.Width), Labels: make([]int32, len(rows))}
	}
	for i, row := range rows {
		c.apply(r, image(set, row), image(c.set, i))
		c.set.Labels[i] = set.Labels[row]
	}
	return c.set, upTo(len(rows))
}

// image returns the features of a row.
func image(set *example.Set, row int) []float32 { return set.Features[row*set.Width:][:set.Width] }

// upTo returns 0 to n−1.
func upTo(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}
