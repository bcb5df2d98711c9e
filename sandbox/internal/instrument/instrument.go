// Package instrument rewrites WebAssembly modules so that what they do is bounded
// and can be undone: it injects a counter of the instructions that run, a bound of
// the stack, and marks of the memory that is written; takes the place of what is
// imported with functions that answer with constants; and makes memory of one size,
// which only seems to grow.
//
// It guarantees that a rewritten module has no imports and no start function, and
// exports what Names lists and nothing else; that a module without the rewritten
// parts, valid by itself, computes what it did, as long as fuel and stack suffice
// and it accesses no memory beyond its size; and that a byte outside Layout's marks
// that differs from what it was when they were cleared lies where Layout.Marks
// says. It relies on a validator having accepted the original.
package instrument

import (
	"fmt"
	"maps"
	"slices"
)

// Names of what a rewritten module exports, beside the functions asked for.
const (
	Memory  = "memory"
	Fuel    = "fuel"  // i64, counts down
	Stack   = "stack" // i32, counts down
	Globals = "g"     // and a number from 0 to Mutable-1, the injected ones included
)

// MaxStack is the bound of nested calls, in cells of 16 bytes: 64 MiB. Frames take less
// than is counted, most of them, so that wazero's limit (50 MB, or more if a stack has
// grown past that) is not reached.
const MaxStack = 1 << 22

// A Layout says where things are in the memory of a rewritten module.
//
// The module's own memory is [0, Limit). Behind it lie a guard of one chunk and the
// marks: a byte for every chunk of 1<<Shift bytes of the whole memory, Total,
// the guard's and the marks' own included. After a store the mark of the chunk where
// it began is set. A store is at most 8 bytes long, so a byte before the marks may have
// changed only if the mark of its chunk is set, or it is among the first 7 of a chunk
// and the mark of the chunk before is. The module can read the guard: its first 7
// bytes are restored with the last chunk of [0, Limit).
//
// The module can store into the marks, to clear them. The store is then itself
// marked, after it was done, in the mark of a chunk at or behind Limit: of the guard,
// if it began there, or of the chunk with the marks that it hit. Of those, once one is
// set, there is always one set: only a store that hits the marks could clear it, and
// that sets one again. So if no mark at or behind Limit is set, all marks are right;
// and if one is, all memory must be taken to have changed.
type Layout struct {
	Limit uint32
	Marks uint32 // address of the mark of chunk 0
	Total uint32
	Shift uint32
}

// newLayout lays out a memory of so many pages.
func newLayout(pages uint32) Layout {
	l := Layout{Limit: pages * pageSize, Shift: 10}
	if pages > 16 {
		l.Shift = 12
	}
	l.Marks = l.Limit + 1<<l.Shift
	for l.Total = l.Limit + pageSize; l.Marks+l.Total>>l.Shift > l.Total; {
		l.Total += pageSize
	}
	return l
}

// MaxPages is the largest memory that Options allow: 256 MiB.
const MaxPages = 1 << 12

// Options say what a module may have, and which of its functions are used.
type Options struct {
	Pages    uint32 // of memory, 1 to MaxPages
	Required map[string]string
	Optional map[string]string // name to signature, as "(i32) -> (i32)"
}

// A Module is a rewritten one.
type Module struct {
	Code    []byte
	Layout  Layout
	Mutable int // how many globals are exported
	Exports map[string]bool
	// Shallow says that no call can come near the limit of wazero's stack, so that
	// what an earlier call left of one makes no difference.
	Shallow bool
}

// Rewrite rewrites a module.
func Rewrite(binary []byte, o Options) (*Module, error) {
	m, err := decode(binary)
	if err != nil {
		return nil, err
	}
	pages := min(m.maxPages, o.Pages)
	if m.minPages > pages {
		return nil, fmt.Errorf("the module needs %d KiB of memory and may have %d", uint64(m.minPages)*64, uint64(pages)*64)
	}
	pages = max(pages, 1)
	exports, err := m.used(o)
	if err != nil {
		return nil, err
	}
	globals, functions := uint32(len(m.mutable)), uint32(len(m.functions))
	w := &rewriter{
		module: m, layout: newLayout(pages),
		fuel: globals, stack: globals + 1, pages: globals + 2,
		grow: functions, fill: functions + 1, copy: functions + 2,
		typeCount: uint32(len(m.types)),
	}
	code, err := w.code(pages)
	if err != nil {
		return nil, err
	}
	return w.assemble(code, exports)
}

// used finds the functions that the options name.
func (m *module) used(o Options) (map[string]uint32, error) {
	found := map[string]uint32{}
	check := func(name, want string) error {
		f, ok := m.exports[name]
		if !ok {
			return nil
		}
		if f >= uint32(len(m.functions)) {
			return fmt.Errorf("export %s: there is no function %d", name, f)
		}
		if got := m.types[m.functions[f]].String(); got != want {
			return fmt.Errorf("export %s: its type is %s, not %s", name, want, got)
		}
		found[name] = f
		return nil
	}
	for name, want := range o.Required {
		if err := check(name, want); err != nil {
			return nil, err
		}
		if _, ok := found[name]; !ok {
			return nil, fmt.Errorf("the module does not export the function %s %s", name, want)
		}
	}
	for name, want := range o.Optional {
		if err := check(name, want); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// code rewrites all bodies and adds the injected ones.
func (w *rewriter) code(pages uint32) ([][]byte, error) {
	var bodies [][]byte
	for f := range w.functions {
		body := []byte(nil)
		if f < len(w.imports) {
			body = w.imports[f].body()
		} else {
			body = w.bodies[f-len(w.imports)]
		}
		body, err := w.function(uint32(f), body)
		if err != nil {
			return nil, fmt.Errorf("function %d: %w", f, err)
		}
		bodies = append(bodies, body)
	}
	return append(bodies, w.growBody(pages), w.bulkBody(opMisc, miscMemoryFill, 0), w.bulkBody(opMisc, miscMemoryCopy, 0, 0)), nil
}

// growBody is memory.grow, of a number that counts pages: the memory itself is as
// large as it may become from the beginning, so that nothing has to shrink again.
func (w *rewriter) growBody(pages uint32) []byte {
	get := appendU32([]byte{opGlobalGet}, w.pages)
	out := []byte{0, opLocalGet, 0, opI32Const}
	out = appendSigned(out, int64(pages))
	out = append(append(out, get...), opI32Sub, opI32GtU, opIf, typeI32, opI32Const, 0x7f, opElse)
	out = append(append(out, get...), get...)
	out = append(out, opLocalGet, 0, opI32Add, opGlobalSet)
	return append(appendU32(out, w.pages), opEnd, opEnd)
}

// bulkBody is memory.fill or memory.copy: both have an address to write to for their
// first parameter and a length for their last. Fuel is charged by the length, and
// all chunks of the range are marked.
func (w *rewriter) bulkBody(op ...byte) []byte {
	out := []byte{0}
	out = appendU32(append(out, opGlobalGet), w.fuel)
	out = append(out, opLocalGet, 2, opI64ExtendU, opI64Const, 3, opI64ShrU, opI64Sub, opI64Const, 8, opI64Sub)
	out = w.spend(out)
	out = append(out, opLocalGet, 0, opLocalGet, 1, opLocalGet, 2)
	out = append(out, op...)
	out = append(out, opLocalGet, 2, opIf, blockVoid)
	// fill(marks + first, 1, last - first + 1)
	out = append(out, opI32Const)
	out = appendSigned(out, int64(w.layout.Marks))
	out = w.chunk(append(out, opLocalGet, 0))
	out = append(out, opI32Add, opI32Const, 1)
	out = w.chunk(append(out, opLocalGet, 0, opLocalGet, 2, opI32Add, opI32Const, 1, opI32Sub))
	out = w.chunk(append(out, opLocalGet, 0))
	out = append(out, opI32Sub, opI32Const, 1, opI32Add, opMisc, miscMemoryFill, 0)
	return append(out, opEnd, opEnd)
}

// assemble writes the sections.
func (w *rewriter) assemble(code [][]byte, functions map[string]uint32) (*Module, error) {
	out := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, content []byte) {
		out = appendVector(append(out, id), content)
	}
	vector := func(n uint32, items ...[]byte) []byte {
		b := appendU32(nil, n)
		for _, item := range items {
			b = append(b, item...)
		}
		return b
	}

	grow, bulk := w.typeCount, w.typeCount+1
	section(sectionType, vector(w.typeCount+2, w.rawTypes, w.blockTypes,
		[]byte{typeFunc, 1, typeI32, 1, typeI32}, []byte{typeFunc, 3, typeI32, typeI32, typeI32, 0}))

	var types []byte
	for _, t := range w.functions {
		types = appendU32(types, t)
	}
	types = appendU32(appendU32(appendU32(types, grow), bulk), bulk)
	section(sectionFunction, vector(uint32(len(code)), types))

	if w.tables != nil {
		section(sectionTable, w.tables)
	}
	total := w.layout.Total / pageSize
	section(sectionMemory, vector(1, []byte{1}, appendU32(nil, total), appendU32(nil, total)))

	injected := []byte{typeI64, 1, opI64Const, 0, opEnd, typeI32, 1, opI32Const, 0, opEnd, typeI32, 1, opI32Const}
	injected = append(appendSigned(injected, int64(w.minPages)), opEnd)
	section(sectionGlobal, vector(uint32(len(w.mutable))+3, w.globals, injected))

	mod := &Module{Layout: w.layout, Exports: map[string]bool{}, Shallow: shallow(w.frames)}
	var exports []byte
	count := uint32(0)
	export := func(name string, kind byte, index uint32) {
		exports = appendU32(append(appendVector(exports, []byte(name)), kind), index)
		count++
	}
	export(Memory, 2, 0)
	for i, mutable := range append(w.mutable, true, true, true) {
		if mutable {
			export(fmt.Sprint(Globals, mod.Mutable), 3, uint32(i))
			mod.Mutable++
		}
	}
	export(Fuel, 3, w.fuel)
	export(Stack, 3, w.stack)
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		export(name, 0, functions[name])
		mod.Exports[name] = true
	}
	section(sectionExport, vector(count, exports))

	if w.elements != nil {
		section(sectionElement, w.elements)
	}
	if w.dataCount != nil {
		section(sectionDataCount, w.dataCount)
	}
	bodies := appendU32(nil, uint32(len(code)))
	for _, body := range code {
		bodies = appendVector(bodies, body)
	}
	section(sectionCode, bodies)
	if w.data != nil {
		section(sectionData, w.data)
	}
	mod.Code = out
	return mod, nil
}
