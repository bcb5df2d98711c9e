package web

import (
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/ledger"
)

// TestDomainsAreLeafedThrough: a page has some domains, leads to all of them in their order, and
// there are no others.
func TestDomainsAreLeafedThrough(t *testing.T) {
	for _, many := range []int{0, 1, 19, 20, 21, 40, 51} {
		var all []ledger.Balance
		for i := range many {
			b := ledger.Balance{}
			b.ID = fmt.Sprint("d", i)
			all = append(all, b)
		}
		seen, pages := 0, 0
		for number, before := "", 0; ; {
			some, back, on, err := leaf(all, number)
			if pages++; err != nil || len(some) > domainsOfPage || back != before || pages > 3 {
				t.Fatalf("of %d, page %q: %d domains, back to %d, %v", many, number, len(some), back, err)
			}
			for _, b := range some {
				if b.ID != fmt.Sprint("d", seen) {
					t.Fatalf("of %d, page %q: %s is number %d", many, number, b.ID, seen)
				}
				seen++
			}
			if on == 0 {
				break
			}
			number, before = fmt.Sprint(on), on-1
		}
		if seen != many {
			t.Errorf("of %d, %d are on %d pages", many, seen, pages)
		}
		for _, wrong := range []string{"0", "-1", fmt.Sprint(pages + 1), "x", "99999999999999999999"} {
			if _, _, _, err := leaf(all, wrong); err == nil {
				t.Errorf("of %d, there is a page %s", many, wrong)
			}
		}
	}
}
