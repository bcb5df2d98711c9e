package instrument

// A frame is what one function may need of wazero's stack, and what it calls.
type frame struct {
	cells    uint64
	calls    []uint32
	indirect bool
}

// maxShallow is the depth of a shallow module, in cells of 16 bytes: 8 MiB. wazero
// makes a stack grow to twice its size and what is needed, so that a stack of this
// depth never needs more than three times as much, half of its limit.
const maxShallow = 1 << 19

// blocksPerBranch are the basic blocks that wazero makes at most of what counts as one
// branch (an if with its end three, a loop with the check of its fuel six), and
// fewBlocks those of an empty function and of the checks at its entry.
const blocksPerBranch, fewBlocks = 6, 12

// frameOf bounds a function's frame from above. Every value that the function computes
// may have a place in it: those of its instructions (see frameCells), and in every
// basic block one for each local, and for each parameter of the block, that differs by
// the way that leads there. So may the parameters and results of a call.
func frameOf(locals, instructions, branches, arity uint64) uint64 {
	carried := locals + uint64(len(storeLocals)) + arity
	return frameCells(locals, instructions) + arity + blocksPerBranch*(branches+fewBlocks)*carried
}

// arity is the most parameters and results that a type of the module has.
func (m *module) arity() uint64 {
	most := 4 // of the injected functions
	for _, t := range m.types {
		most = max(most, len(t.params)+len(t.results))
	}
	return uint64(most)
}

// shallow reports whether no call needs more of the stack than maxShallow, whatever
// it sees: functions call each other directly and never in a circle, so that each is
// on the stack once at most, and the deepest way through them is short enough.
func shallow(functions []frame) bool {
	const unseen, open = 0, 1 // else the depth, and 2
	depths := make([]uint64, len(functions))
	var depth func(f uint32) (uint64, bool)
	depth = func(f uint32) (uint64, bool) {
		if int(f) >= len(functions) {
			return frameCells(0, 100), true // an injected one
		}
		switch d := depths[f]; d {
		case unseen:
		case open:
			return 0, false
		default:
			return d - 2, true
		}
		depths[f] = open
		below := uint64(0)
		for _, g := range functions[f].calls {
			d, ok := depth(g)
			if !ok {
				return 0, false
			}
			below = max(below, d)
		}
		d := functions[f].cells + below
		depths[f] = d + 2
		return d, !functions[f].indirect && d <= maxShallow
	}
	for f := range functions {
		if _, ok := depth(uint32(f)); !ok {
			return false
		}
	}
	return true
}
