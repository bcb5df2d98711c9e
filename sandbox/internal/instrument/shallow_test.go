package instrument

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/sandbox/internal/wasmtest"
)

// A module is shallow if its functions cannot call each other in a circle, know whom
// they call, and have small frames together.
func TestShallow(t *testing.T) {
	leaf := wasmtest.Func{Code: "i32.const 1 drop"}
	calls := func(code string) wasmtest.Func { return wasmtest.Func{Code: code} }
	wide := func(n int, code string) wasmtest.Func {
		return wasmtest.Func{Locals: strings.Repeat("i32 ", n), Code: strings.Repeat("block end ", n) + code}
	}
	apart, nested := []wasmtest.Func{leaf}, []wasmtest.Func{leaf}
	for i := range 50 {
		apart, nested = append(apart, wide(40, "")), append(nested, wide(40, fmt.Sprint("call ", i)))
	}
	for _, test := range []struct {
		name  string
		funcs []wasmtest.Func
		want  bool
	}{
		{"one function", []wasmtest.Func{leaf}, true},
		{"a chain", []wasmtest.Func{leaf, calls("call 0"), calls("call 1 call 0 call 1")}, true},
		{"forward", []wasmtest.Func{calls("call 1"), leaf}, true},
		{"itself", []wasmtest.Func{calls("call 0")}, false},
		{"a circle", []wasmtest.Func{leaf, calls("call 2"), calls("call 3"), calls("call 1")}, false},
		{"a circle that nothing calls", []wasmtest.Func{leaf, calls("call 1")}, false},
		{"whoever is in the table", []wasmtest.Func{leaf, calls("i32.const 0 call_indirect 0")}, false},
		{"more locals and branches than fit", []wasmtest.Func{wide(350, "")}, false},
		{"wide frames beside each other", apart, true},
		{"wide frames within each other", nested, false},
	} {
		m, err := decode(wasmtest.Module{Pages: 1, Funcs: test.funcs, Table: []uint32{0}}.Bytes())
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		w := &rewriter{module: m, layout: newLayout(1), fuel: 0, stack: 1, pages: 2, grow: 90, fill: 91, copy: 92}
		if _, err := w.code(1); err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if got := shallow(w.frames); got != test.want {
			t.Errorf("%s: shallow %v, want %v (frames %+v)", test.name, got, test.want, w.frames)
		}
	}
}
