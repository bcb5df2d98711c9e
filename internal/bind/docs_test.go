package bind

import (
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docs/sql.md lists the functions and aggregates that there are, and no others.
func TestDocumentedFunctions(t *testing.T) {
	page, err := os.ReadFile("../../docs/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for line := range strings.SplitSeq(string(page), "\n") {
		if !regexp.MustCompile("^\\| (choice|numbers|text|time|`(count|countif|sum|var_pop|covar_pop|min|median|bool_and)\\()").MatchString(line) {
			continue
		}
		for _, m := range regexp.MustCompile("`([a-z_0-9]+)(\\([^`]*\\))?`").FindAllStringSubmatch(line, -1) {
			listed = append(listed, m[1])
		}
	}
	// Forms of the syntax that the parser writes with other names.
	forms := map[string]string{"position": "strpos", "trim": "btrim"}
	known := slices.AppendSeq(slices.Collect(maps.Keys(functions())), maps.Keys(aggregateFunctions))
	entry, _ := diagnostic.Explain("D013")
	for _, name := range known {
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(entry.Explain) {
			t.Errorf("discreet help D013 does not list %s", name)
		}
		if !slices.Contains(listed, name) {
			t.Errorf("docs/sql.md does not list %s", name)
		}
	}
	for _, name := range listed {
		if of, ok := forms[name]; ok {
			name = of
		}
		if !slices.Contains(known, name) {
			t.Errorf("docs/sql.md lists %s, which is not there", name)
		}
	}
}
