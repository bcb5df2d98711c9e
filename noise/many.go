package noise

import (
	"errors"
	"math/big"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/discreet-dp/discreet/internal/entropy"
)

const (
	// minLaned is the fewest draws that are made by lanes, where their tables are there.
	minLaned = 64
	// minPart is the fewest draws that are worth a goroutine.
	minPart = 1 << 13
)

// Int64s replaces all of k by independent draws: the law of Int64, many times as fast for
// many draws, on all cores. On an error all of k is 0.
func (d *DiscreteLaplace) Int64s(b Bits, k []int64) error { return int64s(b, k, d, d.lanes) }

// Int64s replaces all of k by independent draws. On an error, as of a draw beyond ±2^61, all
// of k is 0.
func (d *DiscreteGaussian) Int64s(b Bits, k []int64) error { return int64s(b, k, d, d.lanes) }

// A lazy is a laned form that is made when so many draws are asked for, with those before, that
// its tables are worth their time.
type lazy struct {
	worth int64
	make  func() (*laned, bool)

	asked atomic.Int64
	once  sync.Once
	made  *laned // nil if there is none
}

// of returns the laned form for n draws, nil where one by one is better.
func (l *lazy) of(n int) *laned {
	if n < minLaned || l.asked.Add(int64(n)) < l.worth {
		return nil
	}
	l.once.Do(func() {
		if made, ok := l.make(); ok {
			l.made = made
		}
	})
	return l.made
}

func int64s(b Bits, k []int64, d distribution, form *lazy) error {
	l := form.of(len(k))
	err := inParts(b, len(k), func(b Bits, from, to int) error {
		if l == nil {
			return oneByOne(b, k[from:to], d)
		}
		return l.each(b, to-from, func(z *lanes, at, n int) error {
			return l.int64s(z, k[from+at:from+at+n])
		})
	})
	if err != nil {
		clear(k)
	}
	return err
}

func oneByOne(b Bits, k []int64, d distribution) error {
	s, z := &Stream{source: b}, new(big.Int)
	for i := range k {
		if err := d.draw(s, z); err != nil {
			return err
		}
		if !z.IsInt64() || z.CmpAbs(bigMaxInt64) > 0 {
			return errRange()
		}
		k[i] = z.Int64()
	}
	return nil
}

func addTo(b Bits, values []*big.Int, d distribution, form *lazy) error {
	l := form.of(len(values))
	err := inParts(b, len(values), func(b Bits, from, to int) error {
		if l == nil {
			s, z := &Stream{source: b}, new(big.Int)
			for _, x := range values[from:to] {
				if err := d.draw(s, z); err != nil {
					return err
				}
				x.Add(x, z)
			}
			return nil
		}
		var scratch [2]big.Word
		return l.each(b, to-from, func(z *lanes, at, n int) error {
			l.add(z, values[from+at:from+at+n], &scratch)
			return nil
		})
	})
	if err != nil {
		clear(values)
	}
	return err
}

// each draws n values, and hands them out by lanes: the next n of them, which start at the
// value so numbered.
func (l *laned) each(b Bits, n int, take func(z *lanes, at, n int) error) error {
	r := &reel{source: b}
	defer r.wipe()
	return l.from(r, n, take)
}

// from is each, with the words of r. It wipes those that it used.
func (l *laned) from(r *reel, n int, take func(z *lanes, at, n int) error) error {
	var z lanes
	defer func() {
		z = lanes{}
		clear(r.buffer[:r.next])
	}()
	r.left = n*5/2 + 32 // nearly always enough; more are asked for where it is not
	for at := 0; at < n; {
		if err := l.draw(r, &z); err != nil {
			return err
		}
		for k := bits.OnesCount64(z.kept); k > n-at; k-- { // the first ones
			z.kept &^= 1 << (63 - bits.LeadingZeros64(z.kept))
		}
		k := bits.OnesCount64(z.kept)
		if err := take(&z, at, k); err != nil {
			return err
		}
		at += k
	}
	return nil
}

// inParts has n draws made in parts, on all cores where b is the system's generator: each part
// then has a source of its own.
func inParts(b Bits, n int, draw func(b Bits, from, to int) error) error {
	parts := min(runtime.GOMAXPROCS(0), n/minPart)
	if parts < 2 || !ofSystem(b) {
		return draw(b, 0, n)
	}
	errs := make([]error, parts)
	var all sync.WaitGroup
	for i := range parts {
		all.Go(func() { errs[i] = draw(System(), i*n/parts, (i+1)*n/parts) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func ofSystem(b Bits) bool {
	switch b := b.(type) {
	case *entropy.Source:
		return true
	case *Stream:
		return ofSystem(b.source)
	case *shared:
		return ofSystem(b.bits)
	}
	return false
}
