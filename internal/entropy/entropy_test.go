package entropy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"sync"
	"testing"
	"testing/iotest"
)

// counter is a reader whose n-th word is n+1, so that every word is different
// and none is zero.
type counter struct{ n uint64 }

func (c *counter) Read(p []byte) (int, error) {
	for i := 0; i+8 <= len(p); i += 8 {
		c.n++
		binary.NativeEndian.PutUint64(p[i:], c.n)
	}
	return len(p), nil
}

func TestEveryWordIsHandedOutOnceInOrder(t *testing.T) {
	s := newSource(&counter{})
	for want := uint64(1); want <= 5*bufferSize/8; want++ {
		if got, err := s.Uint64(); err != nil || got != want {
			t.Fatalf("word %d is %d, %v", want, got, err)
		}
	}
}

func TestConcurrentCallersNeverShareAWord(t *testing.T) {
	const callers, each = 8, 2000
	s := newSource(&counter{})
	words := make([][]uint64, callers)
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for range each {
				w, err := s.Uint64()
				if err != nil {
					t.Error(err)
				}
				words[c] = append(words[c], w)
			}
		})
	}
	wg.Wait()
	seen := make(map[uint64]bool)
	for _, ws := range words {
		for _, w := range ws {
			if seen[w] {
				t.Fatalf("word %d was handed out twice", w)
			}
			seen[w] = true
		}
	}
}

func TestHandedOutBitsAreErased(t *testing.T) {
	s := newSource(&counter{})
	for range 5 {
		if _, err := s.Uint64(); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(s.buf[:40], make([]byte, 40)) {
		t.Errorf("words handed out are still in the buffer: %x", s.buf[:40])
	}
	if bytes.Equal(s.buf[40:48], make([]byte, 8)) {
		t.Error("an unused word is missing")
	}
}

// A read that fails, ends early, or fails after giving some bytes must give an
// error and no bits, whatever was in the buffer before.
func TestFailingSystemFailsClosed(t *testing.T) {
	broken := errors.New("device is gone")
	for name, system := range map[string]io.Reader{
		"error at once":     iotest.ErrReader(broken),
		"end of input":      bytes.NewReader(nil),
		"short read":        bytes.NewReader(make([]byte, bufferSize-1)),
		"error half way":    io.MultiReader(io.LimitReader(&counter{}, bufferSize/2), iotest.ErrReader(broken)),
		"error second time": io.MultiReader(io.LimitReader(&counter{}, bufferSize), iotest.ErrReader(broken)),
	} {
		t.Run(name, func(t *testing.T) {
			s := newSource(system)
			if name == "error second time" {
				for range bufferSize / 8 {
					if _, err := s.Uint64(); err != nil {
						t.Fatal(err)
					}
				}
			}
			for range 3 {
				if w, err := s.Uint64(); err == nil || w != 0 {
					t.Errorf("Uint64 = %d, %v; want 0 and an error", w, err)
				}
			}
			if s.buf != [bufferSize]byte{} {
				t.Error("bits of a failed read stay in the buffer")
			}
			p := bytes.Repeat([]byte{0xAA}, 32)
			if n, err := s.Read(p); err == nil || n != 0 || !bytes.Equal(p, make([]byte, 32)) {
				t.Errorf("Read = %d, %v, %x; want 0, an error and zeros", n, err, p)
			}
		})
	}
}

func TestRecoversWhenTheSystemDoes(t *testing.T) {
	s := newSource(io.MultiReader(failOnce{new(bool)}, &counter{}))
	if _, err := s.Uint64(); err == nil {
		t.Fatal("no error")
	}
	if w, err := s.Uint64(); err != nil || w == 0 {
		t.Fatalf("after the system recovered: %d, %v", w, err)
	}
}

type failOnce struct{ failed *bool }

func (f failOnce) Read([]byte) (int, error) {
	if !*f.failed {
		*f.failed = true
		return 0, errors.New("not ready")
	}
	return 0, io.EOF
}

// One-byte reads are legal for an io.Reader and must not be taken for short ones.
func TestSlowSystem(t *testing.T) {
	s := newSource(iotest.OneByteReader(&repeat{0x5A}))
	if w, err := s.Uint64(); err != nil || w != 0x5A5A5A5A5A5A5A5A {
		t.Fatalf("Uint64 = %x, %v", w, err)
	}
}

type repeat struct{ b byte }

func (r *repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.b
	}
	return len(p), nil
}

// The wiring to the system: of 2^16 words, 2^22 fair bits, the ones are within
// 6.5 standard deviations (1024 each) of half. False-reject probability: 8e-11.
func TestSystemSource(t *testing.T) {
	const words = 1 << 16
	s, ones := New(), 0
	for range words {
		w, err := s.Uint64()
		if err != nil {
			t.Fatal(err)
		}
		ones += bits.OnesCount64(w)
	}
	if off := ones - words*32; off > 6656 || off < -6656 {
		t.Errorf("%d ones among %d bits", ones, words*64)
	}
	a, b := make([]byte, 32), make([]byte, 32)
	for _, p := range [][]byte{a, b} {
		if n, err := s.Read(p); err != nil || n != 32 {
			t.Fatal(n, err)
		}
	}
	if bytes.Equal(a, b) {
		t.Error("two reads gave the same 256 bits")
	}
}

func BenchmarkUint64(b *testing.B) {
	s := New()
	for b.Loop() {
		if _, err := s.Uint64(); err != nil {
			b.Fatal(err)
		}
	}
}

func TestSourcePrintsNoBits(t *testing.T) {
	s := New()
	if _, err := s.Uint64(); err != nil { // its buffer is full
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%t"} {
		if got := fmt.Sprintf(verb, s); got != "entropy.Source" {
			t.Errorf("%s prints %.80q", verb, got)
		}
	}
}
