package discreet

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
)

// A budget that does not suffice is told in six digits, what is left rounded down; the fields
// have all.
func TestExhaustedInSixDigits(t *testing.T) {
	amount := func(text string) privacy.Rho {
		r, err := privacy.ParseRho(text)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	delta, err := privacy.ParseDelta("5e-8")
	if err != nil {
		t.Fatal(err)
	}
	r, ok := refusal(&ledger.ExhaustedError{Domain: "patient", Measure: filter.ZCDP, Asked: filter.Amounts{Rho: amount("5.00000001")},
		Left: filter.Amounts{Rho: amount("0.15042055613813153359613905207"), Delta: delta}}).(*Refusal)
	if !ok {
		t.Fatal("it is no refusal")
	}
	if want := "the statement would cost rho 5.00001, and rho 0.15042, delta 5e-8 is left"; r.Why != want {
		t.Errorf("%s, want %s", r.Why, want)
	}
	if !strings.Contains(r.Left.String(), "0.15042055613813153359613905207") {
		t.Errorf("left are %v", r.Left)
	}
}
