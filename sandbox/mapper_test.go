package sandbox_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/discreet-dp/discreet/sandbox"
	"github.com/discreet-dp/discreet/sqltype"
)

// groups are the options of the prebuilt mappers, which all do the same.
func groups() sandbox.Options {
	return sandbox.Options{
		Columns: []sandbox.Column{{Name: "age", Type: sqltype.Of(sqltype.Integer)}, {Name: "cost", Type: sqltype.Of(sqltype.Double)}},
		Keys:    []string{"0", "25", "50", "75"},
		Lower:   0, Upper: 100,
	}
}

func load(t testing.TB, binary []byte, o sandbox.Options) *sandbox.Mapper {
	t.Helper()
	m, err := sandbox.Load(context.Background(), binary, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return m
}

func prebuilt(t testing.TB, language string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + language + "/mapper.wasm")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The same mapper in three languages, as it is checked in.
func TestPrebuiltMappers(t *testing.T) {
	if testing.Short() {
		t.Skip("skip: -short; Go's module has thousands of functions to compile")
	}
	for _, language := range []string{"c", "rust", "go"} {
		t.Run(language, func(t *testing.T) { isGrouped(t, prebuilt(t, language)) })
	}
}

// And as it is built here, where there is a compiler. That none of these languages
// but Go has one is not a tool that is missing, so the skip does not say so: what is
// checked in needs none.
func TestRebuiltMappers(t *testing.T) {
	if testing.Short() {
		t.Skip("builds modules")
	}
	for language, compiler := range map[string][]string{
		"c":    {"sh", "-c", "clang --print-targets | grep -q wasm32 && command -v wasm-ld"},
		"rust": {"sh", "-c", `test -d "$(rustc --print target-libdir --target wasm32-unknown-unknown)"`},
		"go":   {"go", "version"},
	} {
		t.Run(language, func(t *testing.T) {
			if err := exec.Command(compiler[0], compiler[1:]...).Run(); err != nil {
				t.Skipf("no compiler of %s for WebAssembly here: the module that is checked in was not built anew", language)
			}
			out := filepath.Join(t.TempDir(), "mapper.wasm")
			if text, err := exec.Command("testdata/build", language, out).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			binary, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			isGrouped(t, binary)
		})
	}
}

func isGrouped(t *testing.T, binary []byte) {
	m := load(t, binary, groups())
	for _, test := range []struct {
		record []sqltype.Value
		want   []sandbox.Output
	}{
		{[]sqltype.Value{int64(30), 12.5}, []sandbox.Output{{Key: "25", Value: 12.5}}},
		{[]sqltype.Value{int64(99), 1e9}, []sandbox.Output{{Key: "75", Value: 100}}},
		{[]sqltype.Value{int64(0), -3.0}, []sandbox.Output{{Key: "0", Value: 0}}},
		{[]sqltype.Value{int64(-60), 1.0}, []sandbox.Output{}},
		{[]sqltype.Value{nil, 1.0}, []sandbox.Output{}},
	} {
		got, err := m.Map(context.Background(), test.record)
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("Map(%v) = %v, %v; want %v", test.record, got, err, test.want)
		}
	}
}
