package sandbox

import (
	"context"
	"fmt"
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
