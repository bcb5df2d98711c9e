package rest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Schema is the JSON schema of one of the document's objects, with what it refers to.
func Schema(name string) (json.RawMessage, error) {
	var document struct {
		Components struct{ Schemas map[string]json.RawMessage }
	}
	if err := json.Unmarshal(openAPIText, &document); err != nil {
		return nil, fmt.Errorf("read openapi.json: %w", err)
	}
	const from, to = "#/components/schemas/", "#/$defs/"
	needed := map[string]json.RawMessage{}
	var need func(name string) error
	need = func(name string) error {
		text, is := document.Components.Schemas[name]
		if !is {
			return fmt.Errorf("openapi.json has no schema %s", name)
		}
		if _, seen := needed[name]; seen {
			return nil
		}
		needed[name] = json.RawMessage(strings.ReplaceAll(string(text), from, to))
		for rest := string(text); ; {
			_, after, is := strings.Cut(rest, from)
			if !is {
				return nil
			}
			other, after, _ := strings.Cut(after, `"`)
			if err := need(other); err != nil {
				return err
			}
			rest = after
		}
	}
	if err := need(name); err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"type": "object", "$ref": to + name, "$defs": needed})
}
