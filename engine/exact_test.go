package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/sqltype"
)

// Exact values print nowhere, also not in a field that fmt may not ask.
func TestExactPrintsNowhere(t *testing.T) {
	const secret = "quite secret" // no address looks like it
	e := NewExact([][]sqltype.Value{{secret}})
	type holder struct{ e *Exact }
	type copied struct{ e Exact }
	for _, v := range []any{e, *e, holder{e}, &holder{e}, copied{*e}, []holder{{e}}, map[string]*Exact{"e": e}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%g"} {
			if text := fmt.Sprintf(verb, v); strings.Contains(text, secret) || strings.Contains(text, fmt.Sprintf("%x", secret)) {
				t.Errorf("%s of %T prints %s", verb, v, text)
			}
		}
	}
}
