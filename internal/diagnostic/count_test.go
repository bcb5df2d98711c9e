package diagnostic_test

import (
	"testing"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 rows", 1: "1 row", 2: "2 rows"} {
		if got := diagnostic.Count(n, "row"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
