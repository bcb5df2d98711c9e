package cells

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "\u00e9": 1, "e\u0301": 1, "漢字": 4, "\uff8a\uff9d": 2, "\uff21": 2, "a\u200db": 2} {
		if got := Width(s); got != want {
			t.Errorf("%q takes %d columns, want %d", s, got, want)
		}
	}
}

// What is cut fits, begins as the text does, and says that it was cut; what fits stays.
func TestCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, room := rapid.String().Draw(t, "s"), rapid.IntRange(1, 30).Draw(t, "room")
		got := Cut(s, room)
		switch {
		case Width(got) > room:
			t.Fatalf("%q takes %d columns", got, Width(got))
		case Width(s) <= room && got != s:
			t.Fatalf("%q fits, and was cut", s)
		case Width(s) > room && got[len(got)-len("…"):] != "…":
			t.Fatalf("%q does not show that it was cut", got)
		}
	})
}

func TestWrap(t *testing.T) {
	if got, want := Wrap("one 漢字 three  Wahrscheinlichkeit x", 8), []string{"one 漢字", "three", "Wahrscheinlichkeit", "x"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
