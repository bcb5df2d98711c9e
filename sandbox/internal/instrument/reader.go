package instrument

import (
	"errors"
	"fmt"
)

var errTruncated = errors.New("the module ends too early")

// A reader walks over bytes and keeps the first error; after it, everything
// reads as zero and the reader stands at its end.
type reader struct {
	b   []byte
	pos int
	err error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.pos = len(r.b)
}

func (r *reader) refuse(format string, args ...any) { r.fail(fmt.Errorf(format, args...)) }

func (r *reader) more() bool { return r.err == nil && r.pos < len(r.b) }

func (r *reader) byte() byte {
	if r.pos >= len(r.b) {
		r.fail(errTruncated)
		return 0
	}
	r.pos++
	return r.b[r.pos-1]
}

func (r *reader) take(n uint32) []byte {
	if uint64(n) > uint64(len(r.b)-r.pos) {
		r.fail(errTruncated)
		return nil
	}
	r.pos += int(n)
	return r.b[r.pos-int(n) : r.pos]
}

// u32 reads an unsigned LEB128 number of at most 32 bits.
func (r *reader) u32() uint32 {
	var v uint64
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if v > 0xffff_ffff {
				break
			}
			return uint32(v)
		}
	}
	r.refuse("a number is longer than 32 bits")
	return 0
}

// signed reads a signed LEB128 number of at most size bits.
func (r *reader) signed(size int) int64 {
	var v int64
	for shift := 0; shift < size; shift += 7 {
		b := r.byte()
		v |= int64(b&0x7f) << shift
		if b < 0x80 {
			if shift+7 < 64 && b&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			if size < 64 && (v >= 1<<(size-1) || v < -1<<(size-1)) {
				break
			}
			return v
		}
	}
	r.refuse("a number is longer than %d bits", size)
	return 0
}

// count reads the length of a vector, whose items have at least one byte each.
func (r *reader) count() int {
	n := r.u32()
	if uint64(n) > uint64(len(r.b)-r.pos) {
		r.fail(errTruncated)
		return 0
	}
	return int(n)
}

func (r *reader) name() string { return string(r.take(r.u32())) }

// done fails unless everything was read.
func (r *reader) done(what string) {
	if r.err == nil && r.pos != len(r.b) {
		r.refuse("%s has bytes left over", what)
	}
}

func appendU32(b []byte, v uint32) []byte {
	for ; v >= 0x80; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return append(b, byte(v))
}

func appendSigned(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func appendVector(b []byte, v []byte) []byte {
	return append(appendU32(b, uint32(len(v))), v...)
}
