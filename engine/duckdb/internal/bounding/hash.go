//go:build cgo

package bounding

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
)

// hashes are of 64 bits, under a salt. What is hashed often is mixed by multiplications, which spread well enough for choices
// to be about equally likely; a group, which is hashed once, by SHA-256.
type hashes struct{ salt [16]byte }

func newHashes(salt int64) (h hashes) {
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte("discreet bounding"), uint64(salt)))
	copy(h.salt[:], sum[:])
	return h
}

// of is the hash of a group's keys.
func (h hashes) of(text string) uint64 {
	sum := sha256.Sum256(append(h.salt[:], text...))
	return binary.LittleEndian.Uint64(sum[:])
}

// unit is the hash of a unit.
func (h hashes) unit(k key) uint64 {
	x := mix(binary.LittleEndian.Uint64(h.salt[:]) ^ uint64(k.number))
	return mix(x ^ hashOf(k.text) ^ binary.LittleEndian.Uint64(h.salt[8:]))
}

// mix is a permutation of 64-bit numbers in which each bit depends on all (the finalizer of MurmurHash3).
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// hashOf is the hash of a text, without a salt.
func hashOf(text []byte) uint64 {
	h := uint64(len(text))
	for len(text) >= 8 {
		hi, lo := bits.Mul64(h^binary.LittleEndian.Uint64(text), 0x9e3779b97f4a7c15)
		h, text = hi^lo, text[8:]
	}
	var rest [8]byte
	copy(rest[:], text)
	return mix(h ^ binary.LittleEndian.Uint64(rest[:]))
}
