package local

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/noise"
)

// A form is that of a protocol's reports: coins and numbers, each below a limit, signed
// numbers, and bits.
type form struct {
	coins   []uint64 // limits; each coin is uniform below its own
	numbers []uint64 // limits
	rising  bool     // the numbers ascend
	signed  int      // how many signed numbers
	bits    int
}

// toss returns a report with its coins alone, and room for the rest.
func (f form) toss(s *noise.Stream) (Report, error) {
	r := make(Report, 0, f.length())
	for _, limit := range f.coins {
		c, err := s.Below(limit)
		if err != nil {
			return nil, err
		}
		r = append(r, c)
	}
	return r, nil
}

func (f form) words() int  { return (f.bits + 63) / 64 }
func (f form) length() int { return len(f.coins) + len(f.numbers) + f.signed + f.words() }

// check refuses what is no report of this form.
func (f form) check(r Report) error {
	if len(r) != f.length() {
		return fmt.Errorf("%w: it has %d parts, and not %d", ErrReport, len(r), f.length())
	}
	for i, limit := range f.coins {
		if r[i] >= limit {
			return fmt.Errorf("%w: number %d is not below %d", ErrReport, i+1, limit)
		}
	}
	numbers := r[len(f.coins):]
	for i, limit := range f.numbers {
		if numbers[i] >= limit {
			return fmt.Errorf("%w: number %d is not below %d", ErrReport, len(f.coins)+i+1, limit)
		}
		if f.rising && i > 0 && numbers[i] <= numbers[i-1] {
			return fmt.Errorf("%w: the numbers do not ascend", ErrReport)
		}
	}
	if over := f.bits % 64; over != 0 && r[len(r)-1]>>over != 0 {
		return fmt.Errorf("%w: it has more than %d bits", ErrReport, f.bits)
	}
	return nil
}

// Bit i of a report is bit i%64 of word i/64 of its bits; in text the first bit is the
// highest of the first digit.
func (f form) format(r Report) string {
	if f.check(r) != nil {
		return ""
	}
	var b []byte
	signed := len(f.coins) + len(f.numbers)
	for i, x := range r[:signed+f.signed] {
		if i > 0 {
			b = append(b, ' ')
		}
		if i < signed {
			b = strconv.AppendUint(b, x, 10)
		} else {
			b = strconv.AppendInt(b, int64(x), 10)
		}
	}
	if f.bits > 0 {
		if len(b) > 0 {
			b = append(b, ' ')
		}
		packed := make([]byte, (f.bits+7)/8)
		for i, w := range r[signed+f.signed:] {
			for ; w != 0; w &= w - 1 {
				at := 64*i + lowest(w)
				packed[at/8] |= 0x80 >> (at % 8)
			}
		}
		b = hex.AppendEncode(b, packed)
	}
	return string(b)
}

func (f form) parse(text string) (Report, error) {
	parts := strings.Fields(text)
	signed := len(f.coins) + len(f.numbers)
	want := signed + f.signed
	if f.bits > 0 {
		want++
	}
	if len(parts) != want {
		return nil, fmt.Errorf("%w: it has %d parts, and not %d", ErrReport, len(parts), want)
	}
	r := make(Report, 0, f.length())
	for i, part := range parts[:signed+f.signed] {
		var x uint64
		var err error
		if i < signed {
			x, err = strconv.ParseUint(part, 10, 64)
		} else {
			var y int64
			y, err = strconv.ParseInt(part, 10, 64)
			x = uint64(y)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: part %d is no whole number", ErrReport, i+1)
		}
		r = append(r, x)
	}
	if f.bits > 0 {
		packed, err := hex.DecodeString(parts[want-1])
		if err != nil || len(packed) != (f.bits+7)/8 {
			return nil, fmt.Errorf("%w: its bits are not %d hexadecimal digits", ErrReport, 2*((f.bits+7)/8))
		}
		words := make([]uint64, f.words())
		for i, x := range packed {
			for j := range 8 {
				if x&(0x80>>j) == 0 {
					continue
				}
				if at := 8*i + j; at < f.bits {
					words[at/64] |= 1 << (at % 64)
				} else {
					return nil, fmt.Errorf("%w: it has more than %d bits", ErrReport, f.bits)
				}
			}
		}
		r = append(r, words...)
	}
	return r, f.check(r)
}
