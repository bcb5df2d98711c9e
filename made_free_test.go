//go:build cgo

package discreet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/privacy"
)

// What may cost nothing costs nothing, whatever else is said; and where no books are asked it is refused.
func TestFreeCostsNothing(t *testing.T) {
	w := shelve(t, "zcdp")
	w.version()
	w.told("SELECT k, s, count(*) FROM t GROUP BY k, s", w.at("0.3"), false)
	for name, more := range map[string]func(*QueryOptions){
		"a cost":              func(o *QueryOptions) { o.Spend.Rho = must(privacy.ParseRho("0.1")) },
		"another's measure":   func(o *QueryOptions) { o.Spend.Epsilon = must(privacy.ParseEpsilon("1")) },
		"an accuracy":         func(o *QueryOptions) { o.Accuracy = must(ParseAccuracy("50")) },
		"a relative accuracy": func(o *QueryOptions) { o.Accuracy = must(ParseAccuracy("2%")) },
		"a pilot": func(o *QueryOptions) {
			o.Accuracy, o.AtMost.Rho = must(ParseAccuracy("2%")), must(privacy.ParseRho("0.5"))
		},
		"the default": func(o *QueryOptions) { o.NoDefault = false },
		"a bound":     func(o *QueryOptions) { o.AtMost.Rho = must(privacy.ParseRho("0.5")) },
	} {
		o := w.at("")
		o.Free = true
		more(o)
		w.told("SELECT s, count(*) FROM t GROUP BY s", o, true)
		spent := w.spent()
		for _, without := range []func(*QueryOptions){func(*QueryOptions) {}, func(o *QueryOptions) { o.Reuse = false }, func(o *QueryOptions) { o.Fresh = true }} {
			alone := *o
			without(&alone)
			if _, err := w.Query(t.Context(), "SELECT n, count(*) FROM t GROUP BY n", &alone); err == nil || !strings.Contains(err.Error(), "may cost nothing") || w.spent() != spent {
				t.Errorf("with %s %+v is not refused, or charged %s after %s: %v", name, alone, w.spent(), spent, err)
			}
		}
	}
	o := w.at("")
	o.Free, o.Reuse = true, false
	if _, err := w.Query(t.Context(), "SELECT k, count(*) FROM p GROUP BY k", o); err != nil {
		t.Errorf("public rows: %v", err)
	}
}

// Under an idempotency key nothing is told of which nothing would be recorded; neither is that explained.
func TestNothingMadeUnderAKey(t *testing.T) {
	w := shelve(t, "zcdp")
	w.version()
	w.told("SELECT k, s, count(*) FROM t GROUP BY k, s", w.at("0.3"), false)
	for _, sql := range []string{"SELECT k, s, count(*) FROM t GROUP BY k, s", "SELECT s, k, count(*) FROM t GROUP BY s, k"} {
		o := w.at("0.01")
		w.told(sql, o, true)
		o.IdempotencyKey = sql
		first := w.told(sql, o, false)
		if again, err := w.Query(t.Context(), sql, o); err != nil || !again.Reused || fmt.Sprint(again.Rows) != fmt.Sprint(first.Rows) {
			t.Errorf("%s\nis %v again, not %v: %v", sql, again, first, err)
		}
	}
}

// What fails while a stored statement is planned again, such as for a request that is cancelled, is forgotten with it.
func TestMadeAfterFailures(t *testing.T) {
	w := shelve(t, "zcdp", `columns.k = { type = "text", domain = ["a", "b", "c"] }`, `columns.k = { type = "text", domain = { from = "p.k" } }`)
	f := &failing{Engine: w.recorder.Engine}
	w.recorder.Engine = f
	w.version()
	w.told("SELECT k, s, count(*) FROM t GROUP BY k, s", w.at("0.3"), false)
	for name, failure := range map[string]func(cancel func()) error{
		"cancelled": func(cancel func()) error { cancel(); return context.Canceled },
		"failed":    func(func()) error { return errors.New("no such table now") },
	} {
		for at := range 3 { // in the statement itself, and in the stored one
			w.shelf = &shelf{}
			ctx, cancel := context.WithCancel(t.Context())
			read := 0
			f.fail = func(context.Context) error {
				if read++; read == at+1 {
					return failure(cancel)
				}
				return nil
			}
			_, _ = w.Query(ctx, "SELECT k, count(*) FROM t GROUP BY k", w.at(""))
			f.fail = nil
			cancel()
			if a, err := w.Query(t.Context(), "SELECT k, count(*) FROM t GROUP BY k", w.at("")); err != nil || !a.Reused {
				t.Errorf("after reading number %d %s: %v", at, name, err)
			}
		}
	}
}
