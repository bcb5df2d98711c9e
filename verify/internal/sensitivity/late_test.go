package sensitivity_test

import (
	"context"
	"strings"
	"testing"
)

// Where the time is over, rules that look at it prove nothing, and say so.
func TestNoTime(t *testing.T) {
	all, p := load(t, "./testdata/pinq")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	late := 0
	for _, f := range all {
		if f.Claim.Cost == nil {
			continue
		}
		if r := p.Cost(over, f.full, f.Claim); strings.Contains(reasons(r), "the time for the claim is over") {
			late++
		}
	}
	if late < 3 {
		t.Errorf("%d functions looked at the time", late)
	}
}
