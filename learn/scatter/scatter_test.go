package scatter

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/learn/example"
)

// drawing is a picture with edges and textures.
func drawing(height, width int) []float32 {
	var pixels []float32
	for y := range height {
		for x := range width {
			v := math.Sin(0.9*float64(y)+0.3*float64(x)) + math.Cos(0.17*float64(x)*float64(y))
			if y > x {
				v++
			}
			pixels = append(pixels, float32(v/3))
		}
	}
	return pixels
}

func scattered(t *testing.T, o Options, pixels []float32) (*Transform, []float32) {
	t.Helper()
	transform, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	set := &example.Set{Width: len(pixels), Features: pixels, Classes: 2, Outputs: 1, Labels: []int32{1}}
	out, err := transform.Set(context.Background(), set)
	if err != nil {
		t.Fatal(err)
	}
	if out.Len() != 1 || out.Width != transform.Features() || out.Labels[0] != 1 {
		t.Fatalf("got %d examples of %d features", out.Len(), out.Width)
	}
	return transform, out.Features
}

func TestEqualsKymatio(t *testing.T) {
	text, err := os.ReadFile("testdata/kymatio.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Height, Width, Scale, Angles int
			Sum                          float64
			Values                       [][2]float64
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, c := range file.Cases {
		_, got := scattered(t, Options{Height: c.Height, Width: c.Width, Scale: c.Scale, Angles: c.Angles}, drawing(c.Height, c.Width))
		var sum float64
		for _, v := range got {
			sum += math.Abs(float64(v))
		}
		if math.Abs(sum-c.Sum) > 2e-4*c.Sum {
			t.Errorf("%d × %d, scale %d: absolute values sum to %v, want %v", c.Height, c.Width, c.Scale, sum, c.Sum)
		}
		for _, v := range c.Values {
			if g := float64(got[int(v[0])]); math.Abs(g-v[1]) > 1e-4*math.Abs(v[1])+1e-5 {
				t.Errorf("%d × %d, scale %d: coefficient %v is %v, want %v", c.Height, c.Width, c.Scale, v[0], g, v[1])
			}
		}
	}
}

// A wavelet has no mean: a blank picture gives its brightness and zeros.
func TestBlank(t *testing.T) {
	pixels := slices.Repeat([]float32{0.5}, 28*28)
	transform, got := scattered(t, Options{Height: 28, Width: 28}, pixels)
	h, w := transform.Size()
	for i, v := range got {
		want := 0.0
		if i < h*w {
			want = 0.5
		}
		if math.Abs(float64(v)-want) > 1e-3 {
			t.Fatalf("coefficient %d is %v, want %v", i, v, want)
		}
	}
}

// Of what varies less than 1e-5 only the mean is sure to be removed.
func TestGroupsAreStandardized(t *testing.T) {
	_, got := scattered(t, Options{Height: 28, Width: 28, Groups: 27}, drawing(28, 28))
	each := len(got) / 27
	for g := range 27 {
		var sum, squares float64
		for _, v := range got[g*each:][:each] {
			sum, squares = sum+float64(v), squares+float64(v)*float64(v)
		}
		if math.Abs(sum/float64(each)) > 1e-5 || squares > float64(each)*(1+1e-5) || squares < 0.1*float64(each) {
			t.Errorf("group %d: mean %v, variance %v", g, sum/float64(each), squares/float64(each))
		}
	}
}

// What one example becomes does not depend on the others.
func TestExamplesAreApart(t *testing.T) {
	transform, err := New(Options{Height: 16, Width: 16})
	if err != nil {
		t.Fatal(err)
	}
	one := drawing(16, 16)
	_, alone := scattered(t, Options{Height: 16, Width: 16}, one)
	var others [][]float32
	for _, x := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, 1e30, 1e-45, 0} {
		other := slices.Clone(one)
		other[7] = x
		others = append(others, other, slices.Repeat([]float32{x}, 256))
	}
	for n := range 40 { // among so many, in every place, by so many goroutines
		previous := runtime.GOMAXPROCS(1 + n%5)
		var all []float32
		for i := range n {
			all = append(all, others[(7*n+i)%len(others)]...)
		}
		at := n / 2
		set := &example.Set{Width: 256, Features: slices.Concat(all[:256*at], one, all[256*at:]), Classes: 2, Outputs: 1, Labels: make([]int32, n+1)}
		out, err := transform.Set(context.Background(), set)
		runtime.GOMAXPROCS(previous)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(out.Features[at*out.Width:][:out.Width], alone) {
			t.Errorf("among %d others an example differs from itself alone", n)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, o := range []Options{
		{},
		{Height: -1, Width: 28},
		{Height: 1 << 20, Width: 28},
		{Height: 28, Width: 28, Scale: -1},
		{Height: 28, Width: 28, Scale: 4},
		{Height: 28, Width: 28, Scale: 70},
		{Height: 28, Width: 28, Angles: -1},
		{Height: 28, Width: 28, Angles: 65},
		{Height: 28, Width: 28, Groups: 26},
		{Height: 28, Width: 28, Groups: -1},
	} {
		if _, err := New(o); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	transform, err := New(Options{Height: 28, Width: 28})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := transform.Set(context.Background(), &example.Set{Width: 3, Features: []float32{1, 2, 3}, Classes: 2, Outputs: 1, Labels: []int32{0}}); !errors.Is(err, ErrOptions) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := transform.Set(ctx, &example.Set{Width: 784, Features: drawing(28, 28), Classes: 2, Outputs: 1, Labels: []int32{0}}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func BenchmarkImage(b *testing.B) {
	transform, err := New(Options{Height: 28, Width: 28, Groups: 27})
	if err != nil {
		b.Fatal(err)
	}
	work, pixels, out := transform.newWork(), drawing(28, 28), make([]float32, transform.Features())
	for b.Loop() {
		work.image(pixels, out)
	}
}
