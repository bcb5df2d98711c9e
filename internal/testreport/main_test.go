package main

import (
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	const (
		pass   = `{"Action":"pass","Package":"p","Test":"TestA"}` + "\n"
		fail   = `{"Action":"output","Package":"p","Test":"TestB","Output":"the cause\n"}` + "\n" + `{"Action":"fail","Package":"p","Test":"TestB"}` + "\n"
		skip   = `{"Action":"output","Package":"p","Test":"TestC","Output":"    c_test.go:3: skip: missing tool initdb\n"}` + "\n" + `{"Action":"skip","Package":"p","Test":"TestC"}` + "\n"
		ok     = `{"Action":"pass","Package":"p","Elapsed":1.5}` + "\n"
		notOK  = `{"Action":"output","Package":"p","Output":"panic: oh\n"}` + "\n" + `{"Action":"fail","Package":"p"}` + "\n"
		build  = `{"Action":"build-output","ImportPath":"p","Output":"syntax error\n"}` + "\n" + `{"Action":"build-fail","ImportPath":"p"}` + "\n"
		hanged = `{"Action":"output","Package":"p","Test":"TestD","Output":"halfway\n"}` + "\n"
	)
	for _, test := range []struct {
		name, in string
		want     []string
		err      string
	}{
		{"all pass", pass + ok, []string{"ok   p 1.5s", "1 passed, 0 failed, 0 skipped"}, ""},
		{"wings by their seconds", pass +
			`{"Action":"pass","Package":"github.com/o/m/learn/tree","Test":"TestE","Elapsed":2}` + "\n" +
			`{"Action":"pass","Package":"github.com/o/m/learn/tree","Test":"TestE/part","Elapsed":2}` + "\n" +
			`{"Action":"pass","Package":"github.com/o/m/learn/tree","Elapsed":2}` + "\n" +
			`{"Action":"pass","Package":"github.com/o/m/internal/plan/x","Elapsed":5}` + "\n" +
			`{"Action":"pass","Package":"github.com/o/m/learn","Elapsed":4}` + "\n" +
			`{"Action":"pass","Package":"github.com/o/m","Elapsed":1}` + "\n",
			[]string{"seconds by wing: learn 6, internal/plan 5, root 1\n", "seconds by test: tree TestE 2\n"}, ""},
		{"a skip is said aloud", pass + skip + ok, []string{"SKIP p TestC: c_test.go:3: skip: missing tool initdb", "1 passed, 0 failed, 1 skipped"}, ""},
		{"a failure shows its cause", pass + fail + notOK, []string{"the cause", "1 passed, 1 failed"}, "1 tests failed"},
		{"a panic outside tests", pass + notOK, []string{"panic: oh", "1 passed, 1 failed"}, "failed"},
		{"a dead process names the test it ran", hanged + notOK, []string{"TestD did not end\nhalfway"}, "failed"},
		{"a build failure", build + notOK, []string{"syntax error"}, "failed"},
		{"nothing ran", ok, nil, "no test ran"},
		{"empty", "", nil, "no test ran"},
		{"not events", "ok p 0.1s\n", nil, "read test event"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			err := report(strings.NewReader(test.in), &out)
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("error %v, want %q", err, test.err)
			}
			for _, w := range test.want {
				if !strings.Contains(out.String(), w) {
					t.Errorf("output lacks %q:\n%s", w, &out)
				}
			}
		})
	}
}
