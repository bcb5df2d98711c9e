package privacy

import "testing"

func TestNeighbours(t *testing.T) {
	var zero Neighbours
	if zero != AddRemove {
		t.Error("the zero relation is not add-remove")
	}
	for _, n := range []Neighbours{AddRemove, ReplaceOne, ReplaceSpecial} {
		var back Neighbours
		text, err := n.MarshalText()
		if err != nil || back.UnmarshalText(text) != nil || back != n {
			t.Errorf("%v reads back as %v", n, back)
		}
	}
	if _, err := ParseNeighbours("swap"); err == nil {
		t.Error("an unknown relation is accepted")
	}
	if _, err := Neighbours(7).MarshalText(); err == nil {
		t.Error("an unknown relation is written")
	}
}
