package diagnostictest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

func read(t *testing.T, text string) ([]Case, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "refuse", "x.sql")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return Read(file)
}

func TestRead(t *testing.T) {
	cases, err := read(t, "SELECT a;\n\n-- why\nSELECT email /* ERROR D014 \"neither\" */, 1\nFROM t;\n")
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) != 2 {
		t.Fatalf("%d cases", len(cases))
	}
	if c := cases[0]; c.SQL != "SELECT a" || c.Code != "" || c.Name() != "refuse/x.sql:1" {
		t.Errorf("first: %+v", c)
	}
	if c := cases[1]; c.SQL != "-- why\nSELECT email, 1\nFROM t" || c.Code != "D014" || c.Line != 3 || c.SQL[:c.At] != "-- why\nSELECT email" {
		t.Errorf("second: %+v", c)
	}
	for _, bad := range []string{
		"SELECT a /* ERROR D14 \"x\" */;\n",
		"SELECT a /* ERROR D014 */;\n",
		"SELECT a /* ERROR D014 \"(\" */;\n",
		"SELECT a /* ERROR D014 \"x\" */, b /* ERROR D014 \"x\" */;\n",
	} {
		if _, err := read(t, bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// TestCompare shows that a wrong code, message or place is told apart.
func TestCompare(t *testing.T) {
	cases, err := read(t, "SELECT email /* ERROR D014 \"neither\" */, 1;\n")
	if err != nil {
		t.Fatal(err)
	}
	c, here := cases[0], diagnostic.Span{Start: 7, End: 12}
	if err := c.Compare(diagnostic.New("D014", here, "neither this nor that").Try("group by it")); err != nil {
		t.Error(err)
	}
	for name, outcome := range map[string]error{
		"passed":         nil,
		"no way out":     diagnostic.New("D014", here, "neither"),
		"other error":    errors.New("neither"),
		"other code":     diagnostic.New("D015", here, "neither").Try("group by it"),
		"other message":  diagnostic.New("D014", here, "either").Try("group by it"),
		"before":         diagnostic.New("D014", diagnostic.Span{Start: 0, End: 6}, "neither").Try("group by it"),
		"after":          diagnostic.New("D014", diagnostic.Span{Start: 12, End: 13}, "neither").Try("group by it"),
		"half the token": diagnostic.New("D014", diagnostic.Span{Start: 7, End: 10}, "neither").Try("group by it"),
		"no place":       diagnostic.New("D014", diagnostic.Span{}, "neither").Try("group by it"),
	} {
		if c.Compare(outcome) == nil {
			t.Errorf("%s: not told apart", name)
		}
	}
	pass := Case{SQL: "SELECT 1"}
	if pass.Compare(nil) != nil || pass.Compare(errors.New("x")) == nil {
		t.Error("a statement without an expectation must pass")
	}
}
