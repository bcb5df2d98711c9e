// Package scatter turns images into scattering coefficients: features that are
// good for learning and were learned from nobody (Bruna and Mallat 2013, arXiv
// 1203.1513; as features for private learning, Tramèr and Boneh 2021, arXiv
// 2011.11660).
//
// An image is convolved with wavelets of several scales and angles, made
// positive by the modulus, convolved again with coarser ones, and averaged
// locally. A linear head that is trained privately on the result needs far
// fewer parameters, and so less noise, than a network that learns its own.
//
// It guarantees that the features of an example are a function of that
// example alone. What holds of the examples' privacy then holds of their
// features', and nothing is charged.
//
// It does not guarantee a bound of their norm.
package scatter

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/internal/gemm"
)

// ErrOptions is wrapped by errors about options.
var ErrOptions = errors.New("bad options of scattering")

// Options say which transform. The zero value is refused.
type Options struct {
	Height, Width int // of the image, in pixels
	Scale         int // J: averages are over some 2^J pixels; 2 if zero
	Angles        int // L, of half a turn; 8 if zero
	// Groups of consecutive channels that are brought to mean 0 and variance 1
	// within each example; none if zero. It must divide the channels.
	Groups int
}

// Transform is of one size of image. It may be used concurrently.
type Transform struct {
	Options
	rows, columns int         // of the padded image
	planes        []plane     // of each resolution
	wavelets      [][]wavelet // of each scale and angle
	averages      []average   // of each resolution
}

// wavelet has the Fourier transform of one Morlet wavelet at the resolutions
// 0, 1, ... at which the path to it can stand.
type wavelet [][]float32

// average maps an image of one resolution to what is kept of its local means,
// by rows · image · columnsᵀ: the Gaussian is a product.
type average struct{ rows, columns matrix }

type matrix struct {
	height, width int
	at            []float32
}

// Check refuses options of which there is no transform, without making one. Zeros stand
// for nothing else.
func (o Options) Check() error {
	const most = 1 << 12
	step := 1 << min(max(o.Scale, 0), 10)
	switch {
	case o.Height <= 0 || o.Width <= 0 || o.Height > most || o.Width > most:
		return fmt.Errorf("an image of %d × %d pixels: %w", o.Height, o.Width, ErrOptions)
	case o.Scale < 1 || o.Scale > 10 || step > min(o.Height, o.Width)/2:
		return fmt.Errorf("scale %d for an image of %d × %d pixels: 2^scale may be half of a side at most: %w", o.Scale, o.Height, o.Width, ErrOptions)
	case o.Angles < 1 || o.Angles > 64:
		return fmt.Errorf("%d angles: 1 to 64 are possible: %w", o.Angles, ErrOptions)
	case o.Groups < 0 || o.Groups > 0 && o.Channels()%o.Groups != 0:
		return fmt.Errorf("%d groups of %d channels: %w", o.Groups, o.Channels(), ErrOptions)
	}
	return nil
}

// New prepares a transform.
func New(o Options) (*Transform, error) {
	if o.Scale == 0 {
		o.Scale = 2
	}
	if o.Angles == 0 {
		o.Angles = 8
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	step := 1 << o.Scale
	t := &Transform{Options: o, rows: padded(o.Height, step), columns: padded(o.Width, step)}
	for j := range o.Scale {
		var angles []wavelet
		for l := range o.Angles {
			angles = append(angles, t.morlet(j, l))
		}
		t.wavelets = append(t.wavelets, angles)
	}
	for r := range o.Scale {
		t.planes = append(t.planes, newPlane(t.rows>>r, t.columns>>r))
		sigma := 0.8 * float64(step/2)
		t.averages = append(t.averages, average{
			rows:    lowPass(t.rows, 1<<r, step, o.Height/step, sigma),
			columns: lowPass(t.columns, 1<<r, step, o.Width/step, sigma),
		})
	}
	return t, nil
}

// padded is the side on which n pixels are transformed: a multiple of step
// that leaves room for a step of reflection.
func padded(n, step int) int { return (n/step + 2) * step }

// Channels are the paths: the average, one modulus, two moduli of growing scale.
func (o Options) Channels() int {
	j, l := o.Scale, o.Angles
	return 1 + j*l + j*(j-1)/2*l*l
}

// Size is the height and width of each channel.
func (o Options) Size() (height, width int) {
	return o.Height >> o.Scale, o.Width >> o.Scale
}

// Features is how many an image has of an image: channel by channel, row by row.
func (o Options) Features() int {
	h, w := o.Size()
	return o.Channels() * h * w
}

// Set is s with the features of its images instead of their pixels.
func (t *Transform) Set(ctx context.Context, s *example.Set) (*example.Set, error) {
	if s.Width != t.Height*t.Options.Width {
		return nil, fmt.Errorf("scatter examples of %d features: an image has %d × %d: %w", s.Width, t.Height, t.Options.Width, ErrOptions)
	}
	n, width := s.Len(), t.Features()
	out := *s
	out.Width, out.Features = width, make([]float32, n*width)
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		group.Go(func() {
			work := t.newWork()
			for i := w; i < n && ctx.Err() == nil; i += workers {
				work.image(s.Features[i*s.Width:][:s.Width], out.Features[i*width:][:width])
			}
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("scatter examples: %w", err)
	}
	return &out, nil
}

// morlet is the wavelet of scale j and angle l: a Gaussian g, stretched across
// its direction, on a wave of frequency ξ = 3π/4 / 2^j, less as much of g as
// makes its mean zero. In Fourier it is real: ĝ(ω - ξ) - β ĝ(ω), summed over
// the periods of ω, since space is sampled.
func (t *Transform) morlet(j, l int) wavelet {
	var (
		scale   = float64(int(1) << j)
		sigma   = 0.8 * scale
		slant   = 4 / float64(t.Angles)
		turn    = float64((t.Angles-1)/2-l) * math.Pi / float64(t.Angles)
		sin, co = math.Sincos(turn)
		xi      = 3 * math.Pi / 4 / scale
	)
	gaussian := func(x, y, xi float64) (sum float64) {
		for a := -2; a <= 2; a++ {
			for b := -2; b <= 2; b++ {
				u, v := x+2*math.Pi*float64(a), y+2*math.Pi*float64(b)
				along, across := u*co+v*sin-xi, v*co-u*sin
				sum += math.Exp(-sigma * sigma / 2 * (along*along + across*across/(slant*slant)))
			}
		}
		return sum
	}
	beta := gaussian(0, 0, xi) / gaussian(0, 0, 0)
	levels := make(wavelet, j+1)
	for r := range levels {
		rows, columns := t.rows>>r, t.columns>>r
		for y := range rows {
			for x := range columns {
				v := 2 * math.Pi * float64(signed(y, rows)) / float64(t.rows)
				u := 2 * math.Pi * float64(signed(x, columns)) / float64(t.columns)
				// Rows are the first axis of the wave's direction.
				levels[r] = append(levels[r], float32(gaussian(v, u, xi)-beta*gaussian(v, u, 0)))
			}
		}
	}
	return levels
}

// lowPass takes a line of n/by samples, by pixels apart, to its means by a
// Gaussian every step pixels, without those of the padding.
func lowPass(n, by, step, keep int, sigma float64) matrix {
	samples := n / by
	m := matrix{keep, samples, make([]float32, keep*samples)}
	for i := range keep {
		for x := range samples {
			at := float64((i+1)*step/by - x)
			var sum float64
			for k := range samples {
				omega := 2 * math.Pi * float64(signed(k, samples)) / float64(n)
				var g float64
				for a := -2; a <= 2; a++ {
					u := sigma * (omega + 2*math.Pi*float64(a))
					g += math.Exp(-u * u / 2)
				}
				sum += g * math.Cos(2*math.Pi*float64(k)*at/float64(samples))
			}
			m.at[i*samples+x] = float32(sum / float64(samples))
		}
	}
	return m
}

// signed is the frequency of the kth of n coefficients.
func signed(k, n int) int {
	if k < n-k {
		return k
	}
	return k - n
}

// work is the memory of one goroutine.
type work struct {
	*Transform
	engine         *gemm.Engine
	image0, first  []float32 // spectra: of the image, of its first modulus
	modulus, kept  []float32 // of every angle, now and of the first wavelets
	folded, turned []float32
	half           []float32
}

func (t *Transform) newWork() *work {
	size := t.rows * t.columns
	return &work{
		Transform: t, engine: gemm.New(),
		image0: make([]float32, 2*size), first: make([]float32, 2*size),
		modulus: make([]float32, t.Angles*size),
		folded:  make([]float32, 2*t.Angles*size), turned: make([]float32, 4*size),
		half: make([]float32, t.Angles*size),
	}
}

func (w *work) image(pixels, out []float32) {
	height, width := w.Height, w.Options.Width
	top, left := (w.rows-height)/2, (w.columns-width)/2
	for y := range w.rows {
		for x := range w.columns {
			w.modulus[y*w.columns+x] = pixels[reflected(y-top, height)*width+reflected(x-left, width)]
		}
	}
	// The order is the usual one: paths of no modulus, of one, of two.
	size := len(out) / w.Channels()
	w.average(0, 1, out)
	w.planes[0].spectrum(w, w.modulus, w.image0)
	one, two := out[size:], out[(1+w.Scale*w.Angles)*size:]
	for j1 := range w.Scale {
		w.convolve(0, j1, w.image0)
		w.average(j1, w.Angles, one)
		one = one[w.Angles*size:]
		if j1 == w.Scale-1 {
			break
		}
		p := w.planes[j1]
		w.kept = append(w.kept[:0], w.modulus[:w.Angles*p.rows*p.columns]...)
		for l := range w.Angles {
			p.spectrum(w, w.kept[l*p.rows*p.columns:], w.first)
			for j2 := j1 + 1; j2 < w.Scale; j2++ {
				w.convolve(j1, j2, w.first)
				w.average(j2, w.Angles, two)
				two = two[w.Angles*size:]
			}
		}
	}
	if w.Groups > 0 {
		each := len(out) / w.Groups
		for g := range w.Groups {
			standardize(out[g*each:][:each])
		}
	}
}

// reflected is the pixel that stands at place i of a line of n, which goes on
// as its mirror image.
func reflected(i, n int) int {
	period := 2 * (n - 1)
	i = ((i % period) + period) % period
	return min(i, period-i)
}

// convolve makes the moduli those of the spectrum's convolutions with the
// wavelets of scale j and every angle. The spectrum has resolution r, the moduli
// j: what is dropped is beyond the wavelets' band.
func (w *work) convolve(r, j int, spectrum []float32) {
	from, to := w.planes[r], w.planes[j]
	times, size := 1<<(j-r), to.rows*to.columns
	for l, wavelet := range w.wavelets[j] {
		filter := wavelet[r]
		folded := w.folded[2*l*size:][:2*size]
		clear(folded)
		for y := range from.rows {
			row := folded[2*(y%to.rows)*to.columns:][:2*to.columns]
			for a := range times {
				at := y*from.columns + a*to.columns
				f := filter[at:][:to.columns]
				re := spectrum[y*from.columns+at:][:to.columns]
				im := spectrum[(y+1)*from.columns+at:][:to.columns]
				for x, c := range f {
					row[x] += c * re[x]
					row[to.columns+x] += c * im[x]
				}
			}
		}
	}
	to.moduli(w, w.Angles, 1/float32(from.rows*from.columns))
}

// average writes the local means of the first n moduli, which have resolution r.
func (w *work) average(r, n int, out []float32) {
	a, p := w.averages[r], w.planes[r]
	height, width := a.rows.height, a.columns.height
	w.engine.Multiply(false, true, n*p.rows, width, p.columns, 1, w.modulus, p.columns, a.columns.at, p.columns, 0, w.half, width)
	for l := range n {
		for i := range height {
			row := out[(l*height+i)*width:][:width]
			clear(row)
			for y, c := range a.rows.at[i*p.rows:][:p.rows] {
				for x, v := range w.half[(l*p.rows+y)*width:][:width] {
					row[x] += c * v
				}
			}
		}
	}
}

// standardize brings x to mean 0 and variance 1. What does not vary becomes 0.
func standardize(x []float32) {
	var sum, squares float64
	for _, v := range x {
		sum += float64(v)
	}
	mean := sum / float64(len(x))
	for _, v := range x {
		d := float64(v) - mean
		squares += d * d
	}
	scale := 1 / math.Sqrt(squares/float64(len(x))+1e-5)
	for i, v := range x {
		x[i] = float32((float64(v) - mean) * scale)
	}
}
