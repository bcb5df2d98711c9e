//go:build cgo

// Package sink hands the rows of a query to Go, a chunk at a time, where DuckDB has them: on its own threads, before
// anything is converted. A query names a function that New makes known to an instance, which is given each of its rows.
//
// It is the one package of the module that reads memory which is not Go's. What it hands out is valid until the
// receiver returns. No C++ exception meets Go code: of DuckDB's functions it calls those alone, while rows are handed
// over, that allocate nothing.
package sink

/*
#include <stdint.h>
#include <stdlib.h>

void discreet_sink_receive(void *, void *, void *);
typedef void (*discreet_sink_receive_t)(void *, void *, void *);
void discreet_sink_forget(void *);
typedef void (*discreet_sink_forget_t)(void *);

// Which thread this is: the address of a variable that each has.
static _Thread_local char discreet_sink_here;
static uintptr_t discreet_sink_thread(void) { return (uintptr_t)&discreet_sink_here; }
*/
import "C"

import (
	"errors"
	"fmt"
	"reflect"
	"runtime/cgo"
	"sync"
	"unsafe"

	duckdb "github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"
)

// A Receiver is given chunks of rows by several threads at once, those of one thread one after another.
type Receiver func(thread uint64, c *Chunk) error

// Sinks are the receivers of an instance's queries, by number.
type Sinks struct {
	mu   sync.Mutex
	next int64
	of   map[int64]Receiver
}

// Open gives a receiver a number, by which a query names it. Whoever opens it closes it.
func (s *Sinks) Open(r Receiver) (number int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[int64]Receiver{}
	}
	s.next++
	s.of[s.next] = r
	return s.next
}

// Close forgets a receiver.
func (s *Sinks) Close(number int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of, number)
}

func (s *Sinks) receiver(number int64) Receiver {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of[number]
}

var errRefused = errors.New("DuckDB refuses the function")

// Register makes a function of this name known to the instance of a connection. Its first argument is the number of a
// receiver, and the others are what that is given of a row. It returns 1.
func (s *Sinks) Register(c *duckdb.Conn, name string) error {
	conn, err := handle(c)
	if err != nil {
		return err
	}
	integer, anything := mapping.CreateLogicalType(mapping.TypeBigInt), mapping.CreateLogicalType(mapping.TypeAny)
	defer mapping.DestroyLogicalType(&integer)
	defer mapping.DestroyLogicalType(&anything)
	f := mapping.CreateScalarFunction()
	defer mapping.DestroyScalarFunction(&f)
	mapping.ScalarFunctionSetName(f, name)
	mapping.ScalarFunctionSetVarargs(f, anything)
	mapping.ScalarFunctionSetReturnType(f, integer)
	mapping.ScalarFunctionSetSpecialHandling(f) // rows with NULL are handed over
	mapping.ScalarFunctionSetVolatile(f)        // and none twice
	kept := (*cgo.Handle)(C.malloc(C.size_t(unsafe.Sizeof(cgo.Handle(0)))))
	*kept = cgo.NewHandle(s)
	mapping.ScalarFunctionSetExtraInfo(f, unsafe.Pointer(kept), unsafe.Pointer(C.discreet_sink_forget_t(C.discreet_sink_forget)))
	mapping.ScalarFunctionSetFunction(f, unsafe.Pointer(C.discreet_sink_receive_t(C.discreet_sink_receive)))
	if mapping.RegisterScalarFunction(conn, f) == mapping.StateError {
		return errRefused
	}
	return nil
}

// handle is DuckDB's of a connection, which the driver keeps to itself.
func handle(c *duckdb.Conn) (mapping.Connection, error) {
	pointer := reflect.ValueOf(c).Elem().FieldByName("conn")
	if !pointer.IsValid() || pointer.Type() != reflect.TypeFor[mapping.Connection]() || pointer.FieldByName("Ptr").IsNil() {
		return mapping.Connection{}, fmt.Errorf("the driver holds its connection in another way: %w", errRefused)
	}
	return mapping.Connection{Ptr: pointer.FieldByName("Ptr").UnsafePointer()}, nil
}

//export discreet_sink_forget
func discreet_sink_forget(kept unsafe.Pointer) {
	(*cgo.Handle)(kept).Delete()
	C.free(kept)
}

//export discreet_sink_receive
func discreet_sink_receive(info, input, output unsafe.Pointer) {
	function := mapping.FunctionInfo{Ptr: info}
	defer func() { // a panic would end the process
		if recover() != nil {
			mapping.ScalarFunctionSetError(function, "a receiver panicked")
		}
	}()
	s, _ := (*cgo.Handle)(mapping.ScalarFunctionGetExtraInfo(function)).Value().(*Sinks)
	c := &Chunk{chunk: mapping.DataChunk{Ptr: input}}
	c.Rows = int(mapping.DataChunkGetSize(c.chunk))
	c.Columns = int(mapping.DataChunkGetColumnCount(c.chunk)) - 1
	if c.Rows == 0 {
		return
	}
	number, err := c.column(0, mapping.TypeBigInt)
	if err != nil {
		mapping.ScalarFunctionSetError(function, err.Error())
		return
	}
	receive := s.receiver(unsafe.Slice((*int64)(number), c.Rows)[0])
	if receive == nil {
		mapping.ScalarFunctionSetError(function, "there is no such receiver")
		return
	}
	if err := receive(uint64(C.discreet_sink_thread()), c); err != nil {
		mapping.ScalarFunctionSetError(function, err.Error())
		return
	}
	ones := unsafe.Slice((*int64)(mapping.VectorGetData(mapping.Vector{Ptr: output})), c.Rows)
	for i := range ones {
		ones[i] = 1
	}
}

// A Chunk is some rows. What its methods return is valid until the receiver returns.
type Chunk struct {
	Rows, Columns int
	chunk         mapping.DataChunk
}

// errType is constant: it becomes the engine's error.
var errType = errors.New("a column is of another type than it should be")

func (c *Chunk) column(i int, of mapping.Type) (unsafe.Pointer, error) {
	v := mapping.DataChunkGetVector(c.chunk, mapping.IdxT(i))
	t := mapping.VectorGetColumnType(v)
	defer mapping.DestroyLogicalType(&t)
	if mapping.GetTypeId(t) != of {
		return nil, errType
	}
	return mapping.VectorGetData(v), nil
}

// Nulls says where a column has values.
type Nulls []uint64 // a bit a row, which is set where there is a value; nil where there are all

// Has reports whether a row has a value.
func (n Nulls) Has(row int) bool { return n == nil || n[row/64]>>(row%64)&1 == 1 }

func (c *Chunk) nulls(i int) Nulls {
	mask := mapping.VectorGetValidity(mapping.DataChunkGetVector(c.chunk, mapping.IdxT(i)))
	if mask == nil {
		return nil
	}
	return unsafe.Slice((*uint64)(mask), (c.Rows+63)/64)
}

// Integers are the values of a column of bigints. What stands where there is none means nothing.
func (c *Chunk) Integers(i int) ([]int64, Nulls, error) {
	data, err := c.column(i+1, mapping.TypeBigInt)
	if err != nil {
		return nil, nil, err
	}
	return unsafe.Slice((*int64)(data), c.Rows), c.nulls(i + 1), nil
}

// Texts are the values of a column of texts.
func (c *Chunk) Texts(i int) ([]Text, Nulls, error) {
	data, err := c.column(i+1, mapping.TypeVarchar)
	if err != nil {
		return nil, nil, err
	}
	return unsafe.Slice((*Text)(data), c.Rows), c.nulls(i + 1), nil
}

// A Text is one as DuckDB has it: its length, and its bytes where these are 12 at most, else the first four of them and where they are.
type Text struct{ first, second uint64 }

const shortText = 12

// Short returns all of a text in two words, if it has no more than 12 bytes: of different texts they differ.
func (t *Text) Short() (first, second uint64, ok bool) {
	return t.first, t.second, uint32(t.first) <= shortText
}

// Equal reports whether texts are the same.
func (t *Text) Equal(other *Text) bool {
	if t.first != other.first {
		return false
	}
	return t.second == other.second || uint32(t.first) > shortText && string(t.Bytes()) == string(other.Bytes())
}

// Bytes are those of a text, where they are.
func (t *Text) Bytes() []byte {
	n := uint32(t.first)
	if n <= shortText {
		return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(t), 4)), n)
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&t.second)), n)
}
