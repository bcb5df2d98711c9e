package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/discreet-dp/discreet/sandbox"
	"github.com/discreet-dp/discreet/sandbox/internal/wasmtest"
	"github.com/discreet-dp/discreet/sqltype"
)

// The modules here have their input at 64 and their output at 2048, and locals i32
// (0 the number of records, 1), i64 (2) and f64 (3). A record is a number and a text.
const (
	// isSecret is whether the number is 1.
	isSecret = " i32.const 64 i64.load i64.const 1 i64.sub i64.eqz "
	// isOther is whether it is 2.
	isOther = " i32.const 64 i64.load i64.const 2 i64.sub i64.eqz "
)

// says answers one value, which code computes as an f64.
func says(code string) string { return " i32.const 2048 " + code + " f64.store i32.const 1 " }

// attacker is a module whose mapper is code.
func attacker(code string, change ...func(*wasmtest.Module)) []byte {
	m := wasmtest.Module{
		Pages: 1, Max: 1,
		Funcs: []wasmtest.Func{
			{Export: "discreet_buffers", Results: "i32", Code: "i32.const 0"},
			{Export: "discreet_map", Params: "i32", Results: "i32", Locals: "i32 i64 f64", Code: code},
		},
		Globals: []int64{0},
		Data:    []wasmtest.Data{{At: 0, Bytes: []byte("\x40\x00\x00\x00\x00\x04\x00\x00\x00\x08\x00\x00\x04\x00\x00\x00")}},
	}
	for _, c := range change {
		c(&m)
	}
	return m.Bytes()
}

func pages(most uint32) func(*wasmtest.Module) { return func(m *wasmtest.Module) { m.Max = most } }

// attacked are the options of the attacks.
func attacked() sandbox.Options {
	return sandbox.Options{
		Columns: []sandbox.Column{{Name: "number", Type: sqltype.Of(sqltype.Bigint)}, {Name: "text", Type: sqltype.Of(sqltype.Text)}},
		Lower:   0, Upper: 1000,
		Default:    []sandbox.Output{{Value: 500}},
		MaxOutputs: 4,
		Fuel:       1_000_000,
	}
}

func record(n int64) []sqltype.Value { return []sqltype.Value{n, strings.Repeat("x", int(30/n))} }

// A bare machine runs the same module with nothing around it, to show that an attack
// would work: it does not remember on behalf of the module, the module does.
func bare(t *testing.T, binary []byte, numbers ...int64) (last float64) {
	t.Helper()
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer func() { _ = r.Close(ctx) }()
	m, err := r.Instantiate(ctx, binary)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range numbers {
		text := record(n)[1].(string)
		m.Memory().WriteUint64Le(64, uint64(n))
		m.Memory().Write(64+32, []byte(text))
		if _, err := m.ExportedFunction("discreet_map").Call(ctx, 1); err != nil {
			last = math.Inf(1)
			continue
		}
		last, _ = m.Memory().ReadFloat64Le(2048)
	}
	return last
}

// What a call answers does not depend on the calls before it, on the same machine,
// whatever the module does to remember.
func TestNoStatePasses(t *testing.T) {
	for name, binary := range map[string][]byte{
		"a global": attacker(isSecret + "if i64.const 7 global.set 0 end" + says("global.get 0 f64.convert_i64_s")),
		"memory": attacker(isSecret + "if i32.const 4096 i64.const 7 i64.store end" +
			says("i32.const 4096 i64.load f64.convert_i64_s")),
		"memory at the border of chunks": attacker(isSecret + "if i32.const 5116 i64.const -1 i64.store end" +
			says("i32.const 5120 i32.load8_u f64.convert_i32_u")),
		"memory at an offset": attacker(isSecret + "if i32.const 1020 i32.const 7 i32.store8 offset=20000 end" +
			says("i32.const 21020 i32.load8_u f64.convert_i32_u")),
		"memory filled": attacker(isSecret + "if i32.const 5000 i32.const 7 i32.const 9000 memory.fill end" +
			says("i32.const 13999 i32.load8_u f64.convert_i32_u")),
		"memory filled to the border of chunks": attacker(isSecret + "if i32.const 5000 i32.const 7 i32.const 130 memory.fill end" +
			says("i32.const 5129 i32.load8_u f64.convert_i32_u")),
		"memory copied": attacker(isSecret + "if i32.const 60000 i32.const 64 i32.const 5000 memory.copy end" +
			says("i32.const 60000 i32.load8_u f64.convert_i32_u")),
		"the size of memory": attacker(isSecret+"if i32.const 1 memory.grow drop end"+
			says("memory.size f64.convert_i32_u"), pages(4)),
		"memory that grew": attacker("i32.const 1 memory.grow drop"+isSecret+"if i32.const 65536 i64.const 7 i64.store end"+
			says("i32.const 65536 i64.load f64.convert_i64_s"), pages(4)),
		"how far memory may grow": attacker(isSecret+"if i32.const 3 memory.grow drop end"+
			says("i32.const 1 memory.grow f64.convert_i32_s"), pages(4)),
		"the last record's text": attacker(says("i32.const 120 i32.load8_u f64.convert_i32_u")),
		"its own output":         attacker(isSecret + "if i32.const 2048 f64.const 7 f64.store end i32.const 1"),
		"a store before a trap": attacker(isSecret + "if i32.const 4096 i64.const 7 i64.store unreachable end" +
			says("i32.const 4096 i64.load f64.convert_i64_s")),
		"a store before the fuel ends": attacker(isSecret + "if i32.const 4096 i64.const 7 i64.store i32.const 0 i32.const 0 i32.div_s drop loop br 0 end end" +
			says("i32.const 4096 i64.load f64.convert_i64_s")),
		// The marks lie behind a guard at 65536, from 66560 on: one byte for 1024.
		"marks cleared": attacker(isSecret + "if i32.const 4096 i64.const 7 i64.store i32.const 65536 i32.const 0 i32.const 65536 memory.fill end" +
			says("i32.const 4096 i64.load f64.convert_i64_s")),
		"one mark cleared": attacker(isSecret + "if i32.const 4096 i64.const 7 i64.store i32.const 66564 i32.const 0 i32.store8 end" +
			says("i32.const 4096 i64.load f64.convert_i64_s")),
		"marks cleared from the guard": attacker(isSecret + "if i32.const 3100 i64.const 7 i64.store i32.const 66556 i64.const 0 i64.store end" +
			says("i32.const 3100 i64.load f64.convert_i64_s")),
		"marks cleared from the end of memory": attacker(isSecret + "if i32.const 3100 i64.const 7 i64.store i32.const 65532 i64.const 0 i64.store end" +
			says("i32.const 3100 i64.load f64.convert_i64_s")),
		"the mark of the marks cleared": attacker(isSecret + "if i32.const 4096 i64.const 7 i64.store i32.const 66564 i32.const 0 i32.store8 i32.const 66625 i32.const 0 i32.store8 end" +
			says("i32.const 4096 i64.load f64.convert_i64_s")),
		"the mark of the guard cleared": attacker(isSecret + "if i32.const 3100 i64.const 7 i64.store i32.const 66556 i64.const 0 i64.store i32.const 66624 i32.const 0 i32.store8 end" +
			says("i32.const 3100 i64.load f64.convert_i64_s")),
		"memory behind the marks": attacker(isSecret + "if i32.const 4096 i64.const 7 i64.store i32.const 100000 i64.const 7 i64.store end" +
			says("i32.const 4096 i64.load f64.convert_i64_s i32.const 4096 i64.load i64.eqz if f64 i32.const 100000 i64.load f64.convert_i64_s else f64.const 0 end f64.add")),
	} {
		t.Run(name, func(t *testing.T) {
			if with, without := bare(t, binary, 1, 2), bare(t, binary, 3, 2); with == without {
				t.Fatalf("this is no attack: it says %v either way", with)
			}
			m := load(t, binary, attacked())
			alone := outputs(t, m, 2)
			for _, before := range []int64{1, 3, 1} {
				outputs(t, m, before)
				if got := outputs(t, m, 2); !reflect.DeepEqual(got, alone) {
					t.Errorf("after %d: %v, alone: %v", before, got, alone)
				}
			}
		})
	}
}

// Nor does it pass behind the end of the module's memory, where a bare machine has
// nothing: a store that begins before the end reaches the first bytes of the guard.
func TestNoStatePassesBehindTheMemory(t *testing.T) {
	for address := 65528; address <= 65536; address++ {
		store := fmt.Sprintf("if i32.const %d i64.const -1 i64.store end", address)
		m := load(t, attacker(isSecret+store+says("i32.const 65536 i64.load f64.convert_i64_u")), attacked())
		for _, n := range []int64{2, 1, 2, 3} {
			want := 0.0
			if n == 1 && address > 65528 { // some of the bytes, clamped
				want = min(math.Pow(256, float64(address-65528))-1, 1000)
			}
			if got := outputs(t, m, n); len(got) != 1 || got[0].Value != want {
				t.Errorf("a store at %d: %d says %v", address, n, got)
			}
		}
	}
}

func outputs(t *testing.T, m *sandbox.Mapper, n int64) []sandbox.Output {
	t.Helper()
	out, err := m.Map(context.Background(), record(n))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Whatever fails is the default, for this record alone.
func TestFailuresAreTheDefault(t *testing.T) {
	recursion := func(code string) func(*wasmtest.Module) {
		return func(m *wasmtest.Module) {
			m.Funcs = append(m.Funcs, wasmtest.Func{Params: "i64", Results: "i64", Code: code})
		}
	}
	fine := says("f64.const 3")
	for name, binary := range map[string][]byte{
		"a trap":                         attacker(isSecret + "if unreachable end" + fine),
		"a division by zero":             attacker(isSecret + "if i32.const 1 i32.const 0 i32.div_s drop end" + fine),
		"a load out of bounds":           attacker(isSecret + "if i32.const -4 i32.load drop end" + fine),
		"a store out of bounds":          attacker(isSecret + "if i32.const -1 i64.const 0 i64.store offset=4294967295 end" + fine),
		"a fill out of bounds":           attacker(isSecret + "if i32.const 0 i32.const 0 i32.const 1000000 memory.fill end" + fine),
		"a call through nothing":         attacker(isSecret+"if i32.const 0 call_indirect 0 drop end"+fine, func(m *wasmtest.Module) { m.TableSize = 1 }),
		"an infinite loop":               attacker(isSecret + "if loop br 0 end end" + fine),
		"a loop that fills":              attacker(isSecret + "if loop i32.const 4096 i32.const 0 i32.const 60000 memory.fill br 0 end end" + fine),
		"a loop that fills nothing":      attacker(isSecret + "if loop i32.const 0 i32.const 0 i32.const 0 memory.fill br 0 end end" + fine),
		"a memory bomb":                  attacker(isSecret+"if loop i32.const 1 memory.grow drop br 0 end end"+fine, pages(1<<16)),
		"an infinite recursion":          attacker(isSecret+"if i64.const 0 call 2 drop end"+fine, recursion("local.get 0 call 2")),
		"an infinite recursion, cheaply": attacker(isSecret+"if i64.const 0 call 2 drop end"+fine, recursion("local.get 0 call 2 return")),
		"an exit": attacker(isSecret+"if i32.const 0 call 0 end"+fine, func(m *wasmtest.Module) {
			m.Imports = append(m.Imports, wasmtest.Import{Module: "wasi_snapshot_preview1", Name: "proc_exit", Params: "i32"})
		}),
		"too many outputs":       attacker(isSecret + "if i32.const 5 return end" + fine),
		"a huge number of them":  attacker(isSecret + "if i32.const 2147483647 return end" + fine),
		"a negative number":      attacker(isSecret + "if i32.const -1 return end" + fine),
		"a NaN":                  attacker(isSecret + "if i32.const 2048 f64.const 0 f64.const 0 f64.div f64.store i32.const 1 return end" + fine),
		"a NaN among the values": attacker(isSecret + "if i32.const 2064 f64.const NaN f64.store i32.const 2 return end" + fine),
	} {
		t.Run(name, func(t *testing.T) {
			m := load(t, binary, attacked())
			for range 2 {
				if got := outputs(t, m, 1); !reflect.DeepEqual(got, attacked().Default) {
					t.Errorf("%v", got)
				}
				if got := outputs(t, m, 2); !reflect.DeepEqual(got, []sandbox.Output{{Value: 3}}) {
					t.Errorf("then %v", got)
				}
			}
		})
	}
}

// What one call uses up is there again for the next.
func TestEveryCallHasTheWholeFuelAndStack(t *testing.T) {
	count := "local.get 0 if i32 local.get 0 i32.const 1 i32.sub call 2 i32.const 1 i32.add else i32.const 0 end"
	m := load(t, attacker(isSecret+"if i32.const 1000000 call 2 drop end"+says("i32.const 2000 call 2 f64.convert_i32_u"), func(m *wasmtest.Module) {
		m.Funcs = append(m.Funcs, wasmtest.Func{Params: "i32", Results: "i32", Code: count})
	}), sandbox.Options{Columns: attacked().Columns, Upper: 1e9, Fuel: 100_000})
	for _, n := range []int64{2, 1, 2, 1, 2} {
		want := []sandbox.Output{{Value: 2000}}
		if n == 1 {
			want = nil
		}
		if got := outputs(t, m, n); !reflect.DeepEqual(got, want) {
			t.Errorf("%d: %v", n, got)
		}
	}
}

func TestOutputsAreForcedIntoTheRangeAndOntoTheKeys(t *testing.T) {
	o := attacked()
	o.Lower, o.Keys, o.Default = -2, []string{"a", "b"}, []sandbox.Output{{Key: "b", Value: 1}}
	put := func(i int, value, key string) string {
		at := fmt.Sprint("i32.const ", 2048+16*i)
		return at + " f64.const " + value + " f64.store " + at + " i32.const " + key + " i32.store offset=8 "
	}
	for _, test := range []struct {
		value, key string
		want       []sandbox.Output
	}{
		{"5", "1", []sandbox.Output{{Key: "b", Value: 5}}},
		{"1e300", "0", []sandbox.Output{{Key: "a", Value: 1000}}},
		{"-Inf", "0", []sandbox.Output{{Key: "a", Value: -2}}},
		{"+Inf", "0", []sandbox.Output{{Key: "a", Value: 1000}}},
		{"-0", "0", []sandbox.Output{{Key: "a", Value: 0}}},
		{"5", "2", []sandbox.Output{}},
		{"5", "-1", []sandbox.Output{}},
	} {
		m := load(t, attacker(put(0, test.value, test.key)+"i32.const 1"), o)
		got := outputs(t, m, 1)
		if !reflect.DeepEqual(got, test.want) || len(got) > 0 && math.Signbit(got[0].Value) && got[0].Value == 0 {
			t.Errorf("%s under %s: %v, want %v", test.value, test.key, got, test.want)
		}
	}
	m := load(t, attacker(put(0, "1", "0")+put(1, "2", "9")+put(2, "3", "1")+"i32.const 3"), o)
	if got, want := outputs(t, m, 1), []sandbox.Output{{Key: "a", Value: 1}, {Key: "b", Value: 3}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A text that does not fit the module's buffer is no error, which would tell of it.
func TestWhatDoesNotFitIsTheDefault(t *testing.T) {
	m := load(t, attacker(says("f64.const 3")), attacked())
	for size, want := range map[int]float64{1024 - 32: 3, 1024 - 31: 500} {
		got, err := m.Map(context.Background(), []sqltype.Value{int64(1), strings.Repeat("x", size)})
		if err != nil || len(got) != 1 || got[0].Value != want {
			t.Errorf("%d bytes: %v, %v", size, got, err)
		}
	}
	unit := make([][]sqltype.Value, 33)
	for i := range unit {
		unit[i] = []sqltype.Value{int64(1), ""}
	}
	for size, want := range map[int]float64{32: 3, 33: 500, 0: 3} {
		got, err := m.MapUnit(context.Background(), unit[:size])
		if err != nil || len(got) != 1 || got[0].Value != want {
			t.Errorf("%d records: %v, %v", size, got, err)
		}
	}
	if _, err := m.Map(context.Background(), []sqltype.Value{"1", ""}); !errors.Is(err, sandbox.ErrOptions) {
		t.Errorf("a text for a number: %v", err)
	}
	if _, err := m.MapUnit(context.Background(), [][]sqltype.Value{{"1", ""}, {int64(1), ""}, {int64(1)}}); !errors.Is(err, sandbox.ErrOptions) {
		t.Errorf("texts and numbers: %v", err)
	}
}

// A unit's records are seen in one order, whatever order they are stored in.
func TestRecordsOfAUnitHaveAnOrder(t *testing.T) {
	// The first and the last number, as first·10 + last.
	m := load(t, attacker(says("i32.const 64 i64.load i64.const 10 i64.mul local.get 0 i32.const 32 i32.mul i64.load offset=32 i64.add f64.convert_i64_s")), attacked())
	for _, order := range [][]int64{{1, 2, 3}, {3, 2, 1}, {2, 3, 1}, {1, 3, 2}} {
		var records [][]sqltype.Value
		for _, n := range order {
			records = append(records, record(n))
		}
		got, err := m.MapUnit(context.Background(), records)
		if err != nil || len(got) != 1 || got[0].Value != 13 {
			t.Errorf("%v: %v, %v", order, got, err)
		}
		if records[0][0] != order[0] {
			t.Error("the caller's records were sorted")
		}
	}
}

// What the world could tell a module, it does not: the same on every day and machine.
func TestTheWASIIsConstant(t *testing.T) {
	call := func(name, params, code string) []byte {
		return attacker(code, func(m *wasmtest.Module) {
			m.Imports = []wasmtest.Import{{Module: "wasi_snapshot_preview1", Name: name, Params: params, Results: "i32"}}
		})
	}
	for name, test := range map[string]struct {
		binary []byte
		want   float64
	}{
		"clock":     {call("clock_time_get", "i32 i64 i32", "i32.const 0 i64.const 0 i32.const 4096 call 0 drop"+says("i32.const 4096 i64.load f64.convert_i64_s")), 1},
		"random":    {call("random_get", "i32 i32", "i32.const 64 i32.const 16 call 0 drop"+says("i32.const 64 i64.load f64.convert_i64_s")), 0},
		"file":      {call("fd_close", "i32", says("i32.const 3 call 0 f64.convert_i32_u")), 8},
		"arguments": {call("args_sizes_get", "i32 i32", "i32.const 64 i32.const 68 call 0 drop"+says("i32.const 64 i64.load f64.convert_i64_s")), 0},
		"written": {call("fd_write", "i32 i32 i32 i32", "i32.const 4100 i32.const 5 i32.store i32.const 4108 i32.const 6 i32.store "+
			"i32.const 1 i32.const 4096 i32.const 2 i32.const 4200 call 0 drop"+says("i32.const 4200 i32.load f64.convert_i32_u")), 11},
	} {
		if got := outputs(t, load(t, test.binary, attacked()), 1); len(got) != 1 || got[0].Value != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// Who writes a module can see what goes wrong, on records that are nobody's.
func TestTry(t *testing.T) {
	ctx := context.Background()
	m := load(t, attacker(isSecret+"if unreachable end"+isOther+"if loop br 0 end end"+says("f64.const 3")), attacked())
	for n, want := range map[int64]string{1: "unreachable", 2: "unreachable", 3: ""} {
		trial, err := m.Try(ctx, record(n))
		if err != nil || (trial.Failure == nil) != (want == "") || want != "" && !strings.Contains(trial.Failure.Error(), want) {
			t.Errorf("%d: %+v, %v", n, trial, err)
		}
		if exhausted := trial.Fuel > attacked().Fuel; exhausted != (n == 2) || trial.Fuel < 5 {
			t.Errorf("%d takes %d", n, trial.Fuel)
		}
	}
	if trial, err := m.Try(ctx, []sqltype.Value{int64(3), strings.Repeat("x", 2000)}); err != nil || trial.Failure == nil {
		t.Errorf("%+v, %v", trial, err)
	}
}

// What cannot be made safe is refused before there is any data, and says why.
func TestRefusedModules(t *testing.T) {
	fine := says("f64.const 3")
	with := func(change func(*wasmtest.Module)) []byte { return attacker(fine, change) }
	imports := func(module, name, params, results string) []byte {
		return with(func(m *wasmtest.Module) {
			m.Imports = []wasmtest.Import{{Module: module, Name: name, Params: params, Results: results}}
		})
	}
	places := func(at ...uint32) []byte {
		return with(func(m *wasmtest.Module) {
			var b []byte
			for _, x := range at {
				b = append(b, byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
			}
			m.Data[0].Bytes = b
		})
	}
	for name, test := range map[string]struct {
		binary []byte
		want   string
	}{
		"no module":              {[]byte("SELECT 1"), "magic"},
		"nothing":                {nil, "magic"},
		"truncated":              {attacker(fine)[:40], ""},
		"an unknown import":      {imports("env", "log", "i32", ""), "import env.log: a mapper may import from wasi_snapshot_preview1 only, of which there is: args_get"},
		"an unknown WASI import": {imports("wasi_snapshot_preview1", "shell", "i32", "i32"), "import wasi_snapshot_preview1.shell"},
		"another type":           {imports("wasi_snapshot_preview1", "random_get", "i32", "i32"), "its type is (i32, i32) -> (i32), not (i32) -> (i32)"},
		"no memory":              {wasmtest.Module{Funcs: []wasmtest.Func{{Export: "discreet_buffers", Results: "i32", Code: "i32.const 0"}, {Export: "discreet_map", Params: "i32", Results: "i32", Code: "i32.const 0"}}}.Bytes(), "no memory"},
		"a start function": {attacker(fine, func(m *wasmtest.Module) {
			m.Funcs = append(m.Funcs, wasmtest.Func{})
			m.Start = new(uint32)
			*m.Start = 2
		}), "it must export _initialize instead"},
		"too much memory": {with(func(m *wasmtest.Module) { m.Pages, m.Max = 300, 300 }), "needs 19200 KiB of memory and may have 16384"},
		"too many tables": {with(func(m *wasmtest.Module) {
			one := append([]byte{0x70, 0}, wasmtest.U32(1<<19)...)
			m.Pages, m.First = 0, []wasmtest.Section{{ID: 4, Content: append([]byte{3}, slices.Repeat(one, 3)...)}, {ID: 5, Content: []byte{1, 0, 1}}}
		}), "the tables have more than 1048576 entries"},
		"too many results": {with(func(m *wasmtest.Module) {
			m.Funcs = append(m.Funcs, wasmtest.Func{Results: strings.Repeat("i64 ", 17), Code: "call 2"})
		}), "1000 parameters or 16 results"},
		"too many parameters": {with(func(m *wasmtest.Module) {
			m.Funcs = append(m.Funcs, wasmtest.Func{Params: strings.Repeat("i64 ", 1001)})
		}), "1000 parameters or 16 results"},
		"too large a table":     {with(func(m *wasmtest.Module) { m.TableSize = 1 << 26 }), "table"},
		"data outside":          {with(func(m *wasmtest.Module) { m.Data = append(m.Data, wasmtest.Data{At: 65530, Bytes: make([]byte, 10)}) }), "a data segment lies outside the memory"},
		"no mapper":             {with(func(m *wasmtest.Module) { m.Funcs[1].Export = "map" }), "does not export the function discreet_map (i32) -> (i32)"},
		"another mapper":        {with(func(m *wasmtest.Module) { m.Funcs[1].Export, m.Funcs[0].Export = "discreet_buffers", "discreet_map" }), "its type is"},
		"buffers that trap":     {with(func(m *wasmtest.Module) { m.Funcs[0].Code = "unreachable" }), "discreet_buffers"},
		"buffers that loop":     {with(func(m *wasmtest.Module) { m.Funcs[0].Code = "loop br 0 end unreachable" }), "discreet_buffers"},
		"no place for places":   {with(func(m *wasmtest.Module) { m.Funcs[0].Code = "i32.const 65530" }), "the description lies outside"},
		"input outside":         {places(65536-100, 101, 2048, 4), "the input lies outside"},
		"input far outside":     {places(1<<31, 1<<31, 2048, 4), "the input lies outside"},
		"output outside":        {places(64, 1024, 65536-48, 4), "the output lies outside"},
		"output far outside":    {places(64, 1024, 2048, 1<<28), "the output lies outside"},
		"input too small":       {places(64, 31, 2048, 4), "a record of 2 columns needs 32"},
		"output too small":      {places(64, 1024, 2048, 3), "there is room for 3 outputs, not 4"},
		"a global of ours":      {attacker("i64.const 1000000 global.set 1" + fine), ""},
		"a global of ours read": {attacker(says("global.get 1 f64.convert_i64_s")), ""},
		"a function of ours":    {attacker("i32.const 1 call 3 drop" + fine), ""},
		"a table that changes":  {attacker("i32.const 0 0xd0 0x70 0x26 0x00"+fine, func(m *wasmtest.Module) { m.TableSize = 1 }), "references are not supported"},
		"a table that grows":    {attacker("0xd0 0x70 i32.const 1 0xfc 0x0f 0x00 drop"+fine, func(m *wasmtest.Module) { m.TableSize = 1 }), "references are not supported"},
		"a segment dropped":     {attacker("0xfc 0x09 0x00"+fine, func(m *wasmtest.Module) { m.More = nil }), ""},
		"too many loops":        {attacker(strings.Repeat("loop ", 6000) + strings.Repeat("end ", 6000) + fine), "too many branches"},
		"too many ifs":          {attacker(strings.Repeat("local.get 0 if end ", 23000) + fine), "too many branches"},
		"too large a function":  {attacker(strings.Repeat("i32.const 0 drop ", 200_000) + fine), "too large"},
		"SIMD":                  {attacker("i32.const 0 0xfd 0x0f drop" + fine), ""},
		"threads":               {attacker("i32.const 0 0xfe 0x10 0x02 0x00 drop" + fine), ""},
		"a tail call":           {attacker("i32.const 0 0x12 0x01"), ""},
		"an exception":          {attacker("0x08 0x00"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := sandbox.Load(context.Background(), test.binary, attacked())
			if m != nil || !errors.Is(err, sandbox.ErrModule) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

func TestRefusedOptions(t *testing.T) {
	for name, change := range map[string]func(*sandbox.Options){
		"no columns":             func(o *sandbox.Options) { o.Columns = nil },
		"an interval":            func(o *sandbox.Options) { o.Columns[0].Type = sqltype.Of(sqltype.IntervalKind) },
		"a key twice":            func(o *sandbox.Options) { o.Keys, o.Default = []string{"a", "a"}, nil },
		"a default off the keys": func(o *sandbox.Options) { o.Keys = []string{"a"} },
		"a default out of range": func(o *sandbox.Options) { o.Default[0].Value = 1001 },
		"a default of NaN":       func(o *sandbox.Options) { o.Default[0].Value = math.NaN() },
		"too many defaults":      func(o *sandbox.Options) { o.MaxOutputs, o.Default = 1, make([]sandbox.Output, 2) },
		"an empty range":         func(o *sandbox.Options) { o.Lower = 1001 },
		"NaN":                    func(o *sandbox.Options) { o.Upper = math.NaN() },
		"infinity":               func(o *sandbox.Options) { o.Lower = math.Inf(-1) },
		"negative outputs":       func(o *sandbox.Options) { o.MaxOutputs = -1 },
		"negative fuel":          func(o *sandbox.Options) { o.Fuel = -1 },
		"too much fuel":          func(o *sandbox.Options) { o.Fuel = sandbox.MaxFuel + 1 },
		"too little memory":      func(o *sandbox.Options) { o.Memory = 1000 },
	} {
		o := attacked()
		change(&o)
		if _, err := sandbox.Load(context.Background(), attacker(says("f64.const 3")), o); !errors.Is(err, sandbox.ErrOptions) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestContextAndClose(t *testing.T) {
	m, err := sandbox.Load(context.Background(), attacker(says("f64.const 3")), attacked())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.Map(ctx, record(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that ended: %v", err)
	}
	for range 2 {
		if err := m.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if _, err := m.Map(context.Background(), record(1)); !errors.Is(err, sandbox.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
}

// Calls at the same time have machines of their own.
func TestConcurrentCalls(t *testing.T) {
	m := load(t, attacker("global.get 0 i64.const 1 i64.add global.set 0 i32.const 4096 i32.const 64 i64.load i64.store"+
		says("i32.const 4096 i64.load global.get 0 i64.mul f64.convert_i64_s")), attacked())
	var callers sync.WaitGroup
	for n := range int64(16) {
		callers.Go(func() {
			for i := range int64(100) {
				want := float64(n*10 + i%10 + 1)
				got, err := m.Map(context.Background(), []sqltype.Value{int64(want), ""})
				if err != nil || len(got) != 1 || got[0].Value != want {
					t.Errorf("%v, %v, want %v", got, err, want)
				}
			}
		})
	}
	callers.Wait()
}

// Every type of a column arrives as docs/sandbox.md says.
func TestCells(t *testing.T) {
	integer, float := "i32.const 64 i64.load f64.convert_i64_s", "i32.const 64 f64.load"
	for _, test := range []struct {
		typ   sqltype.Type
		value sqltype.Value
		read  string
		want  float64
	}{
		{sqltype.Of(sqltype.Boolean), true, integer, 1},
		{sqltype.Of(sqltype.Smallint), int64(-7), integer, -7},
		{sqltype.Of(sqltype.Double), 2.5, float, 2.5},
		{sqltype.DecimalOf(6, 2), sqltype.Decimal{Unscaled: big.NewInt(-250), Scale: 2}, float, -2.5},
		{sqltype.Of(sqltype.DateKind), sqltype.Date(-3), integer, -3},
		{sqltype.Of(sqltype.TimeKind), sqltype.Time(5), integer, 5},
		{sqltype.Of(sqltype.TimestampKind), sqltype.Timestamp(-6), integer, -6},
		{sqltype.Of(sqltype.Text), "abc", "i32.const 64 i32.load i32.const 64 i32.add i32.load8_u i32.const 64 i32.load offset=4 i32.mul f64.convert_i32_u", 'a' * 3},
		{sqltype.Of(sqltype.Text), nil, "i32.const 64 i64.load offset=8 f64.convert_i64_s", 0},
		{sqltype.Of(sqltype.Text), "", "i32.const 64 i64.load offset=8 f64.convert_i64_s", 1},
	} {
		m := load(t, attacker(says(test.read)), sandbox.Options{Columns: []sandbox.Column{{Name: "x", Type: test.typ}}, Lower: -1000, Upper: 1000})
		got, err := m.Map(context.Background(), []sqltype.Value{test.value})
		if err != nil || len(got) != 1 || got[0].Value != test.want {
			t.Errorf("%v of %s: %v, %v, want %v", test.value, test.typ, got, err, test.want)
		}
	}
}
