package render

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan"
)

// replacement writes the text that replaces a match in an engine's own way.
func replacement(e *plan.Call, text func(string) string, group func(int) string) string {
	written, _ := e.Args[2].(*plan.Literal).Value.(string)
	pieces, _ := plan.Replacement(written)
	var b strings.Builder
	for _, p := range pieces {
		if p.Group < 0 {
			b.WriteString(text(p.Text))
		} else {
			b.WriteString(group(p.Group))
		}
	}
	return b.String()
}

// replaced checks the longest text that may come out where matches are replaced: a match has a byte at least, but for the first,
// which may be empty, and each group is a part of it. length is the engine's form of how many bytes a text has.
func (s scope) replaced(e *plan.Call, x, length string, out func(x string) string) string {
	written, _ := e.Args[2].(*plan.Literal).Value.(string)
	pieces, _ := plan.Replacement(written)
	growth := 0
	for _, p := range pieces {
		growth += max(1, len(p.Text))
	}
	if growth == 0 || growth == 1 && e.Function == plan.MatchEach {
		return out(x)
	}
	return s.once(x, func(x string) string {
		return fmt.Sprintf("CASE WHEN %s <= %d THEN %s END", fmt.Sprintf(length, x), maxText/(growth+1), out(x))
	})
}
