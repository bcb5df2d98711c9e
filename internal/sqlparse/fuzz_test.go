package sqlparse

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	pg "github.com/sqlc-dev/oliphant"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/diagnostic/diagnostictest"
)

// FuzzParse holds for every text: no panic, here or recovered; a refusal has a
// known code, a message of one line and a place within the text; an accepted
// statement has exact places and means the same whatever stands between its
// tokens. A text that takes too long fails by the fuzzer's own limit.
func FuzzParse(f *testing.F) {
	for _, sql := range accepted(f) {
		f.Add(sql)
	}
	files, err := filepath.Glob("testdata/refuse/*.sql")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		cases, err := diagnostictest.Read(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, c := range cases {
			f.Add(c.SQL)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := Parse(text)
		if err != nil {
			var d *diagnostic.Diagnostic
			if !errors.As(err, &d) {
				t.Fatalf("%v is not a diagnostic", err)
			}
			if _, ok := diagnostic.Explain(d.Code); !ok || d.Message == "" || d.Message == brokenParser || strings.Contains(d.Message, "\n") {
				t.Fatalf("%+v", d)
			}
			if d.Span.Start < 0 || d.Span.Start > d.Span.End || d.Span.End > len(text) {
				t.Fatalf("%s is at %v of %d bytes", d.Code, d.Span, len(text))
			}
			if err := d.Write(&strings.Builder{}); err != nil {
				t.Fatal(err)
			}
			return
		}
		checkSpans(t, q, text)
		if n := depthOf(q); n > 3*maxDepth {
			t.Fatalf("the tree is %d deep", n)
		}
		src, d := scan(text)
		if d != nil {
			t.Fatalf("accepted, but scanning fails: %v", d)
		}
		var apart strings.Builder
		for _, k := range src.list {
			apart.WriteString(text[k.start:k.end])
			if k.kind == pg.Token_NCHAR && k.end-k.start == 1 {
				continue // of N'x', which is not N 'x'
			}
			apart.WriteString(" /* ) ; SELECT ' */ ")
		}
		again, err := Parse(apart.String())
		if err != nil {
			if apart.Len() <= maxText {
				t.Fatalf("with comments between its tokens: %v", err)
			}
		} else if dump(q) != dump(again) {
			t.Fatalf("comments change the meaning:\n%s\n%s", dump(q), dump(again))
		}
	})
}
