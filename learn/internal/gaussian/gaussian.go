// Package gaussian adds Gaussian noise to long vectors, fast: a few nanoseconds a
// number, where an exact sampler takes hundreds.
//
// # The law
//
// [Source.Add] rounds each number to the nearest multiple of a public grid, sigma
// divided by [Steps], and adds a multiple of it to that: the floor of a Gaussian
// of standard deviation Steps, in whole numbers. The floor of (whole number +
// Gaussian) is what is computed, so with ideal draws the result is a function of
// the ideal Gaussian mechanism on the rounded vector, and no bit of it comes from
// the vector's low bits. Rounding moves each of d numbers by at most half a step:
// two vectors that differ by s before differ by at most s + [Rounding](sigma, d)
// after it. The accountant must be told that.
//
// Draws are not ideal, by this much: for each, the chi-squared divergence of the
// actual law from the ideal one is at most 2^-80, so k draws are, by Pinsker's
// inequality and additivity of the Kullback-Leibler divergence, within
// [Distance](k) of ideal ones in total variation; delta rises by at most
// 1+e^epsilon times that. The proof stands by the sampler. This takes the words
// of the stream for independent fair bits: they are AES-256 in counter mode, so
// what breaks this breaks AES.
//
// # The stream
//
// Every worker of every call has its own key, from the reader that the caller
// gives (in this module internal/entropy), and no key outlives its call: streams
// never repeat, and memory does not give back the noise of earlier calls. Without
// randomness Add fails and changes nothing. There is no seed.
//
// The time that a draw takes depends on the draw.
package gaussian

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"runtime"
	"sync"
)

// Steps is the number of grid steps in a standard deviation.
const Steps = 1 << 20

// Rounding is by how much the distance of two vectors of d numbers may grow when
// both are rounded to the grid.
func Rounding(sigma float64, d int) float64 {
	// Half a step each. The quotient by the step is rounded twice before: 2^-16 of a
	// step, as long as the numbers are below 2^36 steps, 65536 standard deviations.
	return math.Sqrt(float64(d)) * sigma / Steps * (1 + 0x1p-15)
}

// Distance bounds the total variation between k draws and k ideal ones.
func Distance(k float64) float64 { return math.Min(1, math.Sqrt(k*divergence/2)) }

const (
	keySize = 32
	// bufferWords is the number of words that are made at once.
	bufferWords = 512
	// minPart is the fewest draws that are worth a goroutine.
	minPart = 1 << 12
	// maxPart keeps a key's blocks below 2^33: the advantage of telling them from
	// random is then below 2^-63 by the switching lemma.
	maxPart = 1 << 32
)

// A Source adds noise. One call at a time.
type Source struct {
	random  io.Reader
	workers []*worker
	wg      sync.WaitGroup
}

// New returns a source that takes its keys from random, and computes on so many
// goroutines; 0: one a processor.
func New(random io.Reader, workers int) *Source {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	s := &Source{random: random}
	for range workers {
		s.workers = append(s.workers, &worker{})
	}
	return s
}

// Format prints a name and no bits.
func (*Source) Format(f fmt.State, _ rune) { io.WriteString(f, "gaussian.Source") }

// Add adds noise of standard deviation sigma to each number, all draws
// independent. Numbers beyond 2^32 standard deviations are taken for that many,
// and NaN for 0: nothing in the vector is an error. An error leaves it unchanged.
func (s *Source) Add(v []float32, sigma float64) error {
	if !(sigma >= 0x1p-100 && sigma <= 0x1p100) {
		return fmt.Errorf("add gaussian noise: sigma = %v is not between 2^-100 and 2^100", sigma)
	}
	count := max(1, min(len(s.workers), len(v)/minPart))
	if len(v)/count >= maxPart {
		return fmt.Errorf("add gaussian noise: %d numbers in one call", len(v))
	}
	for _, w := range s.workers[:count] {
		if err := w.rekey(s.random); err != nil {
			for _, w := range s.workers[:count] {
				w.erase()
			}
			return fmt.Errorf("add gaussian noise: %w", err)
		}
	}
	for i := 1; i < count; i++ {
		s.wg.Add(1)
		go s.work(i, v[i*len(v)/count:(i+1)*len(v)/count], sigma)
	}
	s.workers[0].add(v[:len(v)/count], sigma)
	s.wg.Wait()
	return nil
}

func (s *Source) work(i int, v []float32, sigma float64) {
	defer s.wg.Done()
	s.workers[i].add(v, sigma)
}

// A worker adds noise to a part of the vector, from two streams: one has a word for
// every number, the other what few draws need besides.
type worker struct {
	words, more stream
	noise       [bufferWords]int32
}

func (w *worker) rekey(random io.Reader) error {
	if err := w.words.rekey(random); err != nil {
		return err
	}
	return w.more.rekey(random)
}

func (w *worker) erase() {
	w.words.erase()
	w.more.erase()
	clear(w.noise[:])
}

// add adds noise to the numbers and forgets the keys.
func (w *worker) add(v []float32, sigma float64) {
	defer w.erase()
	for len(v) > 0 {
		piece := v[:min(len(v), bufferWords)]
		v = v[len(piece):]
		w.draw(w.noise[:len(piece)])
		place(piece, w.noise[:len(piece)], Steps/sigma, sigma/Steps)
	}
}

// draw gives up to bufferWords draws.
func (w *worker) draw(noise []int32) {
	w.words.refill()
	words, table := &w.words.buf, ziggurat
	for i := range noise {
		word := binary.LittleEndian.Uint64(words[i*8:][:8])
		x, inside := column(table, word)
		if !inside {
			x = w.more.outer(word)
		}
		noise[i] = int32(x) // below 2^24: the tail ends
	}
}

// place rounds each number to a whole number of steps, adds its noise and gives back
// the middle of that step: all exact but the last product. Both are below 2^53.
func place(v []float32, noise []int32, inverse, step float64) {
	for i := placeKernel(v, noise, inverse, step); i < len(v); i++ {
		v[i] = float32((whole(float64(v[i])*inverse) + float64(noise[i]) + 0.5) * step)
	}
}

// limit is far above what a sum of clipped vectors reaches, in steps, and so small
// that whole numbers stay exact when a draw is added.
const limit = 1 << 52

// whole is the whole number nearest to x, within the limit; 0 for NaN.
func whole(x float64) float64 {
	if x != x {
		return 0
	}
	return math.RoundToEven(max(-limit, min(limit, x)))
}

// A stream is a sequence of random words. After rekey it gives each once.
type stream struct {
	cipher cipher.Stream
	next   int
	buf    [8 * bufferWords]byte
}

// rekey starts a stream of its own from 256 fresh bits.
func (s *stream) rekey(random io.Reader) error {
	var key [keySize]byte
	defer clear(key[:])
	if _, err := io.ReadFull(random, key[:]); err != nil {
		return fmt.Errorf("read a key: %w", err)
	}
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return err
	}
	var start [aes.BlockSize]byte
	s.cipher = cipher.NewCTR(block, start[:])
	s.next = len(s.buf)
	return nil
}

// erase forgets the key and the words that nobody has seen.
func (s *stream) erase() {
	s.cipher = nil
	clear(s.buf[:])
}

// word gives the next 64 bits.
func (s *stream) word() uint64 {
	if s.next == len(s.buf) {
		s.refill()
	}
	w := binary.LittleEndian.Uint64(s.buf[s.next:])
	s.next += 8
	return w
}

func (s *stream) refill() {
	clear(s.buf[:])
	s.cipher.XORKeyStream(s.buf[:], s.buf[:])
	s.next = 0
}
