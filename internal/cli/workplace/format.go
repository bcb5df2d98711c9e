package workplace

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// A Format is how an answer is printed.
type Format struct {
	json bool
	name string
}

// Define defines --format and --json.
func (f *Format) Define(fs *flag.FlagSet) {
	fs.BoolVar(&f.json, "json", false, "short for --format json")
	fs.Func("format", "print `table|csv|json` (default table)", func(name string) error {
		forms := []string{"table", "csv", "json"}
		if !slices.Contains(forms, name) {
			if near := diagnostic.Nearest(name, forms); near != "" {
				return fmt.Errorf("did you mean %s?", near)
			}
			return fmt.Errorf("want %s", strings.Join(forms, ", "))
		}
		f.name = name
		return nil
	})
}

// Chosen returns the format, a table if nothing was said.
func (f *Format) Chosen() (string, error) {
	switch {
	case f.json && f.name != "" && f.name != "json":
		return "", diagnostic.New("D115", diagnostic.Span{}, "--json and --format %s exclude each other", f.name)
	case f.json:
		return "json", nil
	case f.name == "":
		return "table", nil
	}
	return f.name, nil
}
