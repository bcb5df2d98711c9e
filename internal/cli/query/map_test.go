package query

import (
	"fmt"
	"os"
	"testing"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/sandbox"
	"github.com/discreet-dp/discreet/sqltype"
)

// What is given stands after the columns of each record, the same for every call, and changes no record.
func TestGiven(t *testing.T) {
	code, err := os.ReadFile("../../../sandbox/testdata/c/above.wasm")
	if err != nil {
		t.Fatal(err)
	}
	m := mapping{given: []sqltype.Value{10.0, 20.0, 30.0, 40.0}}
	m.options.Keys = []string{"a", "b", "c", "d"}
	o := sandbox.Options{Keys: m.options.Keys, Lower: 0, Upper: 1, Columns: []sandbox.Column{{Name: "age", Type: sqltype.Of(sqltype.Integer)}, {Name: "cost", Type: sqltype.Of(sqltype.Double)}}}
	for range m.given {
		o.Columns = append(o.Columns, sandbox.Column{Name: "given", Type: sqltype.Of(sqltype.Double)})
	}
	mapper, err := sandbox.Load(t.Context(), code, o)
	if err != nil {
		t.Fatal(err)
	}
	defer mapper.Close(t.Context())
	var calls []engine.Call
	for _, age := range []int64{0, 25, 50, 75} {
		for _, cost := range []float64{10, 10.5, 30, 40.5} {
			calls = append(calls, engine.Call{Records: [][]sqltype.Value{{age, cost}}})
		}
	}
	made, err := m.rowsOf(here(mapper))(t.Context(), calls)
	if err != nil {
		t.Fatal(err)
	}
	const want = "[[] [[a 1]] [[a 1]] [[a 1]] [] [] [[b 1]] [[b 1]] [] [] [] [[c 1]] [] [] [] [[d 1]]]"
	if fmt.Sprint(made) != want {
		t.Errorf("made %v, want %s", made, want)
	}
	if len(calls[0].Records[0]) != 2 {
		t.Errorf("a record has become %v", calls[0].Records[0])
	}
}
