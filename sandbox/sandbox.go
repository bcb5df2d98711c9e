// Package sandbox runs code that nobody trusts over private records, one at a time: an analyst's
// mapper, compiled to WebAssembly, whose outputs are forced into a range and onto keys that were
// declared before. The idea is Airavat's (Roy et al. 2010), with WebAssembly in place of its
// modified Java machine.
//
// It guarantees that what Map and MapUnit return is a function of the module, the options
// and the records of the one call, bit for bit:
//   - Every call begins in the same state: memory, globals, table and stack are those
//     after the module's own initialisation, which sees no record.
//   - The module has no imports. The functions of the WASI are replaced by code inside
//     it that answers with constants (clock, randomness, files, arguments).
//   - Instructions are counted by injected code, and calls nest to a bound that counts
//     too. A call that exceeds either, traps, or returns an invalid answer gets the declared default for its outputs. So does one whose records do not fit the
//     module's buffer.
//   - Outputs are at most so many as declared, each clamped into the declared range
//     and with one of the declared keys; another key's output is dropped. Nothing
//     tells the analyst that this happened.
//
// So the outputs of the records are a transformation of stability MaxOutputs (a record
// added or removed adds or removes at most that many outputs), whatever the module
// does. The reducers of a Job aggregate under that theorem and a budget.
//
// It does not guarantee how long a call takes: that depends on its records, up to what
// the fuel allows, and an analyst who can measure the whole may learn from it (Haeberlen
// et al. 2011). Floating-point NaNs may differ between kinds of machines: they are no
// answers, but their bits can be looked at. An error is a failure of resources, or
// the end of a context: it can depend on data only through the memory and time that
// the machine happens to have.
package sandbox

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/sandbox/internal/instrument"
	"github.com/discreet-dp/discreet/sqltype"
)

// ErrModule is wrapped by the refusal of a module.
var ErrModule = errors.New("the module cannot be a mapper")

// ErrOptions is wrapped by the refusal of options.
var ErrOptions = errors.New("bad sandbox options")

// ErrResources is returned where the machine fails, whatever the reason.
var ErrResources = errors.New("the sandbox failed for want of resources")

// ErrClosed is returned by a mapper that was closed.
var ErrClosed = errors.New("the mapper is closed")

// The limits of what can be declared, and what holds if nothing is.
const (
	DefaultFuel   = 10_000_000
	MaxFuel       = 10_000_000_000
	DefaultMemory = 16 << 20
	MaxMemory     = instrument.MaxPages << 16
	MaxOutputs    = 1 << 16
	MaxColumns    = 1 << 10
	MaxModule     = 16 << 20
)

// A Column is one of the record that a mapper sees.
type Column struct {
	Name string // for messages; the module knows columns by their order
	Type sqltype.Type
}

// An Output is a value that a mapper made of a record, under a key if there are any.
type Output struct {
	Key   string
	Value float64
}

// Options declare what goes into a mapper and what comes out, before it sees data.
type Options struct {
	Columns []Column
	// Keys are those that outputs have; without any, outputs have no key.
	Keys []string
	// Lower and Upper bound every value.
	Lower, Upper float64
	// Default is what a call makes that fails; nothing if it is empty.
	Default []Output
	// MaxOutputs is how many outputs a call has at most; 1 if it is 0. A call that
	// answers more has failed.
	MaxOutputs int
	// Fuel is how many instructions a call may run, counted along the longest way
	// through each function and loop; DefaultFuel if it is 0.
	Fuel int64
	// Memory is the most that the module may have, in bytes; DefaultMemory if it is 0.
	Memory int64
}

// check completes the options and refuses what means nothing.
func (o Options) check() (Options, error) {
	bad := func(format string, args ...any) (Options, error) {
		return Options{}, fmt.Errorf("%w: %s", ErrOptions, fmt.Sprintf(format, args...))
	}
	if o.MaxOutputs == 0 {
		o.MaxOutputs = 1
	}
	if o.Fuel == 0 {
		o.Fuel = DefaultFuel
	}
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	if len(o.Keys) == 0 {
		o.Keys = nil
	}
	switch {
	case len(o.Columns) == 0 || len(o.Columns) > MaxColumns:
		return bad("a record has 1 to %d columns, not %d", MaxColumns, len(o.Columns))
	case o.MaxOutputs < 0 || o.MaxOutputs > MaxOutputs:
		return bad("a call has 1 to %d outputs, not %d", MaxOutputs, o.MaxOutputs)
	case o.Fuel < 0 || o.Fuel > MaxFuel:
		return bad("fuel is 1 to %d, not %d", int64(MaxFuel), o.Fuel)
	case o.Memory < 1<<16 || o.Memory > MaxMemory:
		return bad("memory is %d to %d bytes, not %d", 1<<16, MaxMemory, o.Memory)
	case math.IsInf(o.Lower, 0) || math.IsInf(o.Upper, 0) || !(o.Lower <= o.Upper):
		return bad("values lie between finite bounds, not in %v..%v", o.Lower, o.Upper)
	case len(o.Default) > o.MaxOutputs:
		return bad("the default has %d outputs, a call %d at most", len(o.Default), o.MaxOutputs)
	}
	for _, c := range o.Columns {
		if _, err := cellOf(c.Type); err != nil {
			return bad("column %s: %v", c.Name, err)
		}
	}
	for i, k := range o.Keys {
		if slices.Contains(o.Keys[:i], k) {
			return bad("key %q is declared twice", k)
		}
	}
	o.Columns, o.Keys, o.Default = slices.Clone(o.Columns), slices.Clone(o.Keys), slices.Clone(o.Default)
	o.Lower, o.Upper = o.Lower+0, o.Upper+0
	for i := range o.Default {
		d := &o.Default[i]
		if !(d.Value >= o.Lower && d.Value <= o.Upper) {
			return bad("the default %v is not in %v..%v", d.Value, o.Lower, o.Upper)
		}
		d.Value += 0
		if o.Keys == nil && d.Key != "" || o.Keys != nil && !slices.Contains(o.Keys, d.Key) {
			return bad("the default's key %q is not declared", d.Key)
		}
	}
	return o, nil
}
