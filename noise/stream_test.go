package noise

import (
	"encoding/binary"
	"errors"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// script gives the words it holds, then fails.
type script struct{ words []uint64 }

var errExhausted = errors.New("no more bits")

func (s *script) Uint64() (uint64, error) {
	if len(s.words) == 0 {
		return 0, errExhausted
	}
	w := s.words[0]
	s.words = s.words[1:]
	return w, nil
}

// The pieces that a stream hands out are the words' bits, each once, in order.
func TestStreamHandsOutEachBitOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.Uint64(), 1, 20).Draw(t, "words")
		all := new(big.Int)
		for i, w := range words {
			x := new(big.Int).SetUint64(w)
			all.Or(all, x.Lsh(x, uint(64*i)))
		}
		s := &Stream{source: &script{words}}
		for left := uint(64 * len(words)); left > 0; {
			n := min(rapid.UintRange(0, 64).Draw(t, "n"), left)
			got, err := s.bits(n)
			if err != nil {
				t.Fatal(err)
			}
			mask := new(big.Int).Sub(new(big.Int).Lsh(one, n), one)
			if want := mask.And(mask, all); want.Uint64() != got {
				t.Fatalf("%d bits are %x, want %x", n, got, want)
			}
			all.Rsh(all, n)
			left -= n
		}
		if _, err := s.bits(1); !errors.Is(err, errExhausted) {
			t.Fatalf("a bit beyond the last one: %v", err)
		}
	})
}

// lot is a script that gives many words at once.
type lot struct {
	script
	reads int
}

func (l *lot) Words(p []uint64) error {
	l.reads++
	for i := range p {
		w, err := l.Uint64()
		if err != nil {
			return err
		}
		p[i] = w
	}
	return nil
}

// Reading ahead changes no word and no order, leaves out none and gives none twice, whatever
// is drawn between; what was handed out is erased, and a source that fails gives nothing.
func TestAhead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plain, ahead := &script{}, &lot{}
		for i := range 5000 {
			w := uint64(i) * 0x9e3779b97f4a7c15
			plain.words, ahead.words = append(plain.words, w), append(ahead.words, w)
		}
		want, got := NewStream(plain), NewStream(ahead)
		for range 40 {
			if n := rapid.IntRange(0, 600).Draw(t, "ahead"); n > 0 {
				if err := got.Ahead(n); err != nil {
					t.Fatal(err)
				}
				if len(got.ahead) < min(n, mostAhead) {
					t.Fatalf("%d words lie ready, of %d", len(got.ahead), n)
				}
			}
			for range rapid.IntRange(0, 60).Draw(t, "draws") {
				n := rapid.UintRange(0, 64).Draw(t, "n")
				w, err := want.bits(n)
				g, err2 := got.bits(n)
				if err != nil || err2 != nil || w != g {
					t.Fatalf("%x, %v and %x, %v", w, err, g, err2)
				}
			}
			for _, w := range got.kept[:len(got.kept)-len(got.ahead)] {
				if w != 0 {
					t.Fatal("a word that was handed out lies in memory")
				}
			}
		}
	})
	short := &lot{script: script{make([]uint64, 3)}}
	s := NewStream(short)
	if err := s.Ahead(9); !errors.Is(err, errExhausted) || len(s.ahead) != 0 {
		t.Errorf("%v, and %d words lie ready", err, len(s.ahead))
	}
	if _, err := s.Uint64(); !errors.Is(err, errExhausted) {
		t.Errorf("a word of a source that failed: %v", err)
	}
	if s := NewStream(&script{words: []uint64{7}}); s.Ahead(100) != nil || len(s.ahead) != 0 {
		t.Error("a source of single words was read ahead")
	}
}

// every draws with each kind of sampler in the package.
func every(t *testing.T) map[string]func(Bits) (any, error) {
	t.Helper()
	draws := map[string]func(Bits) (any, error){
		"uniform":     func(b Bits) (any, error) { return orNil(Uniform(b, big.NewInt(1000))) },
		"bernoulli":   func(b Bits) (any, error) { return Bernoulli(b, big.NewRat(1, 3)) },
		"exponential": func(b Bits) (any, error) { return BernoulliExp(b, big.NewRat(5, 3)) },
	}
	for _, scale := range []string{"1/2", "10", "1180591620717411303424", "1361129467683753853853498429727072845824"} {
		l, err := NewDiscreteLaplace(ratio(scale))
		if err != nil {
			t.Fatal(err)
		}
		g, err := NewDiscreteGaussian(new(big.Rat).Mul(ratio(scale), ratio(scale)))
		if err != nil {
			t.Fatal(err)
		}
		c, err := NewExpCoin(ratio(scale))
		if err != nil {
			t.Fatal(err)
		}
		draws["int64 "+scale] = func(b Bits) (any, error) {
			k, err := l.Int64(NewStream(b))
			if errors.Is(err, ErrRange) {
				return nil, nil
			}
			return k != 0, err
		}
		draws["coin "+scale] = func(b Bits) (any, error) { return c.Flip(NewStream(b), 1) }
		draws["below "+scale] = func(b Bits) (any, error) { k, err := NewStream(b).Below(1 << 40); return k != 0, err }
		draws["laplace "+scale] = func(b Bits) (any, error) { return orNil(l.Sample(b)) }
		draws["gaussian "+scale] = func(b Bits) (any, error) { return orNil(g.Sample(b)) }
	}
	return draws
}

func orNil(x *big.Int, err error) (any, error) {
	if x == nil {
		return nil, err
	}
	return x, err
}

// Wherever the bits end, a draw that needed more gives the source's error and no
// value.
func TestFailingBitsGiveNoValue(t *testing.T) {
	for name, draw := range every(t) {
		t.Run(name, func(t *testing.T) {
			failures := 0
			for n := range 60 {
				words := make([]uint64, n)
				source := entropy.New()
				for i := range words {
					words[i], _ = source.Uint64()
				}
				x, err := draw(&script{words})
				if err == nil {
					continue
				}
				failures++
				if !errors.Is(err, errExhausted) {
					t.Errorf("after %d words: %v, want the source's error", n, err)
				}
				if x != nil && x != false {
					t.Errorf("after %d words: value %v beside %v", n, x, err)
				}
			}
			if failures == 0 {
				t.Error("no draw failed, not even without any bits")
			}
		})
	}
}

func TestFailingBitsLeaveNoValues(t *testing.T) {
	l, _ := NewDiscreteLaplace(ratio("10"))
	g, _ := NewDiscreteGaussian(ratio("100"))
	for _, d := range []interface {
		AddTo(Bits, []*big.Int) error
	}{l, g} {
		values := []*big.Int{big.NewInt(7), big.NewInt(8), big.NewInt(9)}
		// One word does not make three draws.
		if err := d.AddTo(&script{make([]uint64, 1)}, values); !errors.Is(err, errExhausted) {
			t.Fatalf("error is %v", err)
		}
		for i, x := range values {
			if x != nil {
				t.Errorf("%T: value %d is %v after a failure", d, i, x)
			}
		}
	}
}

func TestParametersRefused(t *testing.T) {
	huge := new(big.Rat).SetInt(new(big.Int).Lsh(one, 2000))
	for name, r := range map[string]*big.Rat{
		"missing": nil, "zero": new(big.Rat), "negative": big.NewRat(-1, 2), "too large": huge, "too small": new(big.Rat).Inv(huge),
	} {
		if d, err := NewDiscreteLaplace(r); d != nil || !errors.Is(err, ErrParameter) {
			t.Errorf("NewDiscreteLaplace, %s scale: %v, %v", name, d, err)
		}
		if d, err := NewDiscreteGaussian(r); d != nil || !errors.Is(err, ErrParameter) {
			t.Errorf("NewDiscreteGaussian, %s variance: %v, %v", name, d, err)
		}
		l, _ := NewDiscreteLaplace(ratio("1"))
		g, _ := NewDiscreteGaussian(ratio("1"))
		if _, err := l.Bound(r); !errors.Is(err, ErrParameter) {
			t.Errorf("DiscreteLaplace.Bound, %s beta: %v", name, err)
		}
		if _, err := g.Bound(r); !errors.Is(err, ErrParameter) {
			t.Errorf("DiscreteGaussian.Bound, %s beta: %v", name, err)
		}
	}
	bits := entropy.New()
	for name, err := range map[string]error{
		"uniform below nil":    second(Uniform(bits, nil)),
		"uniform below 0":      second(Uniform(bits, new(big.Int))),
		"bernoulli nil":        second(Bernoulli(bits, nil)),
		"bernoulli -1/2":       second(Bernoulli(bits, big.NewRat(-1, 2))),
		"bernoulli 3/2":        second(Bernoulli(bits, big.NewRat(3, 2))),
		"bernoulli exp of nil": second(BernoulliExp(bits, nil)),
		"bernoulli exp of +1":  second(BernoulliExp(bits, big.NewRat(-1, 1))),
	} {
		if !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestParametersAreCopied(t *testing.T) {
	r := ratio("10")
	l, _ := NewDiscreteLaplace(r)
	g, _ := NewDiscreteGaussian(r)
	r.SetInt64(1)
	l.Scale().SetInt64(1)
	g.Variance().SetInt64(1)
	if l.Scale().Cmp(ratio("10")) != 0 || g.Variance().Cmp(ratio("10")) != 0 {
		t.Error("a caller can change the noise of a distribution that exists")
	}
}

// The 128-bit arithmetic is that of big integers.
func TestUint128(t *testing.T) {
	word := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 1, 1<<63 - 1, 1 << 63, 1<<64 - 1}))
	rapid.Check(t, func(t *rapid.T) {
		x := uint128{word.Draw(t, "hi"), word.Draw(t, "lo")}
		y := uint128{word.Draw(t, "hi") >> 9, word.Draw(t, "lo")}
		f := rapid.Uint64Range(0, maxNativeBlocks).Draw(t, "f")
		d := max(word.Draw(t, "d"), 1)
		bx, by := x.set(new(big.Int)), y.set(new(big.Int))
		if toUint128(bx) != x {
			t.Fatalf("%v reads back as %v", x, toUint128(bx))
		}
		if x.less(y) != (bx.Cmp(by) < 0) {
			t.Fatalf("%v < %v", x, y)
		}
		if got, want := x.quo(d).set(new(big.Int)), new(big.Int).Quo(bx, new(big.Int).SetUint64(d)); got.Cmp(want) != 0 {
			t.Fatalf("%v / %d = %v, want %v", bx, d, got, want)
		}
		u := uint128{x.hi >> 9, x.lo}
		got := u.addProduct(y, f).set(new(big.Int))
		want := new(big.Int).SetUint64(f)
		want.Mul(want, by).Add(want, u.set(new(big.Int)))
		if got.Cmp(want) != 0 {
			t.Fatalf("%v + %v·%d = %v, want %v", u, y, f, got, want)
		}
	})
}

// A uniform number below n is made of the first bits that are below n.
func TestUniformIsRejection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "n"))
		if n.Sign() == 0 {
			n.SetInt64(1)
		}
		raw := rapid.SliceOfN(rapid.Byte(), 800, 800).Draw(t, "bits")
		words := make([]uint64, 100)
		for i := range words {
			words[i] = binary.LittleEndian.Uint64(raw[8*i:])
		}
		got, err := Uniform(&script{words}, n)
		if errors.Is(err, errExhausted) {
			t.Skip("all rejected")
		}
		if err != nil || got.Sign() < 0 || got.Cmp(n) >= 0 {
			t.Fatalf("Uniform below %v = %v, %v", n, got, err)
		}
	})
}
