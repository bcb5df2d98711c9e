package oracle

import (
	"os"
	"strings"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
)

// problems are what is wrong with a document, by OpenAPI 3.1's own schema.
func problems(t *testing.T, text []byte) (all []string) {
	t.Helper()
	document, err := libopenapi.NewDocument(text)
	if err != nil {
		return []string{err.Error()}
	}
	if _, err := document.BuildV3Model(); err != nil { // references that lead nowhere
		all = append(all, err.Error())
	}
	v, errs := validator.NewValidator(document)
	for _, err := range errs {
		all = append(all, err.Error())
	}
	if len(all) > 0 {
		return all
	}
	_, found := v.ValidateDocument()
	for _, f := range found {
		all = append(all, f.Message+": "+f.Reason)
		for _, e := range f.SchemaValidationErrors {
			all = append(all, e.Reason)
		}
	}
	return all
}

func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems(t, text) {
		t.Error(p)
	}
	// The validator is shown documents with a fault.
	for what, fault := range map[string][2]string{
		"a parameter without a name":       {`"name": "Idempotency-Key",`, ``},
		"a place that does not exist":      {`"in": "path"`, `"in": "nowhere"`},
		"a reference that leads nowhere":   {`"#/components/schemas/Explanation"`, `"#/components/schemas/Nothing"`},
		"a response without a description": {`"description": "The explanation.",`, ``},
	} {
		broken := strings.Replace(string(text), fault[0], fault[1], 1)
		if broken == string(text) {
			t.Errorf("%s: nothing was changed", what)
		} else if len(problems(t, []byte(broken))) == 0 {
			t.Errorf("%s is not found", what)
		}
	}
}
