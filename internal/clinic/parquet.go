package clinic

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"time"
)

// A writer of flat Parquet files: optional columns, one plain page a column and
// row group, no compression, no statistics. The format is Apache Parquet's
// (parquet.thrift), its metadata in Thrift's compact protocol.
//
// It is written here because nothing else here should write it. DuckDB could, but its
// adapter reads what the owner declares and has no way to write a file: that is easier to
// review than when it may. The libraries that write Parquet would more than double the
// source of this module's build. What is written is read back by DuckDB in a test.

// A column gives the values of one column; append adds the value of a row in
// plain encoding, or reports that it is NULL.
type column struct {
	name     string
	physical int64           // Type
	logical  func(t *thrift) // the fields of SchemaElement that say the meaning
	append   func(page []byte, row int) ([]byte, bool)
}

// Type, Encoding and their like in parquet.thrift.
const (
	typeInt32, typeInt64, typeDouble, typeByteArray = 1, 2, 5, 6

	optional     = 1 // FieldRepetitionType
	utf8         = 0 // ConvertedType
	plain, rle   = 0, 3
	dataPage     = 0
	uncompressed = 0
)

func int32Column(name string, value func(int) (int32, bool)) column {
	return column{name, typeInt32, nil, func(page []byte, row int) ([]byte, bool) {
		v, ok := value(row)
		return binary.LittleEndian.AppendUint32(page, uint32(v)), ok
	}}
}

func int64Column(name string, value func(int) (int64, bool)) column {
	return column{name, typeInt64, nil, func(page []byte, row int) ([]byte, bool) {
		v, ok := value(row)
		return binary.LittleEndian.AppendUint64(page, uint64(v)), ok
	}}
}

func doubleColumn(name string, value func(int) (float64, bool)) column {
	return column{name, typeDouble, nil, func(page []byte, row int) ([]byte, bool) {
		v, ok := value(row)
		return binary.LittleEndian.AppendUint64(page, math.Float64bits(v)), ok
	}}
}

func textColumn(name string, value func(int) (string, bool)) column {
	meaning := func(t *thrift) { t.i32(6, utf8) } // converted_type
	return column{name, typeByteArray, meaning, func(page []byte, row int) ([]byte, bool) {
		v, ok := value(row)
		return append(binary.LittleEndian.AppendUint32(page, uint32(len(v))), v...), ok
	}}
}

// timestampColumn holds microseconds of a local time, without a zone.
func timestampColumn(name string, value func(int) (time.Time, bool)) column {
	meaning := func(t *thrift) {
		t.structure(10, func() { // logicalType
			t.structure(8, func() { // TIMESTAMP
				t.boolean(1, false)                                  // isAdjustedToUTC
				t.structure(2, func() { t.structure(2, func() {}) }) // unit: MICROS
			})
		})
	}
	return column{name, typeInt64, meaning, func(page []byte, row int) ([]byte, bool) {
		v, ok := value(row)
		return binary.LittleEndian.AppendUint64(page, uint64(v.UnixMicro())), ok
	}}
}

const (
	magic    = "PAR1"
	groupLen = 50_000 // rows of a row group: several, so that readers share the work
)

// A chunk is one column of one row group, as the footer speaks of it.
type chunk struct{ offset, size int64 }

func writeParquet(w io.Writer, rows int, columns []column) error {
	var offset int64
	write := func(b []byte) error {
		n, err := w.Write(b)
		offset += int64(n)
		return err
	}
	if err := write([]byte(magic)); err != nil {
		return err
	}
	var groups [][]chunk
	for from := 0; from < rows; from += groupLen {
		var group []chunk
		for _, c := range columns {
			start := offset
			for _, b := range page(c, from, min(from+groupLen, rows)) {
				if err := write(b); err != nil {
					return err
				}
			}
			group = append(group, chunk{start, offset - start})
		}
		groups = append(groups, group)
	}
	foot := footer(rows, columns, groups)
	foot = binary.LittleEndian.AppendUint32(foot, uint32(len(foot)))
	return write(append(foot, magic...))
}

// page returns the header and the body of the page with the rows from, ..., to-1.
func page(c column, from, to int) [2][]byte {
	// Definition levels: a bit a row, in one bit-packed run of groups of eight.
	octets := (to - from + 7) / 8
	levels := make([]byte, octets)
	var values []byte
	for row := from; row < to; row++ {
		if v, ok := c.append(values, row); ok {
			values = v
			levels[(row-from)/8] |= 1 << ((row - from) % 8)
		}
	}
	run := append(binary.AppendUvarint(nil, uint64(octets)<<1|1), levels...)
	body := binary.LittleEndian.AppendUint32(nil, uint32(len(run)))
	body = append(append(body, run...), values...)

	var t thrift
	t.i32(1, dataPage)
	t.i32(2, int64(len(body))) // uncompressed_page_size
	t.i32(3, int64(len(body))) // compressed_page_size
	t.structure(5, func() {    // data_page_header
		t.i32(1, int64(to-from)) // num_values
		t.i32(2, plain)
		t.i32(3, rle) // definition levels
		t.i32(4, rle) // repetition levels, of which there are none
	})
	return [2][]byte{t.end(), body}
}

// footer is FileMetaData.
func footer(rows int, columns []column, groups [][]chunk) []byte {
	var t thrift
	t.i32(1, 1)                           // version
	t.list(2, structType, len(columns)+1) // schema
	t.element(func() {
		t.text(4, "schema")
		t.i32(5, int64(len(columns))) // num_children
	})
	for _, c := range columns {
		t.element(func() {
			t.i32(1, c.physical)
			t.i32(3, optional)
			t.text(4, c.name)
			if c.logical != nil {
				c.logical(&t)
			}
		})
	}
	t.i64(3, int64(rows))
	t.list(4, structType, len(groups))
	for g, chunks := range groups {
		n := min(groupLen, rows-g*groupLen)
		var total int64
		for _, ch := range chunks {
			total += ch.size
		}
		t.element(func() {
			t.list(1, structType, len(chunks))
			for i, ch := range chunks {
				t.element(func() {
					t.i64(2, ch.offset)     // file_offset
					t.structure(3, func() { // meta_data
						t.i32(1, columns[i].physical)
						t.list(2, i32Type, 2) // encodings
						t.zigzag(plain)
						t.zigzag(rle)
						t.list(3, binaryType, 1) // path_in_schema
						t.bytes(columns[i].name)
						t.i32(4, uncompressed)
						t.i64(5, int64(n)) // num_values
						t.i64(6, ch.size)
						t.i64(7, ch.size)
						t.i64(9, ch.offset) // data_page_offset
					})
				})
			}
			t.i64(2, total)
			t.i64(3, int64(n))
		})
	}
	t.text(6, "discreet demo") // created_by
	return t.end()
}

// A thrift writes one structure in Thrift's compact protocol. Fields are
// written in the order of their numbers.
type thrift struct {
	out  []byte
	last int // number of the last field of the structure being written
}

// The wire types of fields and elements.
const (
	trueType, falseType              = 1, 2
	i32Type, i64Type                 = 5, 6
	binaryType, listType, structType = 8, 9, 12
)

func (t *thrift) field(number, wire int) {
	delta := number - t.last
	if delta < 1 || delta > 15 {
		panic(fmt.Sprintf("thrift field %d after %d", number, t.last))
	}
	t.out = append(t.out, byte(delta<<4|wire))
	t.last = number
}

func (t *thrift) zigzag(v int64) { t.out = binary.AppendVarint(t.out, v) }

func (t *thrift) bytes(s string) {
	t.out = append(binary.AppendUvarint(t.out, uint64(len(s))), s...)
}

func (t *thrift) i32(number int, v int64) { t.field(number, i32Type); t.zigzag(v) }
func (t *thrift) i64(number int, v int64) { t.field(number, i64Type); t.zigzag(v) }

func (t *thrift) text(number int, s string) { t.field(number, binaryType); t.bytes(s) }

func (t *thrift) boolean(number int, v bool) {
	if v {
		t.field(number, trueType)
	} else {
		t.field(number, falseType)
	}
}

// list starts a list; its elements follow.
func (t *thrift) list(number, wire, size int) {
	t.field(number, listType)
	if size < 15 {
		t.out = append(t.out, byte(size<<4|wire))
		return
	}
	t.out = binary.AppendUvarint(append(t.out, byte(0xf0|wire)), uint64(size))
}

func (t *thrift) structure(number int, fields func()) {
	t.field(number, structType)
	t.element(fields)
}

// element writes a structure that is an element of a list, or follows its field.
func (t *thrift) element(fields func()) {
	outer := t.last
	t.last = 0
	fields()
	t.out = append(t.out, 0)
	t.last = outer
}

func (t *thrift) end() []byte { return append(t.out, 0) }
