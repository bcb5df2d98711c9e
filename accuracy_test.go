//go:build cgo

package discreet

import (
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/privacy"
)

// A pilot prices an answer of its own version alone: where one is declared between them the answer is refused, and only the pilot charged; where
// one is declared while the answer's rows are read, it says that its error is not promised, and both are charged in full.
func TestVersionDeclaredBetweenPilotAndAnswer(t *testing.T) {
	const sql, note = "SELECT count(*) FROM t", "a version of the data was declared"
	for at, want := range []string{"", "refused", "told"} { // the read, from 1, during which a version is declared
		w, engine := sharpening(t, "zcdp")
		w.version()
		engine.read = func() {
			if len(engine.salts) == at-1 {
				w.version()
			}
		}
		o := w.at("")
		o.Accuracy, o.AtMost.Rho = Accuracy{Error: big.NewRat(1, 100), Relative: true}, must(privacy.ParseRho("1"))
		a, err := w.Query(t.Context(), sql, o)
		spent := must(w.config.Ledger.Balance(t.Context(), "d"))
		if want == "refused" {
			var r *Refusal
			if !errors.As(err, &r) || r.Code != "D263" || r.Hint == "" || !strings.Contains(r.Why, "the pilot was charged") {
				t.Errorf("%s: %+v, %v", want, a, err)
			}
			if len(engine.salts) != 1 || spent.Spent.Rho.String() != "0.1" || spent.Uncommitted != 0 || spent.Suspended {
				t.Errorf("%s: %d reads, spent %+v", want, len(engine.salts), spent)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		if noted := slices.ContainsFunc(a.Notes, func(n string) bool { return strings.HasPrefix(n, note) }); noted != (want == "told") {
			t.Errorf("%q: notes %q", want, a.Notes)
		}
		paid, revealed := new(big.Rat).Add(a.Pilot.Rho.Rat(), a.Cost.Rho.Rat()), new(big.Rat).Add(revealed(a.Pilot.Events), revealed(a.Cost.Events))
		if len(engine.salts) != 2 || engine.salts[0] != engine.salts[1] || paid.Cmp(spent.Spent.Rho.Rat()) != 0 || paid.Cmp(revealed) < 0 {
			t.Errorf("%q: by salts %v it reveals %v, and is charged %v of %v", want, engine.salts, revealed, paid, spent.Spent.Rho)
		}
	}
}
