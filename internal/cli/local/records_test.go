package local

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestRecords: which field is which column's is said by the text, never by the order of fields,
// unless there is one of both.
func TestRecords(t *testing.T) {
	for _, test := range []struct {
		text    string
		columns string
		want    string // records, or the line of what is none
		line    int
	}{
		{"x\ny\n", "a", "x y", 0},
		{"a\nx\n", "a", "x", 0},
		{"b,a\n1,x\n", "a", "x", 0},
		{"b,c\n1,x\n", "a", "", 1},
		{"a,b\nx,1\ny,2\n", "a b", "x+1 y+2", 0},
		{"b,z,a\n1,0,x\n", "a b", "x+1", 0},
		{"x,1\ny,2\n", "a b", "", 1},
		{"a,c\nx,1\n", "a b", "", 1},
		{"a,b\nx\n", "a b", "", 2},
		{"{\"b\":1,\"a\":\"x\"}\n", "a b", "x+1", 0},
		{"{\"a\":\"x\"}\n", "a b", "", 1},
		{"", "a b", "", 0},
	} {
		var got []string
		line, err := eachRecord(t.Context(), strings.NewReader(test.text), strings.Fields(test.columns), func(value string) error {
			got = append(got, strings.ReplaceAll(value, between, "+"))
			return nil
		})
		if (err != nil) != (test.line > 0) || err != nil && (!errors.Is(err, errRecord) || line != test.line) || !slices.Equal(got, strings.Fields(test.want)) {
			t.Errorf("%q by %s: %v, line %d: %v; want %q, line %d", test.text, test.columns, got, line, err, test.want, test.line)
		}
	}
}

// Numbers are shown with as many digits as anybody reads, rounded up.
func TestShown(t *testing.T) {
	for x, want := range map[any]string{
		0.1 + 0.2: "0.3", "oue": "oue", "1.5": "1.5", "0.5233785021264003333147921956688314271581": "0.5233785022",
		"replace_one(pure(0.9999999999999999999999999999999999999997))":                            "replace_one(pure(1))",
		"pure(14999999999999999999999999999999999999991/2500000000000000000000000000000000000000)": "pure(6)",
		"randomized_response(0.4753668864186716910976534826104624101439, k=4)":                     "randomized_response(0.4753668865, k=4)",
	} {
		if got := shown(x); got != want {
			t.Errorf("%v is shown as %s, want %s", x, got, want)
		}
	}
}
