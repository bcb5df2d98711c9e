package source_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/verify/internal/program"
	"github.com/discreet-dp/discreet/verify/internal/source"
	"github.com/discreet-dp/discreet/verify/internal/source/testdata/meaning"
)

// bits are the same for both runs of a function.
type bits struct{ *rand.PCG }

func (b bits) Uint64() (uint64, error) { return b.PCG.Uint64(), nil }

// Each function and what it is read as agree: same inputs, same bits, same results.
func TestMeaning(t *testing.T) {
	read, err := source.Load(context.Background(), ".", "./testdata/meaning")
	if err != nil {
		t.Fatal(err)
	}
	units := map[string]*source.Unit{}
	for _, u := range read[0].Units {
		units[u.Name] = u
		for _, r := range u.Refusals {
			t.Error(r)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(meaning.All)) {
		u := units[name]
		if u == nil || u.Function == nil {
			t.Errorf("%s was not read", name)
			continue
		}
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			word := rapid.Uint64().Draw(t, "bits")
			inputs := map[string]any{}
			var args []reflect.Value
			fn := reflect.ValueOf(meaning.All[name])
			real := source1(word)
			for i := range fn.Type().NumIn() {
				args = append(args, argument(t, fn.Type().In(i), parameter(u, i), inputs, real))
			}
			want := run(fn, args)
			if got := interpret(t, u.Function, inputs, word); !reflect.DeepEqual(got, want) {
				t.Errorf("%v\nGo:   %v\nread: %v\n%s", inputs, want, got, program.Print(u.Function))
			}
		}))
	}
	if len(units) != len(meaning.All) {
		t.Errorf("%d functions have claims, %d are run", len(units), len(meaning.All))
	}
}

type randomness struct {
	src    *noise.Source
	stream *noise.Stream
}

func source1(word uint64) randomness {
	b := bits{rand.NewPCG(word, 1)}
	return randomness{noise.NewSource(b), noise.NewStream(b)}
}

// parameter is the name of the i-th parameter, the receiver included.
func parameter(u *source.Unit, i int) string {
	var names []string
	if u.Decl.Recv != nil {
		names = append(names, u.Decl.Recv.List[0].Names[0].Name)
	}
	for _, f := range u.Decl.Type.Params.List {
		for _, n := range f.Names {
			names = append(names, n.Name)
		}
	}
	return names[i]
}

func argument(t *rapid.T, typ reflect.Type, name string, inputs map[string]any, r randomness) reflect.Value {
	switch typ {
	case reflect.TypeFor[*noise.Source]():
		return reflect.ValueOf(r.src)
	case reflect.TypeFor[*noise.Stream]():
		return reflect.ValueOf(r.stream)
	case reflect.TypeFor[*noise.DiscreteLaplace]():
		d, err := noise.NewDiscreteLaplace(big.NewRat(3, 2))
		if err != nil {
			t.Fatal(err)
		}
		inputs["scale("+name+")"] = d
		return reflect.ValueOf(d)
	case reflect.TypeFor[*noise.Geometric]():
		d, err := noise.NewGeometric(big.NewRat(3, 2))
		if err != nil {
			t.Fatal(err)
		}
		there := rapid.Bool().Draw(t, name)
		inputs["scale("+name+")"], inputs[name+" != nil"] = d, there
		if !there {
			d = nil
		}
		return reflect.ValueOf(d)
	case reflect.TypeFor[iter.Seq[float64]]():
		list := argument(t, reflect.TypeFor[[]float64](), name, inputs, r).Interface().([]float64)
		return reflect.ValueOf(slices.Values(list))
	}
	switch typ.Kind() {
	case reflect.Float64:
		x := float64(rapid.IntRange(1, 12).Draw(t, name)) / 4
		inputs[name] = x
		return reflect.ValueOf(x)
	case reflect.Int, reflect.Int64:
		x := rapid.Int64Range(-4, 5).Draw(t, name)
		inputs[name] = x
		return reflect.ValueOf(x).Convert(typ)
	case reflect.Map:
		// At each key of the slice before; equal keys have equal values.
		m, list := map[string]int64{}, []any{}
		for _, k := range inputs["keys"].([]any) {
			key := fmt.Sprint(k)
			if _, known := m[key]; !known {
				m[key] = rapid.Int64Range(-4, 5).Draw(t, name)
			}
			list = append(list, m[key])
		}
		inputs[name] = list
		return reflect.ValueOf(m)
	case reflect.Slice:
		v := reflect.MakeSlice(typ, 0, 0)
		list := []any{}
		for range rapid.IntRange(0, 5).Draw(t, "len") {
			x := rapid.Int64Range(-16, 28).Draw(t, name)
			if typ.Elem().Kind() == reflect.String {
				list, v = append(list, x%3), reflect.Append(v, reflect.ValueOf(fmt.Sprint(x%3)))
				continue
			}
			if typ.Elem().Kind() == reflect.Float64 {
				f := float64(x) / 4
				list, v = append(list, f), reflect.Append(v, reflect.ValueOf(f))
			} else {
				list, v = append(list, x), reflect.Append(v, reflect.ValueOf(x).Convert(typ.Elem()))
			}
		}
		inputs[name] = list
		return v
	case reflect.Pointer:
		p := reflect.New(typ.Elem())
		p.Elem().Set(argument(t, typ.Elem(), name, inputs, r))
		return p
	case reflect.Struct:
		v := reflect.New(typ).Elem()
		for i := range typ.NumField() {
			f := typ.Field(i)
			path := name + "." + strings.ToLower(f.Name)
			if f.Name == "Deep" {
				path = name + ".inner.deep"
			}
			set := reflect.NewAt(f.Type, v.Field(i).Addr().UnsafePointer()).Elem()
			set.Set(argument(t, f.Type, path, inputs, r))
		}
		return v
	}
	t.Fatalf("parameter of type %v", typ)
	return reflect.Value{}
}

// What a call gives, or that it panicked.
type outcome struct {
	Shown, Returned []any
	Panicked        bool
}

func run(fn reflect.Value, args []reflect.Value) (o outcome) {
	defer func() {
		if recover() != nil {
			o.Panicked, o.Returned = true, nil
		}
	}()
	for _, v := range fn.Call(args) {
		if v.Kind() == reflect.Func {
			o.Shown = append(o.Shown, sequence(v)...)
			o.Returned = []any{}
			continue
		}
		if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct {
			o.Returned = append(o.Returned, columns(v)...) // as they are read
			continue
		}
		o.Returned = append(o.Returned, plain(v))
	}
	return o
}

// columns are the slices of a slice of structs.
func columns(v reflect.Value) (all []any) {
	t := v.Type().Elem()
	for i := range t.NumField() {
		list := reflect.MakeSlice(reflect.SliceOf(t.Field(i).Type), 0, v.Len())
		for j := range v.Len() {
			list = reflect.Append(list, v.Index(j).Field(i))
		}
		if t.Field(i).Type.Kind() == reflect.Struct {
			all = append(all, columns(list)...)
		} else {
			all = append(all, plain(list))
		}
	}
	return all
}

func sequence(v reflect.Value) (shown []any) {
	if v.Type().In(0).NumIn() == 2 {
		for a, b := range v.Seq2() {
			shown = append(shown, plain(a), plain(b))
		}
		return shown
	}
	for a := range v.Seq() {
		shown = append(shown, plain(a))
	}
	return shown
}

func plain(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		return v.Int()
	case reflect.Float64:
		return v.Float()
	case reflect.Bool:
		return v.Bool()
	case reflect.String:
		return v.String()
	case reflect.Slice:
		list := []any{}
		for i := range v.Len() {
			list = append(list, plain(v.Index(i)))
		}
		return list
	case reflect.Interface:
		if v.IsNil() {
			return int64(0)
		}
		return fmt.Sprint(v.Interface())
	}
	panic(fmt.Sprint("result of type ", v.Type()))
}

var errorTexts = []string{"", "negative", "large"}

func interpret(t *rapid.T, f *program.Function, inputs map[string]any, word uint64) (o outcome) {
	r := source1(word)
	var tt testing.T
	m := &machine{t: &tt, vars: map[*program.Variable]any{}, scales: map[*program.Variable]sampler{}, src: r.src, stream: r.stream}
	for _, v := range f.Inputs {
		x, ok := inputs[v.Name]
		if !ok {
			t.Fatalf("input %s", v.Name)
		}
		if d, ok := x.(sampler); ok {
			m.scales[v] = d
			continue
		}
		if list, ok := x.([]any); ok {
			x = append([]any(nil), list...)
		}
		m.vars[v] = x
	}
	done := make(chan any)
	go func() { // Fatal ends the goroutine
		defer func() { done <- recover() }()
		m.list(f.Body)
	}()
	if p := <-done; p != nil || tt.Failed() {
		t.Fatalf("%v: %v\n%s", inputs, p, program.Print(f))
	}
	o.Shown, o.Returned = m.shown, m.returned
	if len(o.Returned) == 0 && len(o.Shown) == 0 && !strings.HasPrefix(f.Name, "Yields") && !strings.HasPrefix(f.Name, "Stream") {
		o.Returned, o.Panicked = nil, true
	}
	for i, x := range o.Returned {
		if i < len(f.Told) && f.Told[i] {
			o.Returned[i] = spelled(f, x)
		}
	}
	if f.Name == "Errors" || f.Name == "Drawn" || f.Name == "ErrorVariable" {
		last := len(o.Returned) - 1
		if n := o.Returned[last].(int64); n != 0 {
			o.Returned[last] = errorTexts[n]
		}
	}
	return o
}

// spelled is the text, or the slice of texts, that integers stand for.
func spelled(f *program.Function, x any) any {
	if list, ok := x.([]any); ok {
		texts := []any{}
		for _, x := range list {
			texts = append(texts, spelled(f, x))
		}
		return texts
	}
	return f.Texts[x.(int64)]
}
