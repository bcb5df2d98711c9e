//go:build cgo

package gateway_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
)

func asker(t testing.TB, w gatewaytest.World, name string) gateway.Asker {
	return gateway.Asker{Account: w.SignIn(t, name), Door: "http"}
}

func allowance(t testing.TB, amount string) *ledger.Allowance {
	return &ledger.Allowance{Amounts: filter.Amounts{Rho: rho(t, amount).Spend.Rho}}
}

// TestTablesThatAreNotAllowed: a table that an account may not see is refused in the
// words, with the hints, that a table which nobody declared is.
func TestTablesThatAreNotAllowed(t *testing.T) {
	w := gatewaytest.Open(t, t.TempDir())
	if err := w.People.Tables(t.Context(), "olga", "anna", []string{"departments"}); err != nil {
		t.Fatal(err)
	}
	who := asker(t, w, "anna")
	said := func(table string) string {
		sql := "SELECT count(*) FROM " + table
		var all []string
		_, err := w.Query(t.Context(), who, sql, rho(t, "0.01"))
		all = append(all, gateway.Of(err).String(), refused(t, err))
		_, err = w.Explain(t.Context(), who, sql, rho(t, "0.01"))
		all = append(all, refused(t, err))
		_, err = w.Describe(t.Context(), who, sql, nil, gateway.Options{})
		return strings.ReplaceAll(strings.Join(append(all, refused(t, err)), "\n"), table, "TABLE")
	}
	hidden, none := said("visits"), said("nobody")
	if hidden != none {
		t.Errorf("a hidden table is refused by\n%s\nand one that there is not by\n%s", hidden, none)
	}
	if c := w.Catalog(who); len(c.Tables) != 1 || c.Tables[0].Name != "departments" {
		t.Errorf("the catalog has %d tables", len(c.Tables))
	}
	if c := w.Catalog(asker(t, w, "olga")); len(c.Tables) != 2 {
		t.Errorf("an owner's catalog has %d tables", len(c.Tables))
	}
	if _, err := w.Query(t.Context(), who, "SELECT count(*) FROM departments", gateway.Options{}); err != nil {
		t.Error(err)
	}
	if _, err := w.Query(t.Context(), asker(t, w, "olga"), "SELECT count(*) FROM visits", rho(t, "0.001")); err != nil {
		t.Errorf("who may see it: %v", err)
	}
	if err := w.People.Tables(t.Context(), "olga", "anna", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Query(t.Context(), who, "SELECT count(*) FROM visits", rho(t, "0.001")); err != nil {
		t.Errorf("once it is allowed: %v", err)
	}
}

// TestLookedTooEarly: a door that has looked at an account's rules for a statement may be wrong
// by the time that it is charged: it is planned anew under the rules that there are then.
func TestLookedTooEarly(t *testing.T) {
	w := gatewaytest.Open(t, t.TempDir())
	who := asker(t, w, "anna")
	who.Looked = true
	if _, err := w.Query(t.Context(), who, "SELECT count(*) FROM visits", rho(t, "0.001")); err != nil {
		t.Fatal(err)
	}
	if err := w.People.Tables(t.Context(), "olga", "anna", []string{"departments"}); err != nil {
		t.Fatal(err)
	}
	if a, err := w.Query(t.Context(), who, "SELECT count(*) FROM visits WHERE age > 1", rho(t, "0.001")); a != nil || !strings.Contains(refused(t, err), "D010") {
		t.Errorf("a table that was withdrawn: %v, %v", a, err)
	}
	if err := w.People.Disable(t.Context(), "olga", "anna"); err != nil {
		t.Fatal(err)
	}
	if a, err := w.Query(t.Context(), who, "SELECT count(*) FROM visits WHERE age > 2", rho(t, "0.001")); a != nil || !errors.Is(err, people.ErrEnded) {
		t.Errorf("an account that was disabled: %v, %v", a, err)
	}
}

func refused(t testing.TB, err error) string {
	t.Helper()
	var r *discreet.Refusal
	if !errors.As(err, &r) {
		t.Fatalf("not refused: %v", err)
	}
	text, err := r.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestQuotas: an account's quota ends before the domain's budget, and what it has is its own.
func TestQuotas(t *testing.T) {
	w := gatewaytest.Open(t, t.TempDir())
	if err := w.People.Quota(t.Context(), "olga", "anna", "patient", allowance(t, "0.01")); err != nil {
		t.Fatal(err)
	}
	who := asker(t, w, "anna")
	if _, err := w.Query(t.Context(), who, grouped, rho(t, "0.006")); err != nil {
		t.Fatal(err)
	}
	_, err := w.Query(t.Context(), who, "SELECT count(*) FROM visits", rho(t, "0.006"))
	if !errors.Is(err, ledger.ErrQuota) || gateway.Of(err) != gateway.Budget || !strings.Contains(refused(t, err), "0.004") {
		t.Errorf("over the quota: %v", err)
	}
	if _, err := w.Query(t.Context(), who, grouped, rho(t, "0.006")); err != nil {
		t.Errorf("a repetition costs no quota: %v", err)
	}
	if _, err := w.Query(t.Context(), asker(t, w, "olga"), "SELECT count(*) FROM visits", rho(t, "0.006")); err != nil {
		t.Errorf("another's quota: %v", err)
	}
}

// TestApprovals: a statement over the limit waits for an owner, runs once when it is
// granted and sent again as it was, and not otherwise.
func TestApprovals(t *testing.T) {
	w := gatewaytest.Open(t, t.TempDir())
	if err := w.People.Limit(t.Context(), "olga", "anna", "patient", allowance(t, "0.005")); err != nil {
		t.Fatal(err)
	}
	who := asker(t, w, "anna")
	pending := func(sql, amount string) *gateway.Pending {
		t.Helper()
		_, err := w.Query(t.Context(), who, sql, rho(t, amount))
		var p *gateway.Pending
		if !errors.As(err, &p) {
			t.Fatalf("%s: not pending: %v", sql, err)
		}
		return p
	}
	first := pending(grouped, "0.01")
	if again := pending(grouped, "0.01"); again.Approval != first.Approval {
		t.Error("a question that is repeated is another")
	}
	id, err := strconv.ParseInt(first.Approval, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.People.Grant(t.Context(), "olga", id); err != nil {
		t.Fatal(err)
	}
	pending(grouped, "0.011")
	pending(strings.Replace(grouped, "count(*)", "sum(cost)", 1), "0.01")
	if _, err := w.Query(t.Context(), who, grouped, rho(t, "0.01")); err != nil {
		t.Fatalf("granted: %v", err)
	}
	fresh := rho(t, "0.01")
	fresh.Fresh = true
	if _, err := w.Query(t.Context(), who, grouped, fresh); gateway.Of(err) != gateway.Waiting {
		t.Errorf("the grant served twice: %v", err)
	}
	denied := pending("SELECT avg(age) FROM visits", "0.02")
	if id, err = strconv.ParseInt(denied.Approval, 10, 64); err != nil {
		t.Fatal(err)
	}
	if err := w.People.Deny(t.Context(), "olga", id, "too dear"); err != nil {
		t.Fatal(err)
	}
	if p := pending("SELECT avg(age) FROM visits", "0.02"); !p.Denied || p.Why != "too dear" || gateway.Of(p) != gateway.NotAllowed {
		t.Errorf("denied: %+v", p)
	}
}

// TestSessionsEnd: an account that is disabled asks nothing more.
func TestSessionsEnd(t *testing.T) {
	w := gatewaytest.Open(t, t.TempDir())
	who := asker(t, w, "anna")
	if err := w.People.Disable(t.Context(), "olga", "anna"); err != nil {
		t.Fatal(err)
	}
	if c := w.Catalog(who); len(c.Tables) != 0 {
		t.Error("the catalog is shown to a session that has ended")
	}
	for name, err := range map[string]error{
		"budget":   second(w.Budget(t.Context(), who)),
		"history":  second(w.History(t.Context(), who, ledger.Selection{})),
		"query":    second(w.Query(t.Context(), who, grouped, rho(t, "0.01"))),
		"explain":  second(w.Explain(t.Context(), who, grouped, rho(t, "0.01"))),
		"describe": second(w.Describe(t.Context(), who, grouped, nil, gateway.Options{})),
	} {
		if !errors.Is(err, people.ErrEnded) || gateway.Of(err) != gateway.NotAllowed {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
