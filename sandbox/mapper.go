package sandbox

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/discreet-dp/discreet/sandbox/internal/instrument"
	"github.com/discreet-dp/discreet/sqltype"
)

// initialFuel is what a module may use before it sees a record. It is the
// same for all: no data is there yet.
const initialFuel = 500_000_000

// features are what a module may use of WebAssembly, as wazero names them. Reference
// types come with bulk memory; their instructions are refused.
const features = api.CoreFeatureMutableGlobal | api.CoreFeatureMultiValue | api.CoreFeatureSignExtensionOps |
	api.CoreFeatureNonTrappingFloatToIntConversion | api.CoreFeatureBulkMemoryOperations | api.CoreFeatureReferenceTypes

// A Mapper is a module that was loaded, instrumented and initialised. It is safe for
// concurrent use: as many calls run at a time as there are processors.
type Mapper struct {
	options  Options
	keys     map[string]int // the index of each; of "" if there are none
	hash     string
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	layout   instrument.Layout
	mutable  int
	shallow  bool // see instrument.Module
	start    *snapshot
	slots    chan struct{} // one for each call that runs

	mu     sync.Mutex
	idle   []*instance
	closed bool
}

// Load loads a module. It refuses, with an error that wraps ErrModule, what
// cannot be a mapper: see the package's documentation for what one is.
func Load(ctx context.Context, binary []byte, o Options) (*Mapper, error) {
	o, err := o.check()
	if err != nil {
		return nil, err
	}
	if len(binary) > MaxModule {
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrModule, MaxModule)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := validate(ctx, binary); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModule, err)
	}
	rewritten, err := instrument.Rewrite(binary, instrument.Options{
		Pages:    uint32(o.Memory >> 16),
		Required: map[string]string{buffers: "() -> (i32)", mapRecords: "(i32) -> (i32)"},
		Optional: map[string]string{initialize: "() -> ()"},
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModule, err)
	}
	m := &Mapper{
		options: o, keys: map[string]int{}, hash: fmt.Sprintf("%x", sha256.Sum256(binary)),
		layout: rewritten.Layout, mutable: rewritten.Mutable, shallow: rewritten.Shallow,
		runtime: wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCoreFeatures(features)),
		slots:   make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
	for i, k := range o.Keys {
		m.keys[k] = i
	}
	if o.Keys == nil {
		m.keys[""] = 0
	}
	if err := m.load(ctx, rewritten); err != nil {
		_ = m.runtime.Close(ctx) // the first error is the one to tell
		return nil, err
	}
	return m, nil
}

// Hash is the SHA-256 of the module, as it was given, in hexadecimal.
func (m *Mapper) Hash() string { return m.hash }

// Room is how many bytes the module has for the records of a call: cells of 16 bytes, and texts.
// A call of records that take more has failed.
func (m *Mapper) Room() int64 { return int64(m.start.inputSize) }

// validate has wazero hold the module, as it was given, against the specification.
// What Rewrite guarantees is about valid modules: one that speaks of a global that it
// does not have might get an injected one. The interpreter's compiler is the quicker.
func validate(ctx context.Context, binary []byte) error {
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(features))
	_, err := r.CompileModule(ctx, binary)
	if closed := r.Close(ctx); err == nil {
		err = closed
	}
	return err
}

func (m *Mapper) load(ctx context.Context, rewritten *instrument.Module) (err error) {
	workers := experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0))
	if m.compiled, err = m.runtime.CompileModule(workers, rewritten.Code); err != nil {
		return fmt.Errorf("%w: %w", ErrModule, err)
	}
	in, err := m.instantiate(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrModule, err)
	}
	if m.start, err = begin(ctx, in, rewritten, m.options); err != nil {
		return err
	}
	m.start.restore(in, true)
	m.idle = append(m.idle, in)
	return nil
}

// instantiate makes an instance in no particular state.
func (m *Mapper) instantiate(ctx context.Context) (*instance, error) {
	module, err := m.runtime.InstantiateModule(ctx, m.compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, err
	}
	return newInstance(module, m.layout, m.mutable)
}

// Map returns what the module makes of one record.
func (m *Mapper) Map(ctx context.Context, record []sqltype.Value) ([]Output, error) {
	return m.run(ctx, [][]sqltype.Value{record})
}

// MapUnit returns what the module makes of all records of a unit, which it sees in
// the order of sqltype.Compare over their columns, whatever order they are given in.
func (m *Mapper) MapUnit(ctx context.Context, records [][]sqltype.Value) ([]Output, error) {
	return m.run(ctx, records)
}

func (m *Mapper) run(ctx context.Context, records [][]sqltype.Value) ([]Output, error) {
	out, failure, _, err := m.attempt(ctx, records)
	if failure != nil {
		return m.Failed(), nil
	}
	return out, err
}

// A Trial is what became of a call, for who writes a module: Failure is why the call
// makes the default, and Fuel what it took of Options.Fuel, more than that if it ran out.
type Trial struct {
	Outputs []Output
	Failure error
	Fuel    int64
}

// Try is MapUnit, or Map of one record, that says what happened. It is for records
// that are not private: failures and fuel show what Map must not.
func (m *Mapper) Try(ctx context.Context, records ...[]sqltype.Value) (Trial, error) {
	out, failure, fuel, err := m.attempt(ctx, records)
	return Trial{out, failure, fuel}, err
}

// attempt runs a call. The error is of the machine or of the caller; the failure is
// the module's.
func (m *Mapper) attempt(ctx context.Context, records [][]sqltype.Value) (out []Output, failure error, fuel int64, err error) {
	if err := conform(m.options.Columns, records); err != nil {
		return nil, nil, 0, err
	}
	return m.enter(ctx, len(records), func(input []byte) (int, bool) { return encode(input, m.options.Columns, ordered(records)) })
}

// enter runs a call of what fill writes into the module's buffer. It says how many bytes it touched,
// and whether the records fit.
func (m *Mapper) enter(ctx context.Context, records int, fill func(input []byte) (n int, fits bool)) (out []Output, failure error, fuel int64, err error) {
	in, err := m.take(ctx)
	if err != nil {
		return nil, nil, 0, err
	}
	defer m.give(in)
	s := m.start
	n, fits := fill(in.memory[s.input : s.input+s.inputSize : s.input+s.inputSize])
	if in.written = n; !fits {
		return nil, errInput, 0, nil
	}
	out, failure = m.call(ctx, in, records)
	return out, failure, m.options.Fuel - int64(in.globals[len(in.globals)-injectedGlobals].Get()), nil
}

// What makes a call fail, beside a trap.
var (
	errInput  = errors.New("the records do not fit the module's input")
	errCount  = errors.New("the module answers a number of outputs that it may not have")
	errOutput = errors.New("the module answers a value that is no number")
)

// call runs the module over the records in its buffer, on a stack of its own unless the
// module is shallow. One that an earlier call had made grow would let a call nest
// deeper: what a frame takes is wazero's to choose, so that its limit can come before
// the injected one.
func (m *Mapper) call(ctx context.Context, in *instance, records int) ([]Output, error) {
	in.stack[0] = uint64(records)
	if in.call == nil || !m.shallow {
		in.call = in.module.ExportedFunction(mapRecords)
	}
	if err := in.call.CallWithStack(ctx, in.stack[:]); err != nil {
		in.call = nil
		return nil, err
	}
	count := uint32(in.stack[0])
	if uint64(count) > uint64(m.options.MaxOutputs) {
		return nil, errCount
	}
	at := m.start.output
	out, ok := m.options.decode(in.memory[at : at+count*outputSize])
	if !ok {
		return nil, errOutput
	}
	return out, nil
}

// take returns an instance in the state in which calls begin.
func (m *Mapper) take(ctx context.Context) (*instance, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case m.slots <- struct{}{}:
	}
	m.mu.Lock()
	closed := m.closed
	var in *instance
	if last := len(m.idle) - 1; last >= 0 {
		in, m.idle = m.idle[last], m.idle[:last]
	}
	m.mu.Unlock()
	switch {
	case closed:
		<-m.slots
		return nil, ErrClosed
	case in != nil:
		return in, nil
	}
	in, err := m.instantiate(ctx)
	if err != nil {
		<-m.slots
		return nil, ErrResources
	}
	m.start.restore(in, true)
	return in, nil
}

// give restores an instance and keeps it.
func (m *Mapper) give(in *instance) {
	m.start.restore(in, false)
	m.mu.Lock()
	m.idle = append(m.idle, in)
	m.mu.Unlock()
	<-m.slots
}

// Close waits for the calls that run, and frees what the mapper holds.
func (m *Mapper) Close(ctx context.Context) error {
	m.mu.Lock()
	closed := m.closed
	m.closed = true
	m.mu.Unlock()
	if closed {
		return nil
	}
	for range cap(m.slots) {
		m.slots <- struct{}{}
	}
	for range cap(m.slots) { // who waits learns that it is closed
		<-m.slots
	}
	return m.runtime.Close(ctx)
}
