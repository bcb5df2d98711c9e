//go:build cgo

package tpch

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/internal/stability"
)

// What docs/tpch.md says of each question is so: it is answered, or refused with this code, and what is asked in its place is
// answered. No data is read.
func TestPageTellsWhatIsAnswered(t *testing.T) {
	page, err := os.ReadFile("../../docs/tpch.md")
	if err != nil {
		t.Fatal(err)
	}
	declared, err := files.ReadFile("catalog.toml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Parse("catalog.toml", string(declared))
	if err != nil {
		t.Fatal(err)
	}
	refusal := func(sql string) string {
		tree, err := sqlparse.Parse(sql)
		if err == nil {
			var bound plan.Node
			if bound, err = bind.Statement(tree, c, bind.Parameters{}, nil); err == nil {
				_, err = stability.Analyze(bound)
			}
		}
		if d, ok := errors.AsType[*diagnostic.Diagnostic](err); ok {
			return d.Code
		}
		if err != nil {
			t.Fatal(err)
		}
		return ""
	}
	all, err := questions()
	if err != nil {
		t.Fatal(err)
	}
	answered := 0
	for _, q := range all {
		said := regexp.MustCompile(fmt.Sprintf(`(?m)^\| %d \| (yes|D\d+)`, q.number)).FindStringSubmatch(string(page))
		code := refusal(q.text)
		switch {
		case said == nil:
			t.Errorf("the page says nothing of question %d", q.number)
		case q.replacement == "":
			answered++
			if code != "" || said[1] != "yes" {
				t.Errorf("question %d is refused with %q, the page says %s", q.number, code, said[1])
			}
		case code != said[1] && said[1] != "D051": // which depends on how many rows public tables have
			t.Errorf("question %d is refused with %q, the page says %s", q.number, code, said[1])
		case refusal(q.replacement) != "":
			t.Errorf("what is asked in place of question %d is refused with %s", q.number, refusal(q.replacement))
		}
	}
	if answered < 19 {
		t.Errorf("%d questions are answered", answered)
	}
}
