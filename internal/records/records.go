// Package records reads CSV and JSON-lines files by one total rule: every file
// is a sequence of records, whatever its bytes.
//
// A record is a line. What a line reads as depends on that line alone, so that no
// record changes how another is read: a file of the lines A, x and B has the records
// of A, those of x and those of B, whatever x is (TestLinesReadAlone). That is what
// makes the rows of a unit a function of its own records. The one exception is
// declared by whoever writes the file: see notation.Form.Multiline.
//
// A field is text or NULL. A field that cannot be read (not UTF-8, misplaced
// quotes, missing) is NULL; a record that cannot be told apart from the next
// is skipped. Records never fail, and a reader needs at most MaxRecord bytes
// and a little more. Only the system's own errors are errors: a file that
// cannot be opened or read, a damaged compressed stream.
package records

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/discreet-dp/discreet/internal/datafile"
	"github.com/discreet-dp/discreet/notation"
)

// MaxRecord bounds a record's bytes. What is longer is malformed.
const MaxRecord = 1 << 20

// A Record is one record of a file. Its fields are valid until the next read.
type Record struct {
	// Fields has one entry a column; nil is NULL, empty text is not nil.
	Fields [][]byte
	// Malformed says that the record does not read as declared: fields are too
	// few or too many, not UTF-8, or misquoted.
	Malformed bool
}

// A Reader yields a file's records, then io.EOF.
type Reader interface {
	Next() (Record, error)
	// Skipped counts the malformed records that yielded no Record.
	Skipped() int64
	Close() error
}

// window is a sliding view of a file's unread bytes.
type window struct {
	io.Closer
	from       io.Reader
	buf        []byte // buf[start:end] is unread
	start, end int
	eof        bool
	err        error // other than io.EOF
	file       *counted
}

// Offset returns how many bytes of the file were read, of how many that it had when it
// was opened, both as they are stored.
func (w *window) Offset() (read, all int64) {
	if w.file == nil {
		return 0, 0
	}
	return w.file.read, w.file.all
}

// A counted file knows how far it was read.
type counted struct {
	*os.File
	read, all int64
}

func (f *counted) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.read += int64(n)
	return n, err
}

func open(ctx context.Context, path string, encoding notation.Encoding) (*window, error) {
	f, err := datafile.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	file := &counted{File: f}
	if info, err := f.Stat(); err == nil {
		file.all = info.Size()
	}
	from, closer, err := decompress(path, file)
	if err != nil {
		f.Close()
		return nil, err
	}
	switch encoding {
	case notation.Latin1:
		from = charmap.Windows1252.NewDecoder().Reader(from)
	case notation.UTF16:
		from = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Reader(from)
	}
	w := newWindow(from, closer)
	w.file = file
	return w, nil
}

// Bytes opens a file, decompressed by its ending, as the bytes that it holds.
func Bytes(ctx context.Context, path string) (io.ReadCloser, error) {
	f, err := datafile.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	from, closer, err := decompress(path, f)
	if err != nil {
		f.Close()
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{from, closer}, nil
}

// Head returns the first bytes of a file, decompressed.
func Head(ctx context.Context, path string, n int64) ([]byte, error) {
	r, err := Bytes(ctx, path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, n))
}

// decompress reads a file by its ending.
func decompress(path string, f io.ReadCloser) (io.Reader, io.Closer, error) {
	switch lower := strings.ToLower(path); {
	case strings.HasSuffix(lower, ".gz"):
		r, err := gzip.NewReader(bufio.NewReader(f))
		if err == io.EOF {
			return bytes.NewReader(nil), f, nil // no bytes at all: no records
		}
		return r, f, err
	case strings.HasSuffix(lower, ".zst"):
		r, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, f, err
		}
		return r, zstandard{r, f}, nil
	}
	return f, f, nil
}

// maxWindow bounds the memory that a Zstandard file asks for: what zstd -19 and --long
// write by default.
const maxWindow = 128 << 20

// A zstandard closes a decoder and its file.
type zstandard struct {
	decoder *zstd.Decoder
	file    io.Closer
}

func (z zstandard) Close() error {
	z.decoder.Close()
	return z.file.Close()
}

func newWindow(from io.Reader, file io.Closer) *window {
	w := &window{Closer: file, from: from, buf: make([]byte, 1<<16)}
	if bytes.HasPrefix(w.atLeast(3), []byte("\ufeff")) {
		w.start += 3
	}
	return w
}

func (w *window) unread() []byte { return w.buf[w.start:w.end] }

// more reads on. It returns false at the end of the file, and when MaxRecord
// bytes are unread.
func (w *window) more() bool {
	if w.eof || w.end-w.start >= MaxRecord {
		return false
	}
	if w.start > 0 {
		w.end = copy(w.buf, w.unread())
		w.start = 0
	}
	if w.end == len(w.buf) {
		w.buf = append(w.buf, make([]byte, len(w.buf))...)
	}
	for {
		n, err := w.from.Read(w.buf[w.end:])
		w.end += n
		if err != nil {
			w.eof = true
			if err != io.EOF {
				w.err = err
			}
		}
		if n > 0 || w.eof {
			return n > 0
		}
	}
}

// atLeast returns the unread bytes, n of them or all that there are.
func (w *window) atLeast(n int) []byte {
	for w.end-w.start < n && w.more() {
	}
	return w.unread()
}

// line returns the unread bytes up to the next line feed or the file's end,
// and how many bytes it takes, or -1 if it is longer than MaxRecord.
func (w *window) line() (line []byte, length int) {
	from := 0
	for {
		b := w.unread()
		if i := bytes.IndexByte(b[from:], '\n'); i >= 0 {
			return b[:from+i], from + i + 1
		}
		from = len(b)
		if !w.more() {
			if b = w.unread(); w.eof { // more moves the bytes
				return b, len(b)
			}
			return nil, -1
		}
	}
}

// skipLine drops the next line, however long it is.
func (w *window) skipLine() {
	for {
		if i := bytes.IndexByte(w.unread(), '\n'); i >= 0 {
			w.start += i + 1
			return
		}
		w.start = w.end
		if !w.more() {
			return
		}
	}
}

func (w *window) ended() error {
	if w.err != nil {
		return w.err
	}
	return io.EOF
}
