package instrument

// The opcodes that the package looks at or writes.
const (
	opUnreachable  = 0x00
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opLocalGet     = 0x20
	opLocalSet     = 0x21
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opI32Load      = 0x28
	opI32Store     = 0x36
	opI64Store     = 0x37
	opF32Store     = 0x38
	opF64Store     = 0x39
	opI32Store8    = 0x3a
	opI32Store16   = 0x3b
	opI64Store32   = 0x3e
	opMemorySize   = 0x3f
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opI32Eqz       = 0x45
	opI32LtS       = 0x48
	opI32GtU       = 0x4b
	opI64LtS       = 0x53
	opI32Add       = 0x6a
	opI32Sub       = 0x6b
	opI32ShrU      = 0x76
	opI64Add       = 0x7c
	opI64Sub       = 0x7d
	opI64ShrU      = 0x88
	opI64ExtendU   = 0xad
	opMisc         = 0xfc // followed by one of:

	miscMemoryInit = 8
	miscDataDrop   = 9
	miscMemoryCopy = 10
	miscMemoryFill = 11
)

// The value types.
const (
	typeI32     = 0x7f
	typeI64     = 0x7e
	typeF32     = 0x7d
	typeF64     = 0x7c
	typeFunc    = 0x60
	typeFuncref = 0x70
	blockVoid   = 0x40
)

func isNumber(t byte) bool { return t >= typeF64 && t <= typeI32 }

// An instruction is one of the body that is read, without the names of things
// that need not be known.
type instruction struct {
	op         byte
	misc       uint32 // after opMisc
	offset     uint32 // of a load or store
	targets    int    // of a br_table
	function   uint32 // of a call
	start, end int    // in the body
}

// refused names what is not in the accepted language: WebAssembly 1.0 with
// multiple values, sign extension, saturating conversions, memory.copy and
// memory.fill.
func refused(op byte) string {
	switch {
	case op >= 0x06 && op <= 0x0a || op == 0x18 || op == 0x19 || op == 0x1f:
		return "exceptions"
	case op >= 0x12 && op <= 0x15:
		return "tail calls"
	case op == 0x25 || op == 0x26 || op >= 0xd0 && op <= 0xd6:
		return "references"
	case op == 0xfb:
		return "garbage collection"
	case op == 0xfd:
		return "SIMD"
	case op == 0xfe:
		return "threads"
	}
	return ""
}

// instruction reads one.
func (r *reader) instruction() instruction {
	in := instruction{start: r.pos}
	in.op = r.byte()
	switch op := in.op; {
	case op == opBlock || op == opLoop || op == opIf:
		r.signed(33)
	case op == opBr || op == opBrIf || op >= opLocalGet && op <= opGlobalSet:
		r.u32()
	case op == opCall:
		in.function = r.u32()
	case op == opBrTable:
		in.targets = r.count() + 1
		for range in.targets {
			r.u32()
		}
	case op == opCallIndirect:
		r.u32()
		r.u32()
	case op == 0x1c: // select with types
		for range r.count() {
			r.valueType()
		}
	case op >= opI32Load && op <= opI64Store32:
		r.u32()
		in.offset = r.u32()
	case op == opMemorySize || op == opMemoryGrow:
		r.memoryIndex()
	case op == opI32Const:
		r.signed(32)
	case op == opI64Const:
		r.signed(64)
	case op == 0x43: // f32.const
		r.take(4)
	case op == 0x44: // f64.const
		r.take(8)
	case op == opMisc:
		in.misc = r.u32()
		switch {
		case in.misc == miscMemoryCopy:
			r.memoryIndex()
			r.memoryIndex()
		case in.misc == miscMemoryFill:
			r.memoryIndex()
		case in.misc == miscMemoryInit || in.misc == miscDataDrop:
			r.refuse("passive data segments are not supported (linkers make them for threads only)")
		case in.misc > miscMemoryFill:
			r.refuse("instructions on tables are not supported")
		}
	case op <= 0x01 || op == opElse || op == opEnd || op == opReturn || op == 0x1a || op == 0x1b || op >= opI32Eqz && op <= 0xc4:
	default:
		if name := refused(op); name != "" {
			r.refuse("%s are not supported", name)
		}
		r.refuse("instruction %#02x is not supported", op)
	}
	in.end = r.pos
	return in
}

func (r *reader) memoryIndex() {
	if r.byte() != 0 {
		r.refuse("there is one memory")
	}
}

func (r *reader) valueType() byte {
	t := r.byte()
	if !isNumber(t) {
		r.refuse("values of type %#02x are not supported, only numbers", t)
	}
	return t
}
