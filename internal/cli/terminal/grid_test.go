package terminal

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/cells"
)

// What a terminal shows is no wider than it, and no number is cut: each line of a
// narrow table has the numbers of the wide one, as far as their columns are shown.
func TestGridFits(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		g := random(r)
		room := 30 + r.IntN(100)
		var b strings.Builder
		g.write(&b, room, "--wide")
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		for _, line := range lines {
			if cells.Width(line) > room {
				t.Fatalf("%d columns where there are %d:\n%s", cells.Width(line), room, b.String())
			}
		}
		var wide strings.Builder
		g.write(&wide, 0, "")
		whole := !strings.Contains(wide.String(), "…")
		if !whole {
			t.Fatalf("cut without need:\n%s", wide.String())
		}
		if fits := func() bool {
			for _, line := range strings.Split(wide.String(), "\n") {
				if cells.Width(line) > room {
					return false
				}
			}
			return true
		}(); !fits && !strings.Contains(b.String(), "--wide") {
			t.Fatalf("nothing says that there is more:\n%s", b.String())
		}
		for i := range g[0].Cells {
			rest := lines[2+i]
			for j, c := range g {
				if !c.Right && !c.Beside {
					continue
				}
				if !strings.Contains(lines[0], heading(j)) {
					break // this column and all behind it are left out
				}
				_, after, found := strings.Cut(rest, c.Cells[i])
				if !found {
					t.Fatalf("%s of line %d is missing or cut:\n%s", c.Cells[i], i, b.String())
				}
				rest = after
			}
		}
		if g[1].Beside && strings.Contains(lines[0], heading(0)) && !strings.Contains(lines[0], heading(1)) {
			t.Fatalf("a value without its interval:\n%s", b.String())
		}
	}
}

func heading(j int) string { return fmt.Sprintf("c%d", j) }

func random(r *rand.Rand) Grid {
	g := make(Grid, 2+r.IntN(8))
	rows := r.IntN(5)
	for j := range g {
		g[j].Title = heading(j)
		switch {
		case j > 0 && g[j-1].Right && r.IntN(2) == 0:
			g[j].Beside = true
		case r.IntN(2) == 0:
			g[j].Right = true
		}
		for range rows {
			cell := fmt.Sprintf("%d", r.IntN(1_000_000))
			if g[j].Beside {
				cell = "[" + cell + "]"
			} else if !g[j].Right {
				cell = strings.Repeat([]string{"x", "é", "漢", "e\u0301"}[r.IntN(4)], r.IntN(60))
			}
			g[j].Cells = append(g[j].Cells, cell)
		}
	}
	return g
}

// Long cells are shortened for people, in a pipe too; --wide shows them whole.
func TestWideShowsAll(t *testing.T) {
	note := strings.Repeat("much to say ", 20)
	g := Grid{{Title: "name", Cells: []string{"a"}}, {Title: "note", Most: 30, Cells: []string{note}}}
	for _, wide := range []bool{false, true} {
		var b strings.Builder
		term := New(nil, &b, nil)
		term.Widen(wide)
		g.Write(term.Out)
		if got := strings.Contains(b.String(), strings.TrimSpace(note)); got != wide {
			t.Errorf("wide %v:\n%s", wide, b.String())
		}
		if got := strings.Contains(b.String(), "..."); got == wide {
			t.Errorf("wide %v:\n%s", wide, b.String())
		}
	}
}
