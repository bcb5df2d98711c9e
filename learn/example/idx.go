package example

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/internal/datafile"
)

// IDXOptions declare what the files hold.
type IDXOptions struct {
	Images string // the file of images, gzipped or not
	Labels string // the file of labels; "": they are missing
	// Shape is a declared image's height and width; nil takes the file's.
	Shape   []int
	Classes int  // 10 if 0
	Unit    bool // scales to [0, 1] in place of [-1, 1]
}

// ErrIDX is returned for a file that is not of the IDX format, or not of the
// declared shape. It says nothing of a number of examples.
var ErrIDX = errors.New("not an IDX file of bytes as declared")

// IDX reads images and labels in the format of MNIST: bytes, each image its own unit. A
// label that is not one of the classes counts as missing. It returns the images' shape.
func IDX(ctx context.Context, o IDXOptions) (set *Set, shape []int, err error) {
	dims, pixels, err := readIDX(ctx, o.Images, 3)
	if err != nil {
		return nil, nil, err
	}
	n, shape := dims[0], dims[1:]
	width := shape[0] * shape[1]
	if o.Shape != nil && (len(o.Shape) != 2 || o.Shape[0] != shape[0] || o.Shape[1] != shape[1]) {
		return nil, nil, fmt.Errorf("read %s: %w: the images are of %d×%d", o.Images, ErrIDX, shape[0], shape[1])
	}
	set = &Set{Width: width, Outputs: 1, Classes: o.Classes, Features: make([]float32, len(pixels)), Labels: make([]int32, n)}
	if set.Classes == 0 {
		set.Classes = 10
	}
	if set.Classes < 1 || set.Classes > 256 {
		return nil, nil, fmt.Errorf("read %s: %w: %d classes", o.Labels, ErrIDX, set.Classes)
	}
	for i, p := range pixels {
		x := float32(p) / 255
		if !o.Unit {
			x = 2*x - 1
		}
		set.Features[i] = x
	}
	if o.Labels == "" {
		for i := range set.Labels {
			set.Labels[i] = -1
		}
		return set, shape, nil
	}
	dims, labels, err := readIDX(ctx, o.Labels, 1)
	if err != nil {
		return nil, nil, err
	}
	if dims[0] != n {
		return nil, nil, uneven(o.Labels)
	}
	for i, l := range labels {
		set.Labels[i] = int32(l)
		if int(l) >= set.Classes {
			set.Labels[i] = -1
		}
	}
	return set, shape, nil
}

// IDXShape returns the shape of the images of a file, by its header alone.
func IDXShape(ctx context.Context, path string) ([]int, error) {
	dims, _, file, err := openIDX(ctx, path, 3)
	if err != nil {
		return nil, err
	}
	return dims[1:], file.Close()
}

// IDXLabels refuses a file that does not hold labels, or not as many as there are images. It reads
// the files' headers alone.
func IDXLabels(ctx context.Context, images, labels string) error {
	var n [2]int
	for i, path := range []string{images, labels} {
		dims, _, file, err := openIDX(ctx, path, 3-2*i)
		if err != nil {
			return err
		}
		if err := file.Close(); err != nil {
			return err
		}
		n[i] = dims[0]
	}
	if n[0] != n[1] {
		return uneven(labels)
	}
	return nil
}

func uneven(labels string) error {
	return fmt.Errorf("read %s: %w: not as many labels as images", labels, ErrIDX)
}

// openIDX reads a file's header: two zeros, the type (8 is unsigned bytes), the number
// of dimensions, each as four bytes.
func openIDX(ctx context.Context, path string, dimensions int) (dims []int, data io.Reader, file io.Closer, err error) {
	f, err := datafile.Open(ctx, path)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("read examples: %w", err)
	}
	wrong := fmt.Errorf("read %s: %w", path, ErrIDX)
	fail := func() ([]int, io.Reader, io.Closer, error) { return nil, nil, nil, errors.Join(wrong, f.Close()) }
	buffered := bufio.NewReader(f)
	data = buffered
	if start, _ := buffered.Peek(2); bytes.Equal(start, []byte{0x1f, 0x8b}) {
		if data, err = gzip.NewReader(buffered); err != nil {
			return fail()
		}
	}
	head := make([]byte, 4+4*dimensions)
	if _, err := io.ReadFull(data, head); err != nil || !bytes.Equal(head[:4], []byte{0, 0, 8, byte(dimensions)}) {
		return fail()
	}
	const most = 1 << 32
	size := uint64(1)
	for i := range dimensions {
		d := binary.BigEndian.Uint32(head[4+4*i:])
		if i > 0 && (d == 0 || d > 1<<14) {
			return fail()
		}
		dims = append(dims, int(d))
		if size *= uint64(d); size > most {
			return fail()
		}
	}
	return dims, data, f, nil
}

// readIDX reads a whole file.
func readIDX(ctx context.Context, path string, dimensions int) (dims []int, data []byte, err error) {
	dims, from, file, err := openIDX(ctx, path, dimensions)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	size := int64(1)
	for _, d := range dims {
		size *= int64(d)
	}
	// Read before it is believed: a header may promise more memory than there is.
	var all bytes.Buffer
	n, err := io.Copy(&all, io.LimitReader(from, size+1))
	if err != nil || n != size {
		return nil, nil, fmt.Errorf("read %s: %w", path, ErrIDX)
	}
	return dims, all.Bytes(), nil
}
