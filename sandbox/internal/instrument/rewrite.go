package instrument

import (
	"errors"
	"fmt"
)

// A rewriter writes the bodies of functions anew.
type rewriter struct {
	*module
	layout Layout

	fuel, stack, pages uint32 // the injected globals
	grow, fill, copy   uint32 // the injected functions
	blockTypes         []byte // further types, of blocks, in a row
	typeCount          uint32
	frames             []frame
	branches           uint64 // the squares of the functions' numbers of branches, added up
}

// frameCells bounds what a call needs of wazero's stack, in cells of 16 bytes:
// every value that the function computes might be spilled, of an instruction up to
// eight (an access to memory computes so many, the injected ones among them).
func frameCells(locals, instructions uint64) uint64 { return 64 + locals + 8*instructions }

// maxFrame is the largest frame of a function, in cells.
const maxFrame = MaxStack / 2

// A cost is charged at one place for the instructions that run at most once from
// there to the next charge. The number is written when it is known.
type cost struct {
	at int // where it is written
	n  uint64
}

// function rewrites the body of function f.
//
// Fuel: an instruction outside all loops runs at most once in a call, one in
// a loop but in no inner one at most once for each time that the loop's head is
// passed, because all branches back go to heads of loops. So the sum of what is
// charged at the entry and the heads is never less than what runs.
func (w *rewriter) function(f uint32, body []byte) ([]byte, error) {
	t := w.types[w.functions[f]]
	r := &reader{b: body}
	locals := uint64(len(t.params))
	groups := r.count()
	declared := r.pos
	for range groups {
		locals += uint64(r.u32())
		r.valueType()
		if locals > maxLocals {
			r.refuse("a function has more than %d locals", maxLocals)
		}
	}
	declarations := body[declared:r.pos]
	code := r.pos
	instructions, branches, calls, stores, frame := r.scan()
	if r.err != nil {
		return nil, r.err
	}
	frame.cells = frameOf(locals, instructions, branches, w.arity())
	w.frames = append(w.frames, frame)
	if w.branches += branches * branches; w.branches > maxBranches {
		return nil, errBranches
	}
	if stores {
		groups += len(storeLocals)
	}
	out := appendU32(nil, uint32(groups))
	out = append(out, declarations...)
	if stores {
		for _, t := range storeLocals {
			out = append(out, 1, t)
		}
	}
	cells := frameCells(locals, instructions)
	if cells > maxFrame {
		return nil, fmt.Errorf("a function of %d instructions is too large", instructions)
	}

	out, entry := w.charge(out)
	costs := []cost{entry}
	if calls {
		out = w.addStack(out, opI32Sub, cells)
		out = append(out, opGlobalGet)
		out = appendU32(out, w.stack)
		out = append(out, opI32Const, 0, opI32LtS, opIf, blockVoid, opUnreachable, opEnd, opBlock)
		out = append(out, w.blockType(t.results)...)
	}
	r = &reader{b: body, pos: code}
	var loops []bool // whether each open block is a loop
	for r.more() {
		in := r.instruction()
		costs[len(costs)-1].n++
		raw := body[in.start:in.end]
		switch op := in.op; {
		case op == opLoop:
			out = append(out, raw...)
			var head cost
			out, head = w.charge(out)
			costs, loops = append(costs, head), append(loops, true)
			continue
		case op == opBlock || op == opIf:
			loops = append(loops, false)
		case op == opEnd && len(loops) > 0:
			if loops[len(loops)-1] {
				costs[len(costs)-1].write(out)
				costs = costs[:len(costs)-1]
			}
			loops = loops[:len(loops)-1]
		case op == opReturn && calls: // by way of the end, where the stack is given back
			out = appendU32(append(out, opBr), uint32(len(loops)))
			continue
		case op >= opI32Store && op <= opI64Store32:
			out = w.store(out, uint32(locals), in, raw)
			continue
		case op == opMemorySize:
			out = appendU32(append(out, opGlobalGet), w.pages)
			continue
		case op == opMemoryGrow:
			out = appendU32(append(out, opCall), w.grow)
			continue
		case op == opMisc && in.misc == miscMemoryFill:
			out = appendU32(append(out, opCall), w.fill)
			continue
		case op == opMisc && in.misc == miscMemoryCopy:
			out = appendU32(append(out, opCall), w.copy)
			continue
		}
		out = append(out, raw...)
	}
	if r.err != nil {
		return nil, r.err
	}
	costs[0].n += 4 // for the call itself
	costs[0].write(out)
	if calls {
		out = w.addStack(out, opI32Add, cells)
		out = append(out, opEnd)
	}
	return out, nil
}

var (
	errUnbalanced = errors.New("the blocks of a function do not match")
	errBranches   = errors.New("the functions have too many branches to be compiled in reasonable time")
)

// maxBranches bounds the time of wazero's compiler, which grows with the square of the
// branches of a function, those of loops weighing more: to some 10 s. Go's runtime with
// package fmt has a tenth of that.
const maxBranches, loopBranches = 500_000_000, 4

// scan reads to the end of the body. It counts, and says whether the function
// calls others, and whether it stores.
func (r *reader) scan() (instructions, branches uint64, calls, stores bool, f frame) {
	for depth := 1; r.err == nil && depth > 0; {
		in := r.instruction()
		instructions++
		switch op := in.op; {
		case op == opLoop:
			depth++
			branches += loopBranches
		case op == opBlock || op == opIf:
			depth++
			branches++
		case op == opEnd:
			depth--
		case op == opBr || op == opBrIf:
			branches++
		case op == opBrTable:
			branches += uint64(in.targets)
		case op == opCall:
			calls, f.calls = true, append(f.calls, in.function)
		case op == opCallIndirect:
			calls, f.indirect = true, true
		case op >= opI32Store && op <= opI64Store32:
			stores = true
		}
	}
	if r.err == nil && r.pos != len(r.b) {
		r.fail(errUnbalanced)
	}
	return instructions, branches, calls, stores, f
}

// charge takes fuel, and traps when there is none left.
func (w *rewriter) charge(out []byte) ([]byte, cost) {
	out = appendU32(append(out, opGlobalGet), w.fuel)
	out = append(out, opI64Const)
	c := cost{at: len(out)}
	out = append(out, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00)
	out = append(out, opI64Sub)
	return w.spend(out), c
}

// spend makes what is on the stack the fuel, and traps if it is negative.
func (w *rewriter) spend(out []byte) []byte {
	out = appendU32(append(out, opGlobalSet), w.fuel)
	out = appendU32(append(out, opGlobalGet), w.fuel)
	return append(out, opI64Const, 0, opI64LtS, opIf, blockVoid, opUnreachable, opEnd)
}

// write writes a cost in the place that was left for it: six groups of seven bits,
// of which 41 are the number.
func (c cost) write(out []byte) {
	for i := range 6 {
		out[c.at+i] = byte(c.n>>(7*i))&0x7f | 0x80
	}
	out[c.at+5] &= 0x3f
}

func (w *rewriter) addStack(out []byte, op byte, cells uint64) []byte {
	out = appendU32(append(out, opGlobalGet), w.stack)
	out = appendSigned(append(out, opI32Const), int64(cells))
	return appendU32(append(out, op, opGlobalSet), w.stack)
}

// blockType returns the type of a block with the given results.
func (w *rewriter) blockType(results []byte) []byte {
	switch len(results) {
	case 0:
		return []byte{blockVoid}
	case 1:
		return results
	}
	w.blockTypes = append(w.blockTypes, typeFunc, 0)
	w.blockTypes = appendVector(w.blockTypes, results)
	w.typeCount++
	return appendSigned(nil, int64(w.typeCount-1))
}

// storeLocals are the types of the locals that the stores of a function use: the
// address, and a value of each type.
var storeLocals = [...]byte{typeI32, typeI32, typeI64, typeF32, typeF64}

// storeValue is which of the locals holds the value that a store stores.
func storeValue(op byte) uint32 {
	switch op {
	case opI32Store, opI32Store8, opI32Store16:
		return 1
	case opF32Store:
		return 3
	case opF64Store:
		return 4
	}
	return 2
}

// store writes a store, and after it one that marks the chunk where it began. The
// marks are in memory, where the module's own stores can reach them; see Layout
// for why that does not help it.
func (w *rewriter) store(out []byte, locals uint32, in instruction, raw []byte) []byte {
	address, value := locals, locals+storeValue(in.op)
	out = appendU32(append(out, opLocalSet), value)
	out = appendU32(append(out, opLocalTee), address)
	out = appendU32(append(out, opLocalGet), value)
	out = append(out, raw...)
	out = appendU32(append(out, opLocalGet), address)
	if in.offset != 0 {
		out = appendSigned(append(out, opI32Const), int64(int32(in.offset)))
		out = append(out, opI32Add)
	}
	out = w.chunk(out)
	out = append(out, opI32Const, 1, opI32Store8, 0)
	return appendU32(out, w.layout.Marks)
}

// chunk makes an address on the stack the number of its chunk.
func (w *rewriter) chunk(out []byte) []byte {
	return append(out, opI32Const, byte(w.layout.Shift), opI32ShrU)
}
