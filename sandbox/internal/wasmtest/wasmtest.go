// Package wasmtest assembles small WebAssembly modules for tests.
//
// It checks nothing: what it writes may be invalid, as some tests want it.
package wasmtest

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Func is a function of a module. Types are written "i32 i64".
type Func struct {
	Export          string // its name outside, if it has one
	Params, Results string
	Locals          string
	Code            string // see Code
}

// An Import is an imported function.
type Import struct{ Module, Name, Params, Results string }

// A Data is a segment of the memory.
type Data struct {
	At    int32
	Bytes []byte
}

// A Section is one in its binary form.
type Section struct {
	ID      byte
	Content []byte
}

// A Module is what Bytes writes. Imports come first among the functions.
type Module struct {
	Pages, Max uint32 // of memory; none if Pages is 0, no limit if Max is 0
	Imports    []Import
	Funcs      []Func
	Globals    []int64 // mutable ones of type i64
	Table      []uint32
	TableSize  uint32 // at least that of Table
	Data       []Data
	Start      *uint32
	First      []Section // further sections, between those of functions and of tables
	More       []Section // further sections, after the others
}

// Bytes writes the module.
func (m Module) Bytes() []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, n int, content []byte) {
		if n > 0 {
			content = append(U32(uint32(n)), content...)
			out = append(append(append(out, id), U32(uint32(len(content)))...), content...)
		}
	}
	var types, imports, functions, exports, code []byte
	signature := func(params, results string) {
		types = append(types, 0x60)
		types = append(append(types, vector(Types(params))...), vector(Types(results))...)
	}
	for i, f := range m.Imports {
		signature(f.Params, f.Results)
		imports = append(append(imports, vector([]byte(f.Module))...), vector([]byte(f.Name))...)
		imports = append(append(imports, 0), U32(uint32(i))...)
	}
	n := 0
	for i, f := range m.Funcs {
		index := U32(uint32(len(m.Imports) + i))
		signature(f.Params, f.Results)
		functions = append(functions, index...)
		if f.Export != "" {
			exports = append(append(append(exports, vector([]byte(f.Export))...), 0), index...)
			n++
		}
		locals := Types(f.Locals)
		body := U32(uint32(len(locals)))
		for _, t := range locals {
			body = append(body, 1, t)
		}
		code = append(code, vector(append(append(body, Code(f.Code)...), 0x0b))...)
	}
	if m.Pages > 0 {
		exports = append(append(exports, vector([]byte("memory"))...), 2, 0)
		n++
	}
	section(1, len(m.Imports)+len(m.Funcs), types)
	section(2, len(m.Imports), imports)
	section(3, len(m.Funcs), functions)
	for _, s := range m.First {
		out = append(append(append(out, s.ID), U32(uint32(len(s.Content)))...), s.Content...)
	}
	if size := max(m.TableSize, uint32(len(m.Table))); size > 0 {
		section(4, 1, append([]byte{0x70, 0}, U32(size)...))
	}
	switch {
	case m.Pages > 0 && m.Max > 0:
		section(5, 1, append(append([]byte{1}, U32(m.Pages)...), U32(m.Max)...))
	case m.Pages > 0:
		section(5, 1, append([]byte{0}, U32(m.Pages)...))
	}
	var globals []byte
	for _, g := range m.Globals {
		globals = append(append(append(globals, 0x7e, 1, 0x42), Signed(g)...), 0x0b)
	}
	section(6, len(m.Globals), globals)
	section(7, n, exports)
	if m.Start != nil {
		content := U32(*m.Start)
		out = append(append(append(out, 8), U32(uint32(len(content)))...), content...)
	}
	if len(m.Table) > 0 {
		elements := append([]byte{0, 0x41, 0, 0x0b}, U32(uint32(len(m.Table)))...)
		for _, f := range m.Table {
			elements = append(elements, U32(f)...)
		}
		section(9, 1, elements)
	}
	section(10, len(m.Funcs), code)
	var data []byte
	for _, d := range m.Data {
		data = append(append(append(data, 0, 0x41), Signed(int64(d.At))...), 0x0b)
		data = append(data, vector(d.Bytes)...)
	}
	section(11, len(m.Data), data)
	for _, s := range m.More {
		out = append(append(append(out, s.ID), U32(uint32(len(s.Content)))...), s.Content...)
	}
	return out
}

// Types reads types written "i32 i64".
func Types(text string) (types []byte) {
	for _, t := range strings.Fields(text) {
		types = append(types, valueTypes[t])
	}
	return types
}

var valueTypes = map[string]byte{"i32": 0x7f, "i64": 0x7e, "f32": 0x7d, "f64": 0x7c}

// Code assembles instructions as the text format names them, each followed by its
// immediates: "i32.const 4 i64.load offset=8". A load or store has an offset or
// none, a block a result type or none. Raw bytes are written 0xfd.
func Code(text string) (out []byte) {
	words := strings.Fields(text)
	next := func() string {
		w := words[0]
		words = words[1:]
		return w
	}
	number := func() int64 {
		n, err := strconv.ParseInt(next(), 0, 64)
		if err != nil {
			panic(err)
		}
		return n
	}
	for len(words) > 0 {
		w := next()
		if strings.HasPrefix(w, "0x") {
			b, err := strconv.ParseUint(w, 0, 8)
			if err != nil {
				panic(err)
			}
			out = append(out, byte(b))
			continue
		}
		op, ok := opcodes[w]
		if !ok {
			panic(fmt.Sprintf("wasmtest: no instruction %q", w))
		}
		out = append(out, op...)
		switch {
		case w == "block" || w == "loop" || w == "if":
			t := byte(0x40)
			if len(words) > 0 && valueTypes[words[0]] != 0 {
				t = valueTypes[next()]
			}
			out = append(out, t)
		case w == "call_indirect":
			out = append(append(out, U32(uint32(number()))...), 0)
		case w == "br" || w == "br_if" || w == "call" || strings.HasPrefix(w, "local.") || strings.HasPrefix(w, "global."):
			out = append(out, U32(uint32(number()))...)
		case w == "i32.const":
			out = append(out, Signed(int64(int32(number())))...)
		case w == "i64.const":
			out = append(out, Signed(number())...)
		case w == "f64.const":
			f, err := strconv.ParseFloat(next(), 64)
			if err != nil {
				panic(err)
			}
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(f))
		case op[0] >= 0x28 && op[0] <= 0x3e:
			out = append(out, 0)
			offset := int64(0)
			if len(words) > 0 && strings.HasPrefix(words[0], "offset=") {
				words[0] = strings.TrimPrefix(words[0], "offset=")
				offset = number()
			}
			out = append(out, U32(uint32(offset))...)
		}
	}
	return out
}

var opcodes = map[string][]byte{
	"unreachable": {0x00}, "nop": {0x01}, "block": {0x02}, "loop": {0x03}, "if": {0x04}, "else": {0x05}, "end": {0x0b},
	"br": {0x0c}, "br_if": {0x0d}, "return": {0x0f}, "call": {0x10}, "call_indirect": {0x11}, "drop": {0x1a}, "select": {0x1b},
	"local.get": {0x20}, "local.set": {0x21}, "local.tee": {0x22}, "global.get": {0x23}, "global.set": {0x24},
	"i32.load": {0x28}, "i64.load": {0x29}, "f32.load": {0x2a}, "f64.load": {0x2b}, "i32.load8_u": {0x2d}, "i32.load16_u": {0x2f},
	"i32.store": {0x36}, "i64.store": {0x37}, "f32.store": {0x38}, "f64.store": {0x39}, "i32.store8": {0x3a}, "i32.store16": {0x3b},
	"i64.store8": {0x3c}, "i64.store16": {0x3d}, "i64.store32": {0x3e},
	"memory.size": {0x3f, 0}, "memory.grow": {0x40, 0}, "memory.copy": {0xfc, 10, 0, 0}, "memory.fill": {0xfc, 11, 0},
	"i32.const": {0x41}, "i64.const": {0x42}, "f64.const": {0x44},
	"i32.eqz": {0x45}, "i32.eq": {0x46}, "i32.ne": {0x47}, "i32.lt_s": {0x48}, "i32.lt_u": {0x49}, "i32.gt_s": {0x4a}, "i32.gt_u": {0x4b},
	"i64.eqz": {0x50}, "i64.lt_u": {0x54}, "i64.clz": {0x79},
	"i32.clz": {0x67}, "i32.add": {0x6a}, "i32.sub": {0x6b}, "i32.mul": {0x6c}, "i32.div_s": {0x6d}, "i32.rem_u": {0x70},
	"i32.and": {0x71}, "i32.or": {0x72}, "i32.xor": {0x73}, "i32.shl": {0x74}, "i32.shr_u": {0x76}, "i32.rotl": {0x77},
	"i64.add": {0x7c}, "i64.sub": {0x7d}, "i64.mul": {0x7e}, "i64.div_u": {0x80}, "i64.and": {0x83}, "i64.xor": {0x85},
	"f64.sqrt": {0x9f}, "f64.add": {0xa0}, "f64.div": {0xa3},
	"i32.wrap_i64": {0xa7}, "i64.extend_i32_u": {0xad}, "f32.demote_f64": {0xb6}, "f64.convert_i32_u": {0xb8}, "f64.convert_i32_s": {0xb7},
	"f64.convert_i64_s": {0xb9}, "f64.convert_i64_u": {0xba},
	"i64.reinterpret_f64": {0xbd}, "f32.reinterpret_i32": {0xbe}, "f64.reinterpret_i64": {0xbf}, "i32.extend8_s": {0xc0},
}

func vector(b []byte) []byte { return append(U32(uint32(len(b))), b...) }

// U32 writes an unsigned number.
func U32(v uint32) (b []byte) {
	for ; v >= 0x80; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return append(b, byte(v))
}

// Signed writes a signed number.
func Signed(v int64) (b []byte) {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}
