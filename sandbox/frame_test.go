package sandbox

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/sandbox/internal/wasmtest"
	"github.com/discreet-dp/discreet/sqltype"
)

// The deepest recursion ends by the injected count, before wazero's own limit: where
// that lies depends on how large earlier calls made its stack. The functions here
// keep as many values alive over a call as they can, so that all are on the stack.
func TestRecursionEndsByTheCount(t *testing.T) {
	for _, values := range []int{0, 1, 10, 100, 1000, 20_000} {
		var keep, use strings.Builder
		for i := range values {
			fmt.Fprintf(&keep, "local.get 0 i64.const %d i64.mul ", 2*i+3)
			use.WriteString("i64.add ")
		}
		module := wasmtest.Module{
			Pages: 1, Max: 1,
			Funcs: []wasmtest.Func{
				{Export: buffers, Results: "i32", Code: "i32.const 0"},
				{Export: mapRecords, Params: "i32", Results: "i32", Code: "i64.const 1 call 2 drop i32.const 0"},
				{Params: "i64", Results: "i64", Code: keep.String() + "local.get 0 i64.const 1 i64.add call 2 " + use.String()},
			},
			Data: []wasmtest.Data{{At: 0, Bytes: []byte("\x40\x00\x00\x00\x00\x04\x00\x00\x00\x08\x00\x00\x04\x00\x00\x00")}},
		}
		ctx := context.Background()
		m, err := Load(ctx, module.Bytes(), Options{Columns: []Column{{Name: "x", Type: sqltype.Of(sqltype.Bigint)}}, Fuel: MaxFuel})
		if err != nil {
			t.Fatal(err)
		}
		in, err := m.take(ctx)
		if err != nil {
			t.Fatal(err)
		}
		_, err = in.module.ExportedFunction(mapRecords).Call(ctx, 1)
		if err == nil || !strings.Contains(err.Error(), "unreachable") {
			t.Errorf("%d values: %.200v", values, err)
		}
		if left := int32(in.globals[len(in.globals)-injectedGlobals+1].Get()); left >= 0 {
			t.Errorf("%d values: %d cells are left", values, left)
		}
		m.give(in)
		if err := m.Close(ctx); err != nil {
			t.Error(err)
		}
	}
}

// Where it comes first all the same, by values that loops carry and no instruction
// computes, it comes at the same depth whatever earlier calls did: a stack that has
// grown, by steps that the frames of theirs determine, is not kept.
func TestWazerosLimitDoesNotDependOnEarlierCalls(t *testing.T) {
	if testing.Short() {
		t.Skip("skip: -short; wazero compiles 110 nested loops for a while")
	}
	t.Parallel()
	const locals, most = 300, 512
	nested := func(loops int) string {
		code := strings.Repeat("loop ", loops) + "local.get 0 i64.eqz if else local.get 0 i64.const 1 i64.sub call 2 drop end "
		for i := range locals {
			code += fmt.Sprintf("local.get %d i64.clz local.set %[1]d ", i+1)
		}
		for i := range loops {
			code += fmt.Sprintf("local.get %d i64.eqz br_if 0 end ", i+1)
		}
		return code + "local.get 1"
	}
	many := strings.Repeat("i64 ", locals)
	module := wasmtest.Module{
		Pages: 1, Max: 1,
		Funcs: []wasmtest.Func{
			{Export: buffers, Results: "i32", Code: "i32.const 0"},
			// A number below 1000 is the depth, one above is of the other function.
			{Export: mapRecords, Params: "i32", Results: "i32", Code: "i32.const 64 i64.load i64.const 1000 i64.lt_u if i32.const 64 i64.load call 2 drop " +
				"else i32.const 64 i64.load i64.const 1000 i64.sub call 3 drop end i32.const 0"},
			{Params: "i64", Results: "i64", Locals: many, Code: nested(110)},
			{Params: "i64", Results: "i64", Locals: many, Code: strings.ReplaceAll(nested(20), "call 2", "call 3")},
		},
		Data: []wasmtest.Data{{At: 0, Bytes: []byte("\x40\x00\x00\x00\x00\x04\x00\x00\x00\x08\x00\x00\x04\x00\x00\x00")}},
	}
	ctx := context.Background()
	m, err := Load(ctx, module.Bytes(), Options{Columns: []Column{{Name: "x", Type: sqltype.Of(sqltype.Bigint)}}, Fuel: MaxFuel})
	if err != nil {
		t.Fatal(err)
	}
	overflows := func(n int) bool {
		trial, err := m.Try(ctx, []sqltype.Value{int64(n)})
		if err != nil {
			t.Fatal(err)
		}
		return trial.Failure != nil && strings.Contains(trial.Failure.Error(), "stack overflow")
	}
	limit := sort.Search(most, overflows)
	if limit == most {
		t.Fatal("wazero's limit does not come first: the test is weak")
	}
	overflows(1008) // a depth of 8 of the other function
	if overflows(limit-1) || !overflows(limit) {
		t.Errorf("after another call the limit is not %d", limit)
	}
	if err := m.Close(ctx); err != nil {
		t.Error(err)
	}
}
