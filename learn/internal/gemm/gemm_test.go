package gemm

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// engines are all of this machine.
func engines() []*Engine {
	all := []*Engine{Portable()}
	if e := New(); e.Name() != all[0].Name() {
		all = append(all, e)
	}
	return all
}

// operand draws a matrix with room around it that must not matter.
type operand struct {
	v      []float32
	stride int
	trans  bool
}

func (o operand) at(i, j int) float64 {
	if o.trans {
		i, j = j, i
	}
	return float64(o.v[i*o.stride+j])
}

func drawOperand(t *rapid.T, name string, rows, columns int) operand {
	o := operand{trans: rapid.Bool().Draw(t, name+" transposed")}
	if o.trans {
		rows, columns = columns, rows
	}
	o.stride = max(1, columns+rapid.IntRange(0, 20).Draw(t, name+" gap"))
	r := rapid.Uint64().Draw(t, name)
	o.v = make([]float32, max(0, rows*o.stride))
	for i := range o.v {
		r = r*6364136223846793005 + 1442695040888963407
		o.v[i] = float32(int64(r)>>40) / (1 << 22)
	}
	return o
}

// Every engine against the sum of exact products in float64, for odd sizes,
// strides and factors; numbers outside C stay.
func TestEnginesAgreeWithTheDefinition(t *testing.T) {
	for _, e := range engines() {
		t.Run(e.Name(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				size := rapid.OneOf(rapid.IntRange(0, 40), rapid.IntRange(0, 40), rapid.IntRange(0, 600))
				m, n, k := size.Draw(t, "m"), size.Draw(t, "n"), size.Draw(t, "k")
				if m*n*k > 1<<22 {
					t.Skip("large")
				}
				a, b := drawOperand(t, "a", m, k), drawOperand(t, "b", k, n)
				factors := rapid.SampledFrom([]float32{0, 1, -1, 0.5, 3})
				alpha, beta := factors.Draw(t, "alpha"), factors.Draw(t, "beta")
				c := drawOperand(t, "c", m, n)
				if c.trans {
					c = operand{v: make([]float32, m*(n+3)), stride: n + 3}
				}
				before := append([]float32{}, c.v...)
				if beta == 0 {
					for i := range c.v {
						c.v[i] = float32(math.NaN())
					}
				}
				e.Multiply(a.trans, b.trans, m, n, k, alpha, a.v, a.stride, b.v, b.stride, beta, c.v, c.stride)
				for i := range c.v {
					row, column := i/c.stride, i%c.stride
					if column >= n || row >= m {
						if beta != 0 && c.v[i] != before[i] {
							t.Fatalf("a number beside C became %v", c.v[i])
						}
						continue
					}
					want := float64(beta) * float64(before[i])
					size := math.Abs(want)
					for p := range k {
						x := float64(alpha) * a.at(row, p) * b.at(p, column)
						want += x
						size += math.Abs(x)
					}
					if got := float64(c.v[i]); !(math.Abs(got-want) <= float64(k+4)*0x1p-23*size) {
						t.Fatalf("C[%d,%d] = %v, want %v", row, column, got, want)
					}
				}
			})
		})
	}
}

// What is not finite in a row of A, or a column of B, stays in that row or column
// of C; and reaches it, unless the engine takes a zero's product for zero.
func TestNaNStaysInItsRow(t *testing.T) {
	const m, n, k = 19, 37, 23
	for _, e := range engines() {
		for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), math.MaxFloat32} {
			for _, trans := range []bool{false, true} {
				a, b, c := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n)
				for i := range a {
					a[i] = 1
				}
				for i := range b {
					b[i] = 1e30
				}
				lda := k
				if trans {
					lda = m
				}
				for row := range m {
					for p := range k {
						at := row*lda + p
						if trans {
							at = p*lda + row
						}
						a[at] = bad
						e.Multiply(trans, false, m, n, k, 1, a, lda, b, n, 0, c, n)
						a[at] = 1
						for i, v := range c {
							finite := !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0)
							if finite == (i/n == row) {
								t.Fatalf("%s: %v in row %d: C[%d,%d] = %v", e.Name(), bad, row, i/n, i%n, v)
							}
						}
					}
				}
			}
		}
	}
}

func TestShortMatricesPanic(t *testing.T) {
	for _, e := range engines() {
		for name, f := range map[string]func(){
			"a": func() {
				e.Multiply(false, false, 2, 2, 2, 1, make([]float32, 3), 2, make([]float32, 4), 2, 0, make([]float32, 4), 2)
			},
			"b": func() {
				e.Multiply(false, false, 2, 2, 2, 1, make([]float32, 4), 2, make([]float32, 3), 2, 0, make([]float32, 4), 2)
			},
			"c": func() {
				e.Multiply(false, false, 2, 2, 2, 1, make([]float32, 4), 2, make([]float32, 4), 2, 0, make([]float32, 3), 2)
			},
			"stride": func() {
				e.Multiply(false, false, 2, 2, 2, 1, make([]float32, 4), 1, make([]float32, 4), 2, 0, make([]float32, 4), 2)
			},
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: short %s is taken", e.Name(), name)
					}
				}()
				f()
			}()
		}
	}
}

func TestVectors(t *testing.T) {
	each(t, func(t *rapid.T, e *Engine) {
		n := rapid.IntRange(0, 100).Draw(t, "n")
		a, b := drawOperand(t, "a", 1, n+7), drawOperand(t, "b", 1, n+7)
		x, y := a.v[:n], b.v[:n]
		if rapid.Bool().Draw(t, "bad") && n > 0 {
			x[rapid.IntRange(0, n-1).Draw(t, "where")] = float32(math.Inf(-1))
		}
		want, size := 0.0, 0.0
		for i := range x {
			want += float64(x[i]) * float64(y[i])
			size += math.Abs(float64(x[i]) * float64(y[i]))
		}
		if got := e.Dot(x, b.v); got != want && !(math.Abs(got-want) <= float64(n)*0x1p-52*size) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("Dot = %v, want %v", got, want)
		}
		sum := append([]float32{}, b.v...)
		e.Axpy(0.75, x, sum)
		for i := range sum {
			want := float64(b.v[i])
			if i < n {
				want += 0.75 * float64(x[i])
			}
			if got := float64(sum[i]); got != want && !(math.Abs(got-want) <= 0x1p-22*(math.Abs(want)+1)) && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Fatalf("Axpy[%d] = %v, want %v", i, got, want)
			}
		}
	})
}

// The vector functions do the same with and without kernels, on any length.
func TestVectorFunctions(t *testing.T) {
	nan := float32(math.NaN())
	each(t, func(t *rapid.T, e *Engine) {
		n := rapid.IntRange(0, 50).Draw(t, "n")
		value := rapid.SampledFrom([]float32{-2, -1, 0, 0.5, 1, 3, nan, float32(math.Inf(1)), float32(math.Copysign(0, -1))})
		draw := func(name string) []float32 { return rapid.SliceOfN(value, n, n).Draw(t, name) }
		same := func(what string, i int, got, want float32) {
			if math.Float32bits(got) != math.Float32bits(want) && !(got != got && want != want) {
				t.Fatalf("%s[%d] = %v, want %v", what, i, got, want)
			}
		}
		x, y, z := draw("x"), draw("y"), draw("z")
		from := make([]uint32, n)
		for i := range from {
			from[i] = uint32(i % 3)
		}

		best, tags := append([]float32{}, y...), append([]uint32{}, from...)
		e.Larger(9, x, best, tags)
		sum := append([]float32{}, y...)
		e.AddWhere(2, from, x, sum)
		positive, back := append([]float32{}, x...), make([]float32, n)
		e.Rectify(positive, positive)
		e.RectifyBack(x, z, back)
		for i := range n {
			wantBest, wantTag, wantSum, wantBack := y[i], from[i], y[i], float32(0)
			if x[i] > y[i] {
				wantBest, wantTag = x[i], 9
			}
			if from[i] == 2 {
				wantSum += x[i]
			} else {
				wantSum += 0 // of -0
			}
			if x[i] > 0 {
				wantBack = z[i]
			}
			same("Larger", i, best[i], wantBest)
			same("AddWhere", i, sum[i], wantSum)
			same("Rectify", i, positive[i], max(x[i], 0))
			same("RectifyBack", i, back[i], wantBack)
			if tags[i] != wantTag {
				t.Fatalf("Larger: tag %d is %d, want %d", i, tags[i], wantTag)
			}
		}

		small := float32(0x1p-140)
		f := rapid.SampledFrom([]float32{0, 0.25, small, 1}).Draw(t, "f")
		shrunk := append([]float32{}, x...)
		e.Shrink(f, shrunk)
		for i := range n {
			want := f * x[i]
			if math.Abs(float64(want)) < 0x1p-126 {
				want = 0
			}
			same("Shrink", i, shrunk[i], want)
		}

		rows, stride := rapid.IntRange(0, 4).Draw(t, "rows"), n+rapid.IntRange(0, 5).Draw(t, "gap")
		wide, narrow := make([]float32, rows*stride), make([]float32, rows*n+1)
		for i := range wide {
			wide[i] = float32(i)
		}
		e.CopyRows(rows, n, wide, stride, narrow)
		for i := range rows * n {
			same("CopyRows", i, narrow[i], wide[i/n*stride+i%n])
		}
		same("CopyRows", rows*n, narrow[rows*n], 0)
	})
}

// each runs a property on every engine.
func each(t *testing.T, f func(*rapid.T, *Engine)) {
	for _, e := range engines() {
		t.Run(e.Name(), func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { f(t, e) }) })
	}
}

// A Squash against the function in float64, over the whole range and its ends.
func TestSquash(t *testing.T) {
	for _, e := range engines() {
		testSquash(t, e)
	}
}

func testSquash(t *testing.T, e *Engine) {
	for _, c := range [][3]float64{{2, 2, 1}, {1, 1, 0}, {1.8, 1.6, 0.7}, {-3, 0.5, 0}} {
		s := NewSquash(c[0], c[1], c[2])
		x := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, -math.MaxFloat32, 0, 1e-45, 44, -44, 88, -88, 1e9, -1e9}
		for v := float32(-100); v < 100; v += 0.0137 {
			x = append(x, v)
		}
		y := make([]float32, len(x))
		s.Apply(e, x, y)
		for i, v := range x {
			one := make([]float32, 1)
			s.Apply(e, x[i:i+1], one)
			if one[0] != y[i] && v == v {
				t.Fatalf("%v: of %v is %v alone, %v among others", c, v, one[0], y[i])
			}
			portable := float32(c[1]*Logistic(c[0]*float64(v)) - c[2])
			want := c[1]/(1+math.Exp(-c[0]*float64(v))) - c[2]
			for _, got := range []float32{y[i], portable} {
				if !(math.Abs(float64(got)-want) <= 4e-7*c[1]) && !(got != got && want != want) {
					t.Fatalf("%v: of %v is %v, want %v", c, v, got, want)
				}
			}
		}
	}
}
