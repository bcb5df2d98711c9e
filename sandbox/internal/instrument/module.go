package instrument

import (
	"bytes"
	"fmt"
)

const pageSize = 1 << 16

// The sections of a module, in the order of their ids.
const (
	sectionCustom = iota
	sectionType
	sectionImport
	sectionFunction
	sectionTable
	sectionMemory
	sectionGlobal
	sectionExport
	sectionStart
	sectionElement
	sectionCode
	sectionData
	sectionDataCount
)

// order is where a section stands among the others.
var order = [...]int{
	sectionType: 1, sectionImport: 2, sectionFunction: 3, sectionTable: 4, sectionMemory: 5, sectionGlobal: 6,
	sectionExport: 7, sectionStart: 8, sectionElement: 9, sectionDataCount: 10, sectionCode: 11, sectionData: 12,
}

// What is bounded so that loading a module takes bounded memory.
const (
	maxTable   = 1 << 20
	maxLocals  = 50_000
	maxGlobals = 10_000
	maxParams  = 1000 // of a type, as in JavaScript's machines
	maxResults = 16   // so that a call, or a branch, is the work of one instruction
)

type signature struct{ params, results []byte }

func (s signature) String() string {
	letters := func(types []byte) (text string) {
		for i, t := range types {
			if i > 0 {
				text += ", "
			}
			text += map[byte]string{typeI32: "i32", typeI64: "i64", typeF32: "f32", typeF64: "f64"}[t]
		}
		return "(" + text + ")"
	}
	return letters(s.params) + " -> " + letters(s.results)
}

func (s signature) equal(t signature) bool {
	return bytes.Equal(s.params, t.params) && bytes.Equal(s.results, t.results)
}

// A module is what is read of a binary before it is written anew.
type module struct {
	types     []signature
	rawTypes  []byte   // the types' encodings, in a row
	imports   []stub   // functions alone; they come first among the functions
	functions []uint32 // the type of each function, imported ones first
	tables    []byte   // the section's content, nil if there is none
	memory    bool
	minPages  uint32
	maxPages  uint32 // the module's own limit
	mutable   []bool // of each global
	globals   []byte // the globals' encodings, in a row
	exports   map[string]uint32
	elements  []byte
	dataCount []byte
	data      []byte
	bodies    [][]byte // of the functions that are not imported
}

// decode reads a module, and refuses what the sandbox does not run.
func decode(b []byte) (*module, error) {
	r := &reader{b: b}
	if !bytes.Equal(r.take(8), []byte("\x00asm\x01\x00\x00\x00")) {
		return nil, fmt.Errorf("not a WebAssembly module of version 1")
	}
	m := &module{exports: map[string]uint32{}}
	last := 0
	for r.more() {
		id := r.byte()
		s := &reader{b: r.take(r.u32())}
		if r.err != nil {
			return nil, r.err
		}
		if id == sectionCustom {
			continue
		}
		if int(id) >= len(order) {
			return nil, fmt.Errorf("section %d is not supported", id)
		}
		if order[id] <= last {
			return nil, fmt.Errorf("section %d stands in the wrong place", id)
		}
		last = order[id]
		m.section(id, s)
		s.done(fmt.Sprintf("section %d", id))
		if s.err != nil {
			return nil, s.err
		}
	}
	if !m.memory {
		return nil, fmt.Errorf("the module has no memory")
	}
	if len(m.bodies) != len(m.functions)-len(m.imports) {
		return nil, fmt.Errorf("the module declares %d functions and defines %d", len(m.functions)-len(m.imports), len(m.bodies))
	}
	return m, nil
}

func (m *module) section(id byte, r *reader) {
	switch id {
	case sectionType:
		n := r.count()
		start := r.pos
		for range n {
			m.types = append(m.types, r.signature())
		}
		m.rawTypes = r.b[start:]
	case sectionImport:
		for range r.count() {
			m.importOne(r)
		}
	case sectionFunction:
		for range r.count() {
			m.functions = append(m.functions, m.typeIndex(r))
		}
	case sectionTable:
		m.tables = r.b
		entries := uint64(0)
		for range r.count() {
			if r.byte() != typeFuncref {
				r.refuse("tables hold functions only")
			}
			low, _ := r.limits()
			if entries += uint64(low); entries > maxTable {
				r.refuse("the tables have more than %d entries", maxTable)
			}
		}
	case sectionMemory:
		if r.count() != 1 {
			r.refuse("there is one memory")
			return
		}
		m.memory = true
		m.minPages, m.maxPages = r.limits()
	case sectionGlobal:
		n := r.count()
		if n > maxGlobals {
			r.refuse("there are more than %d globals", maxGlobals)
		}
		for range n {
			m.global(r)
		}
	case sectionExport:
		for range r.count() {
			name, kind, index := r.name(), r.byte(), r.u32()
			if kind == 0 {
				m.exports[name] = index
			}
		}
	case sectionStart:
		r.refuse("the module has a start function; it must export _initialize instead")
	case sectionElement:
		m.elements = r.take(uint32(len(r.b)))
	case sectionDataCount:
		m.dataCount = r.take(uint32(len(r.b)))
	case sectionCode:
		for range r.count() {
			m.bodies = append(m.bodies, r.take(r.u32()))
		}
	case sectionData:
		m.data = r.b
		for range r.count() {
			m.segment(r)
		}
	}
}

func (r *reader) signature() (s signature) {
	if r.byte() != typeFunc {
		r.refuse("types of functions only are supported")
	}
	for range r.count() {
		s.params = append(s.params, r.valueType())
	}
	for range r.count() {
		s.results = append(s.results, r.valueType())
	}
	if len(s.params) > maxParams || len(s.results) > maxResults {
		r.refuse("a type has more than %d parameters or %d results", maxParams, maxResults)
	}
	return s
}

func (m *module) typeIndex(r *reader) uint32 {
	t := r.u32()
	if t >= uint32(len(m.types)) {
		r.refuse("type %d is not declared", t)
		return 0
	}
	return t
}

// limits reads a minimum and a maximum.
func (r *reader) limits() (low, high uint32) {
	flags := r.byte()
	if flags > 1 {
		r.refuse("shared and 64-bit memories are not supported")
	}
	low, high = r.u32(), 1<<32-1
	if flags == 1 {
		high = r.u32()
	}
	return low, high
}

// importOne reads an import: a function of the WASI, for which there is a stub.
func (m *module) importOne(r *reader) {
	from, name, kind := r.name(), r.name(), r.byte()
	if kind != 0 {
		r.refuse("import %s.%s: only functions can be imported", from, name)
		return
	}
	t := m.typeIndex(r)
	if r.err != nil {
		return
	}
	s, ok := stubs[name]
	if from != wasi || !ok {
		r.refuse("import %s.%s: a mapper may import from %s only, of which there is: %s", from, name, wasi, stubNames())
		return
	}
	if !s.signature.equal(m.types[t]) {
		r.refuse("import %s.%s: its type is %s, not %s", from, name, s.signature, m.types[t])
		return
	}
	m.imports = append(m.imports, s)
	m.functions = append(m.functions, t)
}

// global reads a global, whose initial value must be a constant.
func (m *module) global(r *reader) {
	start := r.pos
	r.valueType()
	mutable := r.byte()
	if mutable > 1 {
		r.refuse("a global is neither constant nor mutable")
	}
	r.constant()
	if r.err == nil {
		m.mutable = append(m.mutable, mutable == 1)
		m.globals = append(m.globals, r.b[start:r.pos]...)
	}
}

// constant reads an expression of one constant. It is the value of an i32.
func (r *reader) constant() (value int64) {
	switch r.byte() {
	case opI32Const:
		value = r.signed(32)
	case opI64Const:
		r.signed(64)
	case 0x43:
		r.take(4)
	case 0x44:
		r.take(8)
	default:
		r.refuse("an initial value is not a constant")
	}
	if r.byte() != opEnd {
		r.refuse("an initial value is not a constant")
	}
	return value
}

// segment reads a data segment. One that did not fit would fail to load without
// the larger memory that the module gets, so it must here.
func (m *module) segment(r *reader) {
	switch r.u32() {
	case 0:
	case 2:
		r.memoryIndex()
	default:
		r.refuse("passive data segments are not supported (linkers make them for threads only)")
		return
	}
	at := uint64(uint32(r.constant()))
	if n := len(r.take(r.u32())); r.err == nil && at+uint64(n) > uint64(m.minPages)*pageSize {
		r.refuse("a data segment lies outside the memory")
	}
}
