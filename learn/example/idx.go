package example

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
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

// IDX reads images and labels in the format of MNIST: bytes, each image its own
// unit. A label that is none of the classes is missing. It returns the images'
// shape.
func IDX(o IDXOptions) (set *Set, shape []int, err error) {
	dims, pixels, err := readIDX(o.Images, 3)
	if err != nil {
		return nil, nil, err
	}
	n, shape := dims[0], dims[1:]
	width := shape[0] * shape[1]
	if o.Shape != nil && (len(o.Shape) != 2 || o.Shape[0] != shape[0] || o.Shape[1] != shape[1]) || width == 0 {
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
	dims, labels, err := readIDX(o.Labels, 1)
	if err != nil {
		return nil, nil, err
	}
	if dims[0] != n {
		return nil, nil, fmt.Errorf("read %s: %w: not as many labels as images", o.Labels, ErrIDX)
	}
	for i, l := range labels {
		set.Labels[i] = int32(l)
		if int(l) >= set.Classes {
			set.Labels[i] = -1
		}
	}
	return set, shape, nil
}

// readIDX reads the dimensions and the bytes of a file: two zeros, the type (8 is
// unsigned bytes), the number of dimensions, each as four bytes, the data.
func readIDX(path string, dimensions int) (dims []int, data []byte, err error) {
	wrong := fmt.Errorf("read %s: %w", path, ErrIDX)
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read examples: %w", err)
	}
	defer f.Close()
	buffered := bufio.NewReader(f)
	var from io.Reader = buffered
	if start, _ := buffered.Peek(2); bytes.Equal(start, []byte{0x1f, 0x8b}) {
		if from, err = gzip.NewReader(buffered); err != nil {
			return nil, nil, wrong
		}
	}
	head := make([]byte, 4+4*dimensions)
	if _, err := io.ReadFull(from, head); err != nil || !bytes.Equal(head[:4], []byte{0, 0, 8, byte(dimensions)}) {
		return nil, nil, wrong
	}
	const most = 1 << 32
	size := uint64(1)
	for i := range dimensions {
		d := binary.BigEndian.Uint32(head[4+4*i:])
		if i > 0 && d > 1<<14 {
			return nil, nil, wrong
		}
		dims = append(dims, int(d))
		if size *= uint64(d); size > most {
			return nil, nil, wrong
		}
	}
	// Read before it is believed: a header may promise more memory than there is.
	var all bytes.Buffer
	n, err := io.Copy(&all, io.LimitReader(from, int64(size)+1))
	if err != nil || uint64(n) != size {
		return nil, nil, wrong
	}
	return dims, all.Bytes(), nil
}
