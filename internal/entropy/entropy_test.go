package entropy

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"reflect"
	"slices"
	"strings"
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

// The first words are the system's own.
func TestFewWordsAreTheSystems(t *testing.T) {
	s := newSource(&counter{})
	for want := uint64(1); want <= directSize/8; want++ {
		if got, err := s.Uint64(); err != nil || got != want {
			t.Fatalf("word %d is %d, %v", want, got, err)
		}
	}
	if s.key != [keySize]byte{} {
		t.Error("a key was made for them")
	}
}

// Every word, by whatever way it is handed out, is that of the construction in the package's
// comment, computed here block by block.
func TestStreamIsTheConstruction(t *testing.T) {
	s, system := newSource(&counter{}), &counter{}
	read := func(n int) []byte {
		p := make([]byte, n)
		system.Read(p)
		return p
	}
	var key [keySize]byte
	expand := func(n int) []byte {
		for i, b := range read(keySize) {
			key[i] ^= b
		}
		block, err := aes.NewCipher(key[:])
		if err != nil {
			t.Fatal(err)
		}
		out := make([]byte, 0, keySize+n+16)
		for i := uint64(0); len(out) < keySize+n; i++ {
			var in, o [16]byte
			binary.BigEndian.PutUint64(in[8:], i)
			block.Encrypt(o[:], in[:])
			out = append(out, o[:]...)
		}
		copy(key[:], out)
		return out[keySize : keySize+n]
	}
	words := func(want []byte) {
		t.Helper()
		for ; len(want) > 0; want = want[8:] {
			if got, err := s.Uint64(); err != nil || got != binary.NativeEndian.Uint64(want) {
				t.Fatalf("a word is %x, %v; want %x", got, err, want[:8])
			}
		}
	}
	many := func(n int) {
		t.Helper()
		got := make([]uint64, n)
		if err := s.Words(got); err != nil {
			t.Fatal(err)
		}
		for want := expand(8 * n); len(want) > 0; want, got = want[8:], got[1:] {
			if got[0] != binary.NativeEndian.Uint64(want) {
				t.Fatalf("a word is %x; want %x", got[0], want[:8])
			}
		}
	}
	many(3) // before any single word
	words(read(directSize))
	many(1)
	words(expand(bufferSize)) // the key is shared, the buffer is not
	words(expand(bufferSize)[:bufferSize/2])
	many(1000)
}

// The same by another hand: openssl enc -aes-256-ctr -K 0100000000000000020000000000000003000000000000000400000000000000 -iv 00000000000000000000000000000000 of zeros
// (OpenSSL 3.0; little-endian words), its first 32 bytes left out.
func TestKnownAnswer(t *testing.T) {
	if binary.NativeEndian.Uint64([]byte{1, 0, 0, 0, 0, 0, 0, 0}) != 1 {
		t.Skip("the answer is of a little-endian machine")
	}
	s, got := newSource(&counter{}), make([]uint64, 4)
	if err := s.Words(got); err != nil {
		t.Fatal(err)
	}
	if want := "[2169c751dfdbabaf 24a3e1c4254b9106 3c40a6fe64420b77 3ecb52e07fd0f795]"; fmt.Sprintf("%016x", got) != want {
		t.Errorf("words are %016x, want %s", got, want)
	}
	if want := "229e6063e8637ca39f65384d34912bc5b458cf298a157f9d44b364df38fb9853"; fmt.Sprintf("%x", s.key) != want {
		t.Errorf("the next key is %x, want %s", s.key, want)
	}
}

// Streams longer than one key may make are made of several.
func TestLongRequestsChangeTheKey(t *testing.T) {
	system := &counter{}
	s := newSource(system)
	if err := s.Words(make([]uint64, maxBlocks*aes.BlockSize/8+1)); err != nil {
		t.Fatal(err)
	}
	if system.n != 2*keySize/8 {
		t.Errorf("%d words of the system were used, want two keys", system.n)
	}
	if err := s.Words(nil); err != nil || system.n != 2*keySize/8 {
		t.Error("no words cost a key: ", err)
	}
}

func TestConcurrentCallersNeverShareAWord(t *testing.T) {
	const callers, each = 8, 2000
	for name, s := range map[string]*Source{"counter": newSource(&counter{}), "system": New()} {
		words := make([][]uint64, callers)
		var wg sync.WaitGroup
		for c := range callers {
			wg.Go(func() {
				for i := range each {
					w, err := s.Uint64()
					if err != nil {
						t.Error(err)
					}
					words[c] = append(words[c], w)
					if i%100 == c {
						many := make([]uint64, 50)
						if err := s.Words(many); err != nil {
							t.Error(err)
						}
						words[c] = append(words[c], many...)
					}
				}
			})
		}
		wg.Wait()
		seen := make(map[uint64]bool) // of 24,000 fair words two are equal with probability 2e-11
		for _, ws := range words {
			for _, w := range ws {
				if seen[w] {
					t.Fatalf("%s: word %x was handed out twice", name, w)
				}
				seen[w] = true
			}
		}
	}
}

// A process that is duplicated with its memory shares with its double what lies in the
// buffer, and nothing that is made afterwards: fresh bytes go into every key.
func TestDoublesPart(t *testing.T) {
	for _, before := range []int{1, directSize/8 + 1, (directSize + bufferSize) / 8, 2000} {
		s := New()
		for range before {
			if _, err := s.Uint64(); err != nil {
				t.Fatal(err)
			}
		}
		double := &Source{system: s.system, key: s.key, buf: append(make([]byte, 0, cap(s.buf)), s.buf...), used: s.used}
		shared := len(s.buf) / 8
		if shared > bufferSize/8 {
			t.Fatalf("%d words lie unused", shared)
		}
		for i := range shared + 2000 {
			a, _ := s.Uint64()
			b, _ := double.Uint64()
			if (a == b) != (i < shared) {
				t.Fatalf("after %d words, word %d of %d shared ones: %x and %x", before, i, shared, a, b)
			}
		}
		a, b := make([]uint64, 4), make([]uint64, 4)
		double.key = s.key
		if err := errors.Join(s.Words(a), double.Words(b)); err != nil || slices.Equal(a, b) {
			t.Fatalf("doubles get the same words: %x, %v", a, err)
		}
	}
}

// Bad randomness of the system, here none, does not undo a good key; nor a known key good
// randomness.
func TestEitherHalfOfAKeyIsEnough(t *testing.T) {
	constant := &repeat{0}
	good, known := newSource(constant), newSource(&counter{n: 7})
	good.key = [keySize]byte{1, 2, 3}
	zero := newSource(constant)
	var a, b, c [4]uint64
	if err := errors.Join(good.Words(a[:]), zero.Words(b[:]), known.Words(c[:])); err != nil {
		t.Fatal(err)
	}
	if a == b || c == b {
		t.Errorf("the key is not both: %x %x %x", a, b, c)
	}
}

func TestHandedOutBitsAreErased(t *testing.T) {
	s := newSource(&counter{})
	for _, buffer := range []int{directSize, bufferSize, bufferSize} {
		if _, err := s.Uint64(); err != nil {
			t.Fatal(err)
		}
		all := s.buf
		for range 5 {
			if _, err := s.Uint64(); err != nil {
				t.Fatal(err)
			}
		}
		if cap(all) != buffer-8 || !bytes.Equal(all[:40], make([]byte, 40)) {
			t.Errorf("words handed out are still in the buffer: %x", all[:40])
		}
		if bytes.Equal(all[40:48], make([]byte, 8)) {
			t.Error("an unused word is missing")
		}
		for len(s.buf) > 0 {
			if _, err := s.Uint64(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Who reads the memory of a source after a word learns no key that made an earlier one: the
// stream under the key that is kept holds none of them, and expanded keys are wiped.
func TestKeysAreErased(t *testing.T) {
	s := newSource(&counter{})
	var handed []byte
	for range 3 {
		p := make([]uint64, 64)
		if err := s.Words(p); err != nil {
			t.Fatal(err)
		}
		for _, w := range p {
			handed = binary.NativeEndian.AppendUint64(handed, w)
		}
	}
	if !bytes.Equal(s.scratch, make([]byte, len(s.scratch))) {
		t.Error("words that were handed out are still in memory")
	}
	if bytes.Contains(handed, s.key[:16]) || bytes.Contains(handed, s.key[16:]) {
		t.Error("a key was handed out")
	}
	block, err := aes.NewCipher(s.key[:])
	if err != nil {
		t.Fatal(err)
	}
	later := make([]byte, 1<<16)
	stream := cipher.NewCTR(block, make([]byte, 16))
	stream.XORKeyStream(later, later)
	for i := 0; i < len(handed); i += 16 {
		if bytes.Contains(later, handed[i:i+16]) {
			t.Fatal("the key that is kept makes words that were handed out")
		}
	}
	for _, x := range []any{block, stream} {
		wipe(x)
		switch x := x.(type) {
		case cipher.Block:
			memory := fmt.Sprint(reflect.ValueOf(x).Elem())
			if strings.Trim(memory, "{}[] 0") != "" {
				t.Errorf("an expanded key is not wiped: %.100s", memory)
			}
		case cipher.Stream:
			memory := fmt.Sprint(reflect.ValueOf(x).Field(0).Elem())
			if strings.Trim(memory, "{}[] 0") != "" {
				t.Errorf("a stream's key is not wiped: %.100s", memory)
			}
		}
	}
}

// A read that fails, ends early, or fails after giving some bytes must give an
// error and no bits, whatever was in the buffer before.
func TestFailingSystemFailsClosed(t *testing.T) {
	broken := errors.New("device is gone")
	for name, system := range map[string]io.Reader{
		"error at once":     iotest.ErrReader(broken),
		"end of input":      bytes.NewReader(nil),
		"short read":        bytes.NewReader(make([]byte, keySize-1)),
		"error half way":    io.MultiReader(io.LimitReader(&counter{}, keySize/2), iotest.ErrReader(broken)),
		"error second time": io.MultiReader(io.LimitReader(&counter{}, directSize), iotest.ErrReader(broken)),
		"error third time":  io.MultiReader(io.LimitReader(&counter{}, directSize+keySize+8), iotest.ErrReader(broken)),
	} {
		t.Run(name, func(t *testing.T) {
			s := newSource(system)
			if words := map[string]int{"error second time": directSize / 8, "error third time": (directSize + bufferSize) / 8}[name]; words > 0 {
				for range words {
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
			if all := s.buf[:cap(s.buf)]; !bytes.Equal(all, make([]byte, len(all))) {
				t.Error("bits of a failed read stay in the buffer")
			}
			many := []uint64{0xAA, 0xAA, 0xAA, 0xAA}
			if err := s.Words(many); err == nil || !slices.Equal(many, make([]uint64, 4)) {
				t.Errorf("Words = %x, %v; want zeros and an error", many, err)
			}
			p := bytes.Repeat([]byte{0xAA}, 32)
			if n, err := s.Read(p); err == nil || n != 0 || !bytes.Equal(p, make([]byte, 32)) {
				t.Errorf("Read = %d, %v, %x; want 0, an error and zeros", n, err, p)
			}
		})
	}
}

// A request that needs two keys and gets one has no words.
func TestHalfARequestIsNone(t *testing.T) {
	s := newSource(io.LimitReader(&counter{}, keySize))
	p := make([]uint64, maxBlocks*aes.BlockSize/8+1)
	if err := s.Words(p); err == nil || slices.ContainsFunc(p, func(w uint64) bool { return w != 0 }) {
		t.Errorf("an error of %v, and words are left", err)
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
	many := make([]uint64, words)
	if err := s.Words(many); err != nil {
		t.Fatal(err)
	}
	all := 0
	for _, w := range many {
		all += bits.OnesCount64(w)
	}
	if off := all - words*32; off > 6656 || off < -6656 {
		t.Errorf("%d ones among %d bits of Words", all, words*64)
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

// Beside the generator of the system, which Words replaced for many draws.
func BenchmarkWords(b *testing.B) {
	p, bytes, s := make([]uint64, 1024), make([]byte, 8192), New()
	for name, read := range map[string]func() error{
		"source": func() error { return s.Words(p) },
		"system": func() error {
			_, err := s.Read(bytes)
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(8 * len(p)))
			for b.Loop() {
				if err := read(); err != nil {
					b.Fatal(err)
				}
			}
		})
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
