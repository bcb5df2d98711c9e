// Package container is the form of files that the learner writes: a kind and a
// version, a header in JSON, numbers, and a checksum of it all.
//
// It guarantees that what is read is what was written: a file that is cut, changed or
// of a later version is refused, saying so. The checksum is against accidents; who
// edits a file can make a new one.
package container

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// What a reader branches on.
var (
	ErrKind      = errors.New("not a file of this kind")
	ErrNewer     = errors.New("written by a later version")
	ErrTruncated = errors.New("truncated")
	ErrCorrupted = errors.New("corrupted")
)

// A Digest identifies a file's content.
type Digest [sha256.Size]byte

// String returns the digest in hexadecimal digits.
func (d Digest) String() string { return fmt.Sprintf("%x", d[:]) }

// Encode returns a file: a line "discreet KIND VERSION", the lengths of header and
// body (8 bytes each, little-endian), header, body, and the digest of all before.
func Encode(kind string, version int, header any, body []byte) ([]byte, Digest, error) {
	h, err := json.Marshal(header)
	if err != nil {
		return nil, Digest{}, fmt.Errorf("encode %s: %w", kind, err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "discreet %s %d\n", kind, version)
	b.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(h))))
	b.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(body))))
	b.Write(h)
	b.Write(body)
	d := Digest(sha256.Sum256(b.Bytes()))
	b.Write(d[:])
	return b.Bytes(), d, nil
}

// Decode reads a file of a kind, of versions up to the given one.
func Decode(data []byte, kind string, version int, header any) (body []byte, _ Digest, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("read %s: %w", kind, err)
		}
	}()
	begin := "discreet " + kind + " "
	if !bytes.HasPrefix(data, []byte(begin)) {
		if strings.HasPrefix(begin, string(data)) {
			return nil, Digest{}, ErrTruncated
		}
		return nil, Digest{}, ErrKind
	}
	line, _, found := bytes.Cut(data[len(begin):min(len(data), len(begin)+20)], []byte("\n"))
	if !found {
		if len(data) < len(begin)+20 {
			return nil, Digest{}, ErrTruncated
		}
		return nil, Digest{}, ErrCorrupted
	}
	v, err := strconv.Atoi(string(line))
	switch {
	case err != nil || v < 1:
		return nil, Digest{}, fmt.Errorf("%w: its version is not a number", ErrCorrupted)
	case v > version:
		return nil, Digest{}, fmt.Errorf("%w: version %d, and this program reads up to %d", ErrNewer, v, version)
	}
	data, all := data[len(begin)+len(line)+1:], data
	if len(data) < 16+sha256.Size {
		return nil, Digest{}, ErrTruncated
	}
	h, b := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])
	data = data[16:]
	room := uint64(len(data) - sha256.Size)
	switch {
	case h > room || b > room-h:
		return nil, Digest{}, ErrTruncated
	case h+b < room:
		return nil, Digest{}, fmt.Errorf("%w: %d bytes too many", ErrCorrupted, room-h-b)
	}
	d := Digest(data[h+b:])
	if d != sha256.Sum256(all[:len(all)-sha256.Size]) {
		return nil, Digest{}, fmt.Errorf("%w: its checksum differs", ErrCorrupted)
	}
	if err := json.Unmarshal(data[:h], header); err != nil {
		return nil, Digest{}, fmt.Errorf("%w: header: %w", ErrCorrupted, err)
	}
	return data[h : h+b], d, nil
}
