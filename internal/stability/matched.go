package stability

import (
	"regexp"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// matcher computes a function of what a pattern matches, and reads the pattern once; nil of another function. All engines agree on
// the matches of the patterns that are bound.
func matcher(e *plan.Call) func(*plan.Call, []sqltype.Value) (sqltype.Value, bool) {
	switch e.Function {
	case plan.MatchCount, plan.MatchText, plan.MatchFirst, plan.MatchEach:
	default:
		return nil
	}
	text, _ := e.Args[1].(*plan.Literal).Value.(string)
	pattern, err := regexp.Compile("(?s)" + text)
	if err != nil {
		return nil
	}
	return func(_ *plan.Call, args []sqltype.Value) (sqltype.Value, bool) {
		s := args[0].(string)
		switch e.Function {
		case plan.MatchCount:
			return int64(len(pattern.FindAllStringIndex(s, -1))), true
		case plan.MatchText:
			if m := pattern.FindStringSubmatch(s); m != nil {
				return m[args[2].(int64)], true
			}
			return nil, true
		}
		written := args[2].(string)
		pieces, _ := plan.Replacement(written)
		most := 1
		if e.Function == plan.MatchEach {
			most = -1
		}
		var out strings.Builder
		end := 0
		for _, m := range pattern.FindAllStringSubmatchIndex(s, most) {
			out.WriteString(s[end:m[0]])
			for _, p := range pieces {
				if p.Group < 0 {
					out.WriteString(p.Text)
				} else {
					out.WriteString(s[m[2*p.Group]:m[2*p.Group+1]])
				}
			}
			end = m[1]
		}
		out.WriteString(s[end:])
		return out.String(), len(s)*(1+len(written)) < 1000 // engines have NULL for long texts
	}
}
