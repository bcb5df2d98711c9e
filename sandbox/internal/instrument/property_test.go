package instrument_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/sandbox/internal/instrument"
	"github.com/discreet-dp/discreet/sandbox/internal/wasmtest"
)

// A writer writes random programs that end: loops count down a local of their own,
// and functions call only those before them. Addresses are below the memory's end.
type writer struct {
	t         *rapid.T
	functions int // that may be called
	depth     int
	blocks    int // around, to branch to
	counters  int // of the loops around
	code      []string
}

// The locals of every function: a parameter, three numbers and counters of loops.
const (
	locals    = 4
	maxLoops  = 3
	localList = "i64 i64 i64 i32 i32 i32"
)

func (w *writer) emit(format string, args ...any) {
	w.code = append(w.code, fmt.Sprintf(format, args...))
}

func (w *writer) choose(n int) int { return rapid.IntRange(0, n-1).Draw(w.t, "choice") }

// number writes an expression of type i64.
func (w *writer) number() {
	w.depth++
	defer func() { w.depth-- }()
	n := 7
	if w.depth > 3 {
		n = 2
	}
	switch w.choose(n) {
	case 0:
		w.emit("i64.const %d", rapid.Int64().Draw(w.t, "constant"))
	case 1:
		w.emit("local.get %d", w.choose(locals))
	case 2:
		w.number()
		w.number()
		w.emit("%s", []string{"i64.add", "i64.sub", "i64.mul", "i64.xor", "i64.and", "i64.div_u"}[w.choose(6)])
	case 3:
		w.address()
		w.emit("i64.load offset=%d", w.choose(100))
	case 4:
		w.emit("%s", []string{"memory.size", "i32.const 1 memory.grow", "i32.const 2 memory.grow", "i32.const -1 memory.grow"}[w.choose(4)])
		w.emit("i64.extend_i32_u")
	case 5:
		w.emit("global.get 0")
	case 6:
		if w.functions == 0 {
			w.emit("i64.const 1")
			return
		}
		w.number()
		w.emit("call %d", w.choose(w.functions))
	}
}

// address writes an expression of type i32, below 64000.
func (w *writer) address() {
	w.number()
	w.emit("i32.wrap_i64 i32.const 64000 i32.rem_u")
}

var stores = []string{"i64.store", "i64.store8", "i64.store16", "i64.store32", "i32.wrap_i64 i32.store", "i32.wrap_i64 i32.store8",
	"i32.wrap_i64 i32.store16", "i32.wrap_i64 f32.reinterpret_i32 f32.store", "f64.reinterpret_i64 f64.store"}

func (w *writer) statements() {
	for range w.choose(4) {
		w.statement()
	}
}

func (w *writer) statement() {
	w.depth++
	defer func() { w.depth-- }()
	n := 9
	if w.depth > 4 {
		n = 4
	}
	switch w.choose(n) {
	case 0:
		w.number()
		w.emit("local.set %d", w.choose(locals))
	case 1:
		w.address()
		w.number()
		w.emit("%s offset=%d", stores[w.choose(len(stores))], w.choose(1400))
	case 2:
		w.number()
		w.emit("global.set 0")
	case 3:
		w.address()
		if w.choose(2) == 0 {
			w.number()
			w.emit("i32.wrap_i64 i32.const %d memory.fill", w.choose(1500))
		} else {
			w.address()
			w.emit("i32.const %d memory.copy", w.choose(1500))
		}
	case 4:
		w.number()
		w.emit("i64.eqz if")
		w.inside(w.statements)
		w.emit("else")
		w.inside(w.statements)
		w.emit("end")
	case 5:
		w.emit("block")
		w.inside(w.statements)
		w.emit("end")
	case 6:
		if w.counters == maxLoops {
			return
		}
		c := locals + w.counters
		w.counters++
		w.emit("i32.const %d local.set %d loop", w.choose(4), c)
		w.inside(func() { // the counter is checked before anything can branch to the loop
			w.emit("local.get %d if local.get %d i32.const 1 i32.sub local.set %d", c, c, c)
			w.inside(w.statements)
			w.emit("br 1 end")
		})
		w.emit("end")
		w.counters--
	case 7:
		w.number()
		w.emit("i64.eqz br_if %d", w.choose(w.blocks+1))
	case 8:
		w.number()
		w.emit("i64.eqz if")
		w.number()
		w.emit("return end")
	}
}

func (w *writer) inside(f func()) {
	w.blocks++
	f()
	w.blocks--
}

// program draws a module whose function "f" calls others, and what it is called with.
func program(t *rapid.T) (wasmtest.Module, uint64) {
	m := wasmtest.Module{Pages: 1, Max: 3, Globals: []int64{5}, Data: []wasmtest.Data{{At: 100, Bytes: []byte("some data")}}}
	n := rapid.IntRange(1, 4).Draw(t, "functions")
	for i := range n {
		w := &writer{t: t, functions: i}
		w.emit("block") // which has no result, so that br_if may go there
		w.statements()
		w.emit("end")
		w.number()
		f := wasmtest.Func{Params: "i64", Results: "i64", Locals: localList, Code: strings.Join(w.code, " ")}
		if i == n-1 {
			f.Export = "f"
		}
		m.Funcs = append(m.Funcs, f)
	}
	return m, rapid.Uint64().Draw(t, "argument")
}

// A machine is an instance of a module.
type machine struct {
	module  api.Module
	call    api.Function
	runtime wazero.Runtime
}

func start(t rapid.TB, ctx context.Context, binary []byte) machine {
	t.Helper()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	m, err := r.Instantiate(ctx, binary)
	if err != nil {
		t.Fatalf("%v\n%x", err, binary)
	}
	return machine{m, m.ExportedFunction("f"), r}
}

var options = instrument.Options{Pages: 3, Optional: map[string]string{"f": "(i64) -> (i64)"}}

// rewritten starts the module that Rewrite makes.
func rewritten(t rapid.TB, ctx context.Context, binary []byte, fuel uint64) (machine, *instrument.Module) {
	t.Helper()
	m, err := instrument.Rewrite(binary, options)
	if err != nil {
		t.Fatal(err)
	}
	x := start(t, ctx, m.Code)
	x.module.ExportedGlobal(instrument.Fuel).(api.MutableGlobal).Set(fuel)
	x.module.ExportedGlobal(instrument.Stack).(api.MutableGlobal).Set(instrument.MaxStack)
	return x, m
}

// A rewritten module computes what it did before, and every byte that it changed is
// where the marks say.
func TestRewritingChangesNothing(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		m, argument := program(t)
		binary := m.Bytes()
		before := start(t, ctx, binary)
		defer before.runtime.Close(ctx)
		after, module := rewritten(t, ctx, binary, 1<<40)
		defer after.runtime.Close(ctx)
		l := module.Layout
		all, _ := after.module.Memory().Read(0, l.Total)
		original := slices.Clone(all[:l.Limit])

		for range 2 {
			want, wantErr := before.call.Call(ctx, argument)
			got, gotErr := after.call.Call(ctx, argument)
			if (wantErr == nil) != (gotErr == nil) || !slices.Equal(got, want) {
				t.Fatalf("%v, %v; want %v, %v\n%v", got, gotErr, want, wantErr, m.Funcs)
			}
			if wantErr != nil {
				break // what a trap leaves in the globals that count is for the caller to restore
			}
			if left := after.module.ExportedGlobal(instrument.Stack).Get(); left != instrument.MaxStack {
				t.Fatalf("%d cells of the stack are gone", instrument.MaxStack-left)
			}
		}
		memory, _ := before.module.Memory().Read(0, before.module.Memory().Size())
		if len(memory) > int(l.Limit) || !bytes.Equal(memory, all[:len(memory)]) {
			t.Fatal("memories differ")
		}
		for i := range original {
			c := i >> l.Shift
			near := i&(1<<l.Shift-1) < 7 && c > 0
			if all[i] != original[i] && all[int(l.Marks)+c] == 0 && !(near && all[int(l.Marks)+c-1] != 0) {
				t.Fatalf("byte %d changed and is not marked", i)
			}
		}
		for c := l.Limit >> l.Shift; c < l.Total>>l.Shift; c++ {
			if all[l.Marks+c] != 0 {
				t.Fatalf("chunk %d behind the memory is marked", c)
			}
		}
	})
}

// The fuel that a call takes is never less than the number of instructions that a
// call of that many would trap without: what runs with some fuel runs with more, and
// what runs out leaves less than nothing.
func TestFuelIsAThreshold(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		m, argument := program(t)
		binary := m.Bytes()
		const plenty = 1 << 40
		x, _ := rewritten(t, ctx, binary, plenty)
		defer x.runtime.Close(ctx)
		if _, err := x.call.Call(ctx, argument); err != nil {
			return
		}
		used := plenty - x.module.ExportedGlobal(instrument.Fuel).Get()
		for fuel, fits := range map[uint64]bool{used: true, used - 1: false, used / 2: false} {
			y, _ := rewritten(t, ctx, binary, fuel)
			defer y.runtime.Close(ctx)
			if _, err := y.call.Call(ctx, argument); (err == nil) != fits {
				t.Fatalf("a call that takes %d has %d: %v", used, fuel, err)
			}
		}
	})
}

// Instructions are counted: a loop of known length takes at least as much fuel as
// instructions run.
func TestFuelCountsInstructions(t *testing.T) {
	ctx := context.Background()
	m := wasmtest.Module{Pages: 1, Funcs: []wasmtest.Func{{Export: "f", Params: "i64", Results: "i64", Code: `
		loop local.get 0 i64.const 1 i64.sub local.tee 0 i64.eqz if local.get 0 return end br 0 end unreachable`}}}
	for _, n := range []uint64{1, 10, 1000} {
		x, _ := rewritten(t, ctx, m.Bytes(), 1<<40)
		if _, err := x.call.Call(ctx, n); err != nil {
			t.Fatal(err)
		}
		if used := 1<<40 - x.module.ExportedGlobal(instrument.Fuel).Get(); used < 7*n || used > 20*n+20 {
			t.Errorf("%d rounds of 7 instructions take %d", n, used)
		}
		_ = x.runtime.Close(ctx)
	}
}

// No bytes make Rewrite panic, and what it makes of a valid module is valid and runs.
func FuzzRewrite(f *testing.F) {
	for _, language := range []string{"c", "rust"} {
		b, err := os.ReadFile("../../testdata/" + language + "/mapper.wasm")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add(wasmtest.Module{
		Pages: 1, Max: 2, Globals: []int64{1}, Table: []uint32{0},
		Imports: []wasmtest.Import{{Module: "wasi_snapshot_preview1", Name: "fd_write", Params: "i32 i32 i32 i32", Results: "i32"}},
		Funcs: []wasmtest.Func{
			{Export: "f", Params: "i64", Results: "i64", Locals: "i32 f64", Code: "loop i32.const 4 local.get 0 i64.store offset=9 i32.const 0 br_if 0 end block i32 i32.const 1 memory.grow end drop local.get 0 return"},
			{Params: "i64", Results: "i64", Code: "local.get 0 i32.const 0 call_indirect 1"},
		},
		Data: []wasmtest.Data{{At: 7, Bytes: []byte("data")}},
	}.Bytes())
	ctx := context.Background()
	f.Fuzz(func(t *testing.T, binary []byte) {
		m, err := instrument.Rewrite(binary, options)
		if err != nil {
			return
		}
		// A table or a memory of the largest size that is allowed takes its time.
		r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
		defer r.Close(ctx)
		if _, err := r.CompileModule(ctx, binary); err != nil {
			return
		}
		x, err := r.Instantiate(ctx, m.Code)
		if err != nil {
			if strings.Contains(err.Error(), "out of bounds") {
				return // elements outside the table
			}
			t.Fatal(err)
		}
		if call := x.ExportedFunction("f"); call != nil {
			x.ExportedGlobal(instrument.Fuel).(api.MutableGlobal).Set(10_000)
			x.ExportedGlobal(instrument.Stack).(api.MutableGlobal).Set(instrument.MaxStack)
			_, _ = call.Call(ctx, 3) // it ends
		}
	})
}
