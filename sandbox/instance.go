package sandbox

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/tetratelabs/wazero/api"

	"github.com/discreet-dp/discreet/sandbox/internal/instrument"
)

// The functions of a mapper.
const (
	initialize = "_initialize"
	buffers    = "discreet_buffers"
	mapRecords = "discreet_map"
)

// injectedGlobals are the last of an instance's: fuel, stack and pages.
const injectedGlobals = 3

// An instance is a machine with the module in it. It runs one call at a time.
type instance struct {
	memory  []byte // all of it, the marks too; it never moves
	module  api.Module
	globals []api.MutableGlobal
	call    api.Function // with the stack that it has had; nil for a new one
	stack   [1]uint64
	written int // bytes of the input, which the host wrote: no mark says so
}

func newInstance(module api.Module, layout instrument.Layout, globals int) (*instance, error) {
	in := &instance{module: module}
	for i := range globals {
		g, ok := module.ExportedGlobal(fmt.Sprint(instrument.Globals, i)).(api.MutableGlobal)
		if !ok {
			return nil, ErrResources
		}
		in.globals = append(in.globals, g)
	}
	memory, ok := module.ExportedMemory(instrument.Memory).Read(0, layout.Total)
	if !ok {
		return nil, ErrResources
	}
	in.memory = memory
	return in, nil
}

// A snapshot is the state in which every call begins.
type snapshot struct {
	layout  instrument.Layout
	memory  []byte // without the zeros at its end
	globals []uint64

	input, inputSize    uint32
	output, outputCount uint32
}

// begin initialises an instance, and takes the state that it is in then.
func begin(ctx context.Context, in *instance, m *instrument.Module, o Options) (*snapshot, error) {
	set := func(name string, value uint64) {
		in.module.ExportedGlobal(name).(api.MutableGlobal).Set(value)
	}
	run := func(name string) ([]uint64, error) {
		set(instrument.Fuel, initialFuel)
		set(instrument.Stack, instrument.MaxStack)
		result, err := in.module.ExportedFunction(name).Call(ctx)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrModule, name, err)
		}
		return result, nil
	}
	if m.Exports[initialize] {
		if _, err := run(initialize); err != nil {
			return nil, err
		}
	}
	at, err := run(buffers)
	if err != nil {
		return nil, err
	}
	s := &snapshot{layout: m.Layout}
	if err := s.place(in.memory, uint32(at[0]), o); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrModule, buffers, err)
	}
	set(instrument.Fuel, uint64(o.Fuel))
	set(instrument.Stack, instrument.MaxStack)
	for _, g := range in.globals {
		s.globals = append(s.globals, g.Get())
	}
	last := len(in.memory[:s.layout.Limit])
	for last > 0 && in.memory[last-1] == 0 {
		last--
	}
	s.memory = append([]byte(nil), in.memory[:last]...)
	return s, nil
}

// place reads where the module wants its input and has its output.
func (s *snapshot) place(memory []byte, at uint32, o Options) error {
	limit := uint64(s.layout.Limit)
	if uint64(at)+16 > limit {
		return fmt.Errorf("the description lies outside the memory")
	}
	for i, v := range []*uint32{&s.input, &s.inputSize, &s.output, &s.outputCount} {
		*v = binary.LittleEndian.Uint32(memory[int(at)+4*i:])
	}
	switch {
	case uint64(s.input)+uint64(s.inputSize) > limit:
		return fmt.Errorf("the input lies outside the memory")
	case uint64(s.output)+outputSize*uint64(s.outputCount) > limit:
		return fmt.Errorf("the output lies outside the memory")
	case uint64(s.inputSize) < cellSize*uint64(len(o.Columns)):
		return fmt.Errorf("the input has %d bytes, a record of %d columns needs %d", s.inputSize, len(o.Columns), cellSize*len(o.Columns))
	case uint64(s.outputCount) < uint64(o.MaxOutputs):
		return fmt.Errorf("there is room for %d outputs, not %d", s.outputCount, o.MaxOutputs)
	}
	return nil
}

// restore brings an instance into the state of the snapshot, from the state of an
// earlier call or, with everything set, from any.
func (s *snapshot) restore(in *instance, everything bool) {
	l := s.layout
	marks := in.memory[l.Marks : l.Marks+l.Total>>l.Shift]
	own := l.Limit >> l.Shift // the marks of the module's own memory
	if everything || !isZero(marks[own:]) {
		s.copy(in.memory, 0, l.Limit)
		clear(in.memory[l.Limit:])
	} else {
		s.copyMarked(in.memory, marks[:own])
		s.copy(in.memory, s.input, s.input+uint32(in.written))
	}
	in.written = 0
	for i, g := range in.globals {
		g.Set(s.globals[i])
	}
}

// copyMarked restores the marked chunks, and the bytes of the next that a store at
// their end can have reached, be they the guard's, and clears the marks.
func (s *snapshot) copyMarked(memory, marks []byte) {
	const reach = 7
	chunk := uint32(1) << s.layout.Shift
	for i := 0; i < len(marks); i += 8 {
		if binary.LittleEndian.Uint64(marks[i:i+8]) == 0 {
			continue
		}
		for j := i; j < i+8; j++ {
			if marks[j] != 0 {
				at := uint32(j) * chunk
				s.copy(memory, at, at+chunk+reach)
			}
		}
		clear(marks[i : i+8])
	}
}

// copy restores a range.
func (s *snapshot) copy(memory []byte, from, to uint32) {
	n := 0
	if from < uint32(len(s.memory)) {
		n = copy(memory[from:to], s.memory[from:])
	}
	clear(memory[int(from)+n : to])
}

func isZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}
